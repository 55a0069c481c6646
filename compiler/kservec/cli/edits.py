"""Edits of a project's files on the command line: shown as a diff, made, and taken back if something is wrong then."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.findings import TEXT, Findings
from kservec.cli.status import FAILED
from kservec.core.diagnostics import Reject
from kservec.core.models import odd_uris
from kservec.core.models.model_uri import MISSPELT
from kservec.core.records import fresh, record
from kservec.core.validity.image_validity import IMAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef, Span
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace


def unverified(_workspace: Workspace) -> Iterable[Diagnostic]:
    """Nothing, of an edit that does what was meant as soon as it compiles."""
    return ()


@record
class Edited:
    """Files that are edited together, by their paths in the project, and the environments that are to compile then.

    None stands for a file that is taken away. `verify` finds what the edit of a project does beyond what was meant.
    `typed` are the values that somebody typed for it.
    """

    contents: Mapping[str, bytes | None]
    environments: Sequence[str]
    verify: Callable[[Workspace], Iterable[Diagnostic]] = unverified
    subjects: frozenset[ObjectRef] = fresh(factory=frozenset)
    typed: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """Whether files were edited, or can be; what was found, and the texts that it points into."""

    done: bool
    found: tuple[Diagnostic, ...]
    texts: dict[str, str]


def made(workspace: Workspace, edited: Edited) -> Outcome:
    """Edit files, and take that back if their environments do not compile then.

    Raises:
        click.ClickException: a file cannot be read or written.
    """
    from kservec.io.editing import exchanged  # noqa: PLC0415 - not needed for what is refused

    try:
        before = exchanged(workspace.root, edited.contents)
        done = False
        try:
            outcome = judged(workspace, edited)
            done = outcome.done
        finally:
            if not done:
                exchanged(workspace.root, before)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None
    return outcome


def foreseen(workspace: Workspace, edited: Edited) -> Outcome:
    """What would come of an edit, of which nothing is written.

    Raises:
        click.ClickException: a file cannot be read, or could not be written.
    """
    from kservec.io.editing import refuse_unwritable_below  # noqa: PLC0415 - not needed for what is refused

    try:
        refuse_unwritable_below(workspace.root, edited.contents)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None
    try:
        return judged(workspace._replace(pending=edited.contents), edited)
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename}: {error.strerror}") from None


def judged(workspace: Workspace, edited: Edited) -> Outcome:
    """What is found in a project after an edit, be it written or pending.

    Raises:
        OSError: a file cannot be read.
    """
    from kservec.environments import render  # noqa: PLC0415 - not needed for what is refused

    renderings = [render(workspace, name) for name in edited.environments]
    wrong = tuple(faults_of(workspace, edited, renderings))
    said = (d for r in renderings for d in r.diagnostics if not d.is_error and d.subject in edited.subjects)
    texts = {name: text for rendering in renderings for name, text in rendering.texts.items()}
    return Outcome(not wrong, tuple(dict.fromkeys((*wrong, *said))), texts)


def faults_of(workspace: Workspace, edited: Edited, renderings: Sequence[Rendering]) -> list[Diagnostic]:
    """What is wrong after an edit: environments that do not compile, else effects that were not meant."""
    errors = [d for rendering in renderings for d in rendering.diagnostics if d.is_error]
    if errors:
        return errors
    try:
        return list(edited.verify(workspace)) or mistyped(edited, renderings)
    except Reject as reject:
        return list(reject.diagnostics)


def mistyped(edited: Edited, renderings: Sequence[Rendering]) -> list[Diagnostic]:
    """The warnings that say of a typed value that it is surely not what was meant.

    What was in the files before is not this edit's to judge.
    """
    slips = {code.slug for code in (*odd_uris.CODES, MISSPELT, IMAGE)} if edited.typed else set()
    found = [(d, r.texts) for r in renderings for d in r.diagnostics if d.code.slug in slips and d.span is not None]
    return [d for d, texts in found if any(value in written_at(d.span, texts) for value in edited.typed)]


def written_at(span: Span | None, texts: Mapping[str, str]) -> str:
    """The text of a line from where a finding points to."""
    lines = texts.get(span.file, "").splitlines() if span is not None else []
    return lines[span.line - 1][span.column - 1 :] if span is not None and 0 < span.line <= len(lines) else ""


def differences(workspace: Workspace, before: Mapping[str, bytes], contents: Mapping[str, bytes | None]) -> str:
    """Edits as one unified diff.

    Args:
        workspace: the project.
        before: the files as they were.
        contents: the files as they are to be.
    """
    from kservec.io.reading import shown_name  # noqa: PLC0415 - as above

    shown = {path: shown_name(workspace.at(path)) for path in sorted(contents)}
    return "".join(difference(name, before.get(path), contents[path]) for path, name in shown.items())


def difference(name: str, before: bytes | None, after: bytes | None) -> str:
    """The edit of one file as a unified diff, made or taken away included."""
    old, new = ((content or b"").decode().splitlines(keepends=True) for content in (before, after))
    names = (f"a/{name}" if before is not None else "/dev/null", f"b/{name}" if after is not None else "/dev/null")
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
        for line in difflib.unified_diff(old, new, *names)
    )


def texts_of(found: Iterable[Diagnostic]) -> dict[str, str]:
    """The texts that findings point into, as far as they can be read."""
    from kservec.api import text_of  # noqa: PLC0415 - as above
    from kservec.io.reading import File  # noqa: PLC0415 - as above

    names = {d.span.file for d in found if d.span is not None}
    return {n: text_of(File(n, Path(n).read_bytes())) for n in sorted(names) if Path(n).is_file()}


def show(found: Sequence[Diagnostic], texts: Mapping[str, str], outcome: str) -> int:
    """Show findings, and give the exit status that they lead to."""
    Findings(layout=TEXT, notes=False).show(found, texts, outcome=outcome)
    return FAILED if any(d.is_error for d in found) else 0


def show_refused(outcome: Outcome) -> int:
    """Show why an edit was not made, and give the exit status."""
    is_broken = any(d.is_error for d in outcome.found)
    reason = "the edited spec does not compile" if is_broken else "that is hardly meant; else edit the file by hand"
    show(outcome.found, outcome.texts, f"nothing was written, for {reason}")
    return FAILED
