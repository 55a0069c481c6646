"""A service that follows a script, and calls of it with the router's own client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from time import monotonic
from typing import Any

from kservec_router.client import Client, ClientLimits
from kservec_router.messages import Origin, Outgoing, Reply
from kservec_router.targets import parse_target
from kservec_router.wire import WireLimits

from .peers import Peer, Script, serving

LIMITS = ClientLimits(connect_attempts=1, wire=WireLimits(body_bytes=1 << 20, stall_seconds=0.3))


Caller = Callable[..., Awaitable[Reply]]


def outgoing_to(url: str, lines: bytes = b"", body: Any = b"") -> Outgoing:
    """A request to a service, made now."""
    return Outgoing(parse_target(url), lines, body, monotonic())


@asynccontextmanager
async def calling(
    script: Script, limits: ClientLimits = LIMITS
) -> AsyncIterator[tuple[Peer, Callable[..., Awaitable[Reply]]]]:
    """A peer, and a function that calls it."""
    async with serving(script) as peer:
        client = Client(limits)
        client.allow([Origin("127.0.0.1", peer.port, False)])

        async def call(body: Any = b"{}", seconds: float = 0, **more: bool) -> Reply:
            outgoing = outgoing_to(peer.url, b"x-a: b\r\n", body)
            outgoing.deadline = outgoing.begin + seconds if seconds else 0.0
            vars(outgoing).update(more)
            client.send(outgoing)
            return await outgoing

        try:
            yield peer, call
        finally:
            client.close()
