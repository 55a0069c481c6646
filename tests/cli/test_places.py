"""Where trees may be written: never over what a project is made of, nor over what kservec did not write."""

from __future__ import annotations

import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from kservec.cli import writing
from kservec.cli.main import run
from kservec.io import tree_writer

from .repositories import repository
from .running import KSERVEC, SERVICE, environment, kservec, tree

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

INDEX = "kservec.index.json"
DEPLOYMENT = "payments/fraud/deployment-fraud-predictor.yaml"


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with a project of two environments, both built and committed."""
    return repository(tmp_path)


@pytest.mark.parametrize(
    ("option", "folder", "said"),
    [
        ("-o", "services", "it holds the input services of the project"),
        ("-o", "rendered/prod", "it is the output of prod; build prod instead"),
        ("-o", "rendered/prod/x", "it lies in the output of prod"),
        ("-o", "rendered/dev/x", "it lies in the output of dev"),
        ("-o", "rendered", "it holds other folders"),
        ("-o", ".", "it is or holds the current folder"),
        ("--oci", "services", "it holds the input services of the project"),
        ("--oci", "rendered/dev", "it is the output of dev"),
    ],
)
def test_an_output_that_overlaps_the_project_is_refused(repo: Path, option: str, folder: str, said: str) -> None:
    """The command line must not name what the project file must not name, and nothing is written."""
    before = tree(repo)
    ran = kservec(repo, "build", "dev", option, folder)
    assert ran.status == 2
    assert said in ran.err
    assert tree(repo) == before


@pytest.mark.parametrize(
    ("folder", "said"),
    [
        (".", "it is or holds the current folder"),
        (".git", "it is a repository, or lies in what git keeps for itself"),
        (".git/kept", "it is a repository, or lies in what git keeps for itself"),
        ("services", "it holds the input services of the project"),
        ("rendered", "it holds the output of "),
        ("rendered/prod", "it is in a rendered tree"),
        ("rendered/prod/payments", "it is in a rendered tree"),
        ("services/fraud.yaml/kept", "cannot make services/fraud.yaml/kept"),
    ],
)
def test_a_cache_in_the_place_of_something_else_is_refused(repo: Path, folder: str, said: str) -> None:
    """Neither git, nor sources, nor trees have a cache put into them, and nothing is written."""
    before = tree(repo)
    for command in (("build", "prod"), ("check",), ("lint", "prod"), ("diff",)):
        ran = kservec(repo, *command, "--cache", folder)
        assert ran.status == 2
        assert f"{folder}: " in ran.err
        assert said in ran.err
        assert "build prod instead" not in ran.err
    assert tree(repo) == before


def test_a_cache_in_the_place_of_an_argument_is_refused(repo: Path) -> None:
    """Of files without a project what is named is looked at, the output too; any other folder is made."""
    before = tree(repo)
    ran = kservec(repo, "build", "./services/fraud.yaml", "--cache", "services")
    assert (ran.status, tree(repo)) == (2, before)
    assert "--cache services: it holds the input ./services/fraud.yaml; choose a folder of its own" in ran.err
    for folder, said in (("out", "is"), ("out/kept", "lies in"), (".kept", "holds")):
        output = ".kept/out" if folder == ".kept" else "out"
        ran = kservec(repo, "build", "./services/fraud.yaml", "-o", output, "--cache", folder)
        assert (ran.status, tree(repo)) == (2, before)
        assert f"--cache {folder}: it {said} the output {output}; choose a folder of its own" in ran.err
    assert kservec(repo, "build", "./services/fraud.yaml", "--cache", ".kept").status == 0
    assert {path.suffix or path.name for path in (repo / ".kept").iterdir()} == {".TAG", ".gitignore", ".made"}


def test_an_output_that_holds_what_is_compiled_is_refused(repo: Path) -> None:
    """Files are not compiled into their own folder, either."""
    ran = kservec(repo, "build", "./services", "-o", "services")
    assert ran.status == 2
    assert "--output services: it holds the input ./services" in ran.err


def test_a_folder_beside_the_project_can_be_the_output(repo: Path) -> None:
    """A folder of its own, and the environment's own one, are written."""
    assert kservec(repo, "build", "dev", "-o", "elsewhere").status == 0
    assert tree(repo / "elsewhere") == tree(repo / "rendered/dev")
    assert kservec(repo, "build", "dev", "-o", "rendered/dev").err == "rendered/dev: up to date\n"


def test_a_lost_index_is_made_anew(repo: Path) -> None:
    """What lies there is what a build writes, so the index follows from it."""
    before = tree(repo)
    (repo / "rendered/dev" / INDEX).unlink()
    ran = kservec(repo, "build")
    assert ran.status == 0
    assert ran.err.startswith("rendered/dev: 1 file written\nrendered/prod: up to date\n")
    assert tree(repo) == before


