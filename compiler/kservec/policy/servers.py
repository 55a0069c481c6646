"""Model servers: what a container is told by its command, its arguments and its variables.

Decides which containers serve a model by vLLM, and how flags are spelt. Must not know a rule.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from kservec.core.llm.rules.before_gpu.server import MORE_ARGUMENTS, is_open, values_of
from kservec.core.llm.rules.before_gpu.server import found as flags_found
from kservec.core.pods.containers import variable
from kservec.core.quantity import parse_quantity
from kservec.core.records import entity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json, Path
    from kservec.policy.scene import Container, Pod, Scene

TENSOR = ("--tensor-parallel-size", "-tp")
PIPELINE = ("--pipeline-parallel-size", "-pp")
DATA = ("--data-parallel-size", "-dp")
DATA_LOCAL = ("--data-parallel-size-local", "-dpl")
ELSEWHERE = ("--nnodes", "--data-parallel-rank", "-dpn", "--data-parallel-backend", "-dpb", "--node-rank")
"""Flags with which other processes, perhaps of other pods, have some of the ranks."""
BACKEND = ("--distributed-executor-backend",)
BEGINNING = 4
"""So much of a flag has no dash within that may be an underscore."""
_END_OF_WORD = r"(?![-\w])"
_is_vllm_command = re.compile(r"vllm(?:\s+serve\b|\.entrypoints\b)").search
_is_vllm_image = re.compile(r"(?:^|/)(?:vllm[^/:@]*|llm-d(?:-(?:cpu|cuda|hpu|rocm|tpu|xpu))?)(?:[:@]|$)").search
_is_kserve_image = re.compile(r"(?:^|/)huggingfaceserver(?:[:@]|$)").search
_is_number = re.compile(r"[\"']?([0-9]{1,18})[\"']?\\?").fullmatch


@entity
class Server:
    """A container that may serve a model, in its pod."""

    container: Container
    pod: Pod

    @cached_property
    def texts(self) -> tuple[tuple[Path, str], ...]:
        """What the process is told, in the order in which it reads it: command, added arguments, arguments."""
        path, body = self.container.path, self.container.body
        command = [((*path, "command", i), str(word)) for i, word in enumerate(body.get("command") or ())]
        arguments = [((*path, "args", i), str(word)) for i, word in enumerate(body.get("args") or ())]
        more = variable(body, MORE_ARGUMENTS)
        added = [((*path, "env", MORE_ARGUMENTS, "value"), more)] if more else []
        return (*command, *added, *arguments)

    @cached_property
    def text(self) -> str:
        """All that it is told, as one text."""
        return " ".join(text for _, text in self.texts)

    @cached_property
    def is_vllm(self) -> bool:
        """Whether it surely serves by vLLM: by its command, or by the name of its image."""
        image = str(self.container.body.get("image") or "")
        return _is_vllm_command(self.text) is not None or _is_vllm_image(image) is not None

    @cached_property
    def takes_flags(self) -> bool:
        """Whether it takes the flags of vLLM: so does KServe's own server, which may run it."""
        return self.is_vllm or _is_kserve_image(str(self.container.body.get("image") or "")) is not None

    @property
    def is_known(self) -> bool:
        """Whether it takes the flags of vLLM, and all that it is told can be seen."""
        return self.takes_flags and not is_open(self.container.body)

    def values(self, *flags: str) -> list[str]:
        """The values of a flag in all its spellings; the last one wins."""
        return values_of(self.text, *self.likely(*flags))

    def likely(self, *flags: str) -> Iterator[str]:
        """Those flags that may be given: a quick look, for most are not."""
        return (flag for flag in flags if flag[:BEGINNING] in self.text)

    def number(self, *flags: str) -> int | None:
        """The number that a flag has in the end: None where it is not given, 0 where it cannot be told."""
        values = self.values(*flags)
        match = _is_number(values[-1]) if values else None
        return None if not values else int(match[1]) if match else 0

    def has(self, *flags: str) -> bool:
        """Whether a flag is given, with or without a value."""
        return any(True for flag in self.likely(*flags) for _ in flags_found(self.text, flag, _END_OF_WORD))

    def place(self, *flags: str) -> Path:
        """Where one of the flags is given last; the container where none is."""
        holders = [p for p, text in self.texts if any(True for f in flags for _ in flags_found(text, f, _END_OF_WORD))]
        return holders[-1] if holders else self.container.path

    def amount(self, name: str) -> Json:
        """How much of a resource the container may use: its limit, else its request; None if it says neither."""
        resources = self.container.body.get("resources") or {}
        return (resources.get("limits") or {}).get(name) or (resources.get("requests") or {}).get(name)

    def gpus(self, names: tuple[str, ...]) -> int:
        """The GPUs of the container."""
        amounts = (self.amount(name) for name in names)
        return sum(int(parse_quantity(amount)) for amount in amounts if amount)


def servers_of(scene: Scene) -> Iterator[Server]:
    """The containers of an object that take the flags of vLLM."""
    for pod in scene.pods:
        for container in pod.servers:
            server = Server(container=container, pod=pod)
            if server.takes_flags:
                yield server
