"""plan_parallelism: a predictor that is spread over several nodes learns how many, and each node its GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.intents import ModelIntent, ParallelIntent
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.names import (
    EXECUTOR_BACKEND,
    GENERATION_LABEL,
    GPU_RESOURCE_TYPES,
    KSERVE_CONTAINER,
    MODEL_PATH,
    WORKER_CONTAINER,
    head_service_name,
    workers_service_name,
)
from kservec.core.pods.containers import find, set_variable
from kservec.core.pods.gpu_types import GPU_ANNOTATION, annotated_types, gpu_types
from kservec.core.pods.gpus import FIELDS, quantities, requested, type_of, with_gpus
from kservec.core.records import evolve
from kservec.core.serving.parallelism import Parallelism, Sizes, cluster, stage_a_node
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Mode, Step, finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Component, Unit

NEEDS_STANDARD = Code(
    "multi-node/needs-standard-mode",
    Severity.ERROR,
    "several nodes outside Standard mode",
    "Only Standard mode runs workers. In the other modes KServe starts the head alone, which waits for them in vain. "
    "Set the annotation serving.kserve.io/deploymentMode to Standard.",
)
TOO_FEW_GPUS = Code(
    "multi-node/too-few-gpus",
    Severity.ERROR,
    "fewer GPUs than the model is cut into",
    "The model takes pipelineParallelSize times tensorParallelSize GPUs, and the head and the workers together ask for "
    "fewer. Let the containers ask for more, or leave the head's request out: it then gets what the workers lack.",
)
SEVERAL_HEADS = Code(
    "multi-node/several-heads",
    Severity.WARNING,
    "several replicas of a service of several nodes",
    "minReplicas counts heads. All of them answer to the one name by which workers find their head, and there are "
    "workers for one head only, so the others never become ready.",
)
OVERWRITTEN = Code(
    "multi-node/overwritten",
    Severity.WARNING,
    "a value that the plan for several nodes overwrites",
    "KServe writes the number of GPUs and several variables into the head and the workers, whatever stands there. GPUs "
    "count where they stand in `requests`, under a name that KServe itself or the platform's configuration lists.",
)
GENERATION = Code(
    "multi-node/generation",
    Severity.WARNING,
    "the generation of a service of several nodes is taken to be 1",
    "The head and the workers of one version find each other by metadata.generation, which the API server counts. "
    "Without it in the file all versions share their names, and while one rolls out its workers may join the old head. "
    "With --revision-names hash a version is named after its content instead.",
)
BY = "plan_parallelism"
PLANNED = Origin(Layer.KSERVE_DEFAULT, BY)
ONE_HOST = "mp"
"""The executor whose processes share the GPUs of a host; without it nodes are gathered into a cluster."""
DEFAULT_SIZE = 1
PIPELINE, TENSOR = "pipelineParallelSize", "tensorParallelSize"
ATTRIBUTES = {PIPELINE: "pipeline_parallel_size", TENSOR: "tensor_parallel_size"}


class Node(NamedTuple):
    """The pod of one kind of node, the name of the container in it that computes, and the node's annotations."""

    pod: Tree
    name: str
    annotations: Tree

    @property
    def container(self) -> Json:
        """The container that computes."""
        return find(self.pod.value["containers"], self.name)


class Spread(NamedTuple):
    """A predictor that is to be spread: what asks for it, and both kinds of nodes before they know the plan."""

    unit: Unit
    component: Component
    intent: ParallelIntent
    head: Node
    worker: Node
    env: Env


class Variable(NamedTuple):
    """A variable of a container."""

    name: str
    value: str
    origin: Origin = PLANNED


def plan_parallelism(unit: Unit, env: Env) -> Step:
    """Plan the nodes of predictors that have workers, and write the plan into their pods.

    Takes:   ParallelIntent
    Writes:  pod, worker_pod: variables and GPUs; workers.replicas; the label isvc.generation
    Reports: multi-node/needs-standard-mode, multi-node/gpu-annotation, multi-node/too-few-gpus,
             multi-node/several-heads, multi-node/overwritten, multi-node/generation
    KServe:  components/predictor.go, reconcileWorker; reconcilers/deployment/deployment_reconciler.go
    """
    found: list[Diagnostic] = []
    components: list[Component] = []
    for component in unit.components:
        spread = spread_of(unit, component, env)
        if spread is None:
            components.append(component)
            continue
        check(spread)
        plan = plan_of(spread)
        components.append(with_plan(spread, plan))
        found += remarks(spread, components[-1], plan)
    return Step(unit.with_components(tuple(components)), tuple(found))


