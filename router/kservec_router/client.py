"""Calls to services: pools of connections, one per origin, with limits on everything.

Only origins of the plan have pools, redirects are not followed and proxies are not asked, so no request can reach
anything else.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from collections import deque
from collections.abc import Iterable
from time import monotonic
from typing import NamedTuple

from kservec_router.messages import RETRY_AFTER, Origin, Outgoing, Reply, failure
from kservec_router.wire import Connection, WireLimits

_TICK_SECONDS = 0.02
_SLOW_TICK_SECONDS = 1.0
_STALE_SECONDS = 1.0


class ClientLimits(NamedTuple):
    """Limits of the client. Connections and waiting calls are counted per origin."""

    connections: int = 1024
    waiting: int = 1024
    connect_seconds: float = 10
    connect_attempts: int = 3
    backoff_seconds: float = 0.05
    idle_seconds: float = 4
    wire: WireLimits = WireLimits()


class Client:
    """Sends requests over kept connections; every call that is not given up ends with a Reply."""

    def __init__(self, limits: ClientLimits) -> None:
        self.limits = limits
        self.connections: dict[Connection, None] = {}
        self._pools: dict[Origin, _Pool] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._due = 0.0
        self._next_look_at_idle = 0.0
        self._tls: ssl.SSLContext | None = None

    def allow(self, origins: Iterable[Origin]) -> None:
        """Make *origins* all that can be called; connections to others are closed when their exchange is over."""
        wanted = set(origins)
        for origin in sorted(set(self._pools) - wanted):
            self._pools.pop(origin).retire()
        for origin in sorted(wanted - set(self._pools)):
            self._pools[origin] = _Pool(self, origin)
        if wanted and self._timer is None:
            self._tick()

    def close(self) -> None:
        """Close all connections."""
        self.allow(())
        for connection in list(self.connections):
            connection.fail("the router is shutting down", 503)
        if self._timer is not None:
            self._timer.cancel()

    def open_connections(self) -> dict[Origin, int]:
        """How many connections there are to each origin."""
        return {origin: pool.open for origin, pool in self._pools.items()}

    def send(self, outgoing: Outgoing) -> None:
        """Send a request; its reply is set later, or one with only its head when the body may be passed on.

        A kept connection may have been closed by the service just before: when it ends within a second and without a
        byte, the call is repeated once, on a new connection.
        """
        pool = self._pools.get(outgoing.target.origin)
        if pool is None:
            outgoing.set(failure(500, f'Post "{outgoing.target.url}": the host is not in the graph'))
            return
        connection = pool.take(outgoing.begin)
        if connection is None:
            self.open_for(outgoing, pool)
        else:
            self._exchange(connection, outgoing)

    def open_for(self, outgoing: Outgoing, pool: _Pool) -> None:
        """Send a request when there is a connection for it."""
        outgoing.on_cancel = asyncio.create_task(self._send_later(outgoing, pool)).cancel

    async def _send_later(self, outgoing: Outgoing, pool: _Pool) -> None:
        try:
            opened = await pool.open_one(outgoing)
        except Exception as error:  # noqa: BLE001 - it is for whoever waits
            outgoing.fail(error)
            return
        if isinstance(opened, Reply):
            outgoing.set(opened)
        else:
            self._exchange(opened, outgoing)

    def _exchange(self, connection: Connection, outgoing: Outgoing) -> None:
        connection.exchange(outgoing)
        if 0 < outgoing.deadline < self._due - _TICK_SECONDS:
            self._tick()

    def _tick(self) -> None:
        """Look after deadlines, of calls and of connections that nobody uses; come back when the next one is due."""
        now = monotonic()
        for connection in [c for c in self.connections if 0 < c.deadline <= now]:
            connection.fail("the time limit is exceeded", 504)
        if now >= self._next_look_at_idle:
            self._next_look_at_idle = now + _SLOW_TICK_SECONDS
            for pool in self._pools.values():
                pool.close_idle(now)
        soonest = min((c.deadline for c in self.connections if c.deadline), default=now + _SLOW_TICK_SECONDS)
        if self._timer is not None:
            self._timer.cancel()
        pause = min(max(soonest - now, _TICK_SECONDS), _SLOW_TICK_SECONDS)
        self._due = now + pause
        self._timer = asyncio.get_running_loop().call_later(pause, self._tick)

    def tls(self) -> ssl.SSLContext:
        """The one TLS configuration: certificates are checked against the system's authorities."""
        if self._tls is None:
            self._tls = ssl.create_default_context()
        return self._tls


