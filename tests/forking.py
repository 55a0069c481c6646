"""A process that has loaded a program, and forks itself for each run of it that it is asked for.

Nine tenths of a short run are imports and other things that are the same each time. A fork has them behind it; all else
it has to itself, as any process: streams, folder, environment, exit status, what it changes in memory.

This module is the process, too: it is run with the name of a module that can `load()` a program, and `run` it with
arguments to its exit status; and with one end of a socket as its standard input.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

RUN = b"run"
DESCRIPTORS = 4
"""What comes with a wish: a file that says what is to be run, and the three streams of the run."""
PIPE_HOLDS = 10_000
"""Characters that a pipe takes at once, whoever reads them."""
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "LOCPATH")
"""Beginnings of the names of variables that count when an interpreter starts, and no longer afterwards."""
ROOT = Path(__file__).parents[1]


class Run(NamedTuple):
    """What is to be run: arguments, in a folder and an environment, for so many seconds at most."""

    arguments: Sequence[str]
    folder: str
    environment: dict[str, str]
    seconds: int


class Ran(NamedTuple):
    """What a process left: its exit status, negative for a signal, and what it wrote."""

    status: int
    out: str
    err: str


class Forking:
    """The other end: a process for runs in one environment, as far as the interpreter heeds it."""

    def __init__(self, python: Sequence[str], module: str, environment: dict[str, str]) -> None:
        """Start the process, by an interpreter and its options; it loads while this one goes on."""
        self._started_in = at_start(environment)
        self._socket, other = socket.socketpair()
        with other:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [*python, __file__, module], stdin=other.fileno(), stdout=subprocess.DEVNULL, env=environment
            )
        atexit.register(self.close)

    def suits(self, environment: dict[str, str], given: str = "") -> bool:
        """Whether an interpreter that starts in an environment is as the one that has started, and takes the input."""
        return at_start(environment) == self._started_in and len(given) <= PIPE_HOLDS

    def ran(self, wanted: Run, given: str = "") -> Ran:
        """What a run leaves, with a text as its standard input."""
        reading, writing = os.pipe()
        os.write(writing, given.encode())
        os.close(writing)
        with tempfile.TemporaryFile() as request, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            request.write(json.dumps(wanted).encode())
            request.seek(0)
            status = self.status_of(request.fileno(), (reading, out.fileno(), err.fileno()))
            os.close(reading)
            out.seek(0)
            err.seek(0)
            return Ran(status, out.read().decode(), err.read().decode())

    def status_of(self, request: int, streams: tuple[int, int, int]) -> int:
        """The exit status of a run; what is asked for and its streams are descriptors of this process."""
        socket.send_fds(self._socket, [RUN], (request, *streams))
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


def serve(asked: socket.socket, run: Callable[[Sequence[str]], int]) -> None:
    """Fork for each request, and answer with the exit status, until nobody asks any more."""
    while True:
        wish, descriptors, *_ = socket.recv_fds(asked, len(RUN), DESCRIPTORS)
        if not wish:
            return
        request, *streams = descriptors
        with open(request, "rb") as file:
            wanted = Run(*json.load(file))
        child = os.fork()
        if child == 0:
            asked.close()
            become(wanted, streams, run)
        for stream in streams:
            os.close(stream)
        asked.send(str(status_in_time(child, wanted.seconds)).encode())


def status_in_time(child: int, seconds: int) -> int:
    """The exit status of a child, which is killed if it takes longer. Its own timers are its own."""
    signal.signal(signal.SIGALRM, lambda *_: os.kill(child, signal.SIGKILL))
    signal.alarm(seconds)
    _, status = os.waitpid(child, 0)
    signal.alarm(0)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    return os.waitstatus_to_exitcode(status)


def become(wanted: Run, streams: list[int], run: Callable[[Sequence[str]], int]) -> NoReturn:
    """Be the process of a run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(wanted.folder)
    os.environ.clear()
    os.environ.update(wanted.environment)
    time.tzset()
    status = run(wanted.arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # taking the interpreter apart would take longer than the run


def main(module: str) -> None:
    """Load a program, and serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[:] = [str(ROOT), *(path for path in sys.path if path != str(Path(__file__).parent))]
    program: Any = importlib.import_module(module)
    program.load()
    gc.collect()
    gc.freeze()
    serve(own, program.run)


if __name__ == "__main__":
    main(sys.argv[1])
