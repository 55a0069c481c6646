"""LoRA adapters: their form, their names and their limits.

The CRD says nothing of an adapter's form, so that a value of a wrong type only fails when Go reads it.
KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, ValidateLoRAAdapters
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.urls import url_fault

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

LORA: Final = ("spec", "model", "lora")
LIMITS: Final = ("maxRank", "maxAdapters", "maxCpuAdapters")

ADAPTER = Code(
    "llm/lora-adapter",
    Severity.ERROR,
    "an adapter in a form that KServe cannot read",
    "An adapter is a map with a name and a uri, both of them texts.",
)
NAME = Code(
    "llm/lora-name",
    Severity.ERROR,
    "an adapter without a name of its own",
    "Requests choose an adapter by its name, and it is the name of a folder. So it is not empty, neither `.` nor `..`, "
    "and neither that of another adapter nor that of the model.",
)
LIMIT = Code(
    "llm/lora-limit",
    Severity.ERROR,
    "a limit of LoRA adapters that lets none in",
    "maxRank, maxAdapters and maxCpuAdapters are 1 or more. vLLM decides where they are left out.",
)


def check_lora(subject: Subject) -> Iterator[Diagnostic]:
    """Limits and adapters."""
    lora = subject.at(*LORA)
    if lora is None:
        return
    for field in LIMITS:
        limit = lora.get(field)
        if limit is not None and limit < 1:
            yield subject.finding(LIMIT, f"{field} is {limit}", (*LORA, field), "use 1 or more")
    unreadable = [*check_forms(subject)]
    yield from unreadable
    if not unreadable:
        yield from check_names(subject, lora.get("adapters") or ())


def check_forms(subject: Subject) -> Iterator[Diagnostic]:
    """Adapters that Go cannot read, in services and in configs."""
    adapters = subject.at(*LORA, "adapters") or ()
    if not isinstance(adapters, list | tuple):
        yield subject.finding(ADAPTER, "adapters is no list", (*LORA, "adapters"), "write a list of name and uri")
        return
    for i, adapter in enumerate(adapters):
        path: Path = (*LORA, "adapters", i)
        if not isinstance(adapter, dict):
            yield subject.finding(ADAPTER, f"adapter {i} is no map", path, "write its name and uri")
            continue
        for field in ("name", "uri"):
            if not isinstance(adapter.get(field), str | None):
                message = f"{field} of adapter {i} is no text"
                yield subject.finding(ADAPTER, message, (*path, field), "put it in quotes")
        fault = url_fault(adapter["uri"]) if isinstance(adapter.get("uri"), str) else None
        if fault is not None:
            message = f"the uri of adapter {i} cannot be read: {fault}"
            yield subject.finding(ADAPTER, message, (*path, "uri"), "correct it")


def check_names(subject: Subject, adapters: Json) -> Iterator[Diagnostic]:
    """Names that are missing, unfit or taken."""
    model = subject.at("spec", "model", "name") or subject.ref.name
    first: dict[str, int] = {}
    for i, adapter in enumerate(adapters):
        name = adapter.get("name")
        problem = name_problem(name, model, first)
        if problem:
            path = (*LORA, "adapters", i)
            yield subject.finding(NAME, f"adapter {i} {problem}", (*path, "name") if name else path, "rename it")
        first.setdefault(name or "", i)


def name_problem(name: str | None, model: str, first: dict[str, int]) -> str:
    """What is wrong with the name of an adapter, given the earlier ones; empty if nothing is."""
    if not name:
        return "has no name"
    if name in (".", ".."):
        return f"has the name {name}, which is no name of a folder"
    if name in first:
        return f"has the name {name}, as adapter {first[name]} has"
    return f"has the name of the model, {name}" if name == model else ""
