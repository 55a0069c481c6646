"""Runtime choice: the serving runtime of one model predictor, and what its kind of server defaults.

Decides which runtime a predictor gets, or why it gets none. Must not know what becomes of the pod.
KServe: components/predictor.go, reconcileModel
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Needed, Reject, Severity
from kservec.core.intents import ParallelIntent, RuntimeIntent
from kservec.core.listing import listed, listed_near
from kservec.core.records import evolve
from kservec.core.serving.runtime_defaults import runtime_defaults
from kservec.core.serving.selection import Candidate, consider, first_fitting, format_label, rivals, supports_protocol
from kservec.core.spelling import closest, meant_name
from kservec.core.tree import Layer, Origin
from kservec.core.unit import finding
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit
    from kservec.spec.inferenceservice import ModelSpec

NOT_FOUND = Code(
    "runtime/not-found",
    Severity.ERROR,
    "no runtime of that name",
    "`model.runtime` names neither a ServingRuntime of the service's namespace nor a ClusterServingRuntime. An empty "
    "name is a name as well: KServe chooses a runtime by the format only where the field is left out.",
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
    "No runtime of the catalog selects itself for the model's format, version and protocol. Name one in "
    "`model.runtime`, or add a runtime that lists the format with `autoSelect: true`.",
)
AMBIGUOUS = Code(
    "runtime/ambiguous",
    Severity.WARNING,
    "several runtimes fit equally well",
    "Of runtimes with the same priority and protocols KServe takes the one that was created last, and files do not say "
    "when that was: here the first by name is taken. Name the runtime in `model.runtime`, or give the runtimes "
    "different priorities for the format.",
)
NO_FORMAT = Code(
    "runtime/no-format",
    Severity.ERROR,
    "a model without a format",
    "`model.modelFormat.name` says what a runtime must be able to serve, whether one is named or not.",
)
SHOWN = 3


def chosen(unit: Unit, component: Component, model: ModelSpec, env: Env) -> Runtime:
    """The runtime that the model names, or the first that selects itself.

    Raises:
        Reject: none fits, or the model has no format.
    """
    if not model.model_format.name:
        remedy = "add modelFormat: {name: ...}; `kservec runtimes` lists the formats that are served"
        message = f"the model of {unit.ref} has no modelFormat"
        raise Reject(finding(unit, NO_FORMAT, message, component.implementation, remedy))
    if model.runtime is not None:
        return named_runtime(unit, component, model, env)
    multi_node = bool(component.peek(ParallelIntent))
    fitting = first_fitting(model, unit.namespace, env.catalog, multi_node=multi_node)
    if fitting is None:
        candidates = consider(model, unit.namespace, env.catalog, multi_node=multi_node)
        raise Reject(none_fits(unit, component, model, candidates))
    return fitting


def ambiguities(unit: Unit, component: Component, env: Env) -> Iterator[Diagnostic]:
    """The warning about a runtime that was chosen for its name alone."""
    for intent in component.peek(RuntimeIntent):
        model, runtime = intent.model, component.runtime
        if model.runtime is not None or runtime is None:
            continue
        others = rivals(runtime, model, env.catalog, multi_node=bool(component.peek(ParallelIntent)))
        if others:
            names = listed(r.name for r in others)
            message = f"the runtimes {runtime.name}, {names} fit equally well; the first by name is taken"
            place = (*component.implementation, "modelFormat")
            yield finding(unit, AMBIGUOUS, message, place, f"write runtime: {runtime.name}, or give them priorities")


def named_runtime(unit: Unit, component: Component, model: ModelSpec, env: Env) -> Runtime:
    """The runtime of the name that the model gives, if it will serve the model.

    Raises:
        Reject: there is none of that name, or it is disabled, or it does not serve the protocol or the format.
    """
    at = component.implementation
    name = model.runtime or ""
    runtime = env.catalog.find(unit.namespace, name)
    if runtime is None:
        usable = [r for r in env.catalog.runtimes if r.namespace in ("", unit.namespace)]
        remedy = runtimes_instead(name, model, usable)
        message = f"there is no ServingRuntime in namespace {unit.namespace} and no ClusterServingRuntime named {name}"
        if not name:
            message = "the name of the runtime is empty: KServe looks for a runtime of that name, and there is none"
        found = finding(unit, NOT_FOUND, message, (*at, "runtime"), remedy)
        raise Reject(evolve(found, rests_on=runtimes_needed(unit, name) if name else ()))
    if runtime.spec.disabled:
        message = f"runtime {name} is disabled"
        raise Reject(finding(unit, DISABLED, message, (*at, "runtime"), "enable it, or name another runtime"))
    if not supports_protocol(runtime, model.protocol_version or ""):
        spoken = ", ".join(map(visible, runtime.spec.protocol_versions))
        message = f"runtime {name} does not support protocol version {model.protocol_version}"
        remedy = f"it supports {spoken}{canary_hint(component)}"
        raise Reject(finding(unit, PROTOCOL, message, (*at, "protocolVersion"), remedy))
    if format_label(model) not in runtime.labels:
        served = listed_near(format_label(model), runtime.labels, "kservec runtimes")
        near = meant_format(model, (runtime,))
        hint = near if near.endswith("?") else ""
        message = f"runtime {name} does not support model format {described(model)}"
        remedy = f"{hint} it supports {served or 'no format'}{canary_hint(component)}".strip()
        raise Reject(finding(unit, FORMAT, message, (*at, "modelFormat"), remedy))
    return runtime


def runtimes_instead(name: str, model: ModelSpec, usable: Sequence[Runtime]) -> str:
    """What to write for the name of no runtime: the one that was meant, else those that serve the model's format."""
    if not name:
        return "leave runtime out to have one chosen by the format of the model, or name one"
    known = sorted({r.name for r in usable})
    meant = meant_name(name, known)
    if meant is not None:
        return f"did you mean {meant}?"
    serving = sorted({r.name for r in usable if not r.spec.disabled and format_label(model) in r.labels})
    if serving:
        return f"runtimes that serve {described(model)}: {listed_near(name, serving, 'kservec runtimes')}"
    return f"known runtimes: {listed_near(name, known, 'kservec runtimes') or 'none'}"


