"""The fixture `kservec_golden` as users have it: pytest runs in a repository of its own, with syrupy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .running import SERVICE, WRONG

if TYPE_CHECKING:
    from pathlib import Path

pytest_plugins = ["pytester"]

PROJECT = "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [services]\nenvironments: {dev: {}, prod: {}}\n"
TESTS = """
def test_prod(kservec_golden):
    made = kservec_golden("prod")
    assert len(made.objects) == 4
"""
FIXED = "test_prod[prod+payments+fraud+service-fraud-predictor].yaml"


@pytest.fixture(name="repo")
def repo_fixture(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a project, a service and a test; what runs there is no worker of this run."""
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        monkeypatch.delenv(name, raising=False)
    (pytester.path / "kservec.yaml").write_text(PROJECT)
    (pytester.path / "services").mkdir()
    (pytester.path / "services" / "fraud.yaml").write_text(SERVICE)
    (pytester.path / "tests").mkdir()
    (pytester.path / "tests" / "test_rendering.py").write_text(TESTS)
    return pytester.path


def ran(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    """A run of pytest as a user would start it, in which warnings are errors."""
    return pytester.runpytest_subprocess("-q", "-W", "error", "-p", "no:cacheprovider", *arguments)


def snapshots(repo: Path) -> dict[str, bytes]:
    """The committed snapshots."""
    return {path.name: path.read_bytes() for path in (repo / "tests" / "__snapshots__").rglob("*.yaml")}


@pytest.mark.slow
def test_snapshots_are_written_and_compared(repo: Path, pytester: pytest.Pytester) -> None:
    """Without snapshots the test fails; an update writes one file for each object, and then it passes."""
    ran(pytester).assert_outcomes(failed=1)
    assert not (repo / "tests" / "__snapshots__").exists()
    ran(pytester, "--snapshot-update").assert_outcomes(passed=1)
    written = snapshots(repo)
    assert len(written) == 4
    assert written[FIXED].startswith(b"apiVersion: v1\nkind: Service\n")
    ran(pytester).assert_outcomes(passed=1)
    assert snapshots(repo) == written


@pytest.mark.slow
def test_a_change_of_a_spec_fails_with_a_difference(repo: Path, pytester: pytest.Pytester) -> None:
    """The failure shows what differs, without a traceback, and says what to do; an update takes it over."""
    ran(pytester, "--snapshot-update")
    (repo / "services" / "fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    text = result.stdout.str()
    assert "1 of 4 objects of prod differ; run pytest --snapshot-update if this is meant" in text
    assert "-        - s3://models/fraud/v7\n+        - s3://models/fraud/v8" in text
    assert "snapshot/prod/payments/fraud/deployment-fraud-predictor.yaml" in text
    assert "Traceback" not in text
    ran(pytester, "--snapshot-update").assert_outcomes(passed=1)
    ran(pytester).assert_outcomes(passed=1)


@pytest.mark.slow
def test_a_snapshot_without_an_object_fails_the_run(repo: Path, pytester: pytest.Pytester) -> None:
    """What is no longer rendered is reported by syrupy, and removed by an update."""
    ran(pytester, "--snapshot-update")
    (folder,) = (repo / "tests" / "__snapshots__").iterdir()
    stale = folder / FIXED.replace("service", "old")
    stale.write_bytes(b"kind: Old\n")
    result = ran(pytester)
    assert result.ret != 0
    assert "1 snapshot unused" in result.stdout.str()
    ran(pytester, "--snapshot-update")
    assert not stale.exists()


@pytest.mark.slow
def test_workers_of_xdist_share_snapshots(repo: Path, pytester: pytest.Pytester) -> None:
    """Several tests over several workers agree on which snapshots are used."""
    (repo / "tests" / "test_more.py").write_text("def test_dev(kservec_golden):\n    kservec_golden('dev')\n")
    ran(pytester, "--snapshot-update", "-n", "2").assert_outcomes(passed=2)
    ran(pytester, "-n", "2").assert_outcomes(passed=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("test", "said"),
    [
        ("kservec_golden('prd')", "has no environment prd, but dev, prod"),
        ("kservec_golden('prod', project='../services')", "cannot read"),
        ("kservec_golden('prod', project='..')", "error[storage/unknown-scheme]"),
    ],
)
def test_what_is_wrong_is_told(repo: Path, pytester: pytest.Pytester, test: str, said: str) -> None:
    """An unknown environment, a project that is not there, a service that is refused: each fails the test."""
    (repo / "services" / "wrong.yaml").write_text(WRONG)
    (repo / "tests" / "test_rendering.py").write_text(f"def test_it(kservec_golden):\n    {test}\n")
    result = ran(pytester)
    result.assert_outcomes(failed=1)
    assert said in result.stdout.str()
    assert "Traceback" not in result.stdout.str()


@pytest.mark.slow
@pytest.mark.usefixtures("repo")
def test_without_syrupy_the_test_says_so(pytester: pytest.Pytester) -> None:
    """The extra that brings it is named."""
    result = ran(pytester, "-p", "no:syrupy")
    result.assert_outcomes(failed=1)
    assert "pip install 'kservec[testing]'" in result.stdout.str()


@pytest.mark.slow
def test_the_plugin_loads_little(pytester: pytest.Pytester) -> None:
    """A run of pytest that does not use the fixture loads neither the compiler nor syrupy for it."""
    pytester.makepyfile(
        "import sys\n\ndef test_it():\n    assert not {'kservec.api', 'pydantic', 'yaml'} & set(sys.modules)\n"
    )
    ran(pytester).assert_outcomes(passed=1)
