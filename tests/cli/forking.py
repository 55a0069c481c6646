"""A process that has loaded the compiler, and forks itself for each command that it is asked to run.

Nine tenths of a short run of `kservec` are imports and reading the catalog, which are the same each time. A fork has
them behind it; all else it has to itself, as any process: streams, folder, environment, exit status, what it
changes in memory. It knows no test; it is run as a program of its own, with one end of a socket as its standard input.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

STREAMS = 3
LONGEST_REQUEST = 1 << 20
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "LOCPATH")
"""Beginnings of the names of variables that count when an interpreter starts, and no longer afterwards."""
NOT_LOADED = "kservec.testing"
ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "golden"
RENDERED = ("project-network-policy", "project-capacity")
COMPILED = ("isvc-ingress", "isvc-hpa-cpu", "isvc-canary-keda", "graph-knative")
"""Golden cases that have between them most of what is made once and kept; kustomize, with its threads, is in none."""


class Forking:
    """The other end: a process for commands in one environment, as far as the interpreter heeds it."""

    def __init__(self, environment: dict[str, str]) -> None:
        """Start the process; it loads while this one goes on."""
        self._started_in = at_start(environment)
        self._socket, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [sys.executable, __file__], stdin=other.fileno(), stdout=subprocess.DEVNULL, env=environment
            )

    def suits(self, environment: dict[str, str]) -> bool:
        """Whether an interpreter that starts in an environment is as the one that has started."""
        return at_start(environment) == self._started_in

    def status_of(self, request: dict[str, Any], streams: tuple[int, int, int]) -> int:
        """The exit status of a command, negative for a signal; its streams are descriptors of this process."""
        socket.send_fds(self._socket, [json.dumps(request).encode()], streams)
        answer = self._socket.recv(64)
        assert answer, "the process that forks has ended"
        return int(answer)

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()


def at_start(environment: dict[str, str]) -> dict[str, str]:
    """The variables that count when an interpreter starts."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


def load() -> None:
    """Import all modules of the compiler, and compile some inputs, for what a run makes and keeps."""
    import kservec  # noqa: PLC0415 - only the process that forks needs the compiler
    from kservec.api import compile_tree  # noqa: PLC0415
    from kservec.environments import render  # noqa: PLC0415
    from kservec.io.packaged import packaged_schemas  # noqa: PLC0415
    from kservec.io.workspace import open_workspace  # noqa: PLC0415
    from kservec.overlays.openapi import openapi_document  # noqa: PLC0415

    for module in pkgutil.walk_packages(kservec.__path__, "kservec."):
        if not module.name.startswith(NOT_LOADED):
            importlib.import_module(module.name)
    for project in RENDERED:
        with contextlib.chdir(GOLDEN / project / "input"):
            workspace, _, found = open_workspace(Path("kservec.yaml"), 1 << 20)
            assert workspace is not None, found
            for name in workspace.environments:
                render(workspace, name)
    for case in COMPILED:
        compile_tree(GOLDEN / case / "input")
    assert openapi_document(packaged_schemas())
    gc.collect()
    gc.freeze()


def serve(asked: socket.socket) -> None:
    """Fork for each request, and answer with the exit status, until nobody asks any more."""
    while True:
        request, streams, *_ = socket.recv_fds(asked, LONGEST_REQUEST, STREAMS)
        if not request:
            return
        wanted = json.loads(request)
        child = os.fork()
        if child == 0:
            asked.close()
            become(wanted, streams)
        for stream in streams:
            os.close(stream)
        asked.send(str(status_in_time(child, wanted["seconds"])).encode())


def status_in_time(child: int, seconds: int) -> int:
    """The exit status of a child, which is killed if it takes longer. Its own timers are its own."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(seconds)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return os.waitstatus_to_exitcode(status)


def still_in_memory(stream: int) -> None:
    """Does not wait for the disk: no test of the command line cuts the power, and a build waits two dozen times."""
    del stream


def become(wanted: dict[str, Any], streams: list[int]) -> NoReturn:
    """Be the process of a command."""
    from kservec.__main__ import main  # noqa: PLC0415 - only the process that forks needs it

    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.fsync = still_in_memory
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(wanted["folder"])
    os.environ.clear()
    os.environ.update(wanted["environment"])
    time.tzset()
    sys.path[0] = wanted["folder"]
    sys.argv = ["kservec", *wanted["arguments"]]
    status = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # taking the interpreter apart would take longer than the run


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[0] = str(ROOT)
    load()
    serve(own)