def test_without_an_index_files_are_told_that_a_build_does_not_write(repo: Path) -> None:
    """An edited and a foreign file are named with the way back; --force overwrites the one and leaves the other."""
    place = repo / "rendered/dev"
    before = tree(place)
    (place / INDEX).unlink()
    (place / DEPLOYMENT).write_text("edited: true\n")
    (place / "payments/other.yaml").write_text("foreign: true\n")
    ran = kservec(repo, "build", "dev")
    assert ran.status == 1
    for said in (
        "this is not what a build writes",
        f"--> rendered/dev/{DEPLOYMENT}",
        "a build does not write this file",
        "--> rendered/dev/payments/other.yaml",
        f"git checkout -- rendered/dev/{INDEX}",
        "--force",
    ):
        assert said in ran.err
    assert "--output" not in ran.err
    assert kservec(repo, "build", "dev", "--force").status == 0
    assert tree(place) == before | {"payments/other.yaml": b"foreign: true\n"}


def test_an_output_of_the_project_that_is_in_use_is_called_so(repo: Path) -> None:
    """Nobody wrote --output, so the message names the project file."""
    shutil.rmtree(repo / "rendered/dev")
    (repo / "rendered/dev/stuff").mkdir(parents=True)
    ran = kservec(repo, "build", "dev", "--force")
    assert ran.status == 2
    assert "rendered/dev, the output of dev in kservec.yaml: it holds other folders" in ran.err


@pytest.mark.parametrize("force", [(), ("--force",)])
@pytest.mark.parametrize("content", [{}, {"mine.txt": "mine"}], ids=["empty", "with a file"])
def test_a_folder_in_the_place_of_a_file_stays(repo: Path, content: Mapping[str, str], force: tuple[str, ...]) -> None:
    """It is foreign, and no option deletes it."""
    place = repo / "rendered/dev" / DEPLOYMENT
    place.unlink()
    place.mkdir()
    for name, text in content.items():
        (place / name).write_text(text)
    ran = kservec(repo, "build", "dev", *force)
    assert ran.status == 1
    assert (
        f"error[output/foreign-file]: a folder lies where kservec writes a file\n --> rendered/dev/{DEPLOYMENT}"
        in ran.err
    )
    assert sorted(p.name for p in place.iterdir()) == sorted(content)


def test_a_folder_of_our_own_makes_room_for_a_file(tmp_path: Path) -> None:
    """A tree may turn a folder that holds nothing else into a file."""
    folder, index = tmp_path / "tree", b'"a/b": {},\n'
    tree_writer.write_tree(folder, {"a/b": b"1", INDEX: index}, force=False)
    assert tree_writer.write_tree(folder, {"a": b"2", INDEX: b""}, force=False).obstacles == ()
    assert tree(folder) == {"a": b"2", INDEX: b""}


@pytest.mark.parametrize("name", [DEPLOYMENT, INDEX])
def test_a_rendered_file_that_cannot_be_read(
    repo: Path, name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A build says which file it is, and that is no bug."""
    reads = tree_writer.content_of

    def closed(path: Path) -> bytes | None:
        if path.as_posix().endswith(f"dev/{name}"):
            raise PermissionError(13, "Permission denied", str(path))
        return reads(path)

    monkeypatch.setattr(tree_writer, "content_of", closed)
    monkeypatch.chdir(repo)
    assert run(["build"]) == 2
    assert f"rendered/dev/{name}: Permission denied" in capfd.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="a folder in use cannot be deleted")
@pytest.mark.parametrize("arguments", [("build",), ("check",), ("lint",), ("diff",), ("build", "-o", "x", "y.yaml")])
def test_a_current_folder_that_was_deleted(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """One line, and wrong usage."""
    import subprocess  # noqa: PLC0415 - only here a shell changes the folder

    script = f"mkdir gone && cd gone && rmdir ../gone && exec {' '.join((*KSERVEC, *arguments))}"
    done = subprocess.run(  # noqa: S603 - our own program
        ["/bin/sh", "-c", script], cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert "the current folder was deleted" in done.stderr


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), PermissionError(13, "Permission denied", "rendered/prod")])
def test_a_build_that_ends_half_way_says_what_was_written(
    repo: Path, stop: BaseException, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The first tree was replaced, the second one not."""
    writes = tree_writer.write_tree

    def stopped(folder: Path, planned: Mapping[str, bytes], *, force: bool) -> tree_writer.Written:
        if folder.name == "prod":
            raise stop
        return writes(folder, planned, force=force)

    (repo / "services/fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    monkeypatch.setattr(tree_writer, "write_tree", stopped)
    monkeypatch.chdir(repo)
    assert run(["build"]) == (130 if isinstance(stop, KeyboardInterrupt) else 2)
    said = capfd.readouterr().err
    assert "nothing was written" not in said
    assert "rendered/dev: 2 files written\nrendered/prod: " in said
    assert writing.UNCHANGED not in said
