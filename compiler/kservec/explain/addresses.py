"""Addresses: where each service of a run is reached, in which protocol, and how it is asked.

Decides from the compiled unit. The address of a Gateway or ingress is a cluster's; hosts and paths are not.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.graphs.endpoints import GRAPH, in_path, model_name, spoken_protocol
from kservec.core.llm.names import MODEL_PORT, WORKLOAD_SERVICE, child_name
from kservec.core.llm.settings import scheme
from kservec.core.paths import lookup
from kservec.core.serving.stopping import is_down
from kservec.core.unit import Role

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit

V1, V2, OPENAI, GRAPH_CALL = "v1", "v2", "openai", "graph"
GRPC = "grpc-"
OPENAI_FORMATS = ("huggingface", "vllm")
SERVER_PREFIX = "/openai"
"""What KServe's own Hugging Face server puts in front of the paths of the OpenAI API."""


CHAT = "/v1/chat/completions"


class Question(NamedTuple):
    """How a service is asked in one protocol: whether it is ready (GET), and for an answer (POST, with a body)."""

    protocol: str
    ready: str
    ask: str
    body: str


class Address(NamedTuple):
    """A service or graph: its URLs from outside and inside the cluster, empty where there is none, and its protocols.

    `paths` are those of routes that many services share a host with.
    """

    ref: ObjectRef
    external: str
    internal: str
    questions: tuple[Question, ...] = ()
    paths: tuple[str, ...] = ()


def address_of(unit: Unit, env: Env) -> Address | None:
    """The address of a unit that has gone through its passes; None for one that serves nothing."""
    if is_down(unit, env) or not (unit.components or unit.parts):
        return None
    if unit.parts:
        service = f"{child_name(unit.name, WORKLOAD_SERVICE)}.{unit.namespace}.svc.{env.platform.cluster_domain}"
        inside = f"{scheme(env.platform)}://{service}:{MODEL_PORT}"
        return Address(unit.ref, "", inside, (openai(llm_name(unit), ""),), tuple(sorted(route_paths(unit))))
    style = next((style for style in env.plugs.styles if style.selects(unit, env)), None)
    outside = style.url(unit, env) if style is not None else ""
    inside = style.address(unit, env) if style is not None else ""
    return Address(unit.ref, outside if outside != inside else "", inside, tuple(questions(unit, env)))


def questions(unit: Unit, env: Env) -> list[Question]:
    """The protocols that a service speaks, and what is asked in each."""
    if unit.ref.kind == GRAPH:
        return [Question(GRAPH_CALL, "", "/", json.dumps({"instances": []}))]
    name, predictor = model_name(unit), unit.component(Role.PREDICTOR)
    protocol = spoken_protocol(unit, env)
    asking = {V1: v1, V2: v2}
    asked = [asking[protocol](name)] if protocol in asking else []
    if predictor is not None and (prefix := openai_prefix(predictor)) is not None:
        asked = [*([] if not prefix else asked), openai(name, prefix)]
    return asked or [Question(protocol, "", "", "")]


def v1(name: str) -> Question:
    """How a model is asked in KServe's first protocol."""
    path = f"/v1/models/{in_path(name)}"
    return Question(V1, path, f"{path}:predict", json.dumps({"instances": []}))


def v2(name: str) -> Question:
    """How a model is asked in the Open Inference Protocol."""
    path = f"/v2/models/{in_path(name)}"
    return Question(V2, f"{path}/ready", f"{path}/infer", json.dumps({"inputs": []}))


def openai(name: str, prefix: str) -> Question:
    """How a large model is asked."""
    messages = [{"role": "user", "content": "Hello"}]
    body = json.dumps({"model": name, "messages": messages, "max_tokens": 16})
    return Question(OPENAI, f"{prefix}/v1/models", f"{prefix}{CHAT}", body)


def openai_prefix(predictor: Component) -> str | None:
    """What stands in front of the paths of the OpenAI API; None if the server does not speak it."""
    model = getattr(predictor.extension, "model", None)
    if model is None or model.model_format.name not in OPENAI_FORMATS:
        return None
    return "" if any(map(runs_vllm, predictor.pod.value.get("containers") or ())) else SERVER_PREFIX


def runs_vllm(container: Json) -> bool:
    """Whether a container runs vLLM's own server."""
    return "vllm" in " ".join([container.get("image") or "", *(container.get("command") or ())])


def llm_name(unit: Unit) -> str:
    """What a large model is called in requests."""
    named = lookup(unit.resolved.value, ("model", "name")) if unit.resolved is not None else None
    return named or unit.name


def route_paths(unit: Unit) -> set[str]:
    """The paths at which routes lead to a model."""
    matches = (
        match
        for made in unit.bundle.manifests
        if made.ref.kind == "HTTPRoute"
        for rule in made.body.value["spec"].get("rules") or ()
        for match in rule.get("matches") or ()
    )
    paths = {(match.get("path") or {}).get("value", "") for match in matches}
    return {path for path in paths if path.endswith(CHAT)}