def canary_hint(component: Component) -> str:
    """What to know about the runtime of a canary."""
    return "; a canary keeps the stable predictor's runtime unless it names its own" if component.canary else ""


def described(model: ModelSpec) -> str:
    """A model's format in words."""
    wanted = model.model_format
    return f"{wanted.name} version {visible(wanted.version)}" if wanted.version is not None else wanted.name


def none_fits(unit: Unit, component: Component, model: ModelSpec, candidates: list[Candidate]) -> Diagnostic:
    """The diagnostic that tells, runtime by runtime, why none was chosen."""
    near = [c for c in candidates if not c.refusal.startswith("does not list")]
    others = [] if near else [c.runtime for c in candidates if not c.runtime.spec.disabled]
    hint = meant_format(model, others) or (formats_served(model, others) if len(candidates) > SHOWN else "")
    reasons = (
        [hint] if hint else [f"{c.runtime.name} {c.refusal}{protocol_to_ask(c, model)}" for c in near or candidates]
    )
    shown = "; ".join(reasons[:SHOWN]) + (f"; and {len(reasons) - SHOWN} more" if len(reasons) > SHOWN else "")
    protocol = f" with protocol {model.protocol_version}" if model.protocol_version else ""
    message = f"no runtime supports model format {described(model)}{protocol}"
    place = (*component.implementation, "modelFormat")
    found = finding(unit, NONE_FITS, message, place, shown or "the catalog is empty")
    return evolve(found, rests_on=runtimes_needed(unit))


def protocol_to_ask(candidate: Candidate, model: ModelSpec) -> str:
    """What to write for a runtime that a model does not get because it names no protocol; empty for others."""
    spoken = candidate.runtime.spec.protocol_versions
    asks = candidate.refusal.startswith("speaks") and not model.protocol_version
    return f" (write protocolVersion: {spoken[0]})" if asks else ""


def meant_format(model: ModelSpec, runtimes: Iterable[Runtime]) -> str:
    """What to write for a format that no runtime lists: a name that is near, or a version; empty if nothing is near."""
    wanted = model.model_format
    served = [f for r in runtimes for f in r.spec.supported_model_formats]
    versions = sorted({f.version for f in served if f.name == wanted.name and f.version is not None})
    if any(f.name == wanted.name for f in served):
        if wanted.version is None or wanted.version in versions:
            return ""
        if not versions:
            return f"no runtime names a version of {wanted.name}: leave it out"
        return f"versions of {wanted.name} that are served are {', '.join(versions)}; without one, any will do"
    meant = closest(wanted.name, {f.name for f in served})
    return f"did you mean {meant}?" if meant is not None else ""


def formats_served(model: ModelSpec, runtimes: Iterable[Runtime]) -> str:
    """The formats that runtimes list, those first that are most like the model's; empty if they list none."""
    served = sorted({f.name for r in runtimes for f in r.spec.supported_model_formats})
    few = listed_near(model.model_format.name, served, "kservec runtimes")
    return f"formats that are served are {few}" if few else ""


def runtimes_needed(unit: Unit, name: str = "") -> tuple[Needed, ...]:
    """The runtimes of a name, or any, that a service can use."""
    return Needed("ServingRuntime", unit.namespace, name), Needed("ClusterServingRuntime", "", name)


def as_annotated(runtime: Runtime, unit: Unit, env: Env) -> Runtime:
    """The runtime with the annotations that KServe looks at.

    After an automatic choice KServe reads them by name once more, so a ServingRuntime of the same name in the
    namespace gives its annotations to a ClusterServingRuntime. KServe: components/predictor.go, reconcileModel
    """
    found = env.catalog.find(unit.namespace, runtime.name)
    return runtime if found is None or found is runtime else evolve(runtime, annotations=found.annotations)


def with_runtime(unit: Unit, component: Component, env: Env) -> tuple[Component, Mapping[str, str]]:
    """The component with its runtime, and the labels that this gives to the service.

    The model's container, as the runtime's defaults leave it, waits in the RuntimeIntent for merge_pods.
    """
    intents = component.peek(RuntimeIntent)
    if not intents:
        return component, {}
    intent = intents[0]
    runtime = chosen(unit, component, intent.model, env)
    defaults = runtime_defaults(as_annotated(runtime, unit, env), intent.model, intent.container, unit.name)
    if defaults.container is not intent.container:
        intent = evolve(intent, container=defaults.container)
    others = [i for i in component.intents if not isinstance(i, RuntimeIntent)]
    waiting = (*others, intent)
    return evolve(component, runtime=runtime, protocol=defaults.protocol, intents=waiting), defaults.labels


def with_labels(component: Component, added: dict[str, str]) -> Component:
    """The component with labels that a runtime gave to the service; its own labels stay stronger."""
    if not added:
        return component
    origin = Origin(Layer.KSERVE_DEFAULT, "choose_runtime")
    labels = component.labels
    for key, value in sorted(added.items()):
        if key not in component.extension.labels:
            labels = labels.put((key,), value, origin)
    return evolve(component, labels=labels)
