"""kservec check: whatever was done to a rendered tree is found, and called what it is."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from .repositories import FILE, PROJECT, commit, edit, git, repository
from .running import SERVICE, WRONG, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

INDEX = "kservec.index.json"


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository whose trees are as a build writes them."""
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    assert kservec(tmp_path, "build").status == 0
    return tmp_path


def slugs(folder: Path, *arguments: str) -> list[str]:
    """The codes of what a check finds, by file below rendered/; the exit status must fit."""
    ran = kservec(folder, "check", *arguments, "--format", "json")
    found = json.loads(ran.out)["diagnostics"]
    assert ran.status == (3 if found else 0)
    return [f"{d['location']['file'].removeprefix('rendered/')}: {d['code']}" for d in found]


def test_a_tree_as_it_should_be(repo: Path) -> None:
    """Nothing to say but that; other files than manifests are nobody's business."""
    (repo / "rendered/prod/README.md").write_text("what this is")
    before = tree(repo)
    ran = kservec(repo, "check")
    assert (ran.status, ran.out, ran.err) == (0, "", "rendered/dev, rendered/prod: up to date\n")
    assert tree(repo) == before


def test_whatever_is_wrong_with_a_tree(repo: Path) -> None:
    """Edits, missing, stale and foreign files, links, conflicts and trees of no environment: each by its name."""
    prod = repo / "rendered/prod"
    edit(prod / FILE, "sklearnserver:", "mine:")
    (prod / "payments/fraud/service-fraud-predictor.yaml").unlink()
    (prod / "payments/extra.yaml").write_text("kind: ConfigMap\n")
    marked = f"<<<<<<< ours\n{(prod / INDEX).read_text()}=======\n>>>>>>> theirs\n"
    (prod / INDEX).write_text(marked)
    shutil.copytree(repo / "rendered/dev", repo / "rendered/old")
    dev = repo / "rendered/dev/payments/fraud"
    (dev / "deployment-fraud-predictor.yaml").rename(repo / "elsewhere.yaml")
    (dev / "deployment-fraud-predictor.yaml").symlink_to(repo / "elsewhere.yaml")
    assert slugs(repo) == [
        f"dev/{FILE}: output/foreign-file",
        f"prod/{INDEX}: output/merge-conflict",
        "prod/payments/extra.yaml: output/foreign-file",
        f"prod/{FILE}: output/edited-by-hand",
        "prod/payments/fraud/service-fraud-predictor.yaml: output/missing-file",
        "old: output/orphan-tree",
    ]
    text = kservec(repo, "check", "prod").out
    image = "    + spec.template.spec.containers[kserve-container].image: kserve/sklearnserver:v0.21.0\n"
    assert image.replace("+", "-").replace("sklearnserver:", "mine:") + image in text


def test_a_tree_that_was_not_built_again(repo: Path) -> None:
    """What the sources make of it now is told; a service that is gone leaves stale files."""
    edit(repo / "services/fraud.yaml", "v7", "v8")
    assert slugs(repo, "dev") == [f"dev/{INDEX}: output/out-of-date", f"dev/{FILE}: output/out-of-date"]
    edit(repo / "services/fraud.yaml", "name: fraud", "name: other")
    assert f"dev/{FILE}: output/stale-file" in slugs(repo, "dev")


def test_an_index_that_lies_is_not_believed(repo: Path) -> None:
    """A file that differs is wrong, whatever the index says of it; without an index only that is missing."""
    from hashlib import sha256  # noqa: PLC0415 - this test only

    prod = repo / "rendered/prod"
    old = sha256((prod / FILE).read_bytes()).hexdigest()
    edit(prod / FILE, "sklearnserver:", "mine:")
    edit(prod / INDEX, old, sha256((prod / FILE).read_bytes()).hexdigest())
    assert slugs(repo, "prod") == [f"prod/{INDEX}: output/out-of-date", f"prod/{FILE}: output/out-of-date"]
    kservec(repo, "build", "prod", "--force")
    (prod / INDEX).unlink()
    assert slugs(repo, "prod") == [f"prod/{INDEX}: output/missing-file"]


def test_line_ends_that_git_converted(repo: Path) -> None:
    """They are called that, for the remedy is not a build."""
    file = repo / "rendered/prod" / FILE
    file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert slugs(repo, "prod") == [f"prod/{FILE}: output/line-ends-converted"]
    advice = "put `rendered/prod/** -text` into .gitattributes and check the files out anew"
    assert advice in kservec(repo, "check", "prod").out
    ran = kservec(repo, "build", "prod")
    assert (ran.status, "error[output/line-ends-converted]" in ran.err, f"help: {advice}" in ran.err) == (1, True, True)


