"""What is written for programs: to standard output, with places from the top, and JSON in the same words everywhere."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import pytest

from kservec.cli.main import COMMANDS, MODULES
from kservec.cli.promote import JSON
from kservec.io.kustomize import HOW_TO, tools

from .repositories import commit, edit, git
from .running import ROOT, SECONDS, SERVICE, environment, kservec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
environments:
  staging: {overlay: overlays/staging}
  prod: {overlay: overlays/prod}
"""
BASE = "resources: [../../services]\n"
PATCH = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: payments}
spec: {predictor: {model: {storageUri: s3://models/fraud/v9}}}
"""
FILES = {
    "kservec.yaml": PROJECT,
    "platform/cluster.yaml": (ROOT / "golden/project-capacity/input/platform/cluster.yaml").read_text(),
    "services/fraud.yaml": SERVICE,
    "services/kustomization.yaml": "resources: [fraud.yaml]\n",
    "overlays/staging/kustomization.yaml": BASE + "patches: [{path: fraud.yaml}]\n",
    "overlays/staging/fraud.yaml": PATCH,
    "overlays/prod/kustomization.yaml": BASE,
}
ASKED = {
    "affected": ["affected", "--since", "main"],
    "build": ["build", "services/fraud.yaml"],
    "capacity": ["capacity", "prod"],
    "check": ["check", "prod"],
    "diff": ["diff", "main"],
    "diff, an upgrade": ["diff", "--profile", "0.20", "prod"],
    "explain": ["explain", "InferenceService/fraud", "prod"],
    "explain, a value": ["explain", "Deployment/fraud-predictor", "prod"],
    "lint": ["lint", "prod"],
    "lock": ["lock"],
    "promote": ["promote", "prod", "--from", "staging", "--dry-run"],
    "runtimes": ["runtimes"],
    "runtimes, images": ["runtimes", "--images"],
    "urls": ["urls", "prod"],
}
OTHERS = {"ref", "span", "subject"}
"""What objects and places were called within kservec."""
AS_WRITTEN = {"value", "before", "after"}
"""What holds the users' own values, whose names are theirs."""
OBJECT, LOCATION = {"apiVersion", "kind", "namespace", "name"}, {"file", "line", "column", "endLine", "endColumn"}


def test_sarif_names_files_from_the_top_of_the_repository(work: Path) -> None:
    """Also where kservec runs in a folder of it."""
    (work / ".git").mkdir()
    (work / "ml").mkdir()
    ran = kservec(work / "ml", "lint", "--format", "sarif", "../wrong.yaml")
    (run,) = json.loads(ran.out)["runs"]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert (ran.status, place["artifactLocation"]["uri"], place["region"]["startLine"]) == (1, "wrong.yaml", 12)


def test_annotations_name_files_from_the_top_of_the_repository(work: Path) -> None:
    """As GitHub places them."""
    (work / ".git").mkdir()
    (work / "ml").mkdir()
    assert "::error file=wrong.yaml,line=12" in kservec(work / "ml", "lint", "--format", "github", "../wrong.yaml").out


def test_junit_counts_errors(work: Path) -> None:
    """An error is a failed test, and a run without one a passed test."""
    for file, failures in (("wrong.yaml", "1"), ("fraud.yaml", "0")):
        root = ElementTree.fromstring(kservec(work, "lint", "--format", "junit", file).out)  # noqa: S314 - our own text
        assert (root.get("tests"), root.get("failures")) == ("1", failures)


def test_a_report_in_the_way_of_the_output(work: Path) -> None:
    """Of a build, which writes documents to standard output, the report goes to standard error."""
    ran = kservec(work, "build", "--format", "sarif", "fraud.yaml")
    assert ran.status == 0
    assert ran.out.startswith("---\n")
    assert json.loads(ran.err)["version"] == "2.1.0"


@pytest.fixture(name="repo", scope="module")
def repo_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with two environments and something to say in each report."""
    if not list(tools()):
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
    folder = tmp_path_factory.mktemp("repo")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    git(folder, "init", "--quiet", "--initial-branch=main")
    ran = kservec(folder, "build")
    assert ran.status == 0, ran.err
    commit(folder, "first")
    edit(folder / "services/fraud.yaml", "fraud/v7", "fraud/v8")
    return folder


def members(value: Any) -> Iterator[dict[str, Any]]:
    """Every map of a document but those that are users' own."""
    if isinstance(value, dict):
        yield value
    for name, one in value.items() if isinstance(value, dict) else enumerate(value if isinstance(value, list) else ()):
        if name not in AS_WRITTEN:
            yield from members(one)


@pytest.mark.parametrize("what", ASKED)
def test_json_has_the_same_words_everywhere(repo: Path, what: str) -> None:
    """A map at the top; objects and places are named and made alike, and no name is written as Python's."""
    ran = kservec(repo, *ASKED[what], "--format", "json")
    assert ran.status in {0, 3}, ran.err
    written = ran.err if what == "build" else ran.out
    maps = list(members(json.loads(written)))
    assert isinstance(json.loads(written), dict)
    assert not {name for one in maps for name in one if "_" in name}
    assert not {name for one in maps for name, held in one.items() if name in OTHERS and not isinstance(held, str)}
    assert all(one["object"].keys() == OBJECT for one in maps if one.get("object"))
    assert all(one["location"].keys() == LOCATION for one in maps if one.get("location"))
    assert all(one.keys() == OBJECT for one in maps if "apiVersion" in one and one is not maps[0])


ODD_CONFIG = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data: {ingres: "{}"}
"""
REPORTS = {"build", "check", "lint", "lock"}
"""Commands whose document is what was found: there is always one, so that what reads it meets no empty file."""
APART = {"affected", "diff", "diff, an upgrade", "promote"}
"""Commands that tell of findings as text beside their document."""


@pytest.mark.parametrize("what", ASKED)
def test_findings_are_in_one_document(repo: Path, what: str) -> None:
    """In the only one that a command writes, and nothing is said beside it that holds no finding."""
    ran = kservec(repo, *ASKED[what], "--format", "json")
    written, beside = (ran.err, ran.out) if what == "build" else (ran.out, ran.err)
    told = json.loads(written)
    assert ("diagnostics" in told) is (what not in APART)
    assert (what in REPORTS) is (told.keys() == {"diagnostics"})
    assert '"diagnostics"' not in beside


def test_errors_of_a_project_are_where_its_lock_would_be_reported(work: Path) -> None:
    """On standard output, as what a check of the lock finds."""
    (work / "kservec.yaml").write_text("apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [wrong.yaml]\n")
    ran = kservec(work, "lock", "--format", "json")
    assert (ran.status, ran.err) == (1, "")
    assert [d["code"] for d in json.loads(ran.out)["diagnostics"]] == ["storage/unknown-scheme"]
    edit(work / "kservec.yaml", "sources", "sourcs")
    ran = kservec(work, "lock", "--format", "json")
    assert (ran.status, ran.err, json.loads(ran.out).keys()) == (1, "", {"diagnostics"})


@pytest.mark.parametrize("arguments", [(), ("--images",), ("--uris",)], ids=str)
def test_what_is_wrong_with_a_platform_is_in_the_list(work: Path, arguments: tuple[str, ...]) -> None:
    """A warning stands beside the list, an error instead of it, and nothing is on standard error."""
    (work / "odd.yaml").write_text(ODD_CONFIG)
    ran = kservec(work, "runtimes", *arguments, "--platform", "odd.yaml", "--format", "json")
    told = json.loads(ran.out)
    assert (ran.status, ran.err, len(told)) == (0, "", 2)
    assert [d["severity"] for d in told["diagnostics"]] == ["warning"]
    (work / "odd.yaml").write_text("a: [\n")
    ran = kservec(work, "runtimes", *arguments, "--platform", "odd.yaml", "--format", "json")
    assert (ran.status, ran.err, json.loads(ran.out).keys()) == (1, "", {"diagnostics"})


def test_all_commands_with_json_are_asked() -> None:
    """A command that learns to write JSON has to join."""
    able = set()
    for name in COMMANDS:
        module = MODULES.get(name, name)
        command = getattr(import_module(f"kservec.cli.{module}"), module)
        choices = [choice for option in command.params for choice in getattr(option.type, "choices", ())]
        able |= {name} if JSON in choices else set()
    assert able == {what.partition(",")[0] for what in ASKED}


REFUSED = {
    "affected": ["affected", "--since", "nowhere"],
    "build": ["build", "nope.yaml"],
    "capacity": ["capacity", "prdo"],
    "check": ["check", "prdo"],
    "diff": ["diff", "nowhere"],
    "explain": ["explain", "Deployment/nothing", "prod"],
    "lint": ["lint", "--outptu"],
    "lock": ["lock", "--update", "services"],
    "promote": ["promote", "prdo", "--from", "staging"],
    "runtimes": ["runtimes", "sklern"],
    "runtimes, images": ["runtimes", "--images", "sklearn"],
    "runtimes, two lists": ["runtimes", "--images", "--uris"],
    "urls": ["urls", "nope.yaml"],
    "urls, an endless path": ["urls", "x" * 5000],
}


@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.parametrize(
    "spelt", [("--format", "json"), ("--format=json",), ("--format", "text", "--format", "json")], ids=str
)
def test_wrong_usage_is_a_document_too(repo: Path, what: str, spelt: tuple[str, ...]) -> None:
    """One document, with what the line of text says; nothing is beside it."""
    text = kservec(repo, *REFUSED[what])
    ran = kservec(repo, *REFUSED[what], *spelt)
    assert (ran.status, text.status) == (2, 2), ran.err
    written, beside = (ran.err, ran.out) if what in {"build", "lock"} else (ran.out, ran.err)
    (found,) = json.loads(written)["diagnostics"]
    assert (beside, found["code"], found["severity"], found["location"]) == ("", "command/refused", "error", None)
    more = f" ({found['help']})" if found["help"] else ""
    assert text.err == f"error: {found['message']}{more}\n"


def test_each_command_with_json_is_refused_something() -> None:
    """A command that learns to write JSON has to join."""
    assert {what.partition(",")[0] for what in REFUSED} == {what.partition(",")[0] for what in ASKED}


@pytest.mark.parametrize(
    ("layout", "shown"), [("github", "::error"), ("sarif", '"version":"2.1.0"'), ("junit", "<testsuite")]
)
def test_wrong_usage_in_reports_of_ci_systems(work: Path, layout: str, shown: str) -> None:
    """Whatever reads the report is told, as of errors in the files."""
    ran = kservec(work, "lint", "nope.yaml", "--format", layout)
    assert (ran.status, ran.err) == (2, "")
    assert shown in ran.out
    assert "cannot read nope.yaml: No such file or directory" in ran.out


@pytest.mark.parametrize(
    "arguments",
    [
        ("graph", "nope.yaml", "--format", "json"),
        ("graph", "nope.yaml", "--format", "dot"),
        ("schema", "--format", "json", "Nothing"),
        ("lint", "nope.yaml", "--format", "jsn"),
        ("lint", "nope.yaml", "--format"),
        ("lint", "nope.yaml", "--", "--format", "json"),
        ("diff", "nowhere", "--format", "markdown"),
        ("biuld", "--format", "json"),
    ],
    ids=str,
)
def test_forms_that_a_command_does_not_have(work: Path, arguments: tuple[str, ...]) -> None:
    """What is wrong is a line of text, as nothing else was asked for that there is."""
    ran = kservec(work, *arguments)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1


def test_wrong_usage_where_nothing_can_be_written(work: Path) -> None:
    """The line of text is left where the document has no place."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        ran = subprocess.run(
            [sys.executable, "-m", "kservec", "runtimes", "sklern", "--format", "json"],
            cwd=work, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    assert ran.returncode == 2
    assert ran.stderr == "error: no runtime serves sklern; did you mean sklearn? (see kservec runtimes --help)\n"
