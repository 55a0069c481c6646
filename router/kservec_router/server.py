"""Serving with uvicorn: its server with a drain on SIGTERM, and the configuration that goes with it.

KServe: cmd/router/main.go (main, handleSignals)
"""

from __future__ import annotations

import signal
import time
from types import FrameType

import uvicorn

from kservec_router.app import RouterApp
from kservec_router.protocol import RouterProtocol
from kservec_router.router import Router


class RouterServer(uvicorn.Server):
    """uvicorn's server, which drains before it stops."""

    def __init__(self, config: uvicorn.Config, router: Router) -> None:
        super().__init__(config)
        self._router = router
        self._drained_at = 0.0

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 - uvicorn's signature
        """The first signal begins the drain; a second one ends it, a third one everything."""
        if not self._router.is_draining:
            self._router.is_draining = True
            self._drained_at = time.monotonic() + self._router.settings.drain_seconds
            name = signal.Signals(sig).name
            self._router.journal.say("info", "draining", signal=name, seconds=self._router.settings.drain_seconds)
        elif not self.should_exit:
            self.should_exit = True
        else:
            self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: time limits of clients, and the end of the drain."""
        now = time.monotonic()
        for connection in list(self.server_state.connections):
            if isinstance(connection, RouterProtocol):
                connection.check_time(now)
        if self._router.is_draining and now >= self._drained_at:
            self.should_exit = True
        return await super().on_tick(counter)


def make_server(app: RouterApp) -> RouterServer:
    """The server for an application, as its settings say."""
    settings = app.router.settings
    protocol = type("Protocol", (RouterProtocol,), {"router": app.router})
    config = uvicorn.Config(
        app,
        host=settings.host or None,  # type: ignore[arg-type] # None: every address, of both families
        port=settings.port,
        http=protocol,
        loop="uvloop",
        ws="none",
        lifespan="on",
        interface="asgi3",
        log_config=None,
        log_level="critical",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=3600,  # the protocol looks after idle connections itself
        timeout_graceful_shutdown=int(settings.shutdown_seconds),
    )
    return RouterServer(config, app.router)
