"""kservec canary in environments with overlays: one of them has a canary, and the others know nothing of it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests import libyaml

from kservec.io.kustomize import HOW_TO, tools

from . import running
from .repositories import commit, edit, git
from .running import kservec, tree
from .test_canary import CLUSTER, LADDER, MODEL, SERVICE

if TYPE_CHECKING:
    from pathlib import Path

    from .running import Ran

PROJECT = running.PROJECT.replace("prod: {}", "dev: {overlay: overlays/dev}\n  prod: {overlay: overlays/prod}")
KUSTOMIZATIONS = {
    "plain": "# of prod\nresources: [../../services]\nnamespace: prod-payments   # moved\n",
    "a patch in block style": "resources:\n- ../../services\npatches:\n- path: scale.yaml  # first\nnamespace: x",
    "a patch in flow style": "resources: [../../services]\npatches: [{path: scale.yaml}]  # all\n\n",
    "inline": "patches:\n  - target: {kind: InferenceService}\n    patch: |-\n      - op: add\n"
    "        path: /spec/predictor/minReplicas\n        value: 6\nresources: [../../services]\n",
    "windows": "resources: [../../services]\r\npatches:\r\n- path: scale.yaml\r\n",
}
SCALE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: payments}
spec: {predictor: {minReplicas: 6}}
"""
NEW = ("--model", "s3://models/fraud/v8")
PROD = ("--env", "prod")


def made(folder: Path, mode: str = "Standard", kustomization: str = KUSTOMIZATIONS["plain"]) -> Path:
    """A git repository with one service in two environments, rendered and committed."""
    if not list(tools()):
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
    files = {
        "kservec.yaml": PROJECT,
        "platform/cluster.yaml": CLUSTER,
        "services/fraud.yaml": SERVICE.replace("{mode}", mode).replace("{framework}", MODEL),
        "services/kustomization.yaml": "resources: [fraud.yaml]\n",
        "overlays/dev/kustomization.yaml": "resources: [../../services]\n",
        "overlays/prod/kustomization.yaml": kustomization,
    }
    for path, text in files.items() | ({("overlays/prod/scale.yaml", SCALE)} if "scale" in kustomization else set()):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(text.encode())
    git(folder, "init", "--quiet", "--initial-branch=main")
    built(folder)
    commit(folder, "first")
    return folder


def built(repo: Path) -> None:
    """Render all environments."""
    ran = kservec(repo, "build")
    assert ran.status == 0, ran.err


def run(repo: Path, *arguments: str) -> Ran:
    """Take a step of the canary of prod, build, and commit; dev's tree must not change."""
    dev = tree(repo / "rendered" / "dev")
    ran = kservec(repo, "canary", *arguments, *PROD)
    assert ran.status == 0, ran.err
    built(repo)
    assert tree(repo / "rendered" / "dev") == dev
    commit(repo, " ".join(arguments))
    return ran


def files_of(repo: Path) -> dict[str, bytes]:
    """All files of a repository but git's own."""
    return {path: content for path, content in tree(repo).items() if not path.startswith(".git/")}


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_canary_of_one_environment_that_is_rolled_back_leaves_nothing(tmp_path: Path, mode: str) -> None:
    """After any step of the ladder every file, specs and trees, is byte for byte what it was before."""
    (tmp_path / "repo").mkdir()
    repo = made(tmp_path / "repo", mode)
    before = files_of(repo)
    run(repo, "start", "fraud", *NEW)
    for percent in (0, *LADDER):
        if percent:
            run(repo, "step", "fraud", "--to", str(percent))
        assert kservec(repo, "canary", "status").out.endswith(f" {percent}% (prod)\n")
        beside = shutil.copytree(repo, tmp_path / str(percent))
        run(beside, "rollback", "fraud")
        assert files_of(beside) == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
