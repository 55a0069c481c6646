"""split_canaries: each canary of `spec.canary` becomes a predictor, a copy of the stable one with overrides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.intents import CanaryIntent, ModelIntent, RuntimeIntent, ScaleIntent
from kservec.core.names import KSERVE_CONTAINER, predictor_name
from kservec.core.records import evolve
from kservec.core.serving.canary import MODEL, added_variables, canary_of, resolved_predictor
from kservec.core.serving.predictor import predictor_component
from kservec.core.serving.runtime_choice import with_labels, with_runtime
from kservec.core.serving.written import Written
from kservec.core.tree import lookup
from kservec.core.unit import Role, Step, finding
from kservec.spec.inferenceservice import FRAMEWORKS, InferenceService

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.serving.canary import Canary
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

TWO_PLACES = Code(
    "canary/two-places",
    Severity.ERROR,
    "a canary whose model lies in two places",
    "A canary inherits what it does not override. One that names its model by storageUri while the stable predictor "
    "does by storage.path, or the other way round, ends up with both. KServe refuses the two together.",
)
CONTAINER_NAME = Code(
    "canary/container-name",
    Severity.ERROR,
    "a canary whose container cannot get the model",
    "The name in a canary's `model` becomes the name of the container, and models are mounted into the container "
    "kserve-container only. KServe's schema demands a name there, so write that one.",
)
PAST_AGENT = Code(
    "canary/past-agent",
    Severity.WARNING,
    "a canary whose requests do not pass the agent",
    "The pods of a canary inherit the agent that logs or batches, but KServe's Service for them leads straight to the "
    "model server. What the canary answers is not logged, and its requests are not batched.",
)
STABLE_LOWERED = Code(
    "canary/stable-lowered",
    Severity.NOTE,
    "the stable predictor has fewer replicas while a canary runs",
    "Canaries take replicas over from the stable predictor, so that the service as a whole stays as large as "
    "minReplicas says. KServe does so once a canary is ready; a compiler takes it for ready. So let a canary start "
    "without traffic, and give it a share when its pods run.",
)
STORING: Final = frozenset({"name", "storageUri", "storage", "confidential"})
"""The fields of a framework that count in a canary. Its name does not, but KServe's schema demands it."""


def split_canaries(unit: Unit, env: Env) -> Step:
    """Make a component of each canary, and leave it some of the stable predictor's replicas.

    Takes:   nothing
    Writes:  components of canaries, each with a CanaryIntent; the ScaleIntent of the stable predictor
    Reports: canary/two-places, canary/container-name, canary/past-agent, canary/stable-lowered, spec/without-effect; of
             the canaries' runtimes what choose_runtime reports
    KServe:  components/predictor.go, reconcileCanaryDeployments
    """
    spec = unit.spec_as(InferenceService).spec
    stable = unit.component(Role.PREDICTOR) if spec.canary else None
    if stable is None:
        return Step(unit)
    inherited = resolved_predictor(spec.predictor, stable)
    added = added_variables(stable)
    canaries = tuple(canary_of(written, inherited, i) for i, written in enumerate(spec.canary))
    made = tuple(without_earlier(c, added) for c in canary_components(unit, inherited, canaries, env))
    lowered, found = with_lowered_replicas(unit, stable, sum(c.replicas for c in canaries))
    others = tuple(c for c in unit.components if c is not stable)
    warnings = tuple(w for canary in canaries for w in unheeded(unit, canary))
    return Step(unit.with_components((lowered, *others, *made)), (*found, *warnings))


def without_earlier(component: Component, added: frozenset[str]) -> Component:
    """The canary without inherited variables that its own runtime's defaults have added once more.

    KServe leaves both. The last counts, and two of a name are refused by server-side apply.
    """
    intents, rest = component.take(RuntimeIntent)
    env = intents[0].container.get("env") or [] if intents else []
    last = {entry["name"]: i for i, entry in enumerate(env)}
    kept = [entry for i, entry in enumerate(env) if entry["name"] not in added or last[entry["name"]] == i]
    if len(kept) == len(env):
        return component
    cleaned = evolve(intents[0], container={**intents[0].container, "env": kept})
    return evolve(rest, intents=(*rest.intents, cleaned))


def canary_components(unit: Unit, inherited: Json, canaries: Sequence[Canary], env: Env) -> list[Component]:
    """The components of all canaries.

    Raises:
        Reject: some of them cannot be made; what is wrong with each is reported.
    """
    made: list[Component] = []
    refused: list[Diagnostic] = []
    for canary in canaries:
        try:
            made.append(canary_component(unit, inherited, canary, env))
        except Reject as reject:
            refused += reject.diagnostics
    if refused:
        raise Reject(*refused)
    return made


