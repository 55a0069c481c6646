"""The model server of a pod: what vLLM is told by its command, its arguments and the variable that adds to them.

Decides what can be read out of them for certain. Whatever a shell works out at run time is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias

from kservec.core.llm.names import MAIN
from kservec.core.pods.containers import variable
from kservec.core.records import entity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject, Workload
    from kservec.core.tree import Json, Path

TEMPLATE: Final = "template"
PODS: Final = (TEMPLATE, "worker")
MORE_ARGUMENTS: Final = "VLLM_ADDITIONAL_ARGS"
"""The variable that KServe's presets append to the command of vLLM."""

_find_vllm = re.compile(r"vllm(?:\s+serve\b|\.entrypoints\b)").search
_is_number = re.compile(r"[\"']?([0-9]{1,18})[\"']?\\?").fullmatch
_END_OF_WORD = r"(?![-\w])"
_VALUE = r"(?:=|\s+)(\S+)"


ServerRule: TypeAlias = Callable[["Subject", Sequence["Server"]], Iterator["Diagnostic"]]


@entity
class Server:
    """The main container of a pod of a workload. `path` is where it stands, `pod` its whole pod.

    `command` is what the image is started with, `arguments` what is appended to that and so wins over it.
    """

    workload: Workload
    path: Path
    pod: Json
    container: Json
    command: str
    arguments: str

    @property
    def leads(self) -> bool:
        """Whether requests come to it; the servers of other nodes only get work from the first one."""
        return self.path[-3] == TEMPLATE

    @cached_property
    def text(self) -> str:
        """All that it is told."""
        return f"{self.command} {self.arguments}"

    @cached_property
    def is_known(self) -> bool:
        """Whether it is started as vLLM by name, and all its arguments can be seen.

        An image that starts vLLM by itself is not known for it.
        """
        return _find_vllm(self.text) is not None and not is_open(self.container)

    def values(self, *flags: str) -> list[str]:
        """The values of a flag in all its spellings, in their order; the last one wins."""
        return values_of(self.text, *flags)

    def number(self, *flags: str) -> int | None:
        """The number that a flag has in the end: None where it is not given, 0 where it cannot be told."""
        values = self.values(*flags)
        found = _is_number(values[-1]) if values else None
        return None if not values else int(found[1]) if found else 0

    def has(self, *flags: str) -> bool:
        """Whether a flag is given, with or without a value."""
        return any(True for flag in flags for _ in found(self.text, flag, _END_OF_WORD))


def servers_of(subject: Subject) -> Iterator[Server]:
    """The model servers of a service: of each workload, first those of its leaders, then those of its workers."""
    for workload in subject.workloads:
        for kind in PODS:
            pod = workload.spec.get(kind) or {}
            for i, container in enumerate(pod.get("containers") or ()):
                if container.get("name") == MAIN:
                    yield server_of(workload, pod, container, (*workload.path, kind, "containers", i))


def server_of(workload: Workload, pod: Json, container: Json, path: Path) -> Server:
    """The server that a container is."""
    more = variable(container, MORE_ARGUMENTS) or ""
    return Server(
        workload=workload,
        path=path,
        pod=pod,
        container=container,
        command=" ".join(map(str, container.get("command") or ())),
        arguments=" ".join((more, *map(str, container.get("args") or ()))),
    )


def is_open(container: Json) -> bool:
    """Whether a container may have more arguments than can be seen."""
    entries = (e for e in container.get("env") or () if e.get("name") == MORE_ARGUMENTS)
    return bool(container.get("envFrom")) or any(entry.get("valueFrom") is not None for entry in entries)


def values_of(text: str, *flags: str) -> list[str]:
    """The values of a flag in a text; a flag may be written with dashes or underscores, and with = or a blank."""
    return [match[1] for match in sorted((m for f in flags for m in found(text, f, _VALUE)), key=re.Match.start)]


def found(text: str, flag: str, end: str) -> Iterator[re.Match[str]]:
    """Where a flag stands in a text. Scripts are long, and most have none."""
    for match in pattern(flag, end).finditer(text):
        before = text[match.start() - 1 : match.start()]
        if not (before.isalnum() or before in ("-", "_")):
            yield match


@lru_cache(maxsize=64)
def pattern(flag: str, end: str) -> re.Pattern[str]:
    """What finds the spellings of a flag, and what follows them. It begins with a plain text, so it is quick."""
    return re.compile(flag[:2] + flag[2:].replace("-", "[-_]") + end)
