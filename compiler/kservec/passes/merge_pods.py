"""merge_pods: the runtime's pod and the user's become one; placeholders, image tag and service name are filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.golang.placeholders import TemplateError, fill_container, fill_metadata, with_names
from kservec.core.intents import ParallelIntent, RuntimeIntent
from kservec.core.names import KSERVE_CONTAINER, TRANSFORMER_CONTAINER, WORKER_CONTAINER
from kservec.core.pods.container_names import misnamed
from kservec.core.pods.containers import find, uses_nvidia_gpu, with_variable
from kservec.core.pods.strategic import merge, merge_container
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
    from kservec.core.serving.runtime_pod import RuntimePod
    from kservec.core.tree import Json, Path, Source
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
    components: list[Component] = []
    found: tuple[Diagnostic, ...] = ()
    for component in unit.components:
        made, more = merged(unit, component, env)
        components.append(settled(made))
        found = (*found, *more)
    return Step(unit.with_components(tuple(components)), tuple(dict.fromkeys(found)))


def merged(unit: Unit, component: Component, env: Env) -> tuple[Component, Sequence[Diagnostic]]:
    """One component with its runtime merged in, if it has one, and what there is to say about the merge."""
    if component.role is not Role.PREDICTOR:
        return component, ()
    intents, runtime = component.peek(RuntimeIntent), component.runtime
    if runtime is None or not intents:
        pod = named(kserve_container_first(component.pod), unit.name)
        return evolve(component.take(RuntimeIntent)[1], pod=pod), ()
    served = runtime.served
    if served is None:
        raise Reject(without_containers(unit, runtime))
    pod, found = merged_pod(unit, component, runtime, served, intents[0])
    for parallel in component.peek(ParallelIntent):
        component = with_workers(unit, component, runtime, parallel)
        if component.worker_pod is not None:
            worker_pod = beside_filled(unit, component.worker_pod, (WORKER_CONTAINER,))
            found = (*found, *left_placeholders(unit, worker_pod))
            component = evolve(component, worker_pod=worker_pod)
    labels, annotations = runtime_metadata(component, runtime, served, env)
    rest = tuple([intent for intent in component.intents if not isinstance(intent, RuntimeIntent)])
    pod = named(pod, unit.name)
    return evolve(component, pod=pod, labels=labels, annotations=annotations, intents=rest), found


def named(pod: Tree, service: str) -> Tree:
    """The pod with the service's name as a variable in every container."""
    containers: list[Json] = []
    for container in pod.value["containers"]:
        containers.append(with_variable(container, SERVICE_NAME, service))
        pod = pod.note(("containers", container["name"], "env", SERVICE_NAME, "value"), DEFAULTED)
    return Tree({**pod.value, "containers": containers}, pod.journal)


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


def runtime_metadata(component: Component, runtime: Runtime, served: RuntimePod, env: Env) -> tuple[Tree, Tree]:
    """The labels and annotations of a component, each with those of its runtime, if it has any, below them."""
    labels, annotations = component.labels, component.annotations
    if runtime.spec.labels:
        labels = Tree.union((runtime.spec.labels, served.labels), (labels.value, labels))
    if runtime.spec.annotations:
        given = passed_on(runtime.spec.annotations, env.platform)
        annotations = Tree.union((given, served.annotations), (annotations.value, annotations))
    return labels, annotations


def without_containers(unit: Unit, runtime: Runtime) -> Diagnostic:
    """The error about a runtime that has no container to run."""
    message = f"runtime {runtime.name} has no container named {KSERVE_CONTAINER}"
    place = runtime.span("spec", "containers")
    slip = next((name for _, name, _ in misnamed(runtime.pod.get("containers") or (), (KSERVE_CONTAINER,))), "")
    remedy = f"call its container {slip!r} so" if slip else "correct the runtime, or name another"
    return finding(unit, NO_CONTAINERS, message, place, remedy)


