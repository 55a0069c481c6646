"""Resolved: the spec of an LLMInferenceService with its configs merged in, while its templates are filled and after.

Decides what is adjusted around the templates, and in which order. Must not know which configs there were.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import (
    KSERVE_COMPONENT_LABEL,
    NAME_LABEL,
    PART_OF,
    PART_OF_LABEL,
    POOL,
    SCHEDULER_ACCOUNT,
    WORKLOAD,
    WORKLOAD_SERVICE,
    child_name,
)
from kservec.core.llm.presets import pool_reference
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path, Tree

BY: Final = "choose_presets"
DEFAULTED: Final = Origin(Layer.KSERVE_DEFAULT, BY)
POOL_SPEC: Final = ("router", "scheduler", "pool", "spec")
SCHEDULER_POD: Final = ("router", "scheduler", "template")
ROUTE: Final = ("router", "route", "http", "spec")
SERVICE: Final = "Service"
POOL_KIND: Final = "InferencePool"
PICKER_PORT: Final = 9002


def workload_selector(name: str) -> dict[str, str]:
    """The labels of the pods of a service that take requests. KServe: workload.go, GetWorkloadLabelSelector."""
    return {PART_OF_LABEL: PART_OF, NAME_LABEL: name, KSERVE_COMPONENT_LABEL: WORKLOAD}


def pool_name(name: str, spec: Json) -> str:
    """The InferencePool of a service: its own, or the one that it refers to."""
    return pool_reference(spec) or child_name(name, POOL)


def before_templates(spec: Tree, name: str) -> Tree:
    """The spec with what follows from the service's name: the pods of its pool, the account of its scheduler."""
    pool, pod = spec.get(*POOL_SPEC), spec.get(*SCHEDULER_POD)
    if pool is not None and not (pool.get("selector") or {}).get("matchLabels"):
        spec = spec.put((*POOL_SPEC, "selector", "matchLabels"), workload_selector(name), DEFAULTED)
    if pod is not None and not pod.get("serviceAccountName"):
        spec = spec.put((*SCHEDULER_POD, "serviceAccountName"), child_name(name, SCHEDULER_ACCOUNT), DEFAULTED)
    return spec


def after_templates(spec: Tree, name: str) -> Tree:
    """The spec whose route leads where the service says, and whose pool has a port."""
    route = spec.get(*ROUTE)
    if route is not None:
        spec = with_gateways(spec)
        if spec.get("router", "scheduler") is None:
            to_service = {"group": "", "kind": SERVICE, "name": child_name(name, WORKLOAD_SERVICE)}
            spec = with_backends(spec, name, to_service)
        elif pool_reference(spec.value):
            spec = with_backends(spec, name, {"name": pool_reference(spec.value)})
    return with_picker_port(spec)


def with_gateways(spec: Tree) -> Tree:
    """The spec whose route is attached to the Gateways that it refers to, if it refers to any."""
    refs = spec.get("router", "gateway", "refs")
    if not refs:
        return spec
    parents = [parent_of(ref) for ref in refs]
    return spec.put((*ROUTE, "parentRefs"), parents, spec.sub("router", "gateway", "refs"))


def parent_of(ref: Json) -> Json:
    """What attaches a route to a Gateway. KServe: ToParentRefs."""
    kept = {name: ref[name] for name in ("namespace", "sectionName") if ref.get(name)}
    return {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": ref.get("name"), **kept}


def with_backends(spec: Tree, name: str, change: Json) -> Tree:
    """The spec whose route leads elsewhere wherever it leads to the pool that the service would have of its own."""
    own = child_name(name, POOL)
    for i, rule in enumerate(spec.get(*ROUTE, "rules") or ()):
        for j, backend in enumerate(rule.get("backendRefs") or ()):
            if backend.get("kind") == POOL_KIND and backend.get("name") == own:
                at: Path = (*ROUTE, "rules", i, "backendRefs", j)
                spec = spec.put(at, {**backend, **change}, DEFAULTED)
    return spec


def with_picker_port(spec: Tree) -> Tree:
    """The spec whose pool names the port of a scheduler that is a Service."""
    picker = (spec.get(*POOL_SPEC) or {}).get("endpointPickerRef")
    if picker is None or (picker.get("port") or {}).get("number") or picker.get("kind") not in (SERVICE, "", None):
        return spec
    return spec.put((*POOL_SPEC, "endpointPickerRef", "port"), {"number": PICKER_PORT}, DEFAULTED)
