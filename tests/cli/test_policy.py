"""Policy on the command line: what stops a build, waivers and the day, and trees that shrink."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .running import SERVICE, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
environments: {dev: {}, prod: {}}
policy:
  rules: {policy/waiver-expired: error, policy/waiver-unused: error}
  waivers:
    - {code: policy/image-tag, object: "InferenceService payments/*", reason: a test, expires: 2027-01-31}
"""
LATEST = SERVICE.replace(
    "    model:\n      modelFormat: {name: sklearn}\n      storageUri: s3://models/fraud/v7\n",
    "    containers:\n      - {name: kserve-container, image: 'registry.example.com/fraud:latest'}\n",
)


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with one service whose image has no version, which is waived until a day."""
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(LATEST)
    return tmp_path


def test_a_waiver_holds_to_the_end_of_its_day(repo: Path) -> None:
    """On the day after it a build warns, and lint counts it as the project says; the tree is the same on any day."""
    assert kservec(repo, "build", "--today", "2027-01-31").err.count("warning") == 0
    before = tree(repo / "rendered")
    late = kservec(repo, "build", "--today", "2027-02-01")
    assert late.status == 0
    assert "warning[policy/waiver-expired]: the waiver of policy/image-tag for InferenceService payments/*" in late.err
    assert "kservec.yaml:8:7" in late.err
    assert tree(repo / "rendered") == before
    linted = kservec(repo, "lint", "--today", "2027-02-01")
    assert linted.status == 1
    assert "error[policy/waiver-expired]" in linted.err
    assert kservec(repo, "lint", "--today", "2027-01-31").status == 0


def test_the_day_is_a_date(repo: Path) -> None:
    """Anything else is wrong usage."""
    assert kservec(repo, "lint", "--today", "tomorrow").status == 2


def test_a_waiver_that_nothing_needs(repo: Path) -> None:
    """It is found when all environments are looked at, for another one may need it."""
    (repo / "services" / "fraud.yaml").write_text(LATEST.replace(":latest", ":v1"))
    alone, whole = (kservec(repo, "lint", *names, "--today", "2027-01-01") for names in (["prod"], []))
    assert (alone.status, whole.status) == (0, 1)
    assert "error[policy/waiver-unused]: nothing of the code policy/image-tag is found" in whole.err
    assert kservec(repo, "build", "--today", "2027-01-01").status == 0


def test_a_waiver_that_one_environment_needs(repo: Path) -> None:
    """Is used."""
    text = PROJECT.replace("{dev: {}, prod: {}}", "{dev: {}, prod: {policy: {rules: {policy/image-tag: off}}}}")
    (repo / "kservec.yaml").write_text(text)
    assert kservec(repo, "lint", "--today", "2027-01-01").status == 0


def test_what_a_policy_forbids_is_not_built(repo: Path) -> None:
    """A rule that is an error stops the build of all environments."""
    text = PROJECT[: PROJECT.index("policy:")].replace("prod: {}", "prod: {policy: {rules: {policy/image-tag: error}}}")
    (repo / "kservec.yaml").write_text(text)
    ran = kservec(repo, "build")
    assert ran.status == 1
    where = "Deployment payments/fraud-predictor, container kserve-container"
    image = "image registry.example.com/fraud:latest"
    assert f"error[policy/image-tag]: {where}: {image} has the tag latest" in ran.err
    assert "services/fraud.yaml:11:41" in ran.err
    assert not (repo / "rendered").exists()


def service(name: str, namespace: str = "payments") -> str:
    """A service of a name."""
    return SERVICE.replace("name: fraud", f"name: {name}").replace("namespace: payments", f"namespace: {namespace}")


def test_a_tree_that_shrinks(repo: Path) -> None:
    """Most objects, or all of a namespace, are taken away only where that is allowed."""
    services = repo / "services"
    for name in ("a", "b", "c"):
        (services / f"{name}.yaml").write_text(service(name))
    (services / "fraud.yaml").write_text(service("lone", "lab"))
    assert kservec(repo, "build", "dev", "--today", "2027-01-01").status == 0
    (services / "fraud.yaml").unlink()
    ran = kservec(repo, "build", "dev")
    assert ran.status == 2
    assert "rendered/dev: everything in lab (4 objects) would be removed; --allow-shrink does it" in ran.err
    assert (repo / "rendered/dev/lab").is_dir()
    assert kservec(repo, "build", "dev", "--allow-shrink").status == 0
    assert not (repo / "rendered/dev/lab").exists()
    (services / "a.yaml").unlink()
    assert kservec(repo, "build", "dev").status == 0
    (services / "d.yaml").write_text(service("d"))
    assert kservec(repo, "build", "dev").status == 0
    for name in ("b", "c"):
        (services / f"{name}.yaml").unlink()
    ran = kservec(repo, "build", "dev")
    assert ran.status == 2
    assert "rendered/dev: 8 of 12 objects would be removed; --allow-shrink does it" in ran.err
    assert kservec(repo, "build", "dev", "--allow-empty").status == 0


def gpus(name: str, image: str) -> str:
    """A service with two GPUs."""
    resources = "{nvidia.com/gpu: '2', cpu: '1', memory: 1Gi}"
    container = (
        f"{{name: kserve-container, image: '{image}', resources: {{requests: {resources}, limits: {resources}}}}}"
    )
    return LATEST.replace("name: fraud", f"name: {name}").replace(
        "{name: kserve-container, image: 'registry.example.com/fraud:latest'}", container
    )


def test_the_brake(repo: Path) -> None:
    """A build that restarts more than the project allows is refused, unless so many restarts are accepted."""
    text = PROJECT.replace("policy:\n", "policy:\n  maxRestarts: 1\n  maxGpus: 4\n  maxServices: 2\n")
    (repo / "kservec.yaml").write_text(text)
    services = repo / "services"
    for name in ("fraud", "b", "c"):
        (services / f"{name}.yaml").write_text(gpus(name, "registry.example.com/own:1"))
    assert kservec(repo, "build", "dev", "--today", "2027-01-01").status == 0, "a new tree restarts nothing"
    (services / "b.yaml").write_text(gpus("b", "registry.example.com/own:2"))
    assert kservec(repo, "build", "dev").status == 0
    for name in ("fraud", "b", "c"):
        (services / f"{name}.yaml").write_text(gpus(name, "registry.example.com/own:3"))
    before = tree(repo / "rendered")
    ran = kservec(repo, "build", "dev", "--today", "2027-01-01")
    assert ran.status == 1
    assert (
        "error[policy/too-much-at-once]: rendered/dev: 3 workloads would restart, and policy.maxRestarts is 1: "
        "payments/b-predictor, payments/c-predictor, payments/fraud-predictor\n --> kservec.yaml:6:16"
    ) in ran.err
    assert "rendered/dev: 6 GPUs would be touched, and policy.maxGpus is 4" in ran.err
    assert "rendered/dev: 3 services would be touched, and policy.maxServices is 2" in ran.err
    assert tree(repo / "rendered") == before
    some = kservec(repo, "build", "dev", "--accept-restarts", "3")
    assert some.status == 1
    assert "maxRestarts" not in some.err
    assert kservec(repo, "build", "dev", "--accept-restarts", "many").status == 2
    assert kservec(repo, "build", "dev", "--accept-restarts", "all").status == 0


def test_an_environment_has_its_own_brake(repo: Path) -> None:
    """Its limit is the one that is named."""
    text = PROJECT.replace("prod: {}", "prod: {policy: {maxRestarts: 0}}")
    (repo / "kservec.yaml").write_text(text)
    assert kservec(repo, "build").status == 0
    (repo / "services/fraud.yaml").write_text(LATEST.replace(":latest", ":v2"))
    ran = kservec(repo, "build")
    assert ran.status == 1
    assert "rendered/prod: 1 workload would restart, and policy.maxRestarts is 0: payments/fraud-predictor" in ran.err
    assert "kservec.yaml:4:54" in ran.err
    assert "rendered/dev" not in ran.err
    assert kservec(repo, "build", "--accept-restarts", "1").status == 0
