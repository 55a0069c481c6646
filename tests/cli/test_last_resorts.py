"""What is said when git, a merge or the last service is gone: a plain sentence, and the way on."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest

from .repositories import PROJECT, commit, edit, git, repository
from .running import SERVICE, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

INDEX = "kservec.index.json"


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with a project of two environments, both built and committed."""
    (tmp_path / "repo").mkdir()
    return repository(tmp_path / "repo")


def test_the_last_service_is_deleted(repo: Path) -> None:
    """Without --allow-empty that is refused; with it the tree is empty, and everything else goes on."""
    (repo / "services/fraud.yaml").unlink()
    refused = kservec(repo, "build")
    assert refused.status == 2
    assert "--allow-empty does it" in refused.err
    assert kservec(repo, "build", "--allow-empty").status == 0
    assert sorted(tree(repo / "rendered/dev")) == ["kservec.index.json", "kustomization.yaml"]
    assert kservec(repo, "check").status == 0


def test_a_project_without_services_is_not_built_by_mistake(repo: Path) -> None:
    """A first tree that would be empty is most likely a wrong folder."""
    (repo / "services/fraud.yaml").unlink()
    shutil.rmtree(repo / "rendered")
    ran = kservec(repo, "build")
    assert ran.status == 2
    assert "no YAML or JSON file in services; --allow-empty writes an empty tree" in ran.err


def test_a_tree_that_was_deleted_does_not_let_go_of_the_brake(repo: Path) -> None:
    """The committed tree counts; one that never was is said to be new."""
    (repo / "kservec.yaml").write_text(PROJECT + "policy: {maxRestarts: 0}\n")
    edit(repo / "services/fraud.yaml", "v7", "v8")
    shutil.rmtree(repo / "rendered")
    ran = kservec(repo, "build")
    assert ran.status == 1
    assert "policy/too-much-at-once" in ran.err
    git(repo, "rm", "-r", "-q", "--cached", "rendered")
    commit(repo, "no trees")
    fresh = kservec(repo, "build")
    assert fresh.status == 0
    assert "hint: rendered/dev is new and not in git's last commit" in fresh.err


def test_a_shallow_clone_says_so(repo: Path, tmp_path: Path) -> None:
    """A commit that is not in it can be fetched."""
    edit(repo / "services/fraud.yaml", "v7", "v8")
    commit(repo, "second")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "shallow")
    ran = kservec(tmp_path / "shallow", "diff", "HEAD~1")
    assert ran.status == 2
    assert "shallow clone" in ran.err
    assert "git fetch --deepen=" in ran.err


def test_a_hydrator_without_a_commit(tmp_path: Path) -> None:
    """A repository without commits is called that."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    ran = kservec(tmp_path, "build", "dev", "--hydrator", "-o", "out")
    assert ran.status == 2
    assert "this repository has no commit yet; commit the specs first" in ran.err


def test_a_merge_conflict_in_the_project_file(repo: Path) -> None:
    """The mark's line is named."""
    (repo / "kservec.yaml").write_text(PROJECT + "<<<<<<< HEAD\n  test: {}\n=======\n  qa: {}\n>>>>>>> topic\n")
    ran = kservec(repo, "build")
    assert ran.status == 1
    assert "error[yaml/merge-conflict]: a merge conflict begins here\n --> kservec.yaml:7:1" in ran.err


def test_an_index_with_a_single_mark_is_a_conflict(repo: Path) -> None:
    """Half mended is not mended."""
    with (repo / "rendered/dev" / INDEX).open("a") as file:
        file.write("<<<<<<< HEAD\n")
    ran = kservec(repo, "check", "dev")
    assert ran.status == 3
    assert "output/merge-conflict" in ran.out


def test_the_digest_of_an_artifact_hangs_on_the_commit_only_if_that_is_asked_for(repo: Path) -> None:
    """Without --commit the same tree is the same digest in every commit."""
    first = kservec(repo, "build", "dev", "--oci", "../a").err.replace("../a", "")
    (repo / "README").write_text("another commit\n")
    commit(repo, "second")
    assert kservec(repo, "build", "dev", "--oci", "../b").err.replace("../b", "") == first
    sha = git(repo, "rev-parse", "HEAD").strip()
    assert kservec(repo, "build", "dev", "--oci", "../c", "--commit", sha).err.replace("../c", "") != first


def test_a_merge_conflict_in_a_file_of_json(tmp_path: Path) -> None:
    """JSON is no different."""
    (tmp_path / "x.json").write_text('{"a": 1,\n<<<<<<< HEAD\n"b": 2\n=======\n"b": 3\n>>>>>>> topic\n}\n')
    ran = kservec(tmp_path, "lint", "x.json")
    assert ran.status == 1
    assert "error[yaml/merge-conflict]: a merge conflict begins here\n --> x.json:2:1" in ran.err