@pytest.mark.parametrize("name", KUSTOMIZATIONS)
def test_kustomizations_get_one_entry_and_lose_it(tmp_path: Path, mode: str, name: str) -> None:
    """Whatever their style, their bytes come back."""
    repo = made(tmp_path, mode, KUSTOMIZATIONS[name])
    before = files_of(repo)
    run(repo, "start", "fraud", *NEW, "--to", "10")
    changed = {path for path, content in files_of(repo).items() if before.get(path) != content}
    (patch,) = [path for path in changed if path.startswith("overlays/prod/canary-")]
    assert {p for p in changed if not p.startswith("rendered/")} == {"overlays/prod/kustomization.yaml", patch}
    run(repo, "rollback", "fraud")
    assert files_of(repo) == before


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_promoted_canary_leaves_its_pins(tmp_path: Path, mode: str) -> None:
    """The canary's patch is gone, a patch of pins is there, and the next promotion of an environment edits that."""
    repo = made(tmp_path, mode)
    run(repo, "start", "fraud", *NEW, "--to", "50")
    run(repo, "promote", "fraud")
    (path,) = (repo / "overlays" / "prod").glob("*-*.yaml")
    assert path.name == "pins-prod-payments-fraud.yaml"
    spec = libyaml.load(path.read_text())["spec"]
    assert spec["predictor"]["model"]["storageUri"] == "s3://models/fraud/v8"
    assert spec["predictor"].keys() == ({"model", "name"} if mode == "Standard" else {"model"})
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v9")
    run(repo, "promote", "fraud")
    assert "s3://models/fraud/v9" in path.read_text()
    assert len(list((repo / "overlays" / "prod").iterdir())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_a_promoted_pin_goes_to_the_patch_that_has_it(tmp_path: Path, mode: str) -> None:
    """A value that the overlay sets already is set there, and nowhere else."""
    repo = made(tmp_path, mode, KUSTOMIZATIONS["a patch in flow style"])
    name = "name: v7, " if mode == "Standard" else ""
    own = SCALE.replace("minReplicas: 6", f"{name}model: {{storageUri: s3://models/fraud/v7}}")
    (repo / "overlays/prod/scale.yaml").write_text(own)
    built(repo)
    commit(repo, "own")
    run(repo, "start", "fraud", *NEW)
    run(repo, "promote", "fraud")
    after = (repo / "overlays/prod/scale.yaml").read_text()
    assert after == own.replace("fraud/v7", "fraud/v8").replace(
        "name: v7", "name: v8" if mode == "Standard" else "name: v7"
    )
    assert sorted(p.name for p in (repo / "overlays/prod").iterdir()) == ["kustomization.yaml", "scale.yaml"]


@pytest.mark.slow
def test_several_canaries_of_one_environment(tmp_path: Path) -> None:
    """They share the patch; it goes with the last of them."""
    repo = made(tmp_path)
    before = files_of(repo)
    run(repo, "start", "fraud", *NEW, "--to", "10")
    first = files_of(repo)
    run(repo, "start", "fraud", "--model", "s3://models/fraud/v9")
    run(repo, "step", "fraud", "--to", "5", "--canary", "v9")
    run(repo, "rollback", "fraud", "--canary", "v9")
    assert files_of(repo) == first
    run(repo, "rollback", "fraud")
    assert files_of(repo) == before


def test_a_share_in_a_patch_of_ones_own(tmp_path: Path) -> None:
    """The step edits it there; what was not started by us is not taken back by us."""
    repo = made(tmp_path, "Knative", KUSTOMIZATIONS["a patch in flow style"])
    run(repo, "start", "fraud", *NEW)
    (repo / "overlays/prod/canary-payments-fraud.yaml").rename(repo / "overlays/prod/mine.yaml")
    edit(repo / "overlays/prod/kustomization.yaml", "canary-payments-fraud.yaml", "mine.yaml")
    run(repo, "step", "fraud", "--to", "20")
    assert "canaryTrafficPercent: 20" in (repo / "overlays/prod/mine.yaml").read_text()
    ran = kservec(repo, "canary", "rollback", "fraud", *PROD)
    assert (ran.status, "is written in overlays/prod/mine.yaml" in ran.err) == (1, True), ran.err


def test_a_value_that_an_overlay_sets(tmp_path: Path) -> None:
    """An edit of the base would be in vain there, and so it is refused, with both ways out."""
    repo = made(tmp_path, "Knative", KUSTOMIZATIONS["a patch in flow style"])
    own = SCALE.replace("minReplicas: 6", "model: {storageUri: s3://models/fraud/v7}")
    (repo / "overlays/prod/scale.yaml").write_text(own)
    built(repo)
    commit(repo, "own")
    ran = kservec(repo, "canary", "start", "fraud", *NEW)
    assert (ran.status, "--> overlays/prod/scale.yaml:4:40" in ran.err) == (1, True), ran.err
    assert "kservec canary start fraud --env prod ... edits that overlay alone" in ran.err
    assert "take the value out of it: kservec canary start fraud ..." in ran.err


def test_overlays_that_run_different_revisions(tmp_path: Path) -> None:
    """One spec cannot name both stable revisions; the overlay of each environment can."""
    repo = made(tmp_path, "Knative", KUSTOMIZATIONS["inline"].replace("/minReplicas", "/timeout"))
    ran = kservec(repo, "canary", "start", "fraud", *NEW)
    assert (ran.status, "environments differ in the stable revision" in ran.err) == (1, True), ran.err
    assert "kservec canary start fraud --env dev" in ran.err
    run(repo, "start", "fraud", *NEW)


def test_a_canary_of_another_environment_is_named(tmp_path: Path) -> None:
    """A step without --env does not find the canary in the base, and says where it is."""
    repo = made(tmp_path)
    run(repo, "start", "fraud", *NEW)
    ran = kservec(repo, "canary", "step", "fraud", "--to", "10")
    assert (ran.status, "kservec canary step fraud --env prod" in ran.err) == (1, True), ran.err


def test_a_canary_of_all_environments_through_overlays(tmp_path: Path) -> None:
    """Without --env the base is edited, as without overlays, and every environment follows."""
    repo = made(tmp_path, "Standard", KUSTOMIZATIONS["a patch in flow style"])
    before = files_of(repo)
    for arguments in (("start", "fraud", *NEW), ("step", "fraud", "--to", "30")):
        assert kservec(repo, "canary", *arguments).status == 0
        built(repo)
    assert kservec(repo, "canary", "status").out == "payments/fraud v8 30% (dev, prod)\n"
    ran = kservec(repo, "canary", "step", "fraud", "--to", "40", *PROD)
    assert (ran.status, "is written in services/fraud.yaml" in ran.err) == (1, True), ran.err
    assert kservec(repo, "canary", "rollback", "fraud").status == 0
    built(repo)
    assert files_of(repo) == before


def test_the_committed_tree_says_what_is_stable(tmp_path: Path) -> None:
    """A tree that was built and not committed names a revision that no sync has made."""
    repo = made(tmp_path, "Knative")
    stable = revision(repo)
    edit(repo / "services/fraud.yaml", "s3://models/fraud/v7", "s3://models/fraud/v7b")
    built(repo)
    assert revision(repo) != stable
    ran = kservec(repo, "canary", "start", "fraud", *NEW, *PROD)
    advice = "commit rendered/prod and let it sync, or restore it: git restore rendered/prod"
    assert (ran.status, advice in ran.err) == (1, True), ran.err
    git(repo, "restore", "rendered", "services")
    run(repo, "start", "fraud", *NEW)
    patch = libyaml.load((repo / "overlays/prod/canary-prod-payments-fraud.yaml").read_text())
    assert patch["metadata"]["annotations"] == {"kservec.dev/stable-revision": stable}


def revision(repo: Path) -> str:
    """The revision that the tree of prod makes."""
    (path,) = (repo / "rendered/prod").rglob("service.serving.knative.dev-fraud-predictor.yaml")
    name: str = libyaml.load(path.read_text())["spec"]["template"]["metadata"]["name"]
    return name


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("step", "fraud", "--to", "10", *PROD), 1, "fraud has no canary"),
        (("rollback", "fraud", *PROD), 1, "fraud has no canary"),
        (("start", "fraud", *NEW, "--env", "prdo"), 2, "prdo is no environment of kservec.yaml; did you mean prod?"),
        (("start", "fraud", "--model", "ftp://x/y", *PROD), 1, "storage/unknown-scheme"),
        (("start", "prod-payments/fraud", *NEW, "--env", "dev"), 2, "has no InferenceService prod-payments/fraud"),
    ],
)
def test_what_cannot_be_done(tmp_path: Path, arguments: tuple[str, ...], status: int, said: str) -> None:
    """It is said, and nothing is written."""
    repo = made(tmp_path, "Knative")
    before = files_of(repo)
    ran = kservec(repo, "canary", *arguments)
    assert (ran.status, said in ran.err, files_of(repo) == before) == (status, True, True), ran.err


