"""`kservec-router`: read settings and graph, then serve. Everything that touches the world is put together here."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import random
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

from starlette.applications import Starlette

from kservec_router.app import RouterApp
from kservec_router.client import Client, ClientLimits
from kservec_router.documents import read_graph
from kservec_router.errors import GraphError, SettingsError
from kservec_router.execute import Means
from kservec_router.meters import Meters
from kservec_router.plan import Plan, compile_plan
from kservec_router.reload import watch_file
from kservec_router.router import Router
from kservec_router.server import make_server
from kservec_router.settings import Settings, parse_arguments
from kservec_router.tracing import Recorder
from kservec_router.wire import WireLimits

_GC_THRESHOLDS = (20_000, 20, 50)  # requests leave hardly any cycles, so looking for them often is a waste


def main(words: Sequence[str] | None = None) -> int:
    """Run the router; return its exit status: 0 fine, 1 the graph is wrong, 2 a setting is."""
    try:
        settings, only_check = parse_arguments(sys.argv[1:] if words is None else words, os.environ)
        plan = load_plan(settings)
    except SettingsError as error:
        sys.stderr.write(f"kservec-router: {error}\n")
        return 2
    except GraphError as error:
        sys.stderr.write("".join(f"kservec-router: {problem}\n" for problem in error.problems))
        return 1
    if only_check:
        sys.stderr.write("".join(f"kservec-router: note: {note}\n" for note in plan.notes))
        return 0
    serve(plan, settings)
    return 0


def load_plan(settings: Settings) -> Plan:
    """The plan of the graph that the settings name.

    Raises:
        GraphError: The graph cannot be read or served.
        SettingsError: No graph is named, or a policy is not well-formed.
    """
    policies = settings.policies
    if settings.graph_json:
        text = settings.graph_json.encode()
    elif settings.graph:
        try:
            text = Path(settings.graph).read_bytes()
        except OSError as error:
            raise GraphError([f"{settings.graph}: {error.strerror}"]) from None
    else:
        raise SettingsError("give the graph by --graph-json or --graph")
    return compile_plan(read_graph(text), policies)


def serve(plan: Plan, settings: Settings) -> None:
    """Serve until told to stop."""
    client = Client(client_limits(settings, plan))
    means = Means(
        call=client.send,
        chance=random.Random(),  # noqa: S311 - it chooses routes and names spans
        meters=Meters(),
        recorder=_recorder() if settings.spans else None,
        body_limit=settings.body_limit,
        backoff_seconds=settings.backoff_seconds,
    )
    router = Router(plan, means, settings)
    router.on_origins = client.allow

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        router.announce()
        watching = asyncio.create_task(_watch(router)) if settings.graph and not settings.graph_json else None
        gc.freeze()
        gc.set_threshold(*_GC_THRESHOLDS)
        yield
        if watching is not None:
            watching.cancel()
        client.close()
        router.journal.flush()

    for note in plan.notes:
        router.journal.say("warning", note)
    router.journal.say("info", "serving", port=settings.port, hosts=sorted({t.origin.host for t in plan.targets}))
    make_server(RouterApp(router, lifespan)).run()


def client_limits(settings: Settings, plan: Plan) -> ClientLimits:
    """The client's part of the settings."""
    return ClientLimits(
        connections=settings.max_connections,
        waiting=settings.max_waiting,
        connect_seconds=settings.connect_seconds,
        connect_attempts=max(1, settings.connect_attempts),
        backoff_seconds=settings.backoff_seconds,
        idle_seconds=settings.idle_seconds,
        wire=WireLimits(settings.head_limit, settings.body_limit, plan.timeouts.write),
    )


async def _watch(router: Router) -> None:
    """Follow the graph's file. A graph that cannot be served is refused, and the one before it goes on."""
    settings = router.settings

    def changed(text: bytes) -> None:
        try:
            router.use(compile_plan(read_graph(text), settings.policies))
        except GraphError as error:
            router.means.meters.add("reloads_total", (("outcome", "refused"),))
            router.journal.say("error", "the new graph is refused, the old one stays", problems=list(error.problems))
        else:
            router.means.meters.add("reloads_total", (("outcome", "used"),))
            router.journal.say("info", "the new graph is in use")

    await watch_file(Path(settings.graph), settings.reload_seconds, changed)


def _recorder() -> Recorder:
    from kservec_router.spans import make_recorder  # noqa: PLC0415 - needs the extra `router-spans`

    return make_recorder()


if __name__ == "__main__":
    sys.exit(main())
