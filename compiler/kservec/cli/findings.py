"""How findings are shown: as text for people, as JSON, as annotations and reports of CI systems."""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.cli.status import FAILED
from kservec.cli.streams import ReaderGoneError, is_terminal, write
from kservec.core.diagnostics import Severity
from kservec.core.records import record
from kservec.core.text.brevity import brief_finding
from kservec.report.text import summary, text_report
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic

TEXT, JSON, GITHUB, SARIF, JUNIT = FORMATS = ("text", "json", "github", "sarif", "junit")
TOLD = "kservec.told"
PLACED = (GITHUB, SARIF)
"""What names files from the top of the repository, since it is read there."""


@record
class Findings:
    """The ways to show findings that the user chose. JSON always has the notes, since programs can pass over them."""

    layout: str
    notes: bool

    @property
    def is_text(self) -> bool:
        """Whether findings are written for people."""
        return self.layout == TEXT

    def show(
        self, found: Sequence[Diagnostic], sources: Mapping[str, str], *, outcome: str = "", alone: bool = False
    ) -> None:
        """Write findings to standard error.

        Args:
            found: the findings in their order.
            sources: the texts of the files that they point into.
            outcome: what came of it all, for the last line of the text.
            alone: nothing else is written; what is for machines then goes to standard output.
        """
        found = tuple(map(brief_finding, (*found, *told())))
        shown = [d for d in found if self.notes or self.layout == JSON or d.code.severity is not Severity.NOTE]
        if not self.is_text:
            with contextlib.suppress(ReaderGoneError):  # the exit status still tells how it went
                write(machine_readable(self.layout, shown, sources), err=not alone)
            return
        colour = is_terminal(sys.stderr) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
        write(text_report(shown, sources, colour=colour), err=True)
        hidden = len(found) - len(shown)
        parts = [summary(shown), f"{plural(hidden, 'note')} (--notes shows them)" if hidden else "", outcome]
        if line := "; ".join(part for part in parts if part):
            write(f"{line}\n", err=True)


def refused(found: Sequence[Diagnostic], sources: Mapping[str, str], layout: str, outcome: str = "") -> int:
    """Show why a command has nothing else to write, and give the exit status. As JSON it is what is written."""
    Findings(layout=layout, notes=False).show(found, sources, outcome=outcome, alone=True)
    return FAILED


def entries(found: Sequence[Diagnostic]) -> list[dict[str, object]]:
    """Findings as part of a document that a command writes for programs."""
    from kservec.report.json import entry  # noqa: PLC0415 - most runs write text

    return [entry(brief_finding(d)) for d in (*found, *told())]


def told() -> Sequence[Diagnostic]:
    """What was found about how this command works, and about none of its inputs."""
    ctx = click.get_current_context(silent=True)
    found: Sequence[Diagnostic] = ctx.meta.get(TOLD, ()) if ctx is not None else ()
    return found


def machine_readable(layout: str, found: Sequence[Diagnostic], sources: Mapping[str, str]) -> str:
    """Findings in a form for programs; each is loaded when it is asked for."""
    if layout in PLACED:
        from kservec.io.repository import repository_top  # noqa: PLC0415 - only these name files from there
        from kservec.report.places import from_top  # noqa: PLC0415 - as above

        folder = Path.cwd()
        found = from_top(found, repository_top(folder).as_posix(), folder.as_posix())
    if layout == JUNIT:
        from kservec.report.junit import junit_report  # noqa: PLC0415 - seldom needed

        return junit_report(found, sources)
    module = importlib.import_module(f"kservec.report.{layout}")
    report: str = getattr(module, f"{layout}_report")(found)
    return report
