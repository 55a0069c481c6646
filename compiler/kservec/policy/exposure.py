"""Servers that everybody can call who reaches them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import ROLE_LABEL
from kservec.core.names import WORKER_CONTAINER
from kservec.core.schemas.faults import Fault
from kservec.policy.servers import servers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Path
    from kservec.policy.scene import Scene
    from kservec.policy.servers import Server

UNAUTHENTICATED = Code(
    "policy/unauthenticated-server",
    Severity.NOTE,
    "a language model that asks nobody who they are",
    "vLLM answers everybody who reaches its port, unless it has an API key, which guards what is below /v1 alone. Set "
    "VLLM_API_KEY from a Secret, or have the gateway ask for credentials; a project may make this a warning or an "
    "error. Variables that open endpoints for operators are found too: nothing guards those.",
)
KEY = "VLLM_API_KEY"
SWITCHES = ("VLLM_SERVER_DEV_MODE", "VLLM_ALLOW_RUNTIME_LORA_UPDATING", "VLLM_TORCH_PROFILER_DIR")
OFF = ("", "0", "false")
LLM = "LLMInferenceService"
PREFILL = "prefill"


def check_exposure(scene: Scene) -> Iterator[Fault]:
    """Exposed servers without an API key, and those with endpoints for operators.

    What routes of LLMInferenceServices expose of the latter is found where those are compiled.
    """
    for server in servers_of(scene) if scene.exposed and scene.pods and not follows(scene) else ():
        if not server.is_vllm or server.pod is not scene.pods[0] or server.container.name == WORKER_CONTAINER:
            continue
        name = server.container.name
        if not has_key(server):
            message = f"{name} serves whoever reaches its route, without an API key"
            hint = "set VLLM_API_KEY from a Secret by valueFrom.secretKeyRef"
            yield Fault(UNAUTHENTICATED, server.container.path, message, help=hint)
        for path, variable in opened(server) if scene.owner.kind != LLM else ():
            message = f"{variable} opens endpoints of {name} that no API key guards"
            yield Fault(UNAUTHENTICATED, path, message, help="remove the variable")


def follows(scene: Scene) -> bool:
    """Whether requests come to the pods of an object by way of other pods: those that only prefill."""
    labels = (scene.pods[0].template.get("metadata") or {}).get("labels") or {}
    return labels.get(ROLE_LABEL) == PREFILL


def has_key(server: Server) -> bool:
    """Whether a server may have an API key: a variable, a flag, or arguments that cannot be seen."""
    names = {entry.get("name") for entry in server.container.body.get("env") or ()}
    return KEY in names or bool(server.container.body.get("envFrom")) or server.has("--api-key")


def opened(server: Server) -> Iterator[tuple[Path, str]]:
    """Variables that open endpoints for operators."""
    for entry in server.container.body.get("env") or ():
        name = str(entry.get("name", ""))
        if name in SWITCHES and ("valueFrom" in entry or str(entry.get("value") or "").lower() not in OFF):
            yield (*server.container.path, "env", name), name
