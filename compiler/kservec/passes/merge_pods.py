"""merge_pods: the runtime's pod and the user's become one; placeholders, image tag and service name are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.golang.placeholders import TemplateError, fill_container, fill_metadata, with_names
from kservec.core.intents import ParallelIntent, RuntimeIntent
from kservec.core.names import KSERVE_CONTAINER, TRANSFORMER_CONTAINER, WORKER_CONTAINER
from kservec.core.pods.container_names import misnamed
from kservec.core.pods.containers import find, set_variable, uses_nvidia_gpu
from kservec.core.pods.strategic import merge_container, merge_pod_spec
from kservec.core.records import evolve
from kservec.core.serving.images import tagged_image
from kservec.core.serving.internal_annotations import settled
from kservec.core.serving.metadata import passed_on
from kservec.core.serving.runtime_defaults import server_type
from kservec.core.serving.workers import with_workers
from kservec.core.tree import Concat, Layer, Layers, Origin, Tree
from kservec.core.unit import Role, Step, finding
from kservec.core.validity.merge_findings import left_placeholders, merge_findings, missing_metadata

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NO_CONTAINERS = Code(
    "runtime/no-containers",
    Severity.ERROR,
    "the runtime has no container to run",
    "A runtime must have a container named kserve-container: the model's settings are laid over it.",
)
PLACEHOLDER = Code(
    "runtime/placeholder",
    Severity.ERROR,
    "a placeholder cannot be filled in",
    "Texts between {{ and }} in the serving container are Go templates over the service's metadata: .Name, .Namespace, "
    ".Labels.key, .Annotations.key.",
)
BY = "merge_pods"
DEFAULTED = Origin(Layer.KSERVE_DEFAULT, BY)
SERVICE_NAME = "INFERENCE_SERVICE_NAME"


def merge_pods(unit: Unit, env: Env) -> Step:
    """Resolve every component's pod and final metadata.

    Takes:   RuntimeIntent
    Writes:  pod, worker_pod, workers, labels, annotations; what annotations say about other intents
    Reports: runtime/no-containers, runtime/placeholder*, runtime/argument-twice, runtime/version-of-digest,
             multi-node/runtime-without-workers, multi-node/worker-container-name
    KServe:  components/predictor.go, buildPredictorResources and buildPodSpec
    """
    merges = [merged(unit, c, env) for c in unit.components]
    found = dict.fromkeys(d for _, findings in merges for d in findings)
    return Step(unit.with_components(tuple(settled(c) for c, _ in merges)), tuple(found))


def merged(unit: Unit, component: Component, env: Env) -> tuple[Component, tuple[Diagnostic, ...]]:
    """One component with its runtime merged in, if it has one, and what there is to say about the merge."""
    intents, component = component.take(RuntimeIntent)
    if component.role is not Role.PREDICTOR:
        return component, ()
    runtime = component.runtime
    if runtime is None or not intents:
        return evolve(component, pod=named(kserve_container_first(component.pod), unit.name)), ()
    pod, found = runtime_pod(unit, component, runtime, intents[0])
    for parallel in component.peek(ParallelIntent):
        component = with_workers(unit, component, runtime, parallel)
        if component.worker_pod is not None:
            worker_pod = beside_filled(unit, component.worker_pod, (WORKER_CONTAINER,))
            found = (*found, *left_placeholders(unit, worker_pod))
            component = evolve(component, worker_pod=worker_pod)
    labels, annotations = runtime_metadata(component, runtime, env)
    return evolve(component, pod=named(pod, unit.name), labels=labels, annotations=annotations), found


def named(pod: Tree, service: str) -> Tree:
    """The pod with the service's name as a variable in every container."""
    for name in dict.fromkeys(c["name"] for c in pod.value["containers"]):
        pod = set_variable(pod, name, SERVICE_NAME, service, DEFAULTED)
    return pod


def kserve_container_first(pod: Tree) -> Tree:
    """A custom predictor's pod with the serving container in front.

    KServe overwrites the first container with it, which loses a collocated transformer that was written first.
    """
    containers = pod.value["containers"]
    serving = find(containers, KSERVE_CONTAINER)
    if serving is None or serving is containers[0]:
        return pod
    others = [c for c in containers if c is not serving]
    return pod.put(("containers",), [serving, *others], pod.sub("containers"))


def runtime_metadata(component: Component, runtime: Runtime, env: Env) -> tuple[Tree, Tree]:
    """The labels and annotations of a component, each with those of its runtime below them."""
    labels = (runtime.spec.labels, runtime.origin("spec", "labels"))
    annotations = (passed_on(runtime.spec.annotations, env.platform), runtime.origin("spec", "annotations"))
    return (
        Tree.union(labels, (component.labels.value, component.labels)),
        Tree.union(annotations, (component.annotations.value, component.annotations)),
    )


