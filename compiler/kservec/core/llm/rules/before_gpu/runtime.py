"""Model servers that KServe does not serve with: its presets start vLLM, and it adds flags that only vLLM knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.lora import LORA

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Path


class Other(NamedTuple):
    """A model server by name, what its images have in their names, and what its commands have."""

    name: str
    images: tuple[str, ...]
    commands: tuple[str, ...]


OTHERS: Final = (
    Other("SGLang", ("sglang",), ("sglang.launch_server", "sglang_router")),
    Other("TensorRT-LLM", ("tensorrt-llm", "tensorrt_llm", "trtllm"), ("trtllm-serve",)),
    Other("Text Generation Inference", ("text-generation-inference",), ("text-generation-launcher",)),
    Other("LMDeploy", ("lmdeploy",), ("lmdeploy serve",)),
    Other("llama.cpp", ("llama.cpp", "llama-cpp"), ("llama-server", "llama_cpp.server")),
    Other("Ollama", ("ollama",), ("ollama serve",)),
    Other("Triton", ("tritonserver",), ("tritonserver",)),
)

NOT_SERVED = Code(
    "llm/runtime-not-served",
    Severity.ERROR,
    "a model server that KServe does not serve with",
    "This version of KServe serves LLMInferenceServices with vLLM: its presets start `vllm serve`, and LoRA adapters "
    "and tracing become flags of vLLM. Another server needs a command of its own, without those two, or an "
    "InferenceService with a runtime for it.",
)


def check_runtime(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """Images of other servers that are to run vLLM, and other servers that get flags of vLLM."""
    flags = flags_of_vllm(subject)
    for server in servers:
        found = image_of_other(str(server.container.get("image") or ""))
        if found and server.is_known:
            message = f"the image is one of {found}, but it is started as vLLM"
            help_text = "use an image with vLLM, or write the command of the server"
            yield subject.finding(NOT_SERVED, message, (*server.path, "image"), help_text)
        elif flags is not None and (started := command_of_other(server.command)):
            path, what = flags
            message = f"{what} becomes flags of vLLM, which {started} does not know"
            yield subject.finding(NOT_SERVED, message, path, "remove it, or serve with vLLM")


@lru_cache(maxsize=256)
def image_of_other(image: str) -> str:
    """Which other server an image is of, by its name; empty for none. A registry's own name does not count."""
    whole = image.partition("@")[0].lower()
    name = whole.partition("/")[2] or whole
    return next((o.name for o in OTHERS if any(part in name for part in o.images)), "")


def command_of_other(command: str) -> str:
    """Which other server a command starts; empty for none."""
    return next((o.name for o in OTHERS if any(part in command for part in o.commands)), "")


def flags_of_vllm(subject: Subject) -> tuple[Path, str] | None:
    """What KServe makes flags of vLLM of, where the service has it."""
    if subject.at(*LORA, "adapters"):
        return (*LORA, "adapters"), "a LoRA adapter"
    if subject.at("spec", "tracing") is not None:
        return ("spec", "tracing"), "tracing"
    return None
