"""Workers: the pods beside the head of a predictor that is spread over several nodes.

Decides what such a pod is made of, runtime and spec merged, and its metadata. Must not know how many there are, nor how
they share the work.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.names import GENERATION_LABEL, WORKER_CONTAINER
from kservec.core.pods.containers import find
from kservec.core.pods.strategic import merge_container, merge_pod_spec, omit_empty
from kservec.core.records import evolve
from kservec.core.tree import Concat, Layer, Layers, Origin, Tree
from kservec.core.unit import Workers, finding

if TYPE_CHECKING:
    from kservec.core.catalog import Runtime
    from kservec.core.intents import ParallelIntent
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

NO_WORKERS = Code(
    "multi-node/runtime-without-workers",
    Severity.ERROR,
    "a runtime that cannot be spread over several nodes",
    "The predictor has a workerSpec, and the runtime that `model.runtime` names has none to lay it over. Name a "
    "runtime that has one, or remove the predictor's.",
)
WORKER_CONTAINER_NAME = Code(
    "multi-node/worker-container-name",
    Severity.ERROR,
    "no container named worker-container",
    "The one container of a worker is named worker-container, in the runtime as in the predictor's workerSpec.",
)
NUMBERED = Origin(Layer.KSERVE_DEFAULT, "workers")
WORKER_SPEC = "workerSpec"


def with_workers(unit: Unit, component: Component, runtime: Runtime, intent: ParallelIntent) -> Component:
    """A predictor with the pod and the metadata of its workers.

    The component must have its own labels and annotations still: those that the runtime gives to the head are not for
    the workers, which have some of their own.

    Raises:
        Reject: the runtime is for one node only, or there is no container named worker-container.

    KServe: components/predictor.go, reconcileWorker
    """
    given = runtime.spec.worker_spec
    if given is None:
        message = f"runtime {runtime.name} has no workerSpec, so {unit.ref} cannot have one"
        remedy = "name a runtime with a workerSpec, or remove that of the predictor"
        raise Reject(finding(unit, NO_WORKERS, message, (*component.path, WORKER_SPEC), remedy))
    labels = (given.labels, runtime.origin("spec", WORKER_SPEC, "labels"))
    annotations = (given.annotations, runtime.origin("spec", WORKER_SPEC, "annotations"))
    generation = ({GENERATION_LABEL: unit.generation}, NUMBERED)
    workers = Workers(
        labels=Tree.union(labels, (component.labels.value, component.labels), generation),
        annotations=Tree.union(annotations, (component.annotations.value, component.annotations)),
    )
    return evolve(component, workers=workers, worker_pod=worker_pod(unit, component, runtime, intent))


def worker_pod(unit: Unit, component: Component, runtime: Runtime, intent: ParallelIntent) -> Tree:
    """The pod of a worker: one container, the predictor's laid over the runtime's.

    Raises:
        Reject: there is no container named worker-container.

    KServe: components/predictor.go, multiNodeProcess
    """
    theirs: Json = runtime.pod[WORKER_SPEC]
    ours: Json = omit_empty(intent.worker_spec.rest)
    base = find(theirs.get("containers") or (), WORKER_CONTAINER)
    if base is None:
        message = f"workerSpec of runtime {runtime.name} has no container named {WORKER_CONTAINER}"
        place = runtime.span("spec", WORKER_SPEC, "containers")
        raise Reject(finding(unit, WORKER_CONTAINER_NAME, message, place, "correct the runtime, or name another"))
    own: Json = next(iter(ours.get("containers") or ()), {})
    container = merge_container(base, own)
    if container["name"] != WORKER_CONTAINER:
        message = f"the container of a worker cannot be named {container['name']}"
        path = (*component.path, WORKER_SPEC, "containers", 0, "name")
        raise Reject(finding(unit, WORKER_CONTAINER_NAME, message, path, f"name it {WORKER_CONTAINER}"))
    value = merge_pod_spec(theirs, {k: v for k, v in ours.items() if k != "containers"})
    origin = runtime.origin("spec", WORKER_SPEC)
    pod = Tree.of({**value, "containers": [container]}, Layers(((ours, intent.origin), (theirs, origin))))
    return with_origin_of_args(pod, base, own, (origin, intent.origin))


def with_origin_of_args(pod: Tree, base: Json, own: Json, origins: tuple[Origin, Origin]) -> Tree:
    """The pod with a note of which arguments are the runtime's and which the predictor's."""
    if not base.get("args") or not own.get("args"):
        return pod
    at = ("containers", WORKER_CONTAINER, "args")
    first, second = (o._replace(at=(*o.at, *at)) for o in origins)
    return pod.note(at, Concat(len(base["args"]), first, second))
