"""Ten thousand requests while services and the router itself are replaced: none may be lost."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from .graphs import node
from .peers import Process, connected, free_port, post, running, service_process, within

P = post(close=False)
REQUESTS = 10_000
CLIENTS = 16


def graph_to(*ports: int) -> dict[str, Any]:
    """A Splitter over services on these ports, with equal weights."""
    steps = [{"serviceUrl": f"http://127.0.0.1:{port}/", "weight": 100 // len(ports)} for port in ports]
    return {"nodes": {"root": node("Splitter", *steps)}}


class Load:
    """Clients that send requests one after the other over kept connections to whichever router is in service."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.left = REQUESTS
        self.seen: Counter[int | str] = Counter()

    @property
    def done(self) -> int:
        """How many requests were sent."""
        return REQUESTS - self.left

    async def client(self) -> None:
        """Send requests until there are enough; go to another connection when the router asks for it."""
        while self.left > 0:
            async with connected(self.process.port) as (reader, writer):
                while self.left > 0:
                    self.left -= 1
                    writer.write(P)
                    try:
                        head = (await reader.readuntil(b"\r\n\r\n")).lower()
                        await reader.readexactly(int(head.partition(b"content-length: ")[2].split(b"\r\n")[0]))
                    except (OSError, asyncio.IncompleteReadError) as error:
                        self.seen[repr(error)] += 1
                        break
                    self.seen[int(head.split(b" ")[1])] += 1
                    if b"connection: close" in head:
                        break

    async def until(self, share: float) -> None:
        """Wait until a share of the requests was sent."""
        while self.done < REQUESTS * share:
            await asyncio.sleep(0.01)


class Services:
    """Services as processes, by port. Each closes every fiftieth kept connection right after its reply."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._processes: dict[int, subprocess.Popen[bytes]] = {}

    async def start(self, port: int) -> None:
        """Start the service of a port, and wait until it listens."""
        process = service_process(port, "forgetful")
        self._processes[port] = await asyncio.to_thread(self._stack.enter_context, process)

    async def stop(self, port: int) -> None:
        """Ask the service of a port to end, and wait for that."""
        popen = self._processes.pop(port)
        popen.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(popen.wait, 10) == 0


async def replaced(process: Process, folder: Path, *ports: int) -> None:
    """Have the router use another graph, and wait until it does."""
    used = await asyncio.to_thread(reloads, process)
    (folder / "new").write_text(json.dumps(graph_to(*ports)))
    (folder / "new").rename(folder / "graph.json")
    for _ in range(100):
        await asyncio.sleep(0.05)
        if await asyncio.to_thread(reloads, process) > used:
            return
    raise AssertionError("the new graph was not taken over")


def reloads(process: Process) -> int:
    """How often a new graph was taken over."""
    text = process.get("/metrics")[1]
    return int(text.partition('reloads_total{outcome="used"} ')[2].split("\n")[0] or 0)


@pytest.mark.slow
def test_nothing_is_lost_while_services_graph_and_router_are_replaced(tmp_path: Path) -> None:
    """Each service is taken out of the graph, replaced and put back; then a second router takes over from the first."""
    first, second = free_port(), free_port()
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    async def roll(load: Load, services: Services, stack: ExitStack) -> None:
        one, folder = load.process, tmp_path / "one"
        await load.until(0.15)
        await replaced(one, folder, second)
        await services.stop(first)
        await load.until(0.3)
        await services.start(first)
        await replaced(one, folder, first, second)
        await load.until(0.45)
        await replaced(one, folder, first)
        await services.stop(second)
        await load.until(0.6)
        other = running(tmp_path / "two", graph_to(first))
        load.process = await asyncio.to_thread(stack.enter_context, other)
        one.popen.send_signal(signal.SIGTERM)
        await load.until(1)
        await asyncio.gather(*clients)

    clients: list[asyncio.Task[None]] = []

    async def run() -> tuple[Counter[int | str], int]:
        flags = ("--reload-seconds", "0.05", "--drain-seconds", "2", "--access-log", "false")
        with ExitStack() as stack:
            services = Services(stack)
            await services.start(first)
            await services.start(second)
            one = stack.enter_context(running(tmp_path / "one", graph_to(first, second), *flags))
            load = Load(one)
            rolling = asyncio.create_task(roll(load, services, stack))
            await asyncio.sleep(0.1)
            clients.extend(asyncio.create_task(load.client()) for _ in range(CLIENTS))
            await rolling
            return load.seen, await asyncio.to_thread(one.popen.wait, 5)

    seen, code = asyncio.run(within(90, run()))
    assert seen == {200: REQUESTS}
    assert code == 0
