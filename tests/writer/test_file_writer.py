"""Whether a single file could be written is told by the error that writing it raises, and nothing is left behind."""

from __future__ import annotations

import errno
import os
import tempfile
from typing import TYPE_CHECKING, NoReturn

import pytest

from kservec.io import file_writer
from kservec.io.file_writer import refuse_unwritable, replace_file

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with a file, a folder, and links to both, to nothing, and to what is below a file."""
    (tmp_path / "file").write_text("before")
    (tmp_path / "folder").mkdir()
    for name, target in {"link": "file", "astray": "folder", "dangling": "gone/file", "below": "file/x"}.items():
        (tmp_path / name).symlink_to(target)
    return tmp_path


def told(tried: object, *given: object) -> tuple[int | None, str, str | None] | None:
    """Number, text and file of the error that a call raises; None if it raises none."""
    assert callable(tried)
    try:
        tried(*given)
    except OSError as error:
        return error.errno, error.strerror, error.filename
    return None


@pytest.mark.parametrize("name", ["folder", "astray", "gone/file", "file/x", "dangling", "below"])
def test_what_cannot_be_written_is_told_beforehand(work: Path, name: str) -> None:
    """The same is said of the file, not of the one that would take its place, and the folder is as it was."""
    before = sorted(work.rglob("*"))
    wrong = told(refuse_unwritable, work / name)
    assert wrong is not None
    assert wrong == told(replace_file, work / name, b"after")
    assert wrong[2] == str(work / name)
    assert sorted(work.rglob("*")) == before


@pytest.mark.parametrize("name", ["file", "link", "new", "folder/new"])
def test_what_can_be_written_is_not_refused(work: Path, name: str) -> None:
    """Also a file that is read-only: it is replaced, not written into."""
    (work / "file").chmod(0o444)
    refuse_unwritable(work / name)
    assert (work / "file").read_text() == "before"
    replace_file(work / name, b"after")
    assert (work / name).read_text() == "after"


@pytest.mark.parametrize(
    ("read_only", "number"), [(False, errno.EACCES), (True, errno.EROFS)], ids=["folder", "file system"]
)
def test_a_folder_that_nobody_can_write_into(
    work: Path, monkeypatch: pytest.MonkeyPatch, *, read_only: bool, number: int
) -> None:
    """The error is that of the system, whose permissions do not hold for whoever may do everything."""

    def refused(**given: object) -> NoReturn:
        raise OSError(number, os.strerror(number), f"{given['dir']}/.file.x7d3")

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr(file_writer, "is_mounted_read_only", lambda _: read_only)
    monkeypatch.setattr(tempfile, "mkstemp", refused)
    assert told(refuse_unwritable, work / "file") == told(replace_file, work / "file", b"after")
    assert told(refuse_unwritable, work / "file") == (number, os.strerror(number), str(work / "file"))