def spread_of(unit: Unit, component: Component, env: Env) -> Spread | None:
    """What is to be spread of a component; None if nothing is."""
    if component.workers is None or component.worker_pod is None:
        return None
    intents, rest = component.take(ParallelIntent)
    if not intents:
        return None
    head = Node(component.pod, KSERVE_CONTAINER, component.annotations)
    worker = Node(component.worker_pod, WORKER_CONTAINER, component.workers.annotations)
    return Spread(unit, rest, intents[0], head, worker, env)


def check(spread: Spread) -> None:
    """Refuse what cannot be planned.

    Raises:
        Reject: the mode has no workers, or a list of types of GPUs is malformed.
    """
    unit = spread.unit
    if unit.mode is not Mode.STANDARD:
        message = f"in {unit.mode} mode a predictor cannot be spread over several nodes"
        raise Reject(finding(unit, NEEDS_STANDARD, message, spread.intent.origin.span(), "deploy it in Standard mode"))
    for node in (spread.head, spread.worker):
        text = node.annotations.value.get(GPU_RESOURCE_TYPES)
        if text and annotated_types(text) is None:
            message = f"{GPU_RESOURCE_TYPES} must be a JSON array of resource names; it is {text!r}"
            place = node.annotations.span((GPU_RESOURCE_TYPES,))
            raise Reject(finding(unit, GPU_ANNOTATION, message, place, 'write it as ["example.com/gpu"]'))


def plan_of(spread: Spread) -> Parallelism:
    """The plan, by the executor that the runtime names. GPUs under names that only an annotation lists do not count.

    Raises:
        Reject: the nodes have too few GPUs.
    """
    sizes = Sizes(size(spread, PIPELINE)[0], size(spread, TENSOR)[0])
    runtime = spread.component.runtime
    if runtime is not None and runtime.spec.annotations.get(EXECUTOR_BACKEND) == ONE_HOST:
        return stage_a_node(sizes)
    types = gpu_types(spread.env.platform, None)
    head, worker = requested(spread.head.container, types), requested(spread.worker.container, types)
    plan = cluster(sizes, head=head, worker=worker)
    if plan.missing:
        message = (
            f"the model takes {sizes.gpus} GPUs ({sizes.pipeline} stages of {sizes.tensor}), but the head has "
            f"{plan.head_gpus} and the workers have {plan.workers} x {plan.worker_gpus}"
        )
        remedy = "raise the requests of the worker, or leave out those of the head"
        raise Reject(finding(spread.unit, TOO_FEW_GPUS, message, spread.intent.origin.span(), remedy))
    return plan


def size(spread: Spread, field: str) -> tuple[int, Origin]:
    """One of the two sizes, and where it comes from: the predictor's, or else the runtime's, or else 1."""
    attribute = ATTRIBUTES[field]
    own: int | None = getattr(spread.intent.worker_spec, attribute)
    if own is not None:
        origin = spread.intent.origin
        return own, origin._replace(at=(*origin.at, field))
    runtime = spread.component.runtime
    given: int | None = getattr(runtime.spec.worker_spec, attribute, None) if runtime is not None else None
    if given is None or runtime is None:
        return DEFAULT_SIZE, PLANNED
    return given, runtime.origin("spec", "workerSpec", field)


def size_variables(spread: Spread) -> Iterator[Variable]:
    """What tells a container how the model is cut."""
    for field, name in ((PIPELINE, "PIPELINE_PARALLEL_SIZE"), (TENSOR, "TENSOR_PARALLEL_SIZE")):
        value, origin = size(spread, field)
        yield Variable(name, str(value), origin)


def count_variables(plan: Parallelism, gpus: int) -> Iterator[Variable]:
    """What tells a container how many nodes there are, and how many GPUs its own has."""
    yield Variable("RAY_NODE_COUNT", str(plan.nodes))
    yield Variable("REQUEST_GPU_COUNT", str(gpus))


