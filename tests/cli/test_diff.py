"""kservec diff: what changes against a commit, in real repositories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from .repositories import FILE, PROJECT, commit, edit, git, repository
from .running import ROOT, SERVICE, WRONG, kservec, tree

WEIGHTED = (
    SERVICE
    + """\
  canary:
    - trafficPercent: 10
      predictor:
        name: v8
        model: {name: kserve-container, modelFormat: {name: sklearn}, storageUri: s3://models/fraud/v8}
"""
)
GATEWAY = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  ingress: |
    {"enableGatewayApi": true, "kserveIngressGateway": "kserve/gateway", "ingressGateway": "knative-serving/gateway",
     "ingressDomain": "example.com"}
"""


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with committed trees."""
    return repository(tmp_path)


def report(folder: Path, *arguments: str, status: int = 0) -> Any:
    """The comparison as JSON, which fits its schema."""
    ran = kservec(folder, "diff", *arguments, "--format", "json")
    assert ran.status == status, ran.err
    found = json.loads(ran.out)
    schema = json.loads((ROOT / "docs/schemas/diff.json").read_text())
    Draft202012Validator(schema).validate(found)
    return found


def names(environment: Any) -> list[str]:
    """The objects of an environment that differ."""
    return [f"{o['action']} {o['object']['kind']} {o['object']['name']}" for o in environment["objects"]]


def test_nothing_changes(repo: Path) -> None:
    """In a clean checkout, and after comments are edited."""
    edit(repo / "services/fraud.yaml", "spec:", "spec: # the model")
    before = tree(repo)
    ran = kservec(repo, "diff", "--exit-code")
    assert (ran.status, ran.out.startswith("against HEAD ("), ran.out.endswith("): nothing changes\n")) == (
        0,
        True,
        True,
    )
    found = report(repo)
    assert (found["differs"], [names(e) for e in found["environments"]]) == (False, [[], []])
    assert tree(repo) == before


def test_a_new_model_against_a_branch(repo: Path) -> None:
    """The committed tree of the branch is compared with a build, whether the new tree was committed or not."""
    git(repo, "switch", "--quiet", "--create", "new-model")
    edit(repo / "services/fraud.yaml", "v7", "v8")
    uncommitted = report(repo, "main", "prod", "--exit-code", status=3)
    (prod,) = uncommitted["environments"]
    assert names(prod) == ["changed Deployment fraud-predictor"]
    (pods,) = prod["pods"]
    assert (pods["effect"], pods["pods"]) == ("restarted", {"least": 1, "most": 1})
    assert [r["path"] for r in pods["reasons"]] == ["spec.template.spec.initContainers[storage-initializer].args[0]"]
    kservec(repo, "build")
    commit(repo, "v8")
    assert report(repo, "main", "prod") == uncommitted
    assert not report(repo)["differs"]


def test_the_merge_base_counts_unless_the_commit_itself_is_meant(repo: Path) -> None:
    """What main got meanwhile is no change of this branch."""
    git(repo, "branch", "topic")
    (repo / "services/other.yaml").write_text(SERVICE.replace("fraud", "other"))
    kservec(repo, "build")
    commit(repo, "other")
    git(repo, "switch", "--quiet", "topic")
    assert not report(repo, "main")["differs"]
    exact = report(repo, "main", "prod", "--exact")
    assert {o["action"] for o in exact["environments"][0]["objects"]} == {"removed"}
    assert {o["owner"] for o in exact["environments"][0]["objects"]} == {"payments/InferenceService/other"}


def test_environments_that_come_and_go(repo: Path) -> None:
    """A new one is all new; one that is no longer there takes its objects along."""
    edit(repo / "kservec.yaml", "  dev: {}\n", "  staging: {}\n")
    found = {e["name"]: e for e in report(repo)["environments"]}
    assert [(name, e["before"], e["removed"]) for name, e in found.items()] == [
        ("staging", "absent", False), ("prod", "committed", False), ("dev", "committed", True),
    ]  # fmt: skip
    assert [pods["effect"] for name in ("staging", "dev") for pods in found[name]["pods"]] == ["started", "removed"]


def test_an_output_that_moves(repo: Path) -> None:
    """The old tree is where the commit's own project file has it."""
    edit(repo / "kservec.yaml", "sources", "output: deploy/{env}\nsources")
    edit(repo / "services/fraud.yaml", "v7", "v8")
    (dev, _) = report(repo)["environments"]
    assert (dev["output"], names(dev)) == ("deploy/dev", ["changed Deployment fraud-predictor"])


def test_sources_are_built_where_no_tree_was_committed(tmp_path: Path) -> None:
    """With the same result; errors in them are located in the commit."""
    repo = repository(tmp_path, built=False)
    edit(repo / "services/fraud.yaml", "v7", "v8")
    (dev, _) = report(repo)["environments"]
    assert (dev["before"], names(dev)) == ("rebuilt", ["changed Deployment fraud-predictor"])
    (repo / "services/wrong.yaml").write_text(WRONG)
    commit(repo, "wrong")
    (repo / "services/wrong.yaml").unlink()
    ran = kservec(repo, "diff")
    assert (ran.status, "HEAD:services/wrong.yaml:12" in ran.err, ran.out) == (1, True, "")


def test_hand_edits_that_were_committed_are_undone(repo: Path) -> None:
    """What a build takes back is part of what changes; a file that cannot be read is named."""
    edit(repo / "rendered/prod" / FILE, "sklearnserver:", "mine:")
    (repo / "rendered/dev" / FILE).write_text("<<<<<<< a\n=======\n>>>>>>> b\n")
    commit(repo, "by hand")
    found = {e["name"]: e for e in report(repo)["environments"]}
    assert names(found["prod"]) == ["changed Deployment fraud-predictor"]
    assert [f["code"] for f in found["dev"]["findings"]] == ["change/unreadable"]


def test_weights_move_and_nothing_restarts(tmp_path: Path) -> None:
    """The table of traffic is all there is besides the bounds of autoscalers."""
    repo = repository(tmp_path, built=False)
    edit(repo / "kservec.yaml", "sources", "platform: [platform]\nsources")
    (repo / "platform").mkdir()
    (repo / "platform/config.yaml").write_text(GATEWAY)
    (repo / "services/fraud.yaml").write_text(WEIGHTED)
    assert kservec(repo, "build").status == 0
    commit(repo, "canary")
    edit(repo / "services/fraud.yaml", "trafficPercent: 10", "trafficPercent: 50")
    text = kservec(repo, "diff").out
    assert "no pod restarts; traffic moves in 4 places" in text
    assert "      fraud-predictor: 90 (90%) -> 50 (50%)\n      fraud-v8-predictor: 10 (10%) -> 50 (50%)\n" in text
    assert "dev, prod (rendered/dev, rendered/prod)\n" in text
    comment = kservec(repo, "diff", "main", "--format", "markdown").out
    assert "| `HTTPRoute payments/fraud ^/.*$` | `fraud-v8-predictor` | 10 (10%) | 50 (50%) | dev, prod |" in comment


def test_update_rules_of_kserve(repo: Path) -> None:
    """They are checked against the sources of the commit, and located in today's."""
    edit(repo / "services/fraud.yaml", "  predictor:\n", "  predictor:\n    name: green\n")
    ran = kservec(repo, "diff", "prod")
    assert "warning[update/predictor-renamed]: InferenceService payments/fraud: predictor.name becomes green" in ran.out
    (finding,) = report(repo, "HEAD", "prod")["environments"][0]["findings"]
    assert (finding["location"]["file"], finding["location"]["line"]) == ("services/fraud.yaml", 10)


def test_a_commit_whose_project_file_cannot_be_used(repo: Path) -> None:
    """Today's one says where the trees are, with a warning; a commit without a project has no environments."""
    (repo / "kservec.yaml").write_text(PROJECT + "fieldOfTomorrow: 1\n")
    commit(repo, "tomorrow")
    (repo / "kservec.yaml").write_text(PROJECT)
    ran = kservec(repo, "diff")
    assert (ran.status, "change/project-unreadable" in ran.err, "nothing changes" in ran.out) == (0, True, True)
    git(repo, "rm", "--quiet", "--cached", "kservec.yaml")
    git(repo, "commit", "--quiet", "--message", "none")
    assert [e["before"] for e in report(repo)["environments"]] == ["absent", "absent"]


def test_a_project_in_a_folder_of_the_repository(tmp_path: Path) -> None:
    """Paths are those of the project, from wherever the command runs."""
    repo = repository(tmp_path, built=False)
    (repo / "ml").mkdir()
    for name in ("kservec.yaml", "services"):
        (repo / name).rename(repo / "ml" / name)
    kservec(repo / "ml", "build")
    commit(repo, "moved")
    edit(repo / "ml/services/fraud.yaml", "v7", "v8")
    ran = kservec(repo / "ml/services", "diff", "main", "prod")
    assert "~ Deployment payments/fraud-predictor" in ran.out
    assert "no tree was committed" not in ran.out


def test_a_shallow_clone_is_told_how_to_fetch(repo: Path, tmp_path: Path) -> None:
    """Where the histories do not meet, git fetch is the remedy."""
    git(repo, "switch", "--quiet", "--create", "topic")
    for branch in ("topic", "main"):
        git(repo, "switch", "--quiet", branch)
        git(repo, "commit", "--quiet", "--allow-empty", "--message", branch)
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--no-single-branch", f"file://{repo}", str(clone))
    git(clone, "switch", "--quiet", "topic")
    ran = kservec(clone, "diff", "origin/main")
    assert (ran.status, "git fetch --unshallow" in ran.err) == (2, True)
    assert kservec(clone, "diff", "origin/main", "--exact").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("nowhere",),
            "nowhere is no commit of this repository; is it spelt right? fetch it: git fetch origin nowhere",
        ),
        (("--", "--output=x"), "'--output=x' is no name of a commit"),
        (("main:services",), "'main:services' is no name of a commit"),
        (("main..HEAD",), "'main..HEAD' is no name of a commit"),
        (("main", "prd"), "did you mean prod?"),
        (("main", "services"), "services is a path and no environment"),
        (("dev",), "dev is an environment and a commit; write HEAD dev, or refs/heads/dev"),
    ],
)
def test_wrong_usage(repo: Path, arguments: tuple[str, ...], said: str) -> None:
    """What is no commit is not handed to git, and what can mean two things is not guessed."""
    git(repo, "branch", "dev")
    ran = kservec(repo, "diff", *arguments)
    assert (ran.status, said in ran.err) == (2, True), ran.err