def runtime_pod(
    unit: Unit, component: Component, runtime: Runtime, intent: RuntimeIntent
) -> tuple[Tree, tuple[Diagnostic, ...]]:
    """The merged pod of a model predictor, and what there is to say about it.

    Raises:
        Reject: the runtime has no container to run, or a placeholder cannot be filled in.
    """
    theirs = runtime.pod
    ours = component.pod.value
    if component.server_labels:
        unit = evolve(unit, labels={**unit.labels, **component.server_labels})
    serving = find(theirs.get("containers") or (), KSERVE_CONTAINER)
    if serving is None:
        message = f"runtime {runtime.name} has no container named {KSERVE_CONTAINER}"
        place = runtime.span("spec", "containers")
        slip = next((name for _, name, _ in misnamed(theirs.get("containers") or (), (KSERVE_CONTAINER,))), "")
        remedy = f"call its container {slip!r} so" if slip else "correct the runtime, or name another"
        raise Reject(finding(unit, NO_CONTAINERS, message, place, remedy))
    value = merge_pod_spec(theirs, {k: v for k, v in ours.items() if k != "containers"})
    containers = [merge_container(serving, intent.container), *beside(theirs, ours)]
    layers = Layers(((ours, component.pod), (theirs, runtime.origin("spec"))))
    pod = Tree.of({**value, "containers": containers}, layers)
    pod = with_origins(pod, runtime, intent, serving)
    found = tuple(merge_findings(unit, pod, runtime, intent))
    main = [c["name"] for c in containers[:2] if c["name"] in (containers[0]["name"], TRANSFORMER_CONTAINER)]
    for name in main:
        pod, more = rendered(unit, pod, name)
        found = (*found, *more)
    pod = beside_filled(unit, pod, [c["name"] for c in theirs["containers"] if c["name"] not in main])
    return with_image(pod, runtime, intent), (*found, *left_placeholders(unit, pod, main))


def beside(theirs: Json, ours: Json) -> list[Json]:
    """The containers beside the serving one: the collocated transformer, then the runtime's, then the user's."""
    transformer = transformer_container(theirs, ours)
    named = (KSERVE_CONTAINER, TRANSFORMER_CONTAINER)
    return [
        *([transformer] if transformer is not None else []),
        *(c for c in theirs["containers"] if c["name"] not in named),
        *(c for c in ours.get("containers") or () if c["name"] != TRANSFORMER_CONTAINER),
    ]


def transformer_container(theirs: Json, ours: Json) -> Json | None:
    """The collocated transformer: the user's laid over the runtime's, or whichever there is."""
    base = find(theirs.get("containers") or (), TRANSFORMER_CONTAINER)
    own = find(ours.get("containers") or (), TRANSFORMER_CONTAINER)
    if base is not None and own is not None:
        return merge_container(base, own)
    return own if base is None else base


def with_origins(pod: Tree, runtime: Runtime, intent: RuntimeIntent, serving: Json) -> Tree:
    """The pod with notes of where the serving container's values come from."""
    at = ("containers", pod.value["containers"][0]["name"])
    place = ("spec", "containers", runtime.pod["containers"].index(serving))
    own = intent.own_container
    pod = pod.note(at, Layers(((own.value, own), (serving, runtime.origin(*place)))))
    args = serving.get("args") or []
    if own.value.get("args"):
        pod = pod.note((*at, "args"), Concat(len(args), runtime.origin(*place, "args"), own.sub("args")))
    return pod


def rendered(unit: Unit, pod: Tree, name: str) -> tuple[Tree, tuple[Diagnostic, ...]]:
    """The pod with the placeholders of one container filled in from the service's metadata, and what lacks there.

    Raises:
        Reject: a placeholder cannot be filled in.
    """
    at = ("containers", name)
    container = pod.get(*at)
    filled, has_others = with_names(container, unit.metadata)
    found = tuple(missing_metadata(unit, pod, name)) if has_others else ()
    try:
        filled = fill_container(container, unit.metadata) if has_others else filled
    except TemplateError as error:
        message = f"a placeholder in container {name} of {unit.ref} cannot be filled in: {error}"
        place = pod.span((*at, *error.where))
        raise Reject(finding(unit, PLACEHOLDER, message, place, "correct the text between {{ and }}")) from None
    return pod if filled is container else pod.put(at, filled, pod.sub(*at)), found


def beside_filled(unit: Unit, pod: Tree, names: Sequence[str]) -> Tree:
    """The pod with the placeholders of the runtime's further containers filled in, where KServe leaves them."""
    for container in pod.value["containers"]:
        if container["name"] not in names:
            continue
        filled = fill_metadata(container, unit.metadata)
        if filled is not container:
            at = ("containers", container["name"])
            pod = pod.put(at, filled, pod.sub(*at))
    return pod


def with_image(pod: Tree, runtime: Runtime, intent: RuntimeIntent) -> Tree:
    """The pod with the final tag on the serving container's image."""
    container = pod.value["containers"][0]
    at = ("containers", container["name"], "image")
    server, version = server_type(runtime, empty_counts=False), intent.model.runtime_version
    image = container.get("image") or ""
    tagged = tagged_image(image, version, server, gpu=uses_nvidia_gpu(container))
    if tagged == image:
        return pod
    asked = intent.place("runtimeVersion")._replace(by=BY)
    return pod.put(at, tagged, asked if version is not None else DEFAULTED)
