"""Stamps: which files of an environment have changed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from kservec.io.stamps import changed, stamps

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture(name="folder")
def folder_fixture(tmp_path: Path) -> Path:
    """A folder with files, a rendered tree and what a version control system keeps."""
    for name in ("services/a.yaml", "services/team/b.yml", "services/out/c.yaml", "services/.git/d.yaml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a: 1\n")
    return tmp_path


def write(path: Path, text: str = "a: 2\n") -> None:
    """Write a file as an editor does: beside it, and then in its place."""
    beside = path.with_name(f".{path.name}.tmp")
    beside.write_text(text)
    beside.replace(path)


@pytest.mark.parametrize(
    ("edit", "expected"),
    [
        (lambda f: write(f / "services/a.yaml"), ["services/a.yaml"]),
        (lambda f: write(f / "services/a.yaml", "a: 1\n"), ["services/a.yaml"]),
        (lambda f: (f / "services/new.json").write_text("{}"), ["services/new.json"]),
        (lambda f: (f / "services/new.YAML").write_text("{}"), ["services/new.YAML"]),
        (lambda f: (f / "services/team/b.yml").unlink(), ["services/team/b.yml"]),
        (lambda f: (f / "services/team").rename(f / "services/crew"), ["services/crew/b.yml", "services/team/b.yml"]),
        (lambda f: (f / "services/out/c.yaml").write_text("b: 1\n"), []),
        (lambda f: (f / "services/.git/d.yaml").write_text("b: 1\n"), []),
        (lambda f: (f / "services/a.yaml~").write_text("b: 1\n"), []),
        (lambda f: (f / "services/notes.txt").write_text("b\n"), []),
        (lambda f: (f / "kservec.yaml").write_text("kind: Project\n"), ["kservec.yaml"]),
        (lambda f: (f / "services/self").symlink_to(f / "services"), []),
    ],
    ids=[
        "written", "written the same", "new", "new, in capitals", "gone", "a folder is renamed",
        "in the rendered tree", "hidden",
        "a backup of an editor", "no input", "a file that was named and was not there", "a link in a circle",
    ],
)  # fmt: skip
def test_what_has_changed(folder: Path, edit: Callable[[Path], object], expected: list[str]) -> None:
    """Files that are new, gone or written anew, below the paths that are looked at."""
    paths = [str(folder / "services"), str(folder / "kservec.yaml")]
    apart = {os.path.realpath(folder / "services" / "out")}
    before = stamps(paths, apart)
    assert len(before) == 2
    edit(folder)
    found = [os.path.relpath(path, folder) for path in changed(before, stamps(paths, apart))]
    assert sorted(found) == expected
