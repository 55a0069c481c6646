"""kservec watch: real processes whose files are edited while they look."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pytest

from .repositories import PROJECT, edit
from .running import KSERVEC, SERVICE, environment, kservec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SECONDS = 60
NAMES = ("fraud", "churn")


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Path:
    """A project with two environments and two services."""
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services").mkdir()
    for name in NAMES:
        (tmp_path / "services" / f"{name}.yaml").write_text(SERVICE.replace("fraud", name))
    return tmp_path


class Watching:
    """A process that watches, and what it has said so far."""

    def __init__(self, folder: Path, *arguments: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own program
            [*KSERVEC, "watch", *arguments],
            cwd=folder,
            env=environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.said = ""
        self.reader = threading.Thread(target=self.listen, daemon=True)
        self.reader.start()

    def listen(self) -> None:
        """Keep what is said."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said += line

    def until(self, pattern: str) -> str:
        """Wait for a text, and take all that was said up to its end."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            if found := re.search(pattern, self.said):
                taken, self.said = self.said[: found.end()], self.said[found.end() :]
                return taken
            assert self.process.poll() is None or self.reader.is_alive(), self.said
            time.sleep(0.05)
        raise AssertionError(f"{pattern!r} was not said: {self.said}")

    def end(self, number: signal.Signals) -> int:
        """End the process by a signal; its exit status."""
        self.process.send_signal(number)
        status = self.process.wait(timeout=SECONDS)
        self.reader.join(timeout=SECONDS)
        return status


@contextmanager
def watching(folder: Path, *arguments: str) -> Iterator[Watching]:
    """A process that watches, until the end of the context at the latest."""
    process = Watching(folder, *arguments)
    try:
        yield process
    finally:
        process.process.kill()
        process.process.wait(timeout=SECONDS)
        process.reader.join(timeout=SECONDS)
        assert process.process.stderr is not None
        process.process.stderr.close()


@pytest.mark.slow
def test_a_day_of_edits(project: Path) -> None:
    """A change, a mistake, its correction, a new service and one that goes: each is told once, with what it led to."""
    fraud = project / "services" / "fraud.yaml"
    with watching(project, "dev") as watch:
        assert "no errors: 8 objects; 2 services compiled" in watch.until(r"files watched\n")
        edit(fraud, "fraud/v7", "fraud/v8")
        told = watch.until(r"changed: Deployment payments/fraud-predictor\n")
        assert "services/fraud.yaml changed\n" in told
        assert "1 service compiled" in told
        edit(fraud, "s3://", "nowhere://")
        told = watch.until(r"nothing to write.*\n")
        assert "error[storage/unknown-scheme]" in told
        assert "--> services/fraud.yaml:12:" in told
        edit(fraud, "nowhere://", "s3://")
        told = watch.until(r"none changed\n")
        assert "fixed: services/fraud.yaml: error[storage/unknown-scheme]" in told
        (project / "services" / "new.yaml").write_text(SERVICE.replace("fraud", "new"))
        assert "4 objects not as before" in watch.until(r"new: Service payments/new-predictor\n")
        (project / "services" / "churn.yaml").unlink()
        assert "4 objects not as before" in watch.until(r"gone: Service payments/churn-predictor\n")
        assert not (project / "rendered").exists()


@pytest.mark.slow
def test_the_project_counts(project: Path) -> None:
    """An edit of kservec.yaml is an edit; a mistake in it, or an environment that goes, is told and gets over."""
    file = project / "kservec.yaml"
    with watching(project, "prod") as watch:
        watch.until(r"files watched\n")
        edit(file, "sources: [services]", "sources: [nothing]")
        assert "kservec.yaml changed" in watch.until(r"nothing to write.*\n|could be rendered\n")
        edit(file, "sources: [nothing]", "sources: [services")
        assert "error[" in watch.until(r"nothing could be rendered\n")
        edit(file, "sources: [services", "sources: [services]")
        watch.until(r"none changed\n")
        edit(file, "prod: {}", "live: {}")
        assert "error: " in watch.until(r"nothing could be rendered\n")
        edit(file, "live: {}", "prod: {}")
        watch.until(r"none changed\n")


@pytest.mark.slow
@pytest.mark.parametrize("above", [False, True], ids=["alone", "below another project"])
def test_a_project_file_that_is_away(project: Path, above: bool) -> None:
    """It is said that it is gone, not its environment; once it is back all goes on. Another one is no stand-in."""
    inner = project / "inner" if above else project
    if above:
        shutil.copytree(project, inner)
    file, away = inner / "kservec.yaml", inner / "away"
    with watching(inner, "dev", "--no-report") as watch:
        watch.until(r"files watched\n")
        file.rename(away)
        told = watch.until(r"could be rendered\n")
        assert "error: kservec.yaml is gone; it is waited for\n" in told
        assert "environment" not in told
        away.rename(file)
        assert "none changed" in watch.until(r"none changed\n")


@pytest.mark.slow
def test_what_cannot_be_read_is_not_called_fixed(project: Path) -> None:
    """Errors of a service, of the policy and of the project stay as they are while nobody can look for them."""
    rule = "policy: {rules: {policy/image-digest: error}}\n"
    settings, service = project / "kservec.yaml", project / "services" / "fraud.yaml"
    settings.write_text(PROJECT + rule)
    with watching(project, "dev", "--no-report") as watch:
        assert "error[policy/image-digest]" in watch.until(r"nothing to write.*\n")
        edit(service, "s3://", "nowhere://")
        told = watch.until(r"nothing to write.*\n")
        assert ("error[storage/unknown-scheme]" in told, "fixed" in told) == (True, False)
        assert "not looked for again" in told
        edit(service, "{name: sklearn}", "{name: sklearn")
        assert "fixed" not in watch.until(r"nothing to write.*\n")
        edit(settings, "sources: [services]", "sources: [services")
        assert "fixed" not in watch.until(r"nothing could be rendered\n")
        edit(settings, "sources: [services", "sources: [services]")
        assert "storage" not in watch.until(r"nothing to write.*\n")
        edit(service, "{name: sklearn", "{name: sklearn}")
        told = watch.until(r"nothing to write.*\n")
        assert ("fixed: services/fraud.yaml: error[yaml/" in told, "storage" in told) == (True, False)
        edit(service, "nowhere://", "s3://")
        told = watch.until(r"nothing to write.*\n")
        assert "fixed: services/fraud.yaml: error[storage/unknown-scheme]" in told
        assert "policy" not in told


@pytest.mark.slow
@pytest.mark.parametrize(
    ("right", "wrong"),
    [("{name: sklearn}", "{name: sklern}"), ("deploymentMode: Standard", "deploymentMode: Raww")],
    ids=["runtime", "mode"],
)
def test_what_another_mistake_keeps_from_being_found_is_not_called_fixed(project: Path, right: str, wrong: str) -> None:
    """A storage error stays one until somebody looks for it again: then it is as before, or fixed."""
    service, other = (project / "services" / f"{name}.yaml" for name in NAMES)
    with watching(project, "dev", "--no-report") as watch:
        watch.until(r"files watched\n")
        edit(service, "s3://", "foo://")
        assert "error[storage/unknown-scheme]" in watch.until(r"nothing to write.*\n")
        edit(service, right, wrong)
        told = watch.until(r"nothing to write.*\n")
        assert ("1 error" in told, "fixed" in told) == (True, False)
        assert "1 finding not looked for again" in told
        edit(other, "churn/v7", "churn/v8")
        told = watch.until(r"nothing to write.*\n")
        assert ("1 finding not looked for again" in told, "fixed" in told) == (True, False)
        edit(service, wrong, right)
        told = watch.until(r"nothing to write.*\n")
        assert ("1 finding as before" in told, "storage" in told) == (True, False)
        edit(service, right, wrong)
        assert "fixed" not in watch.until(r"nothing to write.*\n")
        edit(service, "foo://", "s3://")
        assert "fixed" not in watch.until(r"nothing to write.*\n")
        edit(service, wrong, right)
        told = watch.until(r"no errors.*\n")
        assert (told.count("fixed: "), "fixed: services/fraud.yaml: error[storage/unknown-scheme]" in told) == (2, True)


def test_what_is_not_of_the_environment_is_not_looked_at(project: Path) -> None:
    """Files elsewhere, the rendered tree and files of editors lead to nothing."""
    assert kservec(project, "build", "dev").status == 0
    with watching(project, "dev") as watch:
        watch.until(r"files watched\n")
        (project / "notes.yaml").write_text("a: 1\n")
        (project / "services" / ".fraud.yaml.swp").write_text("a: 1\n")
        assert kservec(project, "build", "dev").status == 0
        (project / "services" / "fraud.yaml").touch()
        told = watch.until(r"none changed\n")
        assert told.count("changed\n") == 2
        assert "services/fraud.yaml changed" in told


@pytest.mark.slow
def test_the_report_is_served(project: Path) -> None:
    """The pages of the report, at an address of this machine; after a mistake those before it."""
    file = project / "services" / "fraud.yaml"
    with watching(project, "dev") as watch:
        said = watch.until(r"report: \d+ pages, .*\n")
        url = re.findall(r"the report is at (http://127\.0\.0\.1:\d+/)\n", said)[0]
        assert b"fraud" in urlopen(url, timeout=SECONDS).read()  # noqa: S310 - our own server
        edit(file, "s3://", "nowhere://")
        watch.until(r"nothing to write.*\n")
        assert b"fraud" in urlopen(url, timeout=SECONDS).read()  # noqa: S310 - as above
        assert watch.end(signal.SIGINT) == 0


def test_without_a_report(project: Path) -> None:
    """Nothing is served if nobody wants it."""
    with watching(project, "dev", "--no-report") as watch:
        assert "http://" not in watch.until(r"files watched\n")


def test_a_port_that_is_taken(project: Path) -> None:
    """A port that somebody has is wrong usage."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        done = kservec(project, "watch", "dev", "--port", port)
    assert done.status == 2
    assert f"error: --port {port}: " in done.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=str)
def test_it_ends_cleanly(project: Path, number: signal.Signals) -> None:
    """Ctrl-C, or whoever started it, ends it without a word of tracebacks."""
    with watching(project, "dev") as watch:
        watch.until(r"files watched\n")
        assert watch.end(number) == 0, watch.said
        assert watch.said.endswith("stopped\n")
        assert "Traceback" not in watch.said


@pytest.mark.parametrize("arguments", [(), ("nothing",), ("./services",), ("dev", "prod")])
def test_wrong_usage(project: Path, arguments: tuple[str, ...]) -> None:
    """One environment of the project is watched."""
    done = kservec(project, "watch", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")
    assert ("Name files under `sources` in a kservec.yaml" in done.err) == (arguments == ("./services",))
