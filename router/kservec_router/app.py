"""The router as an ASGI application: health, metrics, and the graph for everything else.

KServe: cmd/router/main.go (graphHandler, readyHandler): any method and any path but /readyz is a graph request. Here
GET /healthz and GET /metrics are not, either.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AbstractAsyncContextManager
from time import monotonic
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request as AdminRequest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from kservec_router.execute import Means
from kservec_router.messages import Call, Reply
from kservec_router.meters import Meters
from kservec_router.plan import Plan
from kservec_router.propagation import client_headers
from kservec_router.requests import Receive, read_body, skip_rest
from kservec_router.router import Request, Router
from kservec_router.settings import Settings

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Lifespan = Callable[[Starlette], AbstractAsyncContextManager[None]]

TASKS = "kservec_router.tasks"  # in the scope: the tasks to cancel when the client leaves


def build_app(plan: Plan, call: Call, settings: Settings | None = None, **more: Any) -> RouterApp:
    """The application for a plan; *call* begins calls of services, in tests any function of that kind.

    *more* are other fields of `Means` (`chance`, `meters`, `recorder`).
    """
    chosen = settings or Settings()
    given = {"chance": random.Random(), "meters": Meters(), **more}  # noqa: S311 - it chooses routes and names spans
    means = Means(call=call, body_limit=chosen.body_limit, backoff_seconds=chosen.backoff_seconds, **given)
    return RouterApp(Router(plan, means, chosen))


def is_admin(method: str, path: str) -> bool:
    """Whether a request is not for the graph."""
    return path == "/readyz" or (path in ("/healthz", "/metrics") and method in ("GET", "HEAD"))


class RouterApp:
    """The application."""

    def __init__(self, router: Router, lifespan: Lifespan | None = None) -> None:
        self.router = router
        self._admin = _make_admin(router, lifespan)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or run the lifespan."""
        if scope["type"] != "http" or is_admin(scope["method"], scope["path"]):
            await self._admin(scope, receive, send)
            return
        task, tasks = asyncio.current_task(), scope.get(TASKS, set())
        client = scope.get("client")
        headers = scope["headers"]
        request = Request(scope["method"].encode(), scope["path"], headers, dict(headers), client and client[0])
        tasks.add(task)
        try:
            reply = self.router.begin(request) or await self._reply(request, receive)
            await self._send(request, reply, send)
            if reply.status == 413 and reply.cause is not None:
                await skip_rest(receive)
            await send({"type": "http.response.body", "body": b""})
        except (asyncio.CancelledError, ConnectionError):
            return  # the client left, and nobody is there to be told
        finally:
            tasks.discard(task)
            self.router.end(request, monotonic())

    async def _reply(self, request: Request, receive: Receive) -> Reply:
        limit, stream_from = self.router.settings.body_limit, self.router.stream_from(request)
        body = await read_body(receive, request.length, limit, stream_from)
        if isinstance(body, Reply):
            request.reply = body
            return body
        request.body = body
        try:
            request.reply = await self.router.run(request)
        except Exception as error:  # noqa: BLE001 - the wall between requests
            request.reply = self.router.mistake(error)
        return request.reply

    async def _send(self, request: Request, reply: Reply, send: Send) -> None:
        headers, body = client_headers(reply, self.router.is_draining), reply.body
        await send({"type": "http.response.start", "status": reply.status, "headers": headers})
        if isinstance(body, bytes):
            request.sent = len(body)
            await send({"type": "http.response.body", "body": body, "more_body": True})
            return
        try:
            while piece := await body.read():
                request.sent += len(piece)
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        finally:
            body.close()


def _make_admin(router: Router, lifespan: Lifespan | None) -> Starlette:
    """Health and metrics."""

    async def ready(_: AdminRequest) -> Response:
        return PlainTextResponse("shutting down\n", 503) if router.is_draining else PlainTextResponse("ok\n")

    async def healthy(_: AdminRequest) -> Response:
        return PlainTextResponse("ok\n")

    async def metrics(_: AdminRequest) -> Response:
        return PlainTextResponse(router.means.meters.text(), media_type="text/plain; version=0.0.4")

    methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    routes = [Route("/readyz", ready, methods=methods), Route("/healthz", healthy), Route("/metrics", metrics)]
    return Starlette(routes=routes, lifespan=lifespan)
