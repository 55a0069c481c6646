"""Endpoints: where a graph reaches an InferenceService of the run, in which protocol, and whom that calls in turn.

KServe reads the address from the status of the live service and guesses path and protocol from its spec.
KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, GetPredictorEndpoint and GetModelName
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit

from kservec.core.diagnostics import ObjectRef
from kservec.core.endpoint import Endpoint
from kservec.core.golang.placeholders import TemplateError, fill_container
from kservec.core.graphs.nodes import walk
from kservec.core.names import TRANSFORMER_CONTAINER
from kservec.core.pods.containers import find, variable
from kservec.core.serving.predictor import pulls_models
from kservec.core.serving.stopping import is_down
from kservec.spec.graph import InferenceGraph
from kservec.spec.graph_texts import url_problem
from kservec.spec.inferenceservice import InferenceService

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit
    from kservec.spec.graph import InferenceStep
    from kservec.spec.inferenceservice import ModelSpec, PredictorSpec

SERVICE_VERSION, SERVICE = "serving.kserve.io/v1beta1", "InferenceService"
LLM = "LLMInferenceService"
GRAPH_VERSION, GRAPH = "serving.kserve.io/v1alpha1", "InferenceGraph"
V1, V2 = "v1", "v2"
PATHS = {V1: "/v1/models/{}:predict", V2: "/v2/models/{}/infer"}
"""Protocols that a graph can speak, and the path that a model is asked at."""
FINE_IN_PATHS = "/!$&'()*+,;=:@"
"""What may stand in the path of a URL as it is, beside letters, digits and `-._~`."""

PULLS = "none"
"""In the place of a protocol: the service pulls its models while it runs."""

MODEL_NAME = "--model_name"
PROTOCOL_VARIABLE, MLSERVER_NAME = "PROTOCOL", "MLSERVER_MODEL_NAME"
_find_hosts = re.compile(r"(?<![\w.-])([a-z0-9][a-z0-9-]*)\.([a-z0-9][a-z0-9-]*)(?![\w-])").findall
_find_neighbours = re.compile(r"//([a-z0-9][a-z0-9-]*)(?=[:/]|$)").findall


def service_ref(namespace: str, name: str) -> ObjectRef:
    """The identity of an InferenceService."""
    return ObjectRef(SERVICE_VERSION, SERVICE, namespace, name)


def graph_ref(namespace: str, name: str) -> ObjectRef:
    """The identity of an InferenceGraph."""
    return ObjectRef(GRAPH_VERSION, GRAPH, namespace, name)


def service_endpoint(unit: Unit, env: Env) -> Endpoint:
    """The endpoint of a service that has gone through its passes."""
    place = unit.source.span("metadata", "name")
    if is_down(unit, env):
        return Endpoint(unit.ref, place, fault="it is stopped (serving.kserve.io/stop)")
    style = next(style for style in env.plugs.styles if style.selects(unit, env))
    address, spoken = style.address(unit, env), spoken_protocol(unit, env)
    path = PATHS[spoken].format(in_path(model_name(unit))) if spoken in PATHS else ""
    return Endpoint(
        ref=unit.ref,
        place=place,
        url=f"{address}{path}",
        protocol=spoken,
        fault=unspeakable(unit, env),
        pathless="" if path else reason_pathless(spoken),
        calls=frozenset(graph_ref(namespace, name) for name, namespace in hosts_named(unit)),
    )


def named_services(graph: Unit) -> Iterator[ObjectRef]:
    """The services that the steps of a graph name, in nodes that are never reached as well."""
    for router in graph.spec_as(InferenceGraph).spec.routers.values():
        for step in router.steps:
            if step.service_name:
                yield service_ref(graph.namespace, step.service_name)


def graph_endpoint(unit: Unit, env: Env) -> Endpoint:
    """A graph as others see it: whom it calls. It has no URL here, for no graph asks for one."""
    routers = unit.spec_as(InferenceGraph).spec.routers
    steps = (step for name in walk(routers).reached for step in routers[name].steps)
    called = (called_object(step, unit.namespace, env) for step in steps)
    return Endpoint(unit.ref, unit.source.span("metadata", "name"), calls=frozenset(ref for ref in called if ref))


def called_object(step: InferenceStep, namespace: str, env: Env) -> ObjectRef | None:
    """The object of KServe's that a step calls, as far as its name or its URL's host shows."""
    if step.service_name:
        return service_ref(namespace, step.service_name)
    host = None if url_problem(step.service_url) else urlsplit(step.service_url).hostname
    name, *rest = (host or "").split(".")
    if not name or rest[1:] not in ([], ["svc"], ["svc", *env.platform.cluster_domain.split(".")]):
        return None
    return graph_ref(rest[0] if rest else namespace, name)


def reason_pathless(protocol: str) -> str:
    """Why the URL of a service names no model."""
    if protocol == PULLS:
        return "its models are pulled while it runs, so there is none to ask for"
    return f"it speaks {protocol or 'no protocol that it names'}, and a graph speaks v1 and v2"


def spoken_protocol(unit: Unit, env: Env) -> str:
    """The protocol that a graph takes a service to speak, `PULLS` for one that has no model of its own.

    A runtime that the spec names tells its own, whatever protocol the model asks for.
    """
    spec = unit.spec_as(InferenceService).spec
    if spec.transformer is not None:
        return told_protocol(spec.transformer.containers[0])
    if pulls_models(spec.predictor):
        return PULLS
    model = spec.predictor.model
    if model is None:
        return custom_protocol(spec.predictor)
    own = V1 if model.protocol_version is None else model.protocol_version
    return next((p for p in runtime_protocols(unit, model, env) if p in PATHS), own)


def unspeakable(unit: Unit, env: Env) -> str:
    """Why no graph can speak with a service: its runtime offers nothing else; empty if one can."""
    spec = unit.spec_as(InferenceService).spec
    model = spec.predictor.model
    if spec.transformer is not None or model is None or pulls_models(spec.predictor):
        return ""
    offered = runtime_protocols(unit, model, env)
    if not offered or not PATHS.keys().isdisjoint(offered):
        return ""
    return f"its runtime {model.runtime} speaks {' and '.join(offered)}, and a graph speaks v1 and v2"


def runtime_protocols(unit: Unit, model: ModelSpec, env: Env) -> Sequence[str]:
    """The protocols of the runtime that a model names; none if it names none."""
    runtime = env.catalog.find(unit.namespace, model.runtime) if model.runtime is not None else None
    return runtime.spec.protocol_versions if runtime is not None else ()


def custom_protocol(predictor: PredictorSpec) -> str:
    """The protocol of a custom predictor: the transformer beside it is asked first.

    KServe: pkg/apis/serving/v1beta1/predictor_custom.go, GetProtocol
    """
    containers = predictor.containers
    return told_protocol(find(containers, TRANSFORMER_CONTAINER) or containers[0])


def told_protocol(container: Json) -> str:
    """The protocol that a container is told by its variable."""
    told = variable(container, PROTOCOL_VARIABLE)
    return V1 if told is None else told


def model_name(unit: Unit) -> str:
    """What a service's model is called: as the transformer, the model or the custom predictor is told, else as it.

    A placeholder in the name is filled in, as it is for the server. KServe takes the name as it is written.
    """
    spec = unit.spec_as(InferenceService).spec
    told = name_in_arguments(spec.transformer.containers[0]) if spec.transformer is not None else ""
    if told:
        return told
    model = spec.predictor.model
    if model is None:
        return (name_in_arguments(spec.predictor.containers[0]) if spec.predictor.containers else "") or unit.name
    container = filled(model.rest, unit)
    named = variable(container, MLSERVER_NAME)
    return named if named is not None else name_in_arguments(container) or unit.name


def filled(container: Json, unit: Unit) -> Json:
    """A model's container with its placeholders filled in; as it is if a block of one ends in the runtime's."""
    try:
        return fill_container(container, unit.metadata)
    except TemplateError:
        return container


def in_path(name: str) -> str:
    """A model's name as a part of a URL's path, where KServe leaves it to Go to encode what no path can hold."""
    return quote(name, safe=FINE_IN_PATHS, errors="surrogatepass")


def name_in_arguments(container: Json) -> str:
    """The model's name among the arguments of a container, by KServe's way to look for it: the last that fits."""
    args = container.get("args") or ()
    found = ""
    for i, argument in enumerate(args):
        if argument.startswith(MODEL_NAME):
            parts = argument.split("=")
            found = parts[1] if len(parts) == 2 else found
            if i + 1 < len(args) and not args[i + 1].startswith("--"):
                found = args[i + 1]
    return found


def hosts_named(unit: Unit) -> Iterator[tuple[str, str]]:
    """Names and namespaces that the arguments and variables of a unit's containers hold as parts of hosts."""
    for component in unit.components:
        for container in component.pod.value.get("containers") or ():
            values = (entry.get("value") or "" for entry in container.get("env") or ())
            for text in (*(container.get("command") or ()), *(container.get("args") or ()), *values):
                yield from _find_hosts(text)
                yield from ((name, unit.namespace) for name in _find_neighbours(text))
