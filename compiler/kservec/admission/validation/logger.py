"""Payload logging of a component."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic

MODE = Code(
    "logger/mode",
    Severity.ERROR,
    "a logger that does not say what to log",
    "logger.mode has no default: it is all, request or response.",
)
INCOMPLETE_STORAGE = Code(
    "logger/storage-incomplete",
    Severity.ERROR,
    "a logger's storage with parts missing",
    "logger.storage needs a path, parameters and the key of the storage Secret.",
)
MODES = ("all", "request", "response")
STORAGE_FIELDS = ("path", "parameters", "key")


def check_loggers(subject: Subject) -> Iterator[Diagnostic]:
    """The logger rules for every component."""
    for part in subject.parts:
        yield from check_logger(subject, part)


def check_logger(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: component.go, validateLogger."""
    logger = part.spec.get("logger")
    if logger is None:
        return
    path = (*part.path, "logger")
    mode = logger.get("mode")
    if mode not in MODES:
        message = f"a logger cannot be in mode {mode!r}" if mode else "the logger has no mode"
        yield subject.finding(MODE, message, (*path, "mode"), "set logger.mode to all, request or response")
    storage = logger.get("storage")
    missing = [field for field in STORAGE_FIELDS if storage.get(field) is None] if storage is not None else []
    if missing:
        message = f"the logger's storage lacks {' and '.join(missing)}"
        yield subject.finding(INCOMPLETE_STORAGE, message, (*path, "storage"), f"set {', '.join(STORAGE_FIELDS)}")
