"""Services that misbehave on purpose, raw clients, and router processes to put between them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"ok":1}'

Act = bytes | float | str  # bytes to send; seconds to wait; "close", "reset" or "hang"
Script = Callable[[int], Sequence[Act]]  # what to do about the n-th request


@dataclass
class Peer:
    """A service on a socket: what it got, and how many connections it saw."""

    port: int = 0
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    broken: int = 0

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """A whole request: head and body.

    Raises:
        asyncio.IncompleteReadError: The sender stopped before its end.
    """
    head = await reader.readuntil(b"\r\n\r\n")
    try:
        return head + await read_body(reader, head.lower())
    except asyncio.IncompleteReadError as error:
        raise asyncio.IncompleteReadError(head, None) from error


async def read_body(reader: asyncio.StreamReader, lower: bytes) -> bytes:
    """The body that follows a head (given in lower case)."""
    if b"transfer-encoding: chunked" in lower:
        body = b""
        while size := int(await reader.readuntil(b"\n"), 16):
            body += await reader.readexactly(size)
            await reader.readexactly(2)
        await reader.readexactly(2)
        return body
    length = int(lower.partition(b"content-length: ")[2].split(b"\r\n")[0] or b"0")
    return await reader.readexactly(length)


async def act(writer: asyncio.StreamWriter, acts: Sequence[Act]) -> bool:
    """Do what a script says; false when the connection is over."""
    for one in acts:
        if isinstance(one, bytes):
            writer.write(one)
            await writer.drain()
        elif isinstance(one, float):
            await asyncio.sleep(one)
        elif one == "reset":
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()
            return False
        elif one == "hang":
            await asyncio.sleep(3600)
        else:
            return False
    return True


@contextlib.asynccontextmanager
async def serving(script: Script, port: int = 0) -> AsyncIterator[Peer]:
    """A peer that follows a script."""
    peer = Peer()
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        peer.connections += 1
        try:
            while True:
                peer.requests.append(await read_request(reader))
                if not await act(writer, script(len(peer.requests) - 1)):
                    break
        except asyncio.IncompleteReadError as error:
            peer.broken += error.partial != b""
        except (ConnectionError, asyncio.CancelledError):
            peer.broken += 1
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", port)
    peer.port = server.sockets[0].getsockname()[1]
    try:
        yield peer
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.sleep(0.01)


def always(*acts: Act) -> Script:
    """The same for every request."""
    return lambda _: acts


def body_of(request: bytes) -> bytes:
    """The body of a request."""
    return request.partition(b"\r\n\r\n")[2]


def head_of(request: bytes) -> bytes:
    """The head of a request, in lower case."""
    return request.partition(b"\r\n\r\n")[0].lower()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@dataclass
class Process:
    """A router process."""

    popen: subprocess.Popen[bytes]
    port: int
    log: Path

    @property
    def url(self) -> str:
        """Its base URL."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, str]:
        """Status and body of a GET."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=5) as reply:  # noqa: S310 - it is http
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def events(self) -> list[dict[str, Any]]:
        """The lines it has written."""
        lines = self.log.read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def memory_mb(self) -> float:
        """Its resident memory."""
        pages = int(Path(f"/proc/{self.popen.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


@contextlib.contextmanager
def running(folder: Path, graph: dict[str, Any], *flags: str, port: int = 0, **variables: str) -> Iterator[Process]:
    """A router process for a graph, ready to serve; the graph's file is `graph.json` in the folder."""
    file, port = folder / "graph.json", port or free_port()
    file.write_text(json.dumps(graph))
    log = folder / f"log-{port}"
    words = [sys.executable, "-m", "kservec_router", "--graph", str(file), "--port", str(port), "--host", "127.0.0.1"]
    environment = {name: value for name, value in os.environ.items() if name != "PROPAGATE_HEADERS"} | variables
    with log.open("wb") as output:
        popen = subprocess.Popen([*words, *flags], stderr=output, env=environment)  # noqa: S603 - our own
    process = Process(popen, port, log)
    try:
        wait_until_ready(process)
        yield process
    finally:
        popen.send_signal(signal.SIGKILL)
        popen.wait()


@contextlib.contextmanager
def service_process(port: int, mode: str = "well") -> Iterator[subprocess.Popen[bytes]]:
    """A service as a process of its own (see service.py), listening; it is killed at the end."""
    words = [sys.executable, str(Path(__file__).with_name("service.py")), str(port), mode]
    popen = subprocess.Popen(words)  # noqa: S603 - our own
    try:
        for _ in range(200):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.02)
        yield popen
    finally:
        popen.kill()
        popen.wait()


def wait_until_ready(process: Process) -> None:
    """Wait until a router answers /readyz, or fail with what it wrote."""
    for _ in range(400):
        if process.popen.poll() is not None:
            break
        with contextlib.suppress(OSError):
            if process.get("/readyz")[0] == 200:
                return
        time.sleep(0.05)
    raise AssertionError(process.log.read_text())


@contextlib.asynccontextmanager
async def connected(port: int, limit: int = 65536) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection, which is cut at the end if it is still open."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=limit)
    try:
        yield reader, writer
    finally:
        writer.transport.abort()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


async def exchange(port: int, *acts: Act, seconds: float = 5) -> bytes:
    """Connect, do what the script says, and return everything that comes back until the end of the connection."""
    received = b""
    async with connected(port) as (reader, writer):
        with contextlib.suppress(ConnectionError):
            await act(writer, acts)
        with contextlib.suppress(TimeoutError, ConnectionError):
            async with asyncio.timeout(seconds):
                while piece := await reader.read(65536):
                    received += piece
    return received


def post(body: bytes = b"{}", *lines: bytes, close: bool = True) -> bytes:
    """A POST request as it goes over the wire."""
    ending = (b"Connection: close",) if close else ()
    head = b"\r\n".join([b"POST / HTTP/1.1", b"Host: a", b"Content-Length: %d" % len(body), *lines, *ending])
    return head + b"\r\n\r\n" + body


def statuses(received: bytes) -> list[int]:
    """The status of each reply in what was received."""
    return [int(part.split(b" ")[0]) for part in received.split(b"HTTP/1.1 ")[1:]]


async def within(seconds: float, work: Awaitable[Any]) -> Any:
    """The outcome of *work*, which must not take longer."""
    return await asyncio.wait_for(work, seconds)
