"""Starting and ending an API server for the length of a test session."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from .client import ApiServer, RefusedError

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS = 120
"""It takes 2 to 3 seconds on an idle machine."""
END_SECONDS = 10
ATTEMPTS = 3
TAIL = 4000


class NotStartedError(Exception):
    """The server ended, or was not ready in time. Carries the end of its log."""


@contextmanager
def running(executable: Path) -> Iterator[ApiServer]:
    """An empty API server on a free port, ready for requests. Its storage is removed with it.

    Raises:
        NotStartedError: it did not become ready.
    """
    with tempfile.TemporaryDirectory(prefix="kservec-apiserver-") as folder:
        server, client = start(executable, Path(folder))
        try:
            yield client
        finally:
            client.close()
            end(server)


def start(executable: Path, folder: Path) -> tuple[subprocess.Popen[bytes], ApiServer]:
    """Start a server; again on another port if something else took the first one meanwhile.

    Raises:
        NotStartedError: it did not become ready.
    """
    for attempt in range(ATTEMPTS):
        own = folder / str(attempt)
        own.mkdir()
        port = free_port()
        server = launch(executable, own, port)
        try:
            return server, ready(server, own, port)
        except NotStartedError:
            end(server)
            if attempt == ATTEMPTS - 1 or "address already in use" not in log_of(own):
                raise
    raise AssertionError("unreachable")


def launch(executable: Path, folder: Path, port: int) -> subprocess.Popen[bytes]:
    """The server as a child that ends with this process at the latest: it reads a pipe that only we hold open."""
    with (folder / "log").open("wb") as log:
        command = [str(executable), str(folder), str(port)]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd=folder)  # noqa: S603


def ready(server: subprocess.Popen[bytes], folder: Path, port: int) -> ApiServer:
    """A client, as soon as the server says that it is ready.

    Raises:
        NotStartedError: it ended, or took too long.
    """
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        client = answering(folder, port)
        if client is not None:
            return client
        time.sleep(0.1)
    raise NotStartedError(f"exit status {server.poll()}; the end of its log:\n{log_of(folder)}")


def answering(folder: Path, port: int) -> ApiServer | None:
    """A client of a server that is ready, or nothing."""
    if not (folder / "certs" / "apiserver.crt").exists():
        return None
    try:
        client = ApiServer(folder, port)
    except OSError:  # a certificate that is still being written
        return None
    try:
        client.text("/readyz")
    except (OSError, RefusedError):
        client.close()
        return None
    return client


def end(server: subprocess.Popen[bytes]) -> None:
    """End the server that was started here, and no other."""
    if server.stdin is not None:
        server.stdin.close()
    try:
        server.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def free_port() -> int:
    """A port that nothing listens on right now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def log_of(folder: Path) -> str:
    """The end of a server's log."""
    return (folder / "log").read_text(errors="replace")[-TAIL:]
