"""The workflows: pinned to the byte, each job with the rights it needs, hardly a line that cannot be run elsewhere."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from .scripts import ROOT

WORKFLOWS = {path.stem: path for path in (ROOT / ".github" / "workflows").iterdir()}
PARSED: dict[str, Any] = {name: libyaml.load(path.read_text()) for name, path in WORKFLOWS.items()}
JOBS = {(name, job): facts for name, workflow in PARSED.items() for job, facts in workflow["jobs"].items()}
TEXTS = [*WORKFLOWS.values(), ROOT / "action.yml", *(ROOT / "compiler/kservec/scaffold/files").glob("git*.y*ml")]
BY_JOB = pytest.mark.parametrize("job", JOBS, ids="/".join)
USED = re.compile(r"uses: (?!kservec/kservec@)([\w./-]+)@(\S+)(?: # (v\d+\.\d+\.\d+))?\n")
ACTIONLINT = "github.com/rhysd/actionlint/cmd/actionlint@v1.7.12"
RIGHTS = {
    ("release", "attest"): {"attestations": "write", "id-token": "write"},
    ("release", "publish"): {"id-token": "write"},
    ("release", "page"): {"contents": "write"},
    ("images", "push"): {"contents": "read", "packages": "write"},
    ("images", "sign"): {"attestations": "write", "contents": "read", "id-token": "write", "packages": "write"},
}
"""What jobs may do beyond reading. A line here is a decision."""
BUILDS = re.compile(r"build-push-action|distributions\.py|installed\.py|rebuild_image|pip install")


@BY_JOB
def test_a_job_has_the_rights_it_needs(job: tuple[str, str]) -> None:
    """Nothing but what is decided above, and only for tags: what a pull request runs can write nothing."""
    assert JOBS[job].get("permissions", {}) == RIGHTS.get(job, {})
    if job in RIGHTS:
        assert JOBS[job]["if"] == "github.ref_type == 'tag'"
        assert "tags" in PARSED[job[0]][True]["push"]  # YAML reads `on` as true


@BY_JOB
def test_what_signs_builds_nothing(job: tuple[str, str]) -> None:
    """A job with the identity of the workflow runs no code of packages, which could sign something else with it."""
    if JOBS[job].get("permissions", {}).get("id-token"):
        assert [step for step in JOBS[job]["steps"] if BUILDS.search(str(step))] == []


@BY_JOB
def test_a_job_runs_where_and_as_long_as_it_should(job: tuple[str, str]) -> None:
    """Its machine is a certain one, and it ends."""
    assert JOBS[job]["runs-on"] == "ubuntu-24.04"
    assert 0 < JOBS[job]["timeout-minutes"] <= 180
    assert JOBS[job]["name"]


@BY_JOB
def test_steps_only_start_what_is_elsewhere(job: tuple[str, str]) -> None:
    """Each script is a line, and what it starts is there and is run by tests."""
    for line in (step["run"] for step in JOBS[job]["steps"] if "run" in step):
        assert "\n" not in line.strip()
        for path in re.findall(r"(?:^| )((?:scripts|\.ci)/\S+)", line):
            assert (ROOT / path).is_file(), path
        assert "pip install" not in line or "--require-hashes" in line


def test_actions_are_pinned_to_releases() -> None:
    """By commit, with the version beside it; everywhere the same commit."""
    found = {match.groups() for path in TEXTS for match in USED.finditer(path.read_text())}
    assert all(re.fullmatch(r"[0-9a-f]{40}", commit) and version for _, commit, version in found), found
    assert len({action for action, _, _ in found}) == len(found), sorted(found)
    assert sum(path.read_text().count("uses: ") for path in TEXTS) == sum(
        len(USED.findall(path.read_text())) + path.read_text().count("uses: kservec/kservec@") for path in TEXTS
    )


def test_tools_are_pinned() -> None:
    """What actions fetch is named by version, and images by digest; nothing is the latest of anything."""
    for path in TEXTS:
        text = path.read_text()
        assert "latest" not in text, path
        for image in re.findall(r"\S+:\S*(?:buildkit|binfmt)\S*:\S+", text):
            assert re.search(r"@sha256:[0-9a-f]{64}$", image), image
    wanted = {
        "docker/setup-buildx-action": {"version", "driver-opts"},
        "docker/setup-qemu-action": {"image"},
        "sigstore/cosign-installer": {"cosign-release"},
        "anchore/sbom-action": {"syft-version"},
    }
    for facts in JOBS.values():
        for step in facts["steps"]:
            needed = wanted.get(step.get("uses", "").partition("@")[0], set())
            assert needed <= step.get("with", {}).keys(), step


def test_images_of_tools_have_digests() -> None:
    """The builder and the emulators are images, too."""
    environment = PARSED["images"]["env"]
    assert re.fullmatch(r"v\d+\.\d+\.\d+", environment.pop("BUILDX"))
    assert all(re.search(r":[\w.-]+@sha256:[0-9a-f]{64}$", image) for image in environment.values())


def test_pull_requests_build_what_tags_release() -> None:
    """Both workflows run for both; nothing is pushed, signed or published for a pull request."""
    for name in ("release", "images"):
        assert PARSED[name][True].keys() == {"push", "pull_request"}
        assert PARSED[name][True]["push"] == {"tags": ["v*"]}
    free = {name for (workflow, name), facts in JOBS.items() if workflow != "ci" and "if" not in facts}
    assert free == {"build", "install", "list", "try"}
    assert "push" not in str([step.get("with") for step in JOBS["images", "try"]["steps"]])


def test_every_version_of_python_is_installed_on() -> None:
    """The versions that are tested are those that the distributions are installed on."""
    tested = JOBS["ci", "test"]["strategy"]["matrix"]["python"]
    assert JOBS["release", "install"]["strategy"]["matrix"]["python"] == tested


def test_zizmor_finds_nothing() -> None:
    """The linter of what attackers make of workflows, in its strictest mode, without the network."""
    zizmor = Path(sys.executable).with_name("zizmor")
    command = [str(zizmor), "--offline", "--no-progress", "--persona", "auditor", ".github", "action.yml"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stdout
    assert "No findings" in done.stdout + done.stderr


def test_actionlint_finds_nothing() -> None:
    """The linter of what GitHub makes of workflows: expressions, contexts, inputs of actions, scripts."""
    go = shutil.which("go")
    if go is None:
        pytest.skip("there is no Go to build actionlint with")
    shellcheck = Path(sys.executable).with_name("shellcheck")
    command = [go, "run", ACTIONLINT, "-shellcheck", str(shellcheck), "-pyflakes=", *map(str, WORKFLOWS.values())]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if "dial tcp" in done.stderr or "no such host" in done.stderr:
        pytest.skip("there is no way to Go's modules")
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


def test_the_page_names_what_is_there() -> None:
    """Whoever verifies a release goes by the names of workflows, and by the scripts that rebuild it."""
    text = (ROOT / "docs" / "releases.md").read_text()
    assert set(re.findall(r"\.github/workflows/(\w+)\.yml", text)) == {"release", "images"}
    assert {path for path in re.findall(r"scripts/delivery/[\w.]+\w", text) if not (ROOT / path).exists()} == set()
    for tool in ("sbom-path: image.spdx.json", "format: spdx-json"):
        assert tool in WORKFLOWS["images"].read_text()