def test_an_environment_without_overlay(tmp_path: Path) -> None:
    """Its service is everybody's."""
    repo = made(tmp_path)
    edit(repo / "kservec.yaml", "{overlay: overlays/dev}", "{}")
    ran = kservec(repo, "canary", "start", "fraud", *NEW, "--env", "dev")
    assert (ran.status, "dev has no overlay, and prod would change, too" in ran.err) == (1, True), ran.err


def test_what_is_hardly_meant_is_not_laid_over(tmp_path: Path) -> None:
    """A model with a misspelt scheme, of which a build only warns, leaves the overlay as it was."""
    repo = made(tmp_path)
    before = files_of(repo)
    ran = kservec(repo, "canary", "start", "fraud", "--model", "s3:/models/fraud/v8", *PROD)
    assert (ran.status, "warning[storage/scheme-misspelt]" in ran.err, files_of(repo)) == (1, True, before), ran.err


@pytest.mark.parametrize("uri", ["s4://models/fraud/v8", "s3:/models/fraud/v8", "s3://models/fraud/v8"])
def test_a_dry_run_finds_what_the_edit_would(tmp_path: Path, uri: str) -> None:
    """The patch and the entry for it are judged without being there, and so is taking them back."""
    repo = made(tmp_path)
    before = tree(repo / "overlays")
    steps = [("start", "fraud", "--model", uri, *PROD)]
    steps += [("rollback", "fraud", *PROD)] if uri == "s3://models/fraud/v8" else []
    for step in steps:
        dry = kservec(repo, "canary", *step, "--dry-run")
        assert tree(repo / "overlays") == before
        real = kservec(repo, "canary", *step)
        assert (dry.status, dry.out) == (real.status, real.out), dry.err
        before = tree(repo / "overlays")
