"""The entry point as a program of its own, beside a stand-in for `vllm`."""

from __future__ import annotations

import atexit
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.forking import Forking, Run

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "runtimes" / "images" / "vllm"
STANDIN = Path(__file__).with_name("standin.py")
SECONDS = 20
TMP = "/tmp"  # noqa: S108 - the folder that every user may write to
PYTHON = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin") or sys.executable
"""A Python that every user may run; that of the tests may lie in somebody's home."""
GPUS = {"CUDA_VISIBLE_DEVICES": "0,1,2,3,4,5,6,7"}


def installed(folder: Path, *, entrypoint: bool = True) -> None:
    """A machine's programs: `vllm`, and `kservec-vllm` where it is wanted, as the Dockerfiles lay them out.

    No link leads out of the folder, so that whatever a test writes to stays in it.
    """
    package, programs = folder / "opt" / "kservec", folder / "bin"
    shutil.copytree(compiled_package(), package)
    for path in (*package.rglob("*"), package, package.parent):
        path.chmod(path.stat().st_mode | 0o444 | (0o111 if path.is_dir() else 0))  # a checkout may be its owner's alone
    programs.mkdir()
    write_program(programs / "vllm", f'exec {PYTHON} -B {package}/standin.py "$@"')
    for name in ("python3", "python"):
        write_program(programs / name, f'exec {PYTHON} "$@"')
    if entrypoint:
        (programs / "kservec-vllm").symlink_to(package / "kservec-vllm")


@cache
def compiled_package() -> Path:
    """The entry point and the stand-in with their byte code, which hundreds of places would make anew."""
    made = tempfile.TemporaryDirectory(prefix="kservec-tests-")
    atexit.register(made.cleanup)
    package = Path(made.name, "kservec")
    shutil.copytree(IMAGES, package, ignore=shutil.ignore_patterns("__pycache__", "*.Dockerfile", "requirements"))
    shutil.copy2(STANDIN, package)
    subprocess.run([PYTHON, "-m", "compileall", "-q", package], check=True)  # noqa: S603 - our own files
    return package


@cache
def loaded_entrypoint() -> Forking:
    """The process that runs the entry point, with the options that it starts Python with."""
    return Forking((PYTHON, "-IB"), "tests.images.loaded", {})


def write_program(path: Path, body: str) -> None:
    """A program that a shell runs, in place of what was there. It is a new file: no link is followed to write it."""
    path.unlink(missing_ok=True)
    with path.open("x") as file:
        file.write(f"#!/bin/sh\n{body}\n")
        os.fchmod(file.fileno(), 0o755)


def model(folder: Path) -> Path:
    """A folder that looks like a model."""
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(safetensors())
    return folder


def safetensors(header: str = "{}", tensors: bytes = b"") -> bytes:
    """A file of weights: the length of its header, the header, the tensors."""
    return len(header).to_bytes(8, "little") + header.encode() + tensors


def adapter(folder: Path, rank: int) -> Path:
    """A folder that looks like an adapter of some rank."""
    folder.mkdir(parents=True)
    (folder / "adapter_config.json").write_text(json.dumps({"r": rank}))
    (folder / "adapter_model.safetensors").write_bytes(safetensors())
    return folder


@dataclass
class Done:
    """How a run ended: its status, what it said, and what the stand-in got."""

    status: int
    said: str
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def words(self) -> list[str]:
        """What vLLM was told."""
        found: list[str] = next(entry["words"] for entry in self.records if "words" in entry)
        return found

    @property
    def environment(self) -> dict[str, str]:
        """The variables that vLLM got."""
        found: dict[str, str] = next(entry["environment"] for entry in self.records if "words" in entry)
        return found


class Place:
    """A machine for runs: programs, a home, a file for what the stand-in got."""

    def __init__(self, folder: Path, *, entrypoint: bool = True) -> None:
        self.folder = folder
        self.programs, self.package = folder / "bin", folder / "opt" / "kservec"
        installed(folder, entrypoint=entrypoint)
        self.record = folder / "record"
        (folder / "home").mkdir()

    def environment(self, variables: Mapping[str, str]) -> dict[str, str]:
        """The variables of a run."""
        path = f"{self.programs}:/usr/bin:/bin:/usr/sbin:/sbin"
        own = {"PATH": path, "HOME": str(self.folder / "home"), "STANDIN_RECORD": str(self.record), **GPUS}
        return {name: value for name, value in {**own, **variables}.items() if value is not None}

    def run(self, *argv: str, prefix: Sequence[str] = (), **variables: str) -> Done:
        """Run the entry point to its end; with nothing before it, it is forked from where its imports are loaded."""
        words, environment = [str(self.programs / "kservec-vllm"), *argv], self.environment(variables)
        loaded = loaded_entrypoint()
        if prefix or not loaded.suits(environment):
            return self.run_words([*prefix, *words], **variables)
        self.record.unlink(missing_ok=True)
        ran = loaded.ran(Run(words, str(Path.cwd()), environment, SECONDS))
        return Done(ran.status, ran.out + ran.err, self.records())

    def run_words(self, words: Sequence[str], **variables: str) -> Done:
        """Run a command to its end."""
        self.record.unlink(missing_ok=True)
        done = subprocess.run(  # noqa: S603 - commands of our own
            words, env=self.environment(variables), capture_output=True, text=True, timeout=SECONDS, check=False
        )
        return Done(done.returncode, done.stdout + done.stderr, self.records())

    def begin(self, *argv: str, **variables: str) -> subprocess.Popen[str]:
        """Start the entry point, and leave it running."""
        self.record.unlink(missing_ok=True)
        return subprocess.Popen(  # noqa: S603 - commands of our own
            [str(self.programs / "kservec-vllm"), *argv],
            env=self.environment(variables),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def records(self) -> list[dict[str, Any]]:
        """What the stand-in wrote."""
        return [json.loads(line) for line in self.record.read_text().splitlines()] if self.record.exists() else []

    def wait_for(self, key: str, process: subprocess.Popen[str]) -> None:
        """Until the stand-in has written an entry."""
        for _ in range(SECONDS * 20):
            if any(key in entry for entry in self.records()):
                return
            if process.poll() is not None:
                raise AssertionError(process.communicate()[0])
            time.sleep(0.05)
        process.kill()
        raise AssertionError(f"nothing about {key} in {self.records()}")


def ended(process: subprocess.Popen[str], number: signal.Signals | None = None) -> Done:
    """A run that is over, or gets a signal and is over then."""
    if number is not None:
        process.send_signal(number)
    said, _ = process.communicate(timeout=SECONDS)
    return Done(process.returncode, said)


def is_root() -> bool:
    """Whether this user may become another one."""
    return os.getuid() == 0
