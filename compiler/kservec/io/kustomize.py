"""Running kustomize: in this process where its library is there, else the program, else kubectl. All give the same.

It is run over a folder that holds all it may see. Remote bases, plugins, functions and helm are refused before that;
here they are off as well.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, TypeAlias

from kservec.io.interrupts import temporary_folder
from kservec.overlays.messages import cleaned
from kservec.overlays.wrapper import WRAPPER

SECONDS = 120.0
HOW_TO = (
    "install kustomize 4.5 or kubectl 1.25 (or newer), or on Python 3.14 the library: pip install 'kservec[overlays]'"
)


class Tool(NamedTuple):
    """A way to run kustomize."""

    name: str
    run: Run


Run: TypeAlias = "Callable[[Path, float], str]"
"""Gives what kustomize makes of a folder within so many seconds; raises `KustomizeError`."""


class KustomizeError(Exception):
    """Kustomize refused a folder, or did not end. The text is its message, without the folder that it was run in."""


class NoKustomizeError(Exception):
    """There is no kustomize here. The text says how to get one."""


def tools() -> Iterator[Tool]:
    """The ways to run kustomize that there are here, the fastest first."""
    if is_loadable():
        yield Tool("pykustomize", in_process)
    for name, arguments in (("kustomize", ("build",)), ("kubectl", ("kustomize",))):
        path = shutil.which(name)
        if path is not None:
            yield Tool(name, program((path, *arguments)))


def is_loadable() -> bool:
    """Whether the library is there, and made for this machine."""
    if find_spec("pykustomize") is None:
        return False
    try:
        import pykustomize  # noqa: PLC0415 - an extra

        pykustomize.Kustomizer()
    except Exception:  # noqa: BLE001 - of its own kind, and whatever it is, the next way is taken
        return False
    return True


def build(files: Mapping[str, bytes], tool: Tool | None = None, seconds: float = SECONDS) -> str:
    """What kustomize makes of files, of which one is the kustomization of the wrapper.

    Args:
        files: what it may see, by paths below a folder that is made for it and removed afterwards.
        tool: how to run it; by default the first way that there is.
        seconds: how long it may take.

    Raises:
        KustomizeError: it refuses them, or takes longer.
        NoKustomizeError: there is no way to run it.
    """
    tool = tool or next(tools(), None)
    if tool is None:
        raise NoKustomizeError(f"an overlay needs kustomize, and there is none here; {HOW_TO}")
    with temporary_folder() as given:
        folder = Path(os.path.realpath(given))
        for path, content in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        try:
            return tool.run(folder / WRAPPER, seconds)
        except KustomizeError as error:
            raise KustomizeError(cleaned(str(error), str(folder))) from None


def in_process(folder: Path, seconds: float) -> str:
    """Run the library. It cannot be stopped: when it takes too long it is left to its thread."""
    import asyncio  # noqa: PLC0415 - comes with the library

    import pykustomize  # noqa: PLC0415 - an extra

    made: list[str] = []
    failed: list[Exception] = []

    def work() -> None:
        try:
            made.append(asyncio.run(pykustomize.build(folder)).yaml)
        except Exception as error:  # noqa: BLE001 - handed to the caller
            failed.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if failed:
        raise KustomizeError(str(failed[0]))
    if not made:
        raise KustomizeError(too_long(seconds))
    return made[0]


def program(command: tuple[str, ...]) -> Run:
    """What runs a program over a folder."""

    def run(folder: Path, seconds: float) -> str:
        process = subprocess.Popen(  # noqa: S603 - the kustomize or kubectl of the user
            [*command, str(folder)],
            cwd=folder,
            env=surroundings(folder),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise KustomizeError(too_long(seconds)) from None
        if process.returncode:
            raise KustomizeError(err.decode("utf-8", "replace") or f"it ends with status {process.returncode}")
        return out.decode("utf-8", "replace")

    return run


def surroundings(folder: Path) -> dict[str, str]:
    """The environment of the program: no configuration of the user's, no network for git and downloads."""
    nowhere = "http://127.0.0.1:9"
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_ALLOW_PROTOCOL": "none",
        "GIT_TERMINAL_PROMPT": "0",
        "HTTP_PROXY": nowhere,
        "HTTPS_PROXY": nowhere,
    }


def too_long(seconds: float) -> str:
    """What is said when the time is up."""
    return f"it did not end within {seconds:g} seconds"
