"""A forked run is what a run of its own interpreter is, for every command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from kservec.cli.main import COMMANDS

from .repositories import repository
from .running import fresh_kservec, kservec

if TYPE_CHECKING:
    from pathlib import Path

RUNS = {
    "init": ("init", "services/fraud.yaml"),
    "build": ("build", "--stdout", "services"),
    "check": ("check",),
    "diff": ("diff", "main"),
    "affected": ("affected", "--since", "nowhere"),
    "lint": ("lint", "--notes"),
    "watch": ("watch", "nowhere"),
    "explain": ("explain", "fraud", "prod"),
    "capacity": ("capacity", "dev"),
    "report": ("report", "prod", "-o", "site"),
    "urls": ("urls", "prod"),
    "canary": ("canary", "rollback", "fraud"),
    "promote": ("promote", "dev", "nowhere"),
    "import": ("import", "services/fraud.yaml"),
    "lock": ("lock", "--check"),
    "graph": ("graph", "services"),
    "runtimes": ("runtimes", "sklearn"),
    "schema": ("schema", "InferenceService"),
    "completion": ("completion", "bash"),
}
"""A run of each command that says the same when it is repeated."""


def test_every_command_has_a_run() -> None:
    """None is left out."""
    assert RUNS.keys() == COMMANDS.keys()


@pytest.mark.slow
@pytest.mark.parametrize("command", RUNS)
def test_a_forked_run_is_as_any_other(command: str, tmp_path: Path) -> None:
    """Exit status and both streams are the same."""
    repo = repository(tmp_path)
    expected = fresh_kservec(repo, *RUNS[command])
    assert expected.out or expected.err
    assert kservec(repo, *RUNS[command]) == expected


def test_a_forked_run_has_the_world_that_it_is_given(tmp_path: Path) -> None:
    """Its folder, environment and standard input are its own; the next run knows nothing of them."""
    service = "kind: [\n"
    assert "<stdin>:1:7" in kservec(tmp_path, "build", "-", given=service).err
    (tmp_path / "here.yaml").write_text(service)
    assert "here.yaml:1:7" in kservec(tmp_path, "build", "here.yaml").err
    words = {"_KSERVEC_COMPLETE": "bash_complete", "COMP_WORDS": "kservec bu", "COMP_CWORD": "1"}
    assert kservec(tmp_path, **words).out == "plain,build\n"
    assert kservec(tmp_path).err.startswith("Usage: kservec")
