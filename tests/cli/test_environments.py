"""Environments on the command line: by name, all of them, from any folder of the repository; never mixed with paths."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from .running import SERVICE, WRONG, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
environments:
  dev: {}
  prod: {}
"""


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with a project of two environments and one service."""
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    return tmp_path


def test_all_environments_are_built_without_arguments(repo: Path) -> None:
    """Each environment is written to its own folder, and a second build has nothing to do."""
    ran = kservec(repo, "build")
    assert (ran.status, ran.out) == (0, "")
    assert ran.err == "rendered/dev: 8 files written\nrendered/prod: 8 files written\n"
    assert tree(repo / "rendered/dev") == tree(repo / "rendered/prod")
    assert kservec(repo, "build").err == "rendered/dev: up to date\nrendered/prod: up to date\n"


def test_an_environment_is_built_by_its_name_from_any_folder(repo: Path) -> None:
    """Only that environment is written, wherever in the repository the command runs."""
    ran = kservec(repo / "services", "build", "prod")
    assert (ran.status, ran.err) == (0, "../rendered/prod: 8 files written\n")
    assert not (repo / "rendered/dev").exists()


def test_an_environment_to_standard_output(repo: Path) -> None:
    """--stdout takes one environment; where a project adds nothing, its objects are those of the files."""
    (repo / "kservec.yaml").write_text(PROJECT.replace("prod: {}", "prod: {security: {podSecurity: privileged}}"))
    assert kservec(repo, "build", "--stdout", "prod").out == kservec(repo, "build", "services/fraud.yaml").out
    several = kservec(repo, "build", "--stdout")
    assert several.status == 2
    assert "--stdout takes one environment; name one of dev, prod" in several.err


def test_a_path_that_is_called_like_an_environment(repo: Path) -> None:
    """`prod` is the environment, `./prod` the path."""
    (repo / "prod").mkdir()
    (repo / "prod" / "wrong.yaml").write_text(WRONG)
    assert kservec(repo, "lint", "prod").status == 0
    assert "ftp://" in kservec(repo, "lint", "./prod").err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "prd"), "prd is neither an environment of kservec.yaml nor a path; did you mean prod?"),
        (("build", "prod", "services"), "services is a path and prod an environment; build one or the other"),
        (("lint", "prod", "--platform", "services"), "--platform is for files; of an environment kservec.yaml says it"),
        (("build", "prod", "--stdout", "--output", "x"), "--output and --stdout exclude each other"),
    ],
)
def test_wrong_usage(repo: Path, arguments: tuple[str, ...], said: str) -> None:
    """What contradicts itself is refused, and says what to write."""
    ran = kservec(repo, *arguments)
    assert ran.status == 2
    assert said in ran.err


def test_nothing_is_written_unless_all_environments_compile(repo: Path) -> None:
    """An error in one environment leaves the trees of all others as they were."""
    (repo / "more").mkdir()
    (repo / "more" / "cluster.yaml").write_text(
        "apiVersion: kservec.dev/v1alpha1\nkind: Cluster\nabsent: [HTTPRout]\nx: 1\n"
    )
    (repo / "kservec.yaml").write_text(PROJECT.replace("prod: {}", "prod: {platform: [more]}"))
    ran = kservec(repo, "build")
    assert ran.status == 1
    assert "nothing was written" in ran.err
    assert not (repo / "rendered").exists()


def test_an_obstacle_in_one_tree_keeps_all_as_they_are(repo: Path) -> None:
    """Files that were edited by hand stop the build of every environment; --force restores them."""
    kservec(repo, "build")
    (repo / "services" / "fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    edited = repo / "rendered/prod/payments/fraud/service-fraud-predictor.yaml"
    edited.write_text(edited.read_text() + "# mine\n")
    before = tree(repo / "rendered")
    ran = kservec(repo, "build")
    assert (ran.status, tree(repo / "rendered")) == (1, before)
    assert "output/edited-by-hand" in ran.err
    assert kservec(repo, "build", "--force").status == 0
    assert tree(repo / "rendered/dev") == tree(repo / "rendered/prod")


def test_lint_counts_all_environments(repo: Path) -> None:
    """One finding that several environments share is told once."""
    assert kservec(repo, "lint").err == "no errors: 8 objects in 2 environments\n"
    (repo / "services" / "wrong.yaml").write_text(WRONG)
    ran = kservec(repo, "lint")
    assert (ran.status, ran.err.count("error[")) == (1, 1)


def test_a_path_of_the_project_that_is_not_there(repo: Path) -> None:
    """It is an error in the input, and nothing is written."""
    (repo / "kservec.yaml").write_text(PROJECT.replace("[services]", "[servces]"))
    ran = kservec(repo, "build")
    assert (ran.status, "there is no servces" in ran.err, "nothing was written" in ran.err) == (1, True, True)


def test_shells_complete_the_names_of_environments(repo: Path) -> None:
    """Beside files; a project that cannot be used has none to offer."""
    asked = {"_KSERVEC_COMPLETE": "bash_complete", "COMP_WORDS": "kservec build pr", "COMP_CWORD": "2"}
    assert kservec(repo / "services", **asked).out.splitlines() == ["plain,prod", "file,pr"]
    (repo / "kservec.yaml").write_text("kind: [")
    assert kservec(repo, **asked).out.splitlines() == ["file,pr"]


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_the_first_build_tells_what_git_should_know(repo: Path) -> None:
    """In a repository whose attributes do not cover the tree, once, and with the line to add."""
    command = [str(shutil.which("git")), "init", "-q"]
    subprocess.run(command, cwd=repo, check=True)  # noqa: S603 - git
    hint = "hint: git may convert line ends"
    ran = kservec(repo, "build", "dev")
    assert (ran.status, ran.err.count(hint), "rendered/** -text linguist-generated" in ran.err) == (0, 1, True)
    assert hint not in kservec(repo, "build", "dev").err
    (repo / ".gitattributes").write_text("rendered/** -text linguist-generated\n")
    assert hint not in kservec(repo, "build").err


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(
    ("output", "folders"),
    [
        ("services/{env}", ["services/dev", "services/prod"]),
        ("made/{env}", ["made"]),
    ],
)
def test_git_is_told_of_trees_alone(repo: Path, output: str, folders: list[str]) -> None:
    """Beside sources each tree has its line: what people write is theirs to review, and its line ends too."""
    command = [str(shutil.which("git")), "init", "-q"]
    subprocess.run(command, cwd=repo, check=True)  # noqa: S603 - git
    (repo / "kservec.yaml").write_text(f"{PROJECT}output: {output}\n")
    ran = kservec(repo, "build")
    assert ran.status == 0, ran.err
    lines = [line.rpartition(": ")[2] for line in ran.err.splitlines() if line.startswith("hint: git may")]
    assert lines == [f"{folder}/** -text linguist-generated" for folder in folders]
