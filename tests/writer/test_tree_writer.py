"""The tree writer: all of a tree or nothing, nothing that is not ours, and no file touched that did not change."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

import pytest

from kservec.gitops.index import Entry, index_text
from kservec.gitops.layout import INDEX, digest
from kservec.io import exchange as exchange_module
from kservec.io import replacement, tree_writer
from kservec.io.tree_writer import Workplace, write_tree

from .trees import tree, with_index

OLD = {"ml/iris/deployment-iris.yaml": b"old: 1\n", "ml/iris/service-iris.yaml": b"same: 1\n"}
NEW = {"ml/iris/deployment-iris.yaml": b"new: 1\n", "ml/iris/service-iris.yaml": b"same: 1\n", "ml/x/a.yaml": b"a: 1\n"}


def states(folder: Path) -> dict[str, tuple[int, int]]:
    """The inode and the time of change of everything in a folder."""
    return {str(p): (p.stat().st_ino, p.stat().st_mtime_ns) for p in (folder, *folder.rglob("*"))}


def slugs(folder: Path, files: dict[str, bytes], *, force: bool = False) -> list[str]:
    """The codes of what stands in the way of a write."""
    return [f"{d.code.slug} {d.span.file if d.span else ''}" for d in write_tree(folder, files, force=force).obstacles]


@pytest.fixture(name="out")
def out_fixture(tmp_path: Path) -> Path:
    """A folder that holds the old tree."""
    folder = tmp_path / "rendered"
    write_tree(folder, with_index(OLD), force=False)
    return folder


def test_a_new_tree_replaces_the_old_one(out: Path) -> None:
    """Files are written, replaced and removed, and folders without files go."""
    done = write_tree(out, with_index(NEW), force=False)
    assert tree(out) == with_index(NEW)
    assert (done.changed, done.removed) == ((INDEX, "ml/iris/deployment-iris.yaml", "ml/x/a.yaml"), ())
    done = write_tree(out, with_index({"other/b.yaml": b"b: 1\n"}), force=False)
    assert tree(out) == with_index({"other/b.yaml": b"b: 1\n"})
    assert done.removed == tuple(sorted(NEW))
    assert not (out / "ml").exists()


def test_nothing_is_left_beside_the_tree(out: Path) -> None:
    """After a write there is the folder and nothing else."""
    write_tree(out, with_index(NEW), force=False)
    assert [p.name for p in out.parent.iterdir()] == ["rendered"]


def test_a_second_write_changes_nothing(out: Path) -> None:
    """The same tree again: no inode, no time and no folder changes."""
    before = states(out)
    assert write_tree(out, with_index(OLD), force=False) == tree_writer.Written()
    assert states(out) == before


def test_files_that_stay_are_not_written(out: Path) -> None:
    """A file that is the same in both trees is the same file, with the time of its last change."""
    path = str(out / "ml/iris/service-iris.yaml")
    before = states(out)[path]
    write_tree(out, with_index(NEW), force=False)
    assert states(out)[path] == before


def test_foreign_files_stay(out: Path) -> None:
    """What the index does not list is not ours: files, links, empty folders, permissions."""
    (out / "ml" / "README.md").write_text("by hand")
    (out / "ml" / "script.sh").write_text("#!/bin/sh\n")
    (out / "ml" / "script.sh").chmod(0o755)
    (out / "link").symlink_to("ml")
    (out / "dangling").symlink_to("nowhere")
    (out / "empty" / "folder").mkdir(parents=True)
    (out / "private").mkdir(mode=0o700)
    (out / "private" / "key").write_text("k")
    write_tree(out, with_index({}), force=False)
    assert (out / "ml" / "README.md").read_text() == "by hand"
    assert stat.S_IMODE((out / "ml" / "script.sh").stat().st_mode) == 0o755
    assert stat.S_IMODE((out / "private").stat().st_mode) == 0o700
    assert ((out / "link").readlink(), (out / "dangling").readlink()) == (Path("ml"), Path("nowhere"))
    assert (out / "empty" / "folder").is_dir()
    assert not (out / "ml" / "iris").exists()


def test_hand_edits_are_refused(out: Path) -> None:
    """A file that differs from what was written is not overwritten and not removed, unless forced to."""
    edited = out / "ml/iris/deployment-iris.yaml"
    edited.write_bytes(b"edited: 1\n")
    for files in (with_index(NEW), with_index({})):
        assert slugs(out, files) == [f"output/edited-by-hand {edited}"]
        assert edited.read_bytes() == b"edited: 1\n"
    assert slugs(out, with_index(NEW), force=True) == []
    assert tree(out) == with_index(NEW)


def test_an_edit_that_the_build_makes_too_is_no_obstacle(out: Path) -> None:
    """A file that already is what it is to become can stay, whoever wrote it."""
    (out / "ml/iris/deployment-iris.yaml").write_bytes(NEW["ml/iris/deployment-iris.yaml"])
    assert slugs(out, with_index(NEW)) == []


def test_a_file_that_was_deleted_is_written_again(out: Path) -> None:
    """A missing file is no edit that could be lost."""
    (out / "ml/iris/deployment-iris.yaml").unlink()
    assert write_tree(out, with_index(OLD), force=False).changed == ("ml/iris/deployment-iris.yaml",)
    (out / "ml/iris/deployment-iris.yaml").unlink()
    assert write_tree(out, with_index({}), force=False).obstacles == ()


@pytest.mark.parametrize("planned", [NEW, {}])
def test_a_merge_conflict_is_named(out: Path, planned: dict[str, bytes]) -> None:
    """A file with the marks of a conflict is reported as such."""
    conflict = b"<<<<<<< HEAD\nold: 1\n=======\nnew: 1\n>>>>>>> branch\n"
    (out / "ml/iris/deployment-iris.yaml").write_bytes(conflict)
    assert slugs(out, with_index(planned)) == [f"output/merge-conflict {out}/ml/iris/deployment-iris.yaml"]


def test_an_index_with_a_conflict_counts_for_both_sides(out: Path) -> None:
    """While the index holds both sides of a merge, files of either side are ours."""
    ours, theirs = (with_index(side)[INDEX].decode() for side in (OLD, NEW))
    for side in (OLD, NEW):
        (out / INDEX).write_text(f"<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n")
        path = "ml/iris/deployment-iris.yaml"
        (out / path).write_bytes(side[path])
        assert slugs(out, with_index({path: b"third: 1\n"})) == []
        assert tree(out) == with_index({path: b"third: 1\n"})
        write_tree(out, with_index(OLD), force=False)


def test_foreign_files_in_the_way_are_refused(tmp_path: Path) -> None:
    """A file of the same name that the index does not list is somebody else's, and so is a link or a folder there."""
    out = tmp_path / "rendered"
    (out / "ml/iris").mkdir(parents=True)
    (out / "ml/iris/deployment-iris.yaml").write_bytes(b"foreign: 1\n")
    (out / "ml/iris/service-iris.yaml").symlink_to("/etc/hostname")
    before = states(out)
    assert slugs(out, with_index(OLD)) == [f"output/foreign-file {out / path}" for path in sorted(OLD)]
    assert states(out) == before
    write_tree(out, with_index(OLD), force=True)
    assert tree(out) == with_index(OLD)
    assert not (out / "ml/iris/service-iris.yaml").is_symlink()