class _Pool:
    """Connections to one origin. The one used last is used next, so that the others can grow old and go."""

    def __init__(self, client: Client, origin: Origin) -> None:
        self._client, self._origin = client, origin
        self._idle_seconds = client.limits.idle_seconds
        self._idle: list[Connection] = []
        self._waiting: deque[asyncio.Future[Connection | None]] = deque()
        self._retired = False
        self.open = 0

    def take(self, now: float) -> Connection | None:
        """An idle connection that is young enough, or None."""
        while self._idle:
            connection = self._idle.pop()
            if connection.is_open and now - connection.idle_since < self._idle_seconds:
                return connection
            connection.abort()
        return None

    async def open_one(self, outgoing: Outgoing) -> Connection | Reply:
        """A connection of one's own, new or handed over by another call; a failure when there is none to be had."""
        limits = self._client.limits
        seconds = max(0.0, outgoing.deadline - monotonic()) if outgoing.deadline else None
        try:
            async with asyncio.timeout(seconds):
                if self.open >= limits.connections:
                    if len(self._waiting) >= limits.waiting:
                        cause = f'Post "{outgoing.target.url}": all {limits.connections} connections are in use'
                        return failure(503, cause, RETRY_AFTER)
                    handed = await self._wait()
                    if handed is not None:
                        return handed
                return await self._dial()
        except TimeoutError:
            return failure(504, f'Post "{outgoing.target.url}": the time limit is exceeded while connecting')
        except OSError as error:
            return failure(500, f'Post "{outgoing.target.url}": {_reason(error)}')

    async def _wait(self) -> Connection | None:
        """Wait until a connection is free, or there is room for a new one (None)."""
        turn: asyncio.Future[Connection | None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            return await turn
        except asyncio.CancelledError:
            with contextlib.suppress(ValueError):
                self._waiting.remove(turn)
            if turn.done() and not turn.cancelled() and (handed := turn.result()) is not None:
                self.free(handed)
            raise

    async def _dial(self) -> Connection:
        """Connect, and try again for a moment while nobody listens: nothing has been sent yet."""
        limits = self._client.limits
        self.open += 1
        try:
            for attempt in range(limits.connect_attempts):
                if attempt:
                    await asyncio.sleep(limits.backoff_seconds * 2 ** (attempt - 1))
                try:
                    return await self._connect()
                except ConnectionRefusedError:
                    if attempt + 1 == limits.connect_attempts:
                        raise
            raise ConnectionRefusedError
        except BaseException:
            self.open -= 1
            self._invite()
            raise

    async def _connect(self) -> Connection:
        host, port, tls = self._origin
        async with asyncio.timeout(self._client.limits.connect_seconds):
            _, connection = await asyncio.get_running_loop().create_connection(
                lambda: Connection(self._client.limits.wire, self),
                host,
                port,
                ssl=self._client.tls() if tls else None,
            )
        if connection.is_open:  # else it was closed at once, and `gone` was called
            self._client.connections[connection] = None
        return connection

    def free(self, connection: Connection) -> None:
        """Take a connection back when its exchange is over."""
        connection.idle_since = monotonic()
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(connection)
                return
        if self._retired:
            connection.abort()
        else:
            self._idle.append(connection)

    def gone(self, connection: Connection) -> None:
        """Forget about a connection, which is closed."""
        self._client.connections.pop(connection, None)
        self.open -= 1
        with contextlib.suppress(ValueError):
            self._idle.remove(connection)
        self._invite()

    def unheard(self, outgoing: Outgoing) -> bool:
        """Repeat a call on a new connection, if the kept one was closed before the service can have seen it."""
        if not isinstance(outgoing.body, bytes) or monotonic() - outgoing.begin > _STALE_SECONDS:
            return False
        self._client.open_for(outgoing, self)
        return True

    def _invite(self) -> None:
        """Let the next that waits open a connection."""
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return

    def close_idle(self, now: float) -> None:
        """Close connections that were not used for long, before the service does."""
        for connection in [c for c in self._idle if now - c.idle_since >= self._idle_seconds]:
            connection.abort()

    def retire(self) -> None:
        """The origin is no longer in the graph."""
        self._retired = True
        for connection in list(self._idle):
            connection.abort()


def _reason(error: OSError) -> str:
    if isinstance(error, ConnectionRefusedError):
        return "connection refused"
    return error.strerror or str(error) or type(error).__name__
