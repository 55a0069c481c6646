"""Every golden case gives the committed bytes. `pytest --snapshot-update` writes them anew; never edit them by hand."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

import pytest

from kservec.core.diagnostics import Severity

from .cases import GOLDEN, Case, cases, committed, compiled, result
from .projects import projects, rendered
from .projects import result as rendered_result

if TYPE_CHECKING:
    from collections.abc import Iterator

NAME = re.compile(
    r"(?P<prefix>project|isvc|llm|graph|localmodel(namespace)?cache|trainedmodel|warn|note|err)(-[a-z0-9]+)+"
)
WORST = {"warn": Severity.WARNING, "err": Severity.ERROR}
"""How bad the worst finding of a case is, by the first word of its name."""

OWN_FILES = re.compile(r"case\.yaml|(input|platform|previous)/.+|expect/.+\.(yaml|json)|diagnostics\.txt")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_case_gives_what_is_committed(case: Case, snapshot_update: bool) -> None:
    """The files, their names and every byte of them are what is committed, and nothing else is."""
    made = result(case)
    if snapshot_update:
        write(case, made)
    differences = "".join(unified(committed(case), made))
    assert not differences, f"run pytest --snapshot-update if this is meant\n{differences}"


def write(case: Case, made: dict[str, bytes]) -> None:
    """Make the committed files those that were made."""
    for path in committed(case).keys() - made.keys():
        (case.folder / path).unlink()
    for path, content in made.items():
        target = case.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)
    for folder in sorted((p for p in case.folder.rglob("*") if p.is_dir() and not any(p.iterdir())), reverse=True):
        folder.rmdir()


def unified(before: dict[str, bytes], after: dict[str, bytes]) -> Iterator[str]:
    """The differences between two trees, as text."""
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path), after.get(path)
        if old != new:
            lines = [(b or b"").decode(errors="backslashreplace").splitlines(keepends=True) for b in (old, new)]
            yield from difflib.unified_diff(*lines, f"committed/{path}", f"made/{path}")


@pytest.mark.parametrize("case", projects(), ids=str)
def test_a_project_gives_what_is_committed(case: Case, snapshot_update: bool) -> None:
    """The trees of all environments of a project, every byte of them, are what is committed."""
    made = rendered_result(case)
    if snapshot_update:
        write(case, made)
    differences = "".join(unified(committed(case), made))
    assert not differences, f"run pytest --snapshot-update if this is meant\n{differences}"


@pytest.mark.parametrize("case", projects(), ids=str)
def test_the_name_of_a_project_says_how_it_ends(case: Case) -> None:
    """A project that is refused is called `err-`, one with a warning `warn-`."""
    named = NAME.fullmatch(case.name)
    assert named is not None
    worst = max((d.code.severity for d in rendered(case).diagnostics), default=Severity.NOTE)
    assert worst == WORST.get(named["prefix"], Severity.NOTE)
    assert case.about.endswith(".")


@pytest.mark.parametrize("case", cases(), ids=str)
def test_a_name_says_how_a_case_ends(case: Case) -> None:
    """A case that is refused is called `err-`, one with a warning `warn-`, one with a note `note-` or by kind."""
    named = NAME.fullmatch(case.name)
    assert named is not None
    worst = max((d.code.severity for d in compiled(case).diagnostics), default=Severity.NOTE)
    assert worst == WORST.get(named["prefix"], Severity.NOTE)
    assert case.about.endswith(".")


def test_golden_has_no_orphans() -> None:
    """Every file below golden/ belongs to a case."""
    files = [path for path in GOLDEN.glob("*/**/*") if path.is_file()]
    assert [str(f) for f in files if not OWN_FILES.fullmatch("/".join(f.relative_to(GOLDEN).parts[1:]))] == []


@pytest.mark.parametrize("case", cases(), ids=str)
def test_no_secret_is_shown(case: Case) -> None:
    """Values that stand for secrets in the inputs are in no output and in no report."""
    assert not [path for path, content in result(case).items() if b"the-value-must-not-appear" in content]
