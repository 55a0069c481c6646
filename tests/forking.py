"""A process that has loaded a program, and forks itself for the runs of it that it is asked for.

Nine tenths of a short run are imports and other things that are the same each time. A fork has them behind it. Streams,
folder, environment and exit status a run has to itself, as any process; what it changes in memory, a number of runs
share, if the program says that it can do them in one process.

This module is the process, too: it is run with the name of a module that is a `Program`, and with one end of a socket
as its standard input.
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
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, NoReturn, Protocol, TextIO, cast

LONGEST = 64
"""Bytes of a wish, which is how many seconds a run may take, and of the answer, which is its exit status."""
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


class Program(Protocol):
    """What is run. `RUNS` is how many runs one process does, one after the other."""

    RUNS: int

    def load(self) -> None:
        """Have all that each run needs."""

    def run(self, arguments: Sequence[str]) -> int:
        """Run it, to its exit status."""


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
            status = self.status_of(wanted.seconds, (request.fileno(), reading, out.fileno(), err.fileno()))
            os.close(reading)
            out.seek(0)
            err.seek(0)
            return Ran(status, out.read().decode(), err.read().decode())

    def status_of(self, seconds: int, descriptors: tuple[int, int, int, int]) -> int:
        """The exit status of a run: of what a file asks for, with three streams."""
        socket.send_fds(self._socket, [str(seconds).encode()], descriptors)
        answer = self._socket.recv(LONGEST)
        assert answer, "the process that forks has ended"
        return int(answer)

    def close(self) -> None:
        """End the process."""
        self._socket.close()
        self._process.wait()


def at_start(environment: dict[str, str]) -> dict[str, str]:
    """The variables that count when an interpreter starts."""
    return {name: value for name, value in environment.items() if name.startswith(AT_START)}


class Fork:
    """A fork that does one run after the other, as long as it is as it was at first; then another takes its place.

    What it first touches of the memory of the process that it comes from is copied: that takes longer than a short run.
    """

    def __init__(self, program: Program, asked: socket.socket) -> None:
        """Fork. The other process gets what it is to run by a socket of its own."""
        self._socket, other = socket.socketpair()
        self._process = os.fork()
        if self._process == 0:
            asked.close()
            self._socket.close()
            work(program, other)
        other.close()

    def status_of(self, wish: bytes, descriptors: Sequence[int]) -> tuple[int, bool]:
        """The exit status of a run, and whether there can be another. What takes longer than it may is killed."""
        signal.signal(signal.SIGALRM, lambda *_: os.kill(self._process, signal.SIGKILL))
        signal.alarm(int(wish))
        socket.send_fds(self._socket, [wish], descriptors)
        status, is_last = self.answer()
        signal.alarm(0)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        return status, is_last

    def answer(self) -> tuple[int, bool]:
        """What the other process says of its run, or how it ended."""
        said = self._socket.recv(LONGEST)
        if said:
            return int(said), False
        self._socket.close()
        _, status = os.waitpid(self._process, 0)
        return os.waitstatus_to_exitcode(status), True


def serve(program: Program, asked: socket.socket) -> None:
    """Have forks run what is asked for, and answer with the exit status, until nobody asks any more."""
    fork = None
    while True:
        wish, descriptors, *_ = socket.recv_fds(asked, LONGEST, DESCRIPTORS)
        if not wish:
            return
        fork = fork or Fork(program, asked)
        status, is_last = fork.status_of(wish, descriptors)
        fork = None if is_last else fork
        for descriptor in descriptors:
            os.close(descriptor)
        asked.send(str(status).encode())


def work(program: Program, asked: socket.socket) -> NoReturn:
    """Be the process of some runs: as many as the program does in one, and none after one that leaves threads."""
    for left in reversed(range(program.RUNS)):
        wish, descriptors, *_ = socket.recv_fds(asked, LONGEST, DESCRIPTORS)
        if not wish:
            break
        request, *streams = descriptors
        with open(request, "rb") as file:
            wanted = Run(*json.load(file))
        status = done(program, wanted, streams)
        if not left or not is_single():
            os._exit(status)
        asked.send(str(status).encode())
    os._exit(0)  # taking the interpreter apart would take longer than a run


def done(program: Program, wanted: Run, streams: Sequence[int]) -> int:
    """The exit status of a run in this process. What it raises ends the process, as it ends any other."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = map(opened_again, (sys.stdin, sys.stdout, sys.stderr))
    os.chdir(wanted.folder)
    os.environ.clear()
    os.environ.update(wanted.environment)
    time.tzset()
    status = program.run(wanted.arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    return status


def opened_again(stream: TextIO) -> TextIO:
    """A standard stream as the interpreter opens it when it starts: nothing read ahead, nothing held back."""
    file = open(  # noqa: SIM115 - it stays open
        stream.fileno(), stream.mode, encoding=stream.encoding, errors=stream.errors, newline="\n", closefd=False
    )
    file.reconfigure(line_buffering=stream is sys.stderr or file.isatty())
    return file


def is_single() -> bool:
    """Whether this process has one thread: another may be amidst something that a fork of it would never see done."""
    threads = Path("/proc/self/task")
    return threads.exists() and len(list(threads.iterdir())) == 1


def main(module: str) -> None:
    """Load a program, and serve."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    own = socket.socket(fileno=os.dup(0))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.path[:] = [str(ROOT), *(path for path in sys.path if path != str(Path(__file__).parent))]
    program = cast("Program", importlib.import_module(module))
    program.load()
    gc.collect()
    gc.freeze()
    serve(program, own)


if __name__ == "__main__":
    main(sys.argv[1])
