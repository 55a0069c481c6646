"""kservec affected: whom changed files concern, told without compiling."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema_rs import Draft202012Validator

from .repositories import FILE, commit, edit, repository
from .running import ROOT, SERVICE, kservec

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with two services, and a platform of prod's own."""
    repo = repository(tmp_path, built=False)
    edit(repo / "kservec.yaml", "prod: {}", "prod: {platform: [platform]}")
    (repo / "platform").mkdir()
    (repo / "platform/cluster.yaml").write_text("apiVersion: kservec.dev/v1alpha1\nkind: Cluster\n")
    (repo / "services/other.yaml").write_text(SERVICE.replace("fraud", "other"))
    assert kservec(repo, "build").status == 0
    commit(repo, "second")
    return repo


def affected(folder: Path) -> dict[str, Any]:
    """What changed since HEAD concerns: the document's environments by name."""
    ran = kservec(folder, "affected", "--since", "HEAD", "--format", "json")
    assert ran.status == 0, ran.err
    found = json.loads(ran.out)
    Draft202012Validator(json.loads((ROOT / "docs/schemas/affected.json").read_text())).validate(found)
    return {environment["name"]: environment for environment in found["environments"]}


def test_nothing_changed(repo: Path) -> None:
    """Comments, rendered files and other files concern nobody."""
    edit(repo / "services/fraud.yaml", "spec:", "spec: # why")
    edit(repo / "rendered/dev" / FILE, "sklearnserver:", "mine:")
    (repo / "README.md").write_text("x")
    assert affected(repo) == {}
    assert kservec(repo, "affected", "--since", "main").out == ""


def test_one_service(repo: Path) -> None:
    """In all environments, with the files of the committed trees that are its own."""
    edit(repo / "services/fraud.yaml", "v7", "v8")
    found = affected(repo)
    assert list(found) == ["dev", "prod"]
    (unit,) = found["prod"]["units"]
    assert (unit["owner"], unit["because"]) == ("payments/InferenceService/fraud", ["services/fraud.yaml"])
    assert FILE in found["prod"]["files"]
    assert kservec(repo, "affected", "--since", "main", "dev").out == (
        "dev: 1 service\n  payments/InferenceService/fraud  because of services/fraud.yaml\n"
    )


def test_a_service_in_a_file_with_a_capital_suffix(repo: Path) -> None:
    """What a build reads of a folder, a look at a commit takes for an input, too."""
    (repo / "services/more.YAML").write_text(SERVICE.replace("fraud", "more"))
    assert [unit["because"] for unit in affected(repo)["prod"]["units"]] == [["services/more.YAML"]]


def test_the_platform_of_one_environment(repo: Path) -> None:
    """All services of that environment, and no other one."""
    edit(repo / "platform/cluster.yaml", "Cluster\n", "Cluster\nclusterDomain: example.com\n")
    found = affected(repo)
    assert {name: len(e["units"]) for name, e in found.items()} == {"prod": 2}


def test_settings_of_one_environment(repo: Path) -> None:
    """Whatever the project file says of it concerns all of its services."""
    edit(repo / "kservec.yaml", "dev: {}", "dev: {absent: [Ingress]}")
    found = affected(repo)
    assert {name: (e["all"], len(e["units"])) for name, e in found.items()} == {"dev": (True, 2)}


def test_the_lock_file(repo: Path) -> None:
    """What is pinned reaches every service of every environment."""
    lock = '{"apiVersion": "kservec.dev/v1alpha1", "kind": "Lock", "images": {}}'
    (repo / "kservec.lock.json").write_text(lock)
    found = affected(repo)
    assert {name: (e["all"], len(e["units"])) for name, e in found.items()} == {"dev": (True, 2), "prod": (True, 2)}


def test_a_service_that_is_gone(repo: Path) -> None:
    """It is concerned most of all."""
    (repo / "services/other.yaml").unlink()
    assert [u["object"]["name"] for u in affected(repo)["dev"]["units"]] == ["other"]


def test_a_commit_has_to_be_named(repo: Path) -> None:
    """There is no default that would be right."""
    assert "Missing option '--since'" in kservec(repo, "affected").err


def test_patches_over_rendered_objects(repo: Path) -> None:
    """A folder of patches that holds a kustomization alone concerns all services of its environment once it changes."""
    edit(repo / "kservec.yaml", "prod: {platform: [platform]}", "prod: {platform: [platform], patches: patches/prod}")
    (repo / "patches/prod").mkdir(parents=True)
    kustomization = repo / "patches/prod/kustomization.yaml"
    kustomization.write_text(
        "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        "labels:\n- pairs: {team: risk}\n  includeSelectors: false\n"
    )
    commit(repo, "patches")
    assert affected(repo) == {}
    edit(kustomization, "risk", "fraud")
    found = affected(repo)
    assert list(found) == ["prod"]
    assert {tuple(unit["because"]) for unit in found["prod"]["units"]} == {("patches/prod/kustomization.yaml",)}
    assert len(found["prod"]["units"]) == 2