def merged_pod(
    unit: Unit, component: Component, runtime: Runtime, served: RuntimePod, intent: RuntimeIntent
) -> tuple[Tree, Sequence[Diagnostic]]:
    """The merged pod of a model predictor, and what there is to say about it.

    Raises:
        Reject: a placeholder cannot be filled in.
    """
    if component.server_labels:
        unit = evolve(unit, labels={**unit.labels, **component.server_labels})
    pod = laid_over(component.pod, runtime, served, intent)
    found = merge_findings(unit, pod, runtime, served, intent)
    containers = pod.value["containers"]
    main = [c["name"] for c in containers[:2] if c["name"] in (containers[0]["name"], TRANSFORMER_CONTAINER)]
    for container in containers[: len(main)]:
        made, more = rendered(unit, pod, container, served.plain)
        if made is not container:
            pod = pod.refill(("containers", container["name"]), made)
        found = (*found, *more)
    if len(containers) > len(main):
        pod = beside_filled(unit, pod, [c["name"] for c in runtime.pod["containers"] if c["name"] not in main])
    return with_image(pod, runtime, intent), (*found, *left_placeholders(unit, pod, main))


def laid_over(own: Tree, runtime: Runtime, served: RuntimePod, intent: RuntimeIntent) -> Tree:
    """A component's own pod, and the container of its model, over those of its runtime."""
    ours, container = own.value, merge_container(served.serving, intent.container)
    others = {name: value for name, value in ours.items() if name != "containers"} if "containers" in ours else ours
    settings = merge(served.settings, others)
    at, model = ("containers", container["name"]), intent.own_container
    sources: list[tuple[Path, Source]] = [
        ((), Layers(((ours, own), (runtime.pod, served.pod)))),
        (at, Layers(((model.value, model), (served.serving, served.container)))),
    ]
    if model.value.get("args"):
        count = len(served.serving.get("args") or ())
        sources.append(((*at, "args"), Concat(count, served.args, model.sub("args"))))
    return Tree.built({**settings, "containers": [container, *beside(served, ours)]}, *sources)


def beside(served: RuntimePod, ours: Json) -> Sequence[Json]:
    """The containers beside the serving one: the collocated transformer, then the runtime's, then the user's."""
    own = ours.get("containers") or ()
    transformer = transformer_container(served.transformer, find(own, TRANSFORMER_CONTAINER))
    return [
        *([transformer] if transformer is not None else []),
        *served.others,
        *(c for c in own if c["name"] != TRANSFORMER_CONTAINER),
    ]


def transformer_container(base: Json | None, own: Json | None) -> Json | None:
    """The collocated transformer: the user's laid over the runtime's, or whichever there is."""
    if base is not None and own is not None:
        return merge_container(base, own)
    return own if base is None else base


def rendered(unit: Unit, pod: Tree, container: Json, plain: Json) -> tuple[Json, Sequence[Diagnostic]]:
    """A container of the pod with its placeholders filled in from the service's metadata, and what lacks there.

    `plain` are fields of the runtime's that have none.

    Raises:
        Reject: a placeholder cannot be filled in.
    """
    filled, has_others = with_names(container, unit.metadata, plain)
    if not has_others:
        return filled, ()
    name = container["name"]
    found = tuple(missing_metadata(unit, pod, name))
    try:
        return fill_container(container, unit.metadata), found
    except TemplateError as error:
        from kservec.core.golang.object_templates import every_error  # noqa: PLC0415 - loaded by then

        raise Reject(*[unfilled(unit, pod, name, e) for e in every_error(container, unit.metadata, error)]) from None


def unfilled(unit: Unit, pod: Tree, name: str, error: TemplateError) -> Diagnostic:
    """The error about a placeholder in a container."""
    message = f"a placeholder in container {name} of {unit.ref} cannot be filled in: {error}"
    place = pod.span(("containers", name, *error.where))
    return finding(unit, PLACEHOLDER, message, place, "correct the text between {{ and }}")


def beside_filled(unit: Unit, pod: Tree, names: Sequence[str]) -> Tree:
    """The pod with the placeholders of the runtime's further containers filled in, where KServe leaves them."""
    for container in pod.value["containers"]:
        if container["name"] not in names:
            continue
        filled = fill_metadata(container, unit.metadata)
        if filled is not container:
            pod = pod.refill(("containers", container["name"]), filled)
    return pod


def with_image(pod: Tree, runtime: Runtime, intent: RuntimeIntent) -> Tree:
    """The pod with the final tag on the serving container's image."""
    server, version = server_type(runtime, empty_counts=False), intent.model.runtime_version
    if version is None and not server:
        return pod
    container = pod.value["containers"][0]
    image = container.get("image") or ""
    tagged = tagged_image(image, version, server, gpu=uses_nvidia_gpu(container))
    if tagged == image:
        return pod
    asked = intent.place("runtimeVersion")._replace(by=BY)
    at = ("containers", container["name"], "image")
    return pod.put(at, tagged, asked if version is not None else DEFAULTED)
