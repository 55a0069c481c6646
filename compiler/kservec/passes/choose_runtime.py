"""choose_runtime: pick the serving runtime of a model predictor, and let its kind of server default the service."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.intents import ParallelIntent, RuntimeIntent
from kservec.core.runtime_defaults import ServerDefaults, runtime_defaults
from kservec.core.selection import Candidate, consider, format_label, format_labels, supports_protocol
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.env import Env
    from kservec.core.unit import Component, Unit
    from kservec.spec.inferenceservice import ModelSpec

NOT_FOUND = Code(
    "runtime/not-found",
    Severity.ERROR,
    "no runtime of that name",
    "`model.runtime` names neither a ServingRuntime of the service's namespace nor a ClusterServingRuntime.",
)
DISABLED = Code(
    "runtime/disabled",
    Severity.ERROR,
    "the runtime is disabled",
    "`model.runtime` names a runtime whose `spec.disabled` is true.",
)
PROTOCOL = Code(
    "runtime/protocol",
    Severity.ERROR,
    "the runtime does not speak the protocol",
    "`model.protocolVersion` is not among the `protocolVersions` of the runtime that `model.runtime` names.",
)
FORMAT = Code(
    "runtime/format",
    Severity.ERROR,
    "the runtime does not serve the format",
    "`model.modelFormat` is not among the `supportedModelFormats` of the runtime that `model.runtime` names.",
)
NONE_FITS = Code(
    "runtime/none-fits",
    Severity.ERROR,
    "no runtime fits the model",
    "No runtime of the catalog selects itself for the model's format, version and protocol. Name one in `model.runtime`, "
    "or add a runtime that lists the format with `autoSelect: true`.",
)
SHOWN = 6


def choose_runtime(unit: Unit, env: Env) -> Step:
    """Pick a runtime for the predictor.

    Takes:   RuntimeIntent
    Writes:  component.runtime, protocol; labels of the service and of every component; the RuntimeIntent's model
             container is left in the pod for merge_pods
    Reports: runtime/not-found, runtime/disabled, runtime/protocol, runtime/format, runtime/none-fits
    KServe:  components/predictor.go, reconcileModel
    """
    components: list[Component] = []
    labels = dict(unit.labels)
    for component in unit.components:
        intents, component = component.take(RuntimeIntent)
        for intent in intents:
            runtime = chosen(unit, component, intent.model, env)
            defaults = runtime_defaults(as_annotated(runtime, unit, env), intent.model, intent.model.rest, unit.name)
            labels.update(defaults.labels)
            component = with_runtime(component, runtime, intent, defaults)
        components.append(component)
    if labels == dict(unit.labels):
        return Step(unit.with_components(tuple(components)))
    added = {k: v for k, v in labels.items() if unit.labels.get(k) != v}
    labelled = tuple(with_labels(c, added) for c in components)
    return Step(replace(unit, labels=labels, components=labelled))


def chosen(unit: Unit, component: Component, model: ModelSpec, env: Env) -> Runtime:
    """The runtime that the model names, or the first that selects itself.

    Raises:
        Reject: none fits.
    """
    if model.runtime is not None:
        return named_runtime(unit, component, model, env)
    multi_node = bool(component.peek(ParallelIntent))
    candidates = consider(model, unit.namespace, env.catalog, multi_node=multi_node)
    fitting = next((c.runtime for c in candidates if not c.refusal), None)
    if fitting is None:
        raise Reject(none_fits(unit, component, model, candidates))
    return fitting


def named_runtime(unit: Unit, component: Component, model: ModelSpec, env: Env) -> Runtime:
    """The runtime of the name that the model gives, if it will serve the model.

    Raises:
        Reject: there is none of that name, or it is disabled, or it does not serve the protocol or the format.
    """
    at = component.implementation
    name = model.runtime or ""
    runtime = env.catalog.find(unit.namespace, name)
    if runtime is None:
        known = ", ".join(sorted({r.name for r in env.catalog.runtimes if r.namespace in ("", unit.namespace)}))
        message = f"there is no ServingRuntime in namespace {unit.namespace} and no ClusterServingRuntime named {name}"
        raise Reject(finding(unit, NOT_FOUND, message, (*at, "runtime"), f"known runtimes: {known or 'none'}"))
    if runtime.spec.disabled:
        message = f"runtime {name} is disabled"
        raise Reject(finding(unit, DISABLED, message, (*at, "runtime"), "enable it, or name another runtime"))
    if not supports_protocol(runtime, model.protocol_version or ""):
        spoken = ", ".join(runtime.spec.protocol_versions)
        message = f"runtime {name} does not support protocol version {model.protocol_version}"
        raise Reject(finding(unit, PROTOCOL, message, (*at, "protocolVersion"), f"it supports {spoken}"))
    if format_label(model) not in format_labels(runtime, auto_only=False):
        served = ", ".join(dict.fromkeys(format_labels(runtime, auto_only=False)))
        message = f"runtime {name} does not support model format {described(model)}"
        raise Reject(finding(unit, FORMAT, message, (*at, "modelFormat"), f"it supports {served or 'no format'}"))
    return runtime


def described(model: ModelSpec) -> str:
    """A model's format in words."""
    wanted = model.model_format
    return f"{wanted.name} version {wanted.version}" if wanted.version is not None else wanted.name


def none_fits(unit: Unit, component: Component, model: ModelSpec, candidates: list[Candidate]) -> Diagnostic:
    """The diagnostic that tells, runtime by runtime, why none was chosen."""
    near = [c for c in candidates if not c.refusal.startswith("does not list")]
    reasons = [f"{c.runtime.name} {c.refusal}" for c in near or candidates]
    shown = "; ".join(reasons[:SHOWN]) + (f"; and {len(reasons) - SHOWN} more" if len(reasons) > SHOWN else "")
    protocol = f" with protocol {model.protocol_version}" if model.protocol_version else ""
    message = f"no runtime supports model format {described(model)}{protocol}"
    return finding(unit, NONE_FITS, message, (*component.implementation, "modelFormat"), shown or "the catalog is empty")


def as_annotated(runtime: Runtime, unit: Unit, env: Env) -> Runtime:
    """The runtime with the annotations that KServe looks at.

    After an automatic choice KServe reads them by name once more, so a ServingRuntime of the same name in the
    namespace gives its annotations to a ClusterServingRuntime. KServe: components/predictor.go, reconcileModel
    """
    found = env.catalog.find(unit.namespace, runtime.name)
    return runtime if found is None or found is runtime else replace(runtime, annotations=found.annotations)


def with_runtime(component: Component, runtime: Runtime, intent: RuntimeIntent, defaults: ServerDefaults) -> Component:
    """The component with its runtime, its protocol, and the model's container as the runtime's defaults leave it."""
    return replace(
        component,
        runtime=runtime,
        protocol=defaults.protocol,
        intents=(*component.intents, replace(intent, container=defaults.container)),
    )


def with_labels(component: Component, added: dict[str, str]) -> Component:
    """The component with labels that a runtime gave to the service; its own labels stay stronger."""
    origin = Origin(Layer.KSERVE_DEFAULT, "choose_runtime")
    labels = component.labels
    for key, value in sorted(added.items()):
        if key not in component.extension.labels:
            labels = labels.put((key,), value, origin)
    return replace(component, labels=labels)