def test_a_link_to_a_folder_inside_the_tree_is_not_followed(out: Path, tmp_path: Path) -> None:
    """What lies behind a link is not in the tree: nothing is written there, and nothing removed."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (out / "ml/x").symlink_to(elsewhere)
    assert slugs(out, with_index(NEW)) == [f"output/foreign-file {out}/ml/x"]
    write_tree(out, with_index(NEW), force=True)
    assert tree(out) == with_index(NEW)
    assert list(elsewhere.iterdir()) == []


@pytest.mark.parametrize("link", ["ml", "ml/iris"])
@pytest.mark.parametrize("files", [{}, OLD], ids=["gone", "still there"])
def test_a_folder_that_a_link_took_the_place_of_is_left_alone(
    out: Path, tmp_path: Path, link: str, files: dict[str, bytes]
) -> None:
    """Whether anything is still planned there or not: it is refused, and force removes the link and nothing behind."""
    elsewhere = tmp_path / "elsewhere"
    (out / link).rename(elsewhere)
    (out / link).symlink_to(elsewhere)
    before, behind = states(out), states(elsewhere)
    assert slugs(out, with_index(files)) == [f"output/foreign-file {out / link}"]
    assert (states(out), states(elsewhere)) == (before, behind)
    done = write_tree(out, with_index(files), force=True)
    assert (done.removed, done.obstacles) == ((link,), ())
    assert (tree(out), states(elsewhere)) == (with_index(files), behind)
    assert not any(path.is_symlink() for path in out.rglob("*"))


def test_an_index_cannot_lead_out_of_the_tree(out: Path) -> None:
    """Paths of the index that leave the folder are passed over: a tampered index deletes nothing."""
    victim = out.parent / "victim"
    victim.write_text("keep")
    entry = Entry(digest(b"keep"), "")
    for path in ("../victim", str(victim), "ml/../../victim", "..\\victim"):
        (out / INDEX).write_text(index_text({path: entry}))
        write_tree(out, with_index({}), force=True)
        assert victim.read_text() == "keep"


def test_a_link_to_the_output_is_followed(tmp_path: Path) -> None:
    """An output folder that is a link stays one; the tree is where it leads."""
    real, link = tmp_path / "real", tmp_path / "rendered"
    real.mkdir()
    link.symlink_to("real")
    write_tree(link, with_index(OLD), force=False)
    write_tree(link, with_index(NEW), force=False)
    assert link.readlink() == Path("real")
    assert tree(real) == with_index(NEW)


def test_a_system_without_exchange_renames_twice(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where two folders cannot be exchanged in one step, the old one makes way first."""
    monkeypatch.setattr(exchange_module, "exchanged", lambda first, second: False)  # noqa: ARG005
    write_tree(out, with_index(NEW), force=False)
    assert tree(out) == with_index(NEW)


