"""A service as a process of its own, to be killed, stopped and started again: `service.py PORT MODE`.

It answers POST requests with a length as its mode says; on SIGTERM it listens no more, and ends when its last answer is
given.
"""

from __future__ import annotations

import asyncio
import signal
import socket
import struct
import sys

OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 8\r\n\r\n{"ok":1}'
PAUSE = 0.2
MODES = ("well", "forgetful", "trickle", "reset", "garbage", "cut")


class Service(asyncio.Protocol):
    """One connection."""

    count = 0
    is_ending = False
    connections: set[Service] = set()  # noqa: RUF012 - of all

    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Remember the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.connections.add(self)

    def connection_lost(self, error: Exception | None) -> None:  # noqa: ARG002 - a Protocol's
        """Forget about it."""
        self.connections.discard(self)

    def data_received(self, data: bytes) -> None:
        """Answer each request that is whole."""
        self.received += data
        head, end, rest = self.received.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0] or b"0")
        if end and len(rest) >= length:
            self.received = rest[length:]
            Service.count += 1
            self.answer()

    def answer(self) -> None:
        """Do as the mode says."""
        match self.mode:
            case "trickle":
                self.trickle(0)
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.transport.write(OK[:40])
                self.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.transport.abort()
            case "garbage":
                self.transport.write(b"\x00\xff\x16 no HTTP at all\r\n\r\n")
            case "cut":
                self.transport.write(OK[:-3])
                self.transport.close()
            case _:
                self.transport.write(OK)
                if self.is_ending or (self.mode == "forgetful" and Service.count % 50 == 0):
                    self.transport.close()

    def trickle(self, place: int) -> None:
        """A byte now, the next one later, for longer than anybody waits."""
        if place < len(OK) and not self.transport.is_closing():
            self.transport.write(OK[place : place + 1])
            asyncio.get_running_loop().call_later(PAUSE, self.trickle, place + 1)


async def main(port: int, mode: str) -> None:
    """Serve until SIGTERM."""
    loop, told = asyncio.get_running_loop(), asyncio.Event()
    server = await loop.create_server(lambda: Service(mode), "127.0.0.1", port)
    loop.add_signal_handler(signal.SIGTERM, told.set)
    await told.wait()
    Service.is_ending = True
    server.close()
    await asyncio.sleep(PAUSE)
    for connection in list(Service.connections):
        connection.transport.close()
    await asyncio.sleep(0)


if __name__ == "__main__":
    assert sys.argv[2] in MODES
    asyncio.run(main(int(sys.argv[1]), sys.argv[2]))
