"""Plans and applications for tests, with functions in place of services."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kservec_router.app import RouterApp, build_app
from kservec_router.documents import read_graph
from kservec_router.messages import Call, Outgoing, Reply, failure
from kservec_router.plan import Plan, compile_plan
from kservec_router.policies import Policies, parse_policies
from kservec_router.settings import Settings
from kservec_router.tracing import Recorder

JSON = (b"content-type", b"application/json")


def plan_of(nodes: Mapping[str, Any], *policies: str, **more: Any) -> Plan:
    """The plan of a graph given by its nodes and other fields of its spec."""
    rules = parse_policies(policies) if policies else Policies()
    return compile_plan(read_graph(json.dumps({"nodes": nodes, **more}).encode()), rules)


def node(kind: str, *steps: Mapping[str, Any]) -> dict[str, Any]:
    """A node of a graph."""
    return {"routerType": kind, "steps": list(steps)}


def step(service: str, **more: Any) -> dict[str, Any]:
    """A step that calls a service."""
    return {"serviceUrl": f"http://{service}/", **more}


def graph_to(*urls: str, kind: str = "Sequence", **more: Any) -> dict[str, Any]:
    """A graph of one node whose steps call these URLs."""
    weights = {"weight": 100 // len(urls)} if kind == "Splitter" else {}
    return {"nodes": {"root": node(kind, *({"serviceUrl": url, **weights} for url in urls))}, **more}


def reply_of(given: Mapping[str, Any]) -> Reply:
    """The reply that a test describes: status, json, text, headers, or down."""
    if given.get("down"):
        return failure(500, "connection refused")
    body = json.dumps(given["json"]).encode() if "json" in given else str(given.get("text", "")).encode()
    kind = (b"content-type", b"application/json" if "json" in given else b"text/plain")
    extra = tuple((name.lower().encode(), value.encode()) for name, value in given.get("headers", {}).items())
    return Reply(given.get("status", 200), (*((kind,) if body else ()), *extra), body)


@dataclass
class Services:
    """Services that answer as they are told, and remember what they were asked."""

    replies: Mapping[str, Any]
    seen: dict[str, list[Outgoing]] = field(default_factory=dict)
    given_up: list[str] = field(default_factory=list)

    def __call__(self, outgoing: Outgoing) -> None:
        """Begin a call; the n-th call of a service gets its n-th reply, and the last one from then on."""
        name = outgoing.target.origin.host
        calls = self.seen.setdefault(name, [])
        calls.append(outgoing)
        replies = self.replies[name]
        given = replies[min(len(calls), len(replies)) - 1] if isinstance(replies, list) else replies
        if "mistake" in given:
            raise RuntimeError(given["mistake"])
        timer = asyncio.get_running_loop().call_later(given.get("seconds", 0), _answer, outgoing, given)

        def give_up() -> None:
            timer.cancel()
            self.given_up.append(name)

        outgoing.on_cancel = give_up

    def bodies(self, name: str) -> list[bytes]:
        """The bodies that a service got."""
        return [outgoing.body for outgoing in self.seen.get(name, []) if isinstance(outgoing.body, bytes)]


def _answer(outgoing: Outgoing, given: Mapping[str, Any]) -> None:
    outgoing.on_cancel = None  # it holds the timer, which holds the call
    if "crash" in given:
        outgoing.fail(RuntimeError(given["crash"]))
    else:
        outgoing.set(reply_of(given))


@dataclass
class Answer:
    """What a client gets."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The first value of a header."""
        return next((value.decode() for key, value in self.headers if key == name.encode()), None)

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def app_for(plan: Plan, call: Call, recorder: Recorder | None = None, **settings: Any) -> RouterApp:
    """An application whose chance is always the same, and which writes no access log unless it is set to."""
    chosen = Settings(**{"access_log": False, **settings})
    return build_app(plan, call, chosen, recorder=recorder, chance=random.Random(7))  # noqa: S311 - it chooses routes


async def ask(app: RouterApp, body: bytes = b"{}", path: str = "/", method: str = "POST", **headers: str) -> Answer:
    """Send a request to an application without a socket. Names of headers: `_` for `-`."""
    pairs = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    pairs.append((b"content-length", b"%d" % len(body)))
    incoming = [{"type": "http.request", "body": body, "more_body": False}]
    outgoing: list[Any] = []

    async def receive() -> Any:
        return incoming.pop(0) if incoming else {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        outgoing.append(message)

    scope = {"type": "http", "method": method, "path": path, "headers": pairs, "query_string": b"", "root_path": ""}
    await app(scope, receive, send)
    start = outgoing[0]
    return Answer(start["status"], list(start["headers"]), b"".join(part["body"] for part in outgoing[1:]))
