"""What the program is told by variables, in one value. Only places to write are told by others (`home`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .refusals import CONFIG, Refusal
from .words import port, whole

CPU: Final = "cpu"
DEADLINE_SECONDS: Final = 600
RAY_PORT: Final = 6379
SERVICE_LINKS: Final = ("tcp://", "udp://", "sctp://")
"""What Kubernetes writes to RAY_PORT where the namespace has a Service called ray, which nobody means."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Variables that count. An empty one is as good as none.

    `variant` is what the image was built for; `deadline_seconds` how long the leader and nodes are waited for.
    """

    variant: str = "cuda"
    additional_arguments: str = ""
    model: str = ""
    names: str = ""
    port: str = ""
    tensor: int = 1
    pipeline: int = 1
    lws_leader: str = ""
    lws_size: int = 1
    lws_index: int = 0
    head_service: str = ""
    namespace: str = ""
    node_count: int = 1
    ray_port: int = RAY_PORT
    executor: str = ""
    deadline_seconds: int = DEADLINE_SECONDS
    pod_ip: str = ""
    visible_devices: str | None = None
    traces_endpoint: str = ""
    side_channel_host: str = ""
    devices: Path = Path("/dev")


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings that an environment holds.

    Raises:
        Refusal: a number is none, or lies outside of what it counts in.
    """

    def text(*names: str) -> str:
        return next((found for name in names if (found := environment.get(name, "").strip())), "")

    def count(name: str, default: int, least: int = 0) -> int:
        found = whole(told, name) if (told := text(name)) else default
        if told and found < least:
            raise Refusal(CONFIG, f"{name} is {found}", f"it is {least} at least; leave it out for {default}")
        return found

    index, size = count("LWS_WORKER_INDEX", 0), count("LWS_GROUP_SIZE", 1, 1)
    if text("LWS_GROUP_SIZE") and index >= size:
        message = f"LWS_WORKER_INDEX is {index}, and LWS_GROUP_SIZE is {size}"
        raise Refusal(CONFIG, message, "indices count from 0; leave both variables to LeaderWorkerSet")
    ray_port = text("RAY_PORT")
    if ray_port.startswith(SERVICE_LINKS):
        ray_port = ""
    return Settings(
        variant=text("KSERVEC_VLLM_VARIANT") or "cuda",
        additional_arguments=text("VLLM_ADDITIONAL_ARGS"),
        model=text("MODEL_DIR", "MODEL_ID"),
        names=text("SERVED_MODEL_NAME"),
        port=text("PORT"),
        tensor=count("TENSOR_PARALLEL_SIZE", 1, 1),
        pipeline=count("PIPELINE_PARALLEL_SIZE", 1, 1),
        lws_leader=text("LWS_LEADER_ADDRESS"),
        lws_size=size,
        lws_index=index,
        head_service=text("HEAD_SVC"),
        namespace=text("POD_NAMESPACE"),
        node_count=count("RAY_NODE_COUNT", 1, 1),
        ray_port=port(ray_port, "RAY_PORT") if ray_port else RAY_PORT,
        executor=text("DISTRIBUTED_EXECUTOR_BACKEND"),
        deadline_seconds=count("LEADER_TIMEOUT_SECONDS", 0)
        or count("DP_ADDRESS_RESOLVE_ATTEMPTS", 0)
        or DEADLINE_SECONDS,
        pod_ip=text("POD_IP"),
        visible_devices=devices_named(environment),
        traces_endpoint=endpoint(environment),
        side_channel_host=text("VLLM_NIXL_SIDE_CHANNEL_HOST"),
    )


def devices_named(environment: Mapping[str, str]) -> str | None:
    """The list of devices that a variable limits the container to; None where none does.

    `all` and `void` say nothing: the first is what base images have, the second what device plugins leave behind.
    """
    for name in ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES"):
        found = environment.get(name)
        if found is not None and found.strip() not in ("all", "void", "none", ""):
            return found
    return None


def endpoint(environment: Mapping[str, str]) -> str:
    """Where traces go, if the variables say so and name the protocol that vLLM speaks."""
    if environment.get("OTEL_TRACES_EXPORTER") != "otlp":
        return ""
    own = environment.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
    return own or environment.get("OTEL_EXPORTER_OTLP_ENDPOINT", "")