def head_variables(spread: Spread, plan: Parallelism) -> Iterator[Variable]:
    """The variables of the head. It finds its model by the last of them if all nodes can reach it."""
    yield from size_variables(spread)
    yield from count_variables(plan, plan.head_gpus)
    yield Variable("MODEL_NAME", spread.unit.name)
    for intent in spread.component.peek(ModelIntent):
        scheme = spread.env.plugs.scheme(intent.sources[0].uri)
        if not intent.several and scheme is not None and SchemeTrait.MULTI_NODE in scheme.traits:
            yield Variable("MODEL_DIR", MODEL_PATH)


def worker_variables(spread: Spread, plan: Parallelism) -> Iterator[Variable]:
    """The variables of a worker. It finds the head by the name of its Service."""
    name, generation = spread.component.name, spread.unit.generation
    yield from count_variables(plan, plan.worker_gpus)
    yield from size_variables(spread)
    yield Variable("ISVC_NAME", spread.unit.name)
    yield Variable("HEAD_SVC", head_service_name(name, generation))
    yield Variable("WORKER_SVC", workers_service_name(name, generation))


def with_plan(spread: Spread, plan: Parallelism) -> Component:
    """The component whose pods know the plan."""
    component, generation = spread.component, spread.unit.generation
    workers = component.workers
    return evolve(
        component,
        labels=component.labels.put((GENERATION_LABEL,), generation, PLANNED),
        pod=filled(spread.head, head_variables(spread, plan), plan.head_gpus, spread.env),
        worker_pod=filled(spread.worker, worker_variables(spread, plan), plan.worker_gpus, spread.env),
        workers=evolve(workers, replicas=plan.workers) if workers is not None else None,
    )


def filled(node: Node, variables: Iterable[Variable], gpus: int, env: Env) -> Tree:
    """The pod of a node with its variables and its number of GPUs."""
    pod = node.pod
    for name, value, origin in variables:
        pod = set_variable(pod, node.name, name, value, origin)
    types = gpu_types(env.platform, node.annotations.value.get(GPU_RESOURCE_TYPES))
    return with_gpus(pod, node.name, (type_of(node.container, types), gpus), PLANNED)


def remarks(spread: Spread, done: Component, plan: Parallelism) -> Iterator[Diagnostic]:
    """Notes and warnings about a planned predictor."""
    unit, component = spread.unit, spread.component
    if unit.spec.metadata.generation is None and not spread.env.names_revisions:
        message = f"{component.name} has no metadata.generation, which is taken to be 1"
        hint = "build with --revision-names hash, or raise it with every change of the spec"
        yield finding(unit, GENERATION, message, spread.intent.origin.span(), hint)
    heads = component.extension.min_replicas or 0
    if plan.workers and heads > 1:
        message = f"{component.name} gets {heads} heads, and workers for one"
        path = (*component.path, "minReplicas")
        yield finding(unit, SEVERAL_HEADS, message, path, "set it to 1, or make several services")
    yield from overwritten(unit, spread.head, done.pod)
    if plan.workers and done.worker_pod is not None:
        yield from overwritten(unit, spread.worker, done.worker_pod)


def overwritten(unit: Unit, node: Node, done: Tree) -> Iterator[Diagnostic]:
    """Warnings about values of the user's that the plan changed in the container of a node, once for each name."""
    at: Path = ("containers", node.name)
    places = {e["name"]: (*at, "env", e["name"], "value") for e in node.container.get("env") or ()}
    places |= {kind: (*at, "resources", f, kind) for f in FIELDS for kind in quantities(node.container, f)}
    for name, path in places.items():
        before, after, found = node.pod.get(*path), done.get(*path), node.pod.origin(path)
        if before is not None and str(before) != str(after) and found is not None and found[0].layer is Layer.SPEC:
            message = f"{name} of {node.name} becomes {after} by the plan, not {before}"
            remedy = "GPUs count where they stand in requests" if "resources" in path else "leave it out"
            yield finding(unit, OVERWRITTEN, message, node.pod.span(path), remedy)
