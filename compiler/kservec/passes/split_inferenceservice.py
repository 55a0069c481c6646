"""split_inferenceservice: an InferenceService becomes components, each a pod and what is wanted of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.intents import ExposeIntent, ModelIntent, ModelSource
from kservec.core.names import MODEL_PATH, explainer_name, predictor_name, transformer_name
from kservec.core.pods.containers import set_variable
from kservec.core.records import evolve
from kservec.core.serving.arguments import Facts, art_container, explainer_arguments, transformer_arguments
from kservec.core.serving.predictor import predictor_component
from kservec.core.serving.written import Written, bare_component, custom_model
from kservec.core.tree import Concat, Layer, Origin, Tree
from kservec.core.unit import Component, Role, Step
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Unit
    from kservec.spec.inferenceservice import ComponentExtension, ExplainerSpec, TransformerSpec

BY = "split_inferenceservice"
PREDICTOR: Path = ("spec", "predictor")
TRANSFORMER: Path = ("spec", "transformer")
EXPLAINER: Path = ("spec", "explainer")


def split_inferenceservice(unit: Unit, env: Env) -> Step:
    """Make the components of an InferenceService.

    Takes:   nothing
    Writes:  components: predictor, transformer, explainer; the whole unit's ExposeIntent
    Reports: nothing; what the webhooks would refuse was reported before
    KServe:  controller.go, Reconcile; components/{predictor,transformer,explainer}.go, Reconcile
    """
    spec = unit.spec_as(InferenceService).spec
    components = [split_predictor(unit, env)]
    if spec.transformer is not None:
        components.append(split_transformer(unit, spec.transformer, env))
    if spec.explainer is not None:
        components.append(split_explainer(unit, spec.explainer, env))
    exposed = ExposeIntent(origin=unit.source.origin("metadata", "name"))
    return Step(evolve(unit, components=tuple(components), intents=(*unit.intents, exposed)))


def facts_of(unit: Unit, extension: ComponentExtension) -> Facts:
    """What the arguments of a transformer or explainer say of the service."""
    host = f"{predictor_name(unit.name, unit.spec_as(InferenceService).spec.predictor.name)}.{unit.namespace}"
    return Facts(unit.name, host, extension.container_concurrency)


def split_predictor(unit: Unit, env: Env) -> Component:
    """The predictor."""
    spec = unit.spec_as(InferenceService).spec.predictor
    name = predictor_name(unit.name, spec.name)
    return predictor_component(Written(unit=unit, role=Role.PREDICTOR, name=name, spec=spec, path=PREDICTOR), env)


def split_transformer(unit: Unit, spec: TransformerSpec, env: Env) -> Component:
    """The transformer: the user's containers, the first of which is told where the predictor is."""
    written = Written(unit=unit, role=Role.TRANSFORMER, name=transformer_name(unit.name), spec=spec, path=TRANSFORMER)
    component = bare_component(written, env)
    containers = spec.containers
    added = transformer_arguments(containers[0].get("args") or [], facts_of(unit, spec))
    pod = with_arguments(component.pod, added)
    pod = set_variable(
        pod, containers[0]["name"], "INFERENCE_SERVICE_NAME", unit.name, Origin(Layer.KSERVE_DEFAULT, BY)
    )
    intents = (*component.intents, *custom_model(written))
    return evolve(component, pod=pod, intents=intents)


def with_arguments(pod: Tree, added: list[str]) -> Tree:
    """A pod whose first container gets more arguments after its own."""
    first = pod.value["containers"][0]
    own = list(first.get("args") or [])
    if not added:
        return pod
    containers = [{**first, "args": [*own, *added]}, *pod.value["containers"][1:]]
    origin = Origin(Layer.KSERVE_DEFAULT, BY)
    changed = pod.put(("containers",), containers, pod.sub("containers"))
    kept = pod.sub("containers", first.get("name", 0), "args")
    return changed.note(("containers", first.get("name", 0), "args"), Concat(len(own), kept, origin))


def split_explainer(unit: Unit, spec: ExplainerSpec, env: Env) -> Component:
    """The explainer: ART, or the user's containers."""
    written = Written(unit=unit, role=Role.EXPLAINER, name=explainer_name(unit.name), spec=spec, path=EXPLAINER)
    component = bare_component(written, env)
    art, facts = spec.art, facts_of(unit, spec)
    if art is None:
        added = explainer_arguments(spec.containers[0].get("args") or [], facts)
        intents = (*component.intents, *custom_model(written))
        pod = with_arguments(component.pod, added)
        return evolve(component, pod=pod, intents=intents)
    container = art_container(art, facts, env.platform.explainers.art.image)
    at = unit.source.origin(*EXPLAINER, "art")
    pod = component.pod.put(("containers",), [container, *spec.containers[1:]], at)
    pod = pod.note(("containers", container["name"]), at)
    if own := art.rest.get("args"):
        theirs = unit.source.origin(*EXPLAINER, "art", "args")
        made = len(container["args"]) - 2 * len(own)
        pod = pod.note(("containers", container["name"], "args"), Concat(made, at, Concat(len(own), theirs, theirs)))
    intents = component.intents
    if art.storage_uri:
        origin = unit.source.origin(*EXPLAINER, "art", "storageUri")
        source = ModelSource(uri=art.storage_uri, mount_path=MODEL_PATH, origin=origin)
        intents = (*intents, ModelIntent(origin=origin, sources=(source,)))
    return evolve(component, pod=pod, intents=intents)
