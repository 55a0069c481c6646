"""Upgrades on the command line: foreseen by diff, built stage by stage, and checked, in real repositories."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from jsonschema import Draft202012Validator

from kservec.cli.main import run
from kservec.io import tree_writer

from .repositories import commit, repository
from .running import ROOT, SERVICE, kservec, tree

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
kserve: "0.20"
policy: {maxRestarts: 1}
environments:
  prod:
    upgrade: {kserve: "0.21"}
"""
OLD, NEW = "kserve/sklearnserver:v0.20.0", "kserve/sklearnserver:v0.21.0"
NAMES = ("payments", "search", "support")


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with three services in namespaces of their own, and an upgrade that nobody has yet."""
    repository(tmp_path, built=False)
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    for name in NAMES:
        (tmp_path / "services" / f"{name}.yaml").write_text(
            SERVICE.replace("namespace: payments", f"namespace: {name}")
        )
    (tmp_path / "services" / "fraud.yaml").unlink()
    assert kservec(tmp_path, "build").status == 0
    commit(tmp_path, "all")
    return tmp_path


def image(repo: Path, namespace: str) -> str:
    """The image of the server that is rendered for a namespace."""
    path = repo / "rendered/prod" / namespace / "fraud/deployment-fraud-predictor.yaml"
    (line,) = [text.strip() for text in path.read_text().splitlines() if "sklearnserver" in text]
    return line.removeprefix("image: ")


def preview(repo: Path, *arguments: str, status: int = 0) -> Any:
    """What diff foresees, as JSON, which fits its schema."""
    ran = kservec(repo, "diff", *arguments, "--format", "json")
    assert ran.status == status, ran.err
    found = json.loads(ran.out)
    Draft202012Validator(json.loads((ROOT / "docs/schemas/upgrade.json").read_text())).validate(found)
    return found["environments"][0]


def test_stages(repo: Path) -> None:
    """One namespace after the other: the rest stays as it is committed, and a check knows it."""
    committed = tree(repo / "rendered")
    ran = kservec(repo, "build", "--only", "search")
    assert ran.status == 0, ran.err
    assert [image(repo, name) for name in NAMES] == [OLD, NEW, OLD]
    differing = {path for path, content in tree(repo / "rendered").items() if committed.get(path) != content}
    assert {str(path).split("/")[1] for path in differing} == {"kservec.index.json", "search"}
    assert '{kserve: "0.21", only: ["search"]}' in (repo / "kservec.yaml").read_text()
    assert kservec(repo, "check").status == 0
    assert kservec(repo, "build", "--only", "payments/*/fraud").status == 0
    assert [image(repo, name) for name in NAMES] == [NEW, NEW, OLD]
    assert kservec(repo, "build", "--only", "search").err.endswith("rendered/prod: up to date\n")


def test_a_stage_that_is_too_large(repo: Path) -> None:
    """The brake holds for a stage, too; then nothing is written, kservec.yaml as little as the tree."""
    before = tree(repo)
    ran = kservec(repo, "build", "--only", "*")
    assert ran.status == 1
    assert "policy/too-much-at-once" in ran.err
    assert "3 workloads would restart" in ran.err
    assert tree(repo) == before
    assert kservec(repo, "build", "--only", "*", "--accept-restarts", "3").status == 0
    assert kservec(repo, "lint", "--notes").err.count("upgrade/complete") == 1


def test_the_next_stage_is_foreseen(repo: Path) -> None:
    """Of an upgrade that is under way diff shows all that is to come, or what a further selection brings."""
    assert preview(repo, "--only", "search")["restarts"] == 1
    assert preview(repo, "--profile", "0.21")["restarts"] == 3
    kservec(repo, "build", "--only", "search")
    assert preview(repo, "--only", "*")["restarts"] == 2
    assert preview(repo, "HEAD", "--only", "*")["restarts"] == 3
    found = preview(repo, "--only", "*", "--exit-code", status=3)
    images = [cause for cause in found["causes"] if cause["after"] == NEW]
    assert [(cause["file"], cause["layer"], len(cause["services"])) for cause in images] == [
        ("builtin/kserve-sklearnserver.yaml", "runtime", 2)
    ]


def test_a_platform_from_anywhere(repo: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    """A file that is not in the project, and not committed: what it would do, as text and as Markdown."""
    path = tmp_path_factory.mktemp("next") / "config.yaml"
    path.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: inferenceservice-config, namespace: kserve}\n"
                    'data: {deploy: \'{"defaultDeploymentMode": "Standard"}\'}\n')  # fmt: skip
    ran = kservec(repo, "diff", "--platform", str(path))
    assert ran.out == "prod, against what is on disk: nothing changes\n"
    runtime = kservec(repo, "runtimes", "export", "kserve-sklearnserver", "--profile", "0.20").out
    path.write_text(runtime.replace(OLD, NEW))
    ran = kservec(repo, "diff", "--platform", str(path))
    assert f"  {path}:19: containers[kserve-container].image\n      {OLD} -> {NEW}\n" in ran.out
    assert "3 services, 3 workloads restart (pods: 3" in ran.out
    comment = kservec(repo, "diff", "--platform", str(path), "--format", "markdown").out
    assert comment.startswith("<!-- kservec diff -->\n### kservec upgrade, against `what is on disk`\n")
    assert f"| `{path}:19: containers[kserve-container].image` | `{OLD} -> {NEW}` | 3 | 3 |  |\n" in comment


def test_what_needs_a_hand_comes_first(repo: Path) -> None:
    """A service that the version refuses is told with the line, and the rest goes on."""
    path = repo / "services/search.yaml"
    path.write_text(path.read_text().replace("s3://models", "oci+fetch://registry/models"))
    current = (
        PROJECT.replace('kserve: "0.20"', 'kserve: "0.21"').partition("    upgrade")[0].replace("prod:", "prod: {}")
    )
    (repo / "kservec.yaml").write_text(current)
    ran = kservec(repo, "diff", "--profile", "0.20")
    assert ran.status == 0, ran.err
    lines = ran.out.splitlines()
    assert lines[1] == "  needs a change by hand: InferenceService search/fraud"
    assert lines[2].startswith("    services/search.yaml:12: error[profile/not-in-this-version]: oci+fetch:// came")
    assert lines[-1].startswith("prod, against what is on disk: 2 services change; 2 workloads restart")
    assert lines[-1].endswith("; 1 object refused")


def test_apis_that_a_later_kubernetes_does_not_serve(repo: Path) -> None:
    """A Cluster document of the next release tells which included manifests have to be written anew."""
    budget = "apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: a, namespace: search}\nspec: {}\n"
    (repo / "plain.yaml").write_text(budget)
    version = "apiVersion: kservec.dev/v1alpha1\nkind: Cluster\nkubernetesVersion: '1.{}'\n"
    (repo / "now.yaml").write_text(version.format(24))
    (repo / "next.yaml").write_text(version.format(25))
    own = PROJECT.partition("    upgrade")[0].replace("prod:", "prod: {}")
    (repo / "kservec.yaml").write_text(f"{own}include: [plain.yaml]\nplatform: [now.yaml]\n")
    ran = kservec(repo, "diff", "--platform", "next.yaml")
    assert "    plain.yaml:1: error[policy/api-not-served]: PodDisruptionBudget search/a: " in ran.out
    assert ran.out.endswith("against what is on disk: no service changes; no pod restarts; 1 object refused\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("build", "--only", "a b"), "--only 'a b' is no selection; it is a namespace, a label as tier=dev"),
        (("build", "--only", "search", "--stdout"), "--only is written into kservec.yaml"),
        (("build", "services/search.yaml", "--only", "search"), "--only is for environments of a project"),
        (("diff", "--profile", "0.21", "--exact"), "--exact goes with REF"),
        (("diff", "--profile", "0.2"), "there is no profile of KServe 0.2; did you mean 0.20?"),
        (("diff", "--platform", "nowhere"), "cannot read nowhere"),
        (("build", "prod", "--profile", "0.20"), "--profile is for files"),
    ],
)
def test_wrong_usage(repo: Path, arguments: tuple[str, ...], message: str) -> None:
    """Options that mean nothing are refused by name, and nothing is written."""
    before = tree(repo)
    ran = kservec(repo, *arguments)
    assert ran.status == 2
    assert message in ran.err
    assert tree(repo) == before


def test_an_upgrade_that_brings_nothing(repo: Path) -> None:
    """Services that would get nothing new are an error at the place of the upgrade."""
    text = PROJECT.replace('upgrade: {kserve: "0.21"}', "upgrade: {only: [search]}")
    (repo / "kservec.yaml").write_text(text)
    ran = kservec(repo, "check")
    assert ran.status == 1
    assert "an upgrade brings another version (kserve) or files (platform)" in ran.err


def test_without_an_upgrade(repo: Path) -> None:
    """Where nothing comes next there is nothing to widen, nor to foresee."""
    (repo / "kservec.yaml").write_text(PROJECT.partition("    upgrade")[0].replace("prod:", "prod: {}"))
    assert "--only widens `upgrade` in kservec.yaml, and prod has none" in kservec(repo, "build", "--only", "a").err
    assert "prod has none" in kservec(repo, "diff", "--only", "a").err


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (("build", "--only", "serach"), "did you mean search?"),
        (("build", "prod", "--only", "search", "--only", "tier=dev"), "a selection is a namespace"),
        (("diff", "--only", "payments/InferenceService/fruad"), "did you mean payments/InferenceService/fraud?"),
        (("diff", "--profile", "0.21", "--only", "fraud"), "did you mean payments/InferenceService/fraud?"),
    ],
)
def test_a_selection_without_services(repo: Path, arguments: tuple[str, ...], meant: str) -> None:
    """It is most likely misspelt: an error that says what was meant, and nothing is shown or written."""
    before = tree(repo)
    ran = kservec(repo, *arguments)
    assert (ran.status, ran.out, tree(repo)) == (1, "", before)
    assert ran.err.startswith(f"error[upgrade/selects-nothing]: --only {arguments[-1]} chooses no service\n")
    assert f"= help: {meant}" in ran.err
    assert ("--> kservec.yaml:8:5" in ran.err) is ("--profile" not in arguments)
    assert "1 error" in ran.err


def test_of_several_environments_one_has_an_upgrade(repo: Path) -> None:
    """Without names those with an upgrade are meant, and the others stay; by name each has to have one."""
    (repo / "kservec.yaml").write_text(PROJECT.replace("  prod:", "  dev: {}\n  prod:"))
    ran = kservec(repo, "diff", "--only", "search")
    assert [line.split(",")[0] for line in ran.out.splitlines() if "against" in line] == ["prod"]
    for name in ("dev", "prod"):
        assert kservec(repo, "build", name).status == 0
    ran = kservec(repo, "build", "--only", "search")
    assert (ran.status, ran.err.splitlines()) == (0, ["rendered/dev: up to date", "rendered/prod: 2 files written"])
    assert 'dev: {}\n  prod:\n    upgrade: {kserve: "0.21", only: ["search"]}' in (repo / "kservec.yaml").read_text()
    for command in ("build", "diff"):
        ran = kservec(repo, command, "dev", "--only", "payments")
        assert ran.status == 2
        assert "`upgrade` in kservec.yaml, and dev has none" in ran.err


def test_an_upgrade_that_environments_share(repo: Path) -> None:
    """To widen it for one of them alone would leave the tree of the other one out of date."""
    shared = 'upgrade: {kserve: "0.21"}\nenvironments:\n  dev: {}\n  prod: {}\n'
    (repo / "kservec.yaml").write_text(PROJECT.partition("environments")[0] + shared)
    assert kservec(repo, "build").status == 0
    before = tree(repo)
    ran = kservec(repo, "build", "prod", "--only", "search")
    assert (ran.status, tree(repo)) == (2, before)
    assert "which prod shares with dev; build both, or give each an upgrade of its own" in ran.err
    assert kservec(repo, "build", "--only", "search").status == 0
    assert 'upgrade: {kserve: "0.21", only: ["search"]}\n' in (repo / "kservec.yaml").read_text()
    assert kservec(repo, "check").status == 0


def test_another_upgrade_than_the_one_under_way(repo: Path) -> None:
    """Services that have one would seem to lose it; the same one is shown for those that are still to have it."""
    assert kservec(repo, "build", "--only", "search").status == 0
    assert preview(repo, "--profile", "0.21")["restarts"] == 2
    assert preview(repo, "--profile", "0.21", "--only", "payments")["restarts"] == 1
    (repo / "now.yaml").write_text("apiVersion: kservec.dev/v1alpha1\nkind: Cluster\nkubernetesVersion: '1.34'\n")
    ran = kservec(repo, "diff", "--platform", "now.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("error[upgrade/under-way]: some services of prod have this upgrade already")
    assert "--> kservec.yaml:8:5" in ran.err


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        (SERVICE, "; there is InferenceService payments/fraud", "next/a.yaml:2:7"),
        ("# all of it\n", "", "next/a.yaml"),
        ("apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "; there is Service default/a", "next/a.yaml:2:7"),
        ("\n---\n".join(f"apiVersion: v1\nkind: Pod\nmetadata: {{name: p{i}}}" for i in range(5)),
         "; there is Pod p0, Pod p1, Pod p2 and 2 more", "next/a.yaml:2:7"),
        ("a: b\n", "; there is what is no object", "next/a.yaml:1:1"),
    ],
)  # fmt: skip
def test_a_platform_of_which_nothing_is_read(repo: Path, text: str, said: str, place: str) -> None:
    """A folder without a word about a cluster is another one than was meant: an error for each path."""
    (repo / "next").mkdir()
    (repo / "next/a.yaml").write_text(text)
    (repo / "good.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca, namespace: search}\n")
    ran = kservec(repo, "diff", "--platform", "good.yaml", "--platform", "next")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith(f"error[upgrade/no-platform]: no document of --platform next describes a cluster{said}\n")
    assert f"--> {place}\n" in ran.err
    assert kservec(repo, "diff", "--platform", "good.yaml").status == 0


@pytest.mark.parametrize("failing", ["prod", "zone"])
def test_a_stage_whose_tree_cannot_be_written(
    repo: Path, failing: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """The project file is as it was, too, unless some environment has the stage already."""
    text = PROJECT.replace("  prod:", "  dev: {}\n  prod:") + '  zone: {upgrade: {kserve: "0.21"}}\n'
    (repo / "kservec.yaml").write_text(text)
    for name in ("dev", "zone"):
        assert kservec(repo, "build", name).status == 0
    before, writes = tree(repo), tree_writer.write_tree

    def stopped(folder: Path, planned: Mapping[str, bytes], *, force: bool) -> tree_writer.Written:
        if folder.name == failing:
            raise OSError(28, "No space left on device", str(folder))
        return writes(folder, planned, force=force)

    monkeypatch.setattr(tree_writer, "write_tree", stopped)
    monkeypatch.chdir(repo)
    assert run(["build", "--only", "search"]) == 2
    assert f"rendered/{failing}: No space left on device" in capfd.readouterr().err
    assert (tree(repo) == before) is (failing == "prod")
    assert ('only: ["search"]' in (repo / "kservec.yaml").read_text()) is (failing == "zone")