def test_the_old_tree_comes_back(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build that dies between the two renames leaves the old tree to be put back by the next one."""
    place = Workplace.of(out)
    place.folder.mkdir()
    out.rename(place.old)
    assert write_tree(out, with_index(OLD), force=False) == tree_writer.Written()
    assert tree(out) == with_index(OLD)

    def fails(self: Path, target: Path) -> Path:
        if target == out and self == place.new:
            raise OSError(errno.EIO, "broken", str(self))
        return rename(self, target)

    rename = Path.rename
    monkeypatch.setattr(exchange_module, "exchanged", lambda first, second: False)  # noqa: ARG005
    monkeypatch.setattr(Path, "rename", fails)
    with pytest.raises(OSError, match="broken"):
        write_tree(out, with_index(NEW), force=False)
    assert tree(out) == with_index(OLD)
    assert not place.folder.exists()


def test_files_are_copied_where_there_are_no_hard_links(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system without hard links gets copies, with the times of the originals."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    path = out / "ml/iris/service-iris.yaml"
    before = path.stat().st_mtime_ns
    monkeypatch.setattr(os, "link", refuse)
    write_tree(out, with_index(NEW), force=False)
    assert tree(out) == with_index(NEW)
    assert path.stat().st_mtime_ns == before


def test_what_cannot_be_written_leaves_everything(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk in the middle of a write: the error is passed on, the old tree is there, nothing lies about."""

    def full(path: Path, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", str(path), len(content))

    monkeypatch.setattr(replacement, "write_file", full)
    with pytest.raises(OSError, match="No space left"):
        write_tree(out, with_index(NEW), force=False)
    assert tree(out) == with_index(OLD)
    assert [p.name for p in out.parent.iterdir()] == ["rendered"]


def test_a_folder_without_write_permission_is_left_alone(out: Path) -> None:
    """A read-only place is reported, and nothing in it changes."""
    if os.geteuid() == 0:
        pytest.skip("the superuser may write everywhere")
    out.parent.chmod(0o555)
    try:
        with pytest.raises(PermissionError):
            write_tree(out, with_index(NEW), force=False)
    finally:
        out.parent.chmod(0o755)
    assert tree(out) == with_index(OLD)


def test_a_place_that_cannot_be_written_is_reported() -> None:
    """A file system that takes no folders is reported with the path."""
    if not Path("/proc/self").exists():
        pytest.skip("no /proc here")
    with pytest.raises(OSError, match="/proc/kservec-test"):
        write_tree(Path("/proc/kservec-test/rendered"), with_index(NEW), force=False)


def test_git_does_not_see_the_workplace(tmp_path: Path) -> None:
    """While a tree is laid, git status shows nothing of it."""
    place = Workplace.of(tmp_path / "rendered")
    seen: list[str] = []

    def look(path: Path, content: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        seen.append((place.folder / ".gitignore").read_text())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replacement, "write_file", look)
        write_tree(tmp_path / "rendered", with_index(OLD), force=False)
    assert set(seen) == {"*\n"}


def test_what_is_no_folder_is_never_replaced(tmp_path: Path) -> None:
    """A pipe, or a device, in the place of the output folder is left alone, with force too."""
    pipe = tmp_path / "rendered"
    os.mkfifo(pipe)
    for force in (False, True):
        with pytest.raises(NotADirectoryError):
            write_tree(pipe, {"a.yaml": b"a: 1\n"}, force=force)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [p.name for p in tmp_path.iterdir()] == ["rendered"]