def test_no_repository_and_no_git(tmp_path: Path) -> None:
    """Both are told in a line."""
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    (tmp_path / "services/fraud.yaml").write_text(SERVICE)
    ran = kservec(tmp_path, "diff", GIT_CEILING_DIRECTORIES=str(tmp_path.parent))
    assert (ran.status, "is in no git repository" in ran.err) == (2, True)
    ran = kservec(tmp_path, "diff", PATH="")
    assert (ran.status, "there is no git program" in ran.err) == (2, True)
    git(tmp_path, "init", "--quiet")
    assert "this repository has no commit yet; commit the rendered tree first" in kservec(tmp_path, "diff").err
    (tmp_path / "kservec.yaml").unlink()
    assert "there is no kservec.yaml here or above" in kservec(tmp_path, "diff").err


def test_nothing_that_a_repository_configures_is_run(repo: Path) -> None:
    """Neither pagers nor external diffs, filters or monitors, and no variable of a hook leads elsewhere."""
    mark = repo.parent / "ran"
    for key in ("core.pager", "diff.external", "core.fsmonitor", "pager.diff", "filter.x.smudge", "diff.x.textconv"):
        git(repo, "config", key, f"touch {mark}")
    (repo / ".gitattributes").write_text("* filter=x diff=x\n")
    edit(repo / "services/fraud.yaml", "v7", "v8")
    ran = kservec(
        repo, "diff", GIT_DIR="/nowhere", GIT_PAGER=f"touch {mark}", GIT_EXTERNAL_DIFF=f"touch {mark}", LANG="de_DE"
    )
    assert (ran.status, mark.exists(), "~ Deployment" in ran.out) == (0, False, True)


def test_secrets_are_in_no_report(repo: Path) -> None:
    """Whatever the format, a token that was written into a spec is not in the comment."""
    variable = "      env: [{name: HF_TOKEN, value: t0ps3cret}]\n"
    (repo / "services/fraud.yaml").write_text(SERVICE + variable)
    with (repo / "kservec.yaml").open("a") as project:
        project.write("policy: {rules: {policy/inline-secret: off}}\n")
    kservec(repo, "build")
    commit(repo, "token")
    edit(repo / "services/fraud.yaml", "t0ps3cret", "t0ps3cret2")
    for layout in ("text", "json", "markdown"):
        ran = kservec(repo, "diff", "--format", layout)
        assert ran.status == 0
        assert "t0ps3cret" not in ran.out + ran.err
        assert "HF_TOKEN" in ran.out
    checked = kservec(repo, "check")
    assert (checked.status, "t0ps3cret" in checked.out + checked.err) == (3, False)
