"""Sites on the disk: all or nothing, only over what is ours, and nothing of anybody else's is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kservec.io.site_writer import MARKER, ForeignFolderError, write_site

from .trees import tree

FIRST = {"index.html": b"one", "units/a.html": b"a", "units/b.html": b"b"}
SECOND = {"index.html": b"two", "units/b.html": b"b", "units/c/d.html": b"d"}


def pages(folder: Path) -> dict[str, bytes]:
    """The files of a folder but the marker."""
    return {path: content for path, content in tree(folder).items() if path != MARKER}


def test_a_new_site_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    """Pages that are no more go, with their folders; nothing is left beside the site."""
    out = tmp_path / "deep" / "site"
    assert write_site(out, FIRST.items()) == 3
    assert pages(out) == FIRST
    assert write_site(out, SECOND.items()) == 3
    assert pages(out) == SECOND
    assert [p.name for p in out.parent.iterdir()] == ["site"]


def test_an_empty_folder_may_become_a_site(tmp_path: Path) -> None:
    """A folder that somebody made for it is taken."""
    (tmp_path / "site").mkdir()
    write_site(tmp_path / "site", FIRST.items())
    assert pages(tmp_path / "site") == FIRST


def test_other_files_in_a_site_stay(tmp_path: Path) -> None:
    """What somebody put beside the pages, such as the name of a domain, is there afterwards."""
    out = tmp_path / "site"
    write_site(out, FIRST.items())
    (out / "CNAME").write_bytes(b"report.example.com")
    (out / "notes").mkdir()
    (out / "notes" / "own.txt").write_bytes(b"mine")
    write_site(out, SECOND.items())
    assert pages(out) == {**SECOND, "CNAME": b"report.example.com", "notes/own.txt": b"mine"}


@pytest.mark.parametrize("name", ["README.md", ".git", "kservec.index.json", "index.html"])
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, name: str) -> None:
    """A folder that holds anything and no site is left as it is, and the message names what it holds."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / name).write_bytes(b"precious")
    with pytest.raises(ForeignFolderError, match=name.replace(".", r"\.")):
        write_site(tmp_path / "site", FIRST.items())
    assert tree(tmp_path) == {f"site/{name}": b"precious"}


def test_a_page_never_takes_the_place_of_another_file(tmp_path: Path) -> None:
    """A file that somebody put where a page is going to be keeps the site from being written."""
    out = tmp_path / "site"
    write_site(out, FIRST.items())
    (out / "units" / "c").mkdir()
    (out / "units" / "c" / "d.html").write_bytes(b"mine")
    with pytest.raises(ForeignFolderError, match=r"units/c/d\.html"):
        write_site(out, SECOND.items())
    assert pages(out) == {**FIRST, "units/c/d.html": b"mine"}


def test_what_fails_half_way_leaves_the_old_site(tmp_path: Path) -> None:
    """An error while the pages are made leaves the site of before, and nothing beside it."""
    out = tmp_path / "site"
    write_site(out, FIRST.items())

    def failing() -> Iterator[tuple[str, bytes]]:
        yield "index.html", b"half"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        write_site(out, failing())
    assert pages(out) == FIRST
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_what_a_kill_has_left_is_cleared_up(tmp_path: Path) -> None:
    """A workplace of a run that was killed is no obstacle, and a site that it had set aside comes back first."""
    out = tmp_path / "site"
    write_site(out, FIRST.items())
    workplace = tmp_path / ".site.kservec"
    (workplace / "new").mkdir(parents=True)
    (workplace / "new" / "index.html").write_bytes(b"half")
    out.rename(workplace / "old")
    write_site(out, SECOND.items())
    assert pages(out) == SECOND
    assert [p.name for p in tmp_path.iterdir()] == ["site"]


def test_a_marker_that_is_a_link_is_none(tmp_path: Path) -> None:
    """A link to the marker of another site does not make a folder ours."""
    write_site(tmp_path / "site", FIRST.items())
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / MARKER).symlink_to(tmp_path / "site" / MARKER)
    with pytest.raises(ForeignFolderError):
        write_site(tmp_path / "other", SECOND.items())
