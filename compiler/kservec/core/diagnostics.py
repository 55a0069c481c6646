"""What is wrong, where, and what to do: the values every check and pass reports with.

Decides nothing and formats nothing; `report.py` turns these values into text, JSON or CI annotations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import IntEnum
from typing import NamedTuple, TypeVar

from kservec.core.records import record

Made = TypeVar("Made")

NOT_SHOWN = "(not shown)"
"""What stands for something that may be a secret."""


class Severity(IntEnum):
    """How bad a finding is. Only errors stop a build."""

    NOTE = 0
    WARNING = 1
    ERROR = 2


class Span(NamedTuple):
    """A stretch of one input file. Lines and columns count from 1 in code points; line 0 is the whole file."""

    file: str
    line: int = 0
    column: int = 0
    end_line: int = 0
    end_column: int = 0


class Code(NamedTuple):
    """A kind of finding: the stable `slug` that users filter by, and the text of its page in docs/diagnostics.md.

    A code is a module constant beside the check that raises it. The slug names the thing found, not the remedy.
    `about` says what it means and how to get rid of it, in one or two sentences.
    """

    slug: str
    severity: Severity
    title: str
    about: str = ""


class ObjectRef(NamedTuple):
    """The identity of a Kubernetes object, and the order objects are written in."""

    api_version: str
    kind: str
    namespace: str
    name: str

    @property
    def group(self) -> str:
        """The API group; empty for core kinds."""
        return self.api_version.rpartition("/")[0]

    def __str__(self) -> str:
        name = self.name or "''"
        return f"{self.kind} {self.namespace}/{name}" if self.namespace else f"{self.kind} {name}"


class Needed(NamedTuple):
    """An object that something needs; without a name any of its kind that the namespace can use."""

    kind: str
    namespace: str
    name: str = ""


@record
class Diagnostic:
    """One finding.

    `message` alone must do for a log line; `label` goes under the caret; `help` says what to do;
    `related` names other places that take part in it. `rests_on` are the objects for whose absence something is said:
    where a document declares one of them and cannot be used, the finding only follows from that, and is left out.
    `once`: of several with the same code and message the first tells enough, for they are about what lies outside.
    `as_written`: it is about a single value as somebody wrote it, so that it follows from no other finding.
    """

    code: Code
    message: str
    span: Span | None
    help: str = ""
    label: str = ""
    related: tuple[tuple[Span, str], ...] = ()
    subject: ObjectRef | None = None
    rests_on: tuple[Needed, ...] = ()
    once: bool = False
    as_written: bool = False

    @property
    def is_error(self) -> bool:
        """Whether this finding stops the build."""
        return self.code.severity is Severity.ERROR

    @property
    def spans(self) -> tuple[Span, ...]:
        """Every place that the finding names."""
        first = () if self.span is None else (self.span,)
        return (*first, *(span for span, _ in self.related))

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """File, line, column, slug, message: the order findings are shown in."""
        span = self.span or Span("")
        return (span.file, span.line, span.column, self.code.slug, self.message)


class Reject(Exception):  # noqa: N818 - it rejects a unit; it is no failure of the compiler
    """The one exception that checks, passes and plugs may raise. Only the fold in `pipeline.py` catches it."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__(*(d.message for d in diagnostics))
        self.diagnostics = diagnostics


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    """Whether any of the findings stops the build."""
    return any(d.is_error for d in diagnostics)


def gathered(makers: Iterable[Callable[[], Made]]) -> list[Made]:
    """What each of several independent makers gives.

    Raises:
        Reject: some of them reject something; it has what all of them say.
    """
    made: list[Made] = []
    wrong: list[Diagnostic] = []
    for make in makers:
        try:
            made.append(make())
        except Reject as reject:
            wrong += reject.diagnostics
    if wrong:
        raise Reject(*wrong)
    return made
