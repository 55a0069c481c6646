"""The GitLab component, the hooks of pre-commit, workflows: their structure, and that their commands are ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec import __version__
from kservec.cli.main import COMMANDS
from kservec.io.packaged import packaged_own_schema, packaged_template
from kservec.scaffold.choices import GITHUB, GITLAB, Choices
from kservec.scaffold.repository import planned_repository

from .workflows import faults

ROOT = Path(__file__).parents[2]
COMPONENT = ROOT / "templates" / "kservec.yml"
HOOKS: list[dict[str, Any]] = libyaml.load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
FAKE = '#!/bin/sh\necho "$(basename "$0") $*" >> "$CALLS"\nexit "${STATUS:-0}"\n'


def component() -> tuple[dict[str, Any], dict[str, Any]]:
    """The head of the component, and its job."""
    head, body = libyaml.load_all(COMPONENT.read_text(encoding="utf-8"))
    return head["spec"]["inputs"], body["kservec"]


def lines_of(job: dict[str, Any]) -> str:
    """The script of a job, as the runner puts it together."""
    return "set -eu\n" + "\n".join(job["script"])


def test_the_inputs_of_the_component_are_used() -> None:
    """Each has a description and a default; none becomes part of a script."""
    inputs, job = component()
    text = COMPONENT.read_text(encoding="utf-8")
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", text)) == inputs.keys()
    assert all(value["description"].endswith(".") and "default" in value for value in inputs.values())
    assert not any("$[[" in line for line in (*job["script"], *job["before_script"]))


@pytest.mark.skipif(os.name == "nt", reason="the script is for a shell")
@pytest.mark.parametrize(("status", "calls"), [("0", ["lint", "check", "diff"]), ("1", ["lint", "lint"])])
def test_the_script_of_the_component(tmp_path: Path, status: str, calls: list[str]) -> None:
    """It lints, checks and compares with the base of the merge request, and stops where something is wrong."""
    program = tmp_path / "kservec"
    program.write_text(FAKE)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    given = {
        "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", "CALLS": str(tmp_path / "calls"), "STATUS": status,
        "KSERVEC_ENVIRONMENTS": "dev prod", "CI_MERGE_REQUEST_DIFF_BASE_SHA": "abc",
    }  # fmt: skip
    shell = str(shutil.which("sh"))
    done = subprocess.run([shell, "-c", lines_of(component()[1])], cwd=tmp_path, env=given, check=False)  # noqa: S603
    made = (tmp_path / "calls").read_text().splitlines()
    assert [line.split()[1] for line in made] == calls
    assert done.returncode == int(status)
    assert "dev prod" in made[0]


def test_the_hooks_of_pre_commit() -> None:
    """Each runs a command of ours over the whole project, once."""
    assert [hook["id"] for hook in HOOKS] == ["kservec-build", "kservec-check", "kservec-lint"]
    for hook in HOOKS:
        program, command = hook["entry"].split()
        assert program == "kservec"
        assert command in COMMANDS
        assert (hook["language"], hook["pass_filenames"], hook["require_serial"]) == ("python", False, True)
        assert re.search(hook["files"], "services/iris.yaml")


def laid_down(ci: str) -> dict[str, str]:
    """What `kservec init` lays down for a CI system."""
    choices = Choices(name="demo", version=__version__, ci=ci)
    schemas = {name: (json.loads(packaged_own_schema(name)), "") for name in ("project", "cluster")}
    return {file.path: file.text for file in planned_repository(choices, packaged_template, schemas)}


def test_workflows_are_safe() -> None:
    """Those of a new repository and our own: nothing becomes part of a script, actions are pinned, rights are least."""
    texts = [laid_down(GITHUB)[".github/workflows/kservec.yaml"]]
    texts += [path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").iterdir()]
    assert [faults(libyaml.load(text)) for text in texts] == [[]] * len(texts)


def test_a_new_repository_uses_this_version() -> None:
    """The action, the hook and the package that CI installs are of one version."""
    files = laid_down(GITHUB)
    assert f"uses: kservec/kservec@v{__version__}\n" in files[".github/workflows/kservec.yaml"]
    assert f"rev: v{__version__}\n" in files[".pre-commit-config.yaml"]
    assert f"KSERVEC: kservec=={__version__}\n" in laid_down(GITLAB)[".gitlab-ci.yml"]


def test_the_pipeline_of_a_new_repository_does_what_the_component_does() -> None:
    """Its script differs in nothing but the choice of environments."""
    (job,) = [job for job in libyaml.load(laid_down(GITLAB)[".gitlab-ci.yml"]).values() if "script" in job]
    assert job["script"] == [line.replace(" $KSERVEC_ENVIRONMENTS", "") for line in component()[1]["script"]]


def test_the_hooks_of_a_new_repository_are_there() -> None:
    """What its configuration names is in our list of hooks."""
    configured = libyaml.load(laid_down(GITHUB)[".pre-commit-config.yaml"])
    named = {hook["id"] for repo in configured["repos"] for hook in repo["hooks"]}
    assert named <= {hook["id"] for hook in HOOKS}