@pytest.mark.parametrize(
    ("output", "pattern", "place"), [("t", "t", ""), ("../{}/out", "out", "../{}/"), ("./a/t", "a/t", "")]
)
def test_line_ends_of_a_tree_of_files(tmp_path: Path, output: str, pattern: str, place: str) -> None:
    """Check and build name the same folder, as it was given; one that was edited as well is called edited."""
    output, place = (text.format(tmp_path.name) for text in (output, place))
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    arguments = ("fraud.yaml", "--output", output)
    assert kservec(tmp_path, "build", *arguments).status == 0
    for path in (tmp_path / output).rglob("*.*"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    edit(tmp_path / "fraud.yaml", "v7", "v8")
    advice = f"put `{pattern}/** -text` into {place}.gitattributes and check the files out anew"
    for command, status in (("check", 3), ("build", 1)):
        ran = kservec(tmp_path, command, *arguments)
        assert (ran.status, advice in ran.out + ran.err, "edited-by-hand" in ran.out + ran.err) == (status, True, False)
    edit(tmp_path / output / FILE, "sklearnserver:", "mine:")
    assert "edited-by-hand" in kservec(tmp_path, "build", *arguments).err
    assert kservec(tmp_path, "build", *arguments, "--force").status == 0
    assert kservec(tmp_path, "check", *arguments).status == 0


def test_errors_in_the_input_come_first(repo: Path) -> None:
    """With an error there is no tree to compare with: exit 1, located."""
    (repo / "services/wrong.yaml").write_text(WRONG)
    ran = kservec(repo, "check")
    assert (ran.status, "services/wrong.yaml:12" in ran.err, ran.out) == (1, True, "")


def test_a_link_in_the_place_of_a_folder(repo: Path) -> None:
    """It leads out of the tree: that is told of the link alone, though nothing is rendered there any more, too."""
    folder = repo / "rendered/dev/payments"
    folder.rename(repo / "elsewhere")
    folder.symlink_to(repo / "elsewhere")
    missing = [found for found in slugs(repo, "dev") if not found.endswith("missing-file")]
    assert missing == ["dev/payments: output/foreign-file"]
    edit(repo / "services/fraud.yaml", "namespace: payments", "namespace: other")
    ran = kservec(repo, "build", "dev", "--allow-shrink", "--accept-restarts", "all")
    assert (ran.status, "--> rendered/dev/payments\n" in ran.err) == (1, True), ran.err
    assert "dev/payments: output/foreign-file" in slugs(repo, "dev")


def test_annotations_for_a_pull_request(repo: Path) -> None:
    """GitHub gets one for each file, at that file."""
    edit(repo / "rendered/prod" / FILE, "sklearnserver:", "mine:")
    ran = kservec(repo, "check", "--format", "github")
    assert ran.status == 3
    assert ran.out.startswith(f"::error file=rendered/prod/{FILE},title=output/edited-by-hand::")


def test_a_tree_that_was_built_of_files(tmp_path: Path) -> None:
    """Without a project the tree is named, in either layout."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    for layout in ("tree", "single"):
        arguments = ("fraud.yaml", "--output", f"out-{layout}", "--layout", layout)
        assert kservec(tmp_path, "check", *arguments).status == 3
        kservec(tmp_path, "build", *arguments)
        assert kservec(tmp_path, "check", *arguments).status == 0
    edit(tmp_path / "fraud.yaml", "v7", "v8")
    ran = kservec(tmp_path, "check", *arguments)
    assert (ran.status, "s3://models/fraud/v8" in ran.out) == (3, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("services",), "name the tree with --output, or an environment"),
        (("--output", "x"), "--output takes one environment; name one of dev, prod"),
        (("prd",), "did you mean prod?"),
    ],
)
def test_wrong_usage(repo: Path, arguments: tuple[str, ...], said: str) -> None:
    """What cannot be meant is refused."""
    ran = kservec(repo, "check", *arguments)
    assert (ran.status, said in ran.err) == (2, True)


def test_two_branches_that_each_add_a_service_merge(tmp_path: Path) -> None:
    """Git merges the rendered trees without a conflict, and what it makes is what a build writes."""
    repo = repository(tmp_path)
    for name, start in (("alpha", "main"), ("omega", "main")):
        git(repo, "switch", "--quiet", "--create", name, start)
        (repo / f"services/{name}.yaml").write_text(SERVICE.replace("fraud", name))
        assert kservec(repo, "build").status == 0
        commit(repo, name)
    git(repo, "merge", "--quiet", "--no-edit", "alpha")
    ran = kservec(repo, "check")
    assert (ran.status, ran.out) == (0, "")
    assert (repo / "rendered/prod/payments/alpha").is_dir()
    assert (repo / "rendered/prod/payments/omega").is_dir()