def canary_component(unit: Unit, inherited: Json, canary: Canary, env: Env) -> Component:
    """The component of a canary. Of the fields that all components have only the number of replicas and metadata count.

    Raises:
        Reject: no runtime serves its model, its model lies in two places, or cannot be mounted.
    """
    check_place(unit, canary)
    name = predictor_name(unit.name, canary.name)
    written = Written(
        unit=unit,
        role=Role.PREDICTOR,
        name=name,
        spec=canary.spec,
        path=canary.path,
        inherited=(canary.own, inherited, ("spec", "predictor")),
    )
    share = CanaryIntent(
        origin=unit.source.origin(*canary.path[:-1], "trafficPercent"), percent=canary.percent, name=canary.name
    )
    bare = evolve(predictor_component(written, env), canary=canary.name, extension=canary.extension)
    component, labels = with_runtime(unit, evolve(bare, intents=(*bare.intents, share)), env)
    return evolve(with_container_name(unit, with_labels(component, dict(labels))), server_labels=labels)


def with_container_name(unit: Unit, component: Component) -> Component:
    """The canary whose container is called as its `model` says. The stable predictor's cannot have a name.

    Raises:
        Reject: a model would have to be mounted into a container of another name than KServe's.
    """
    intents, rest = component.take(RuntimeIntent)
    name = intents[0].model.name if intents else ""
    if name in ("", KSERVE_CONTAINER):
        return component
    if component.peek(ModelIntent):
        message = f"canary {component.canary} calls its container {name}, where its model is not mounted"
        remedy = f"write name: {KSERVE_CONTAINER}"
        raise Reject(finding(unit, CONTAINER_NAME, message, (*component.implementation, "name"), remedy))
    named = evolve(intents[0], container={**intents[0].container, "name": name})
    return evolve(rest, intents=(*rest.intents, named))


def check_place(unit: Unit, canary: Canary) -> None:
    """Check that what a canary inherits does not say a second time where its model lies.

    Raises:
        Reject: it does.
    """
    field = next((name for name, _ in canary.spec.frameworks), MODEL)
    model = getattr(canary.spec, field)
    if model is None or model.storage_uri is None or model.storage is None or model.storage.path is None:
        return
    own = lookup(canary.own, (field, "storageUri")), lookup(canary.own, (field, "storage", "path"))
    if None not in own:
        return
    here, there = ("storageUri", "storage.path") if own[0] is not None else ("storage.path", "storageUri")
    message = f"canary {canary.name} has {here}, and inherits {there} from the stable predictor"
    remedy = f"name its model by {there} too, or the stable predictor's by {here}"
    raise Reject(finding(unit, TWO_PLACES, message, (*canary.path, field, *here.split(".")), remedy))


def with_lowered_replicas(unit: Unit, stable: Component, taken: int) -> tuple[Component, tuple[Diagnostic, ...]]:
    """The stable predictor without the replicas that its canaries take over, at least one.

    Canaries are taken for ready. KServe: adjustStableMinReplicasForCanaries
    """
    intents, rest = stable.take(ScaleIntent)
    least = intents[0].min_replicas if intents else None
    if not taken or least is None:
        return stable, ()
    lower = max(least - taken, 1)
    found: tuple[Diagnostic, ...] = ()
    if lower < least:
        message = f"the stable predictor keeps at least {lower} of {least} replicas, since its canaries have {taken}"
        remedy = "start a new canary at trafficPercent 0, and raise it when the pods run"
        found = (finding(unit, STABLE_LOWERED, message, (*stable.path, "minReplicas"), remedy),)
    return evolve(rest, intents=(*rest.intents, evolve(intents[0], min_replicas=lower))), found


def unheeded(unit: Unit, canary: Canary) -> Iterator[Diagnostic]:
    """Warnings about what a canary has, of its own or inherited, and what does not work there as one might think."""
    for field, what in (("logger", "logged"), ("batcher", "batched")):
        if getattr(canary.spec, field) is not None and field not in canary.own:
            message = f"requests to canary {canary.name} are not {what}: its Service leads past the agent"
            remedy = f"compare stable and canary by their metrics, or remove the {field} while the canary runs"
            yield finding(unit, PAST_AGENT, message, canary.path, remedy)
    for field in (f for f in FRAMEWORKS if f in canary.own):
        for name in sorted(canary.own[field].keys() - STORING):
            reason = "of a canary's framework only the place of the model counts; all else comes from the stable one"
            yield without_effect(unit, (*canary.path, field, name), reason, "write `model` with a modelFormat instead")
    if canary.own.get("storageUris") and not canary.spec.storage_uris:
        reason = "the canary names its model in another place too"
        yield without_effect(unit, (*canary.path, "storageUris"), reason, "keep one of the two")
