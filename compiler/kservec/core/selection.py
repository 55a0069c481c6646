"""Runtime selection: which runtimes could serve a model, in KServe's order, and why the others could not.

Looks at a model and the catalog only; what the choice then changes in the service is `choose_runtime`'s business.
KServe: pkg/apis/serving/v1beta1/predictor_model.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def format_labels(runtime: Runtime, *, auto_only: bool) -> Iterator[str]:
    """The keys that a runtime answers to. KServe: predictor_model.go, getServingRuntimeSupportedModelFormatLabelSet."""
    for entry in runtime.spec.supported_model_formats:
        if entry.auto_select or not auto_only:
            yield entry.name
            if entry.version is not None:
                yield f"{entry.name}:{entry.version}"


def supports_protocol(runtime: Runtime, protocol: str) -> bool:
    """Whether a runtime speaks a protocol; one that lists none is taken to speak all."""
    listed = runtime.spec.protocol_versions
    return not listed or not protocol or protocol in listed


def refusal(runtime: Runtime, model: ModelSpec, *, multi_node: bool) -> str:
    """Why a runtime is no candidate for automatic selection; empty if it is one."""
    label, protocol = format_label(model), model.protocol_version or DEFAULT_PROTOCOL
    if label not in format_labels(runtime, auto_only=True):
        if label in format_labels(runtime, auto_only=False):
            return f"lists {label} without autoSelect"
        return f"does not list {label}"
    if runtime.spec.disabled:
        return "is disabled"
    if runtime.spec.multi_model:
        return "is a multi-model runtime"
    if not supports_protocol(runtime, protocol):
        return f"speaks {', '.join(runtime.spec.protocol_versions)}, not {protocol}"
    if (runtime.spec.worker_spec is not None) != multi_node:
        return "has no workerSpec" if multi_node else "is for several nodes (workerSpec)"
    return ""


def priority(runtime: Runtime, name: str) -> int | None:
    """The priority of the first entry of a format's name. KServe: servingruntime_types.go, GetPriority."""
    return next((f.priority for f in runtime.spec.supported_model_formats if f.name == name), None)


def by_priority(runtimes: tuple[Runtime, ...], name: str) -> list[Runtime]:
    """Runtimes with a priority before those without, the higher first; otherwise in the order given."""
    return sorted(runtimes, key=lambda r: (priority(r, name) is None, -(priority(r, name) or 0)))


def consider(model: ModelSpec, namespace: str, catalog: Catalog, *, multi_node: bool) -> list[Candidate]:
    """Every runtime in the order KServe would take them: the namespace's own, then the cluster's.

    The first candidate without a refusal is the one that KServe takes.
    """
    return [
        Candidate(runtime, refusal(runtime, model, multi_node=multi_node))
        for scope in (namespace, "")
        for runtime in by_priority(catalog.by_namespace.get(scope, ()), model.model_format.name)
    ]
