"""Runtime selection: which runtimes could serve a model, in KServe's order, and why the others could not.

Looks at a model and the catalog only; what the choice then changes in the service is `choose_runtime`'s business.
KServe: pkg/apis/serving/v1beta1/predictor_model.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.catalog import by_priority
from kservec.core.visible import visible

if TYPE_CHECKING:
    from kservec.core.catalog import Catalog, Runtime
    from kservec.spec.inferenceservice import ModelSpec

DEFAULT_PROTOCOL = "v1"


class Candidate(NamedTuple):
    """A runtime that was looked at, and why it does not fit; an empty reason means that it does."""

    runtime: Runtime
    refusal: str


def format_label(model: ModelSpec) -> str:
    """The key that a runtime must list for the model: the format's name, with `:version` if one is given."""
    wanted = model.model_format
    return f"{wanted.name}:{wanted.version}" if wanted.version is not None else wanted.name


def supports_protocol(runtime: Runtime, protocol: str) -> bool:
    """Whether a runtime speaks a protocol; one that lists none is taken to speak all."""
    listed = runtime.spec.protocol_versions
    return not listed or not protocol or protocol in listed


def refusal(runtime: Runtime, model: ModelSpec, *, multi_node: bool) -> str:
    """Why a runtime is no candidate for automatic selection; empty if it is one."""
    label, protocol = format_label(model), model.protocol_version or DEFAULT_PROTOCOL
    if not runtime.labels.get(label):
        return f"lists {label} without autoSelect" if label in runtime.labels else f"does not list {label}"
    if runtime.spec.disabled:
        return "is disabled"
    if runtime.spec.multi_model:
        return "is a multi-model runtime"
    if not supports_protocol(runtime, protocol):
        return f"speaks {', '.join(map(visible, runtime.spec.protocol_versions))}, not {protocol}"
    if (runtime.spec.worker_spec is not None) != multi_node:
        return "has no workerSpec" if multi_node else "is for several nodes (workerSpec)"
    return ""


def first_fitting(model: ModelSpec, namespace: str, catalog: Catalog, *, multi_node: bool) -> Runtime | None:
    """The runtime that KServe takes for a model that names none, or None."""
    offers, label = catalog.offers, format_label(model)
    for scope in (namespace, ""):
        for runtime in offers.get((scope, label), ()):
            if not refusal(runtime, model, multi_node=multi_node):
                return runtime
    return None


def rivals(chosen: Runtime, model: ModelSpec, catalog: Catalog, *, multi_node: bool) -> list[Runtime]:
    """The runtimes that fit as well as the chosen one, and stand behind it only for their names."""
    offer = chosen.namespace, format_label(model)
    if offer not in catalog.contested:
        return []
    name = model.model_format.name

    def merits(runtime: Runtime) -> tuple[int | None, int, str]:
        return runtime.priority(name), runtime.rank, runtime.created

    best = merits(chosen)
    alike = [r for r in catalog.offers[offer] if r is not chosen and merits(r) == best]
    return [r for r in alike if not refusal(r, model, multi_node=multi_node)]


def consider(model: ModelSpec, namespace: str, catalog: Catalog, *, multi_node: bool) -> list[Candidate]:
    """Every runtime in the order KServe would take them: the namespace's own, then the cluster's.

    The first candidate without a refusal is the one that `first_fitting` gives.
    """
    return [
        Candidate(runtime, refusal(runtime, model, multi_node=multi_node))
        for scope in (namespace, "")
        for runtime in by_priority(catalog.by_namespace.get(scope, ()), model.model_format.name)
    ]
