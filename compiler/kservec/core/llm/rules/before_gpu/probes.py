"""Probes that ask at a port where nobody answers, or in a protocol that is not spoken there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.digits import integer
from kservec.core.llm.rules.before_gpu.server import values_of
from kservec.core.llm.rules.before_gpu.tls import speaks_tls
from kservec.core.pods.containers import PROBES

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.before_gpu.server import Server
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

HTTP: Final = "httpGet"
HANDLERS: Final = (HTTP, "tcpSocket", "grpc")

PORT = Code(
    "llm/probe-port",
    Severity.WARNING,
    "a probe at a port where nobody answers",
    "The probe asks at a port that no container of the pod has, or at another one than vLLM is told to listen at "
    "(--port). The pods never become ready, and are started again and again.",
)
SCHEME = Code(
    "llm/probe-scheme",
    Severity.WARNING,
    "a probe in another protocol than the server speaks",
    "A server with a certificate (--ssl-certfile) answers HTTPS only, one without HTTP only. Whether KServe's presets "
    "have one follows from enableLLMInferenceServiceTLS in the section ingress of inferenceservice-config. Leave "
    "`scheme` out to have that of the preset.",
)
_is_number = re.compile(r"[0-9]+").fullmatch


def check_probes(subject: Subject, servers: Sequence[Server]) -> Iterator[Diagnostic]:
    """The probes of each model server; several with one fault are said at once."""
    for server in servers:
        asked = [*handlers(server)]
        problems = {path: (given.get("port"), port_problem(server, given.get("port"))) for path, given in asked}
        for port, problem in dict.fromkeys(found for found in problems.values() if found[1]):
            wrong = [path for path, found in problems.items() if found == (port, problem)]
            message = f"{asking(wrong)} at port {port}, but {problem}"
            yield subject.finding(PORT, message, (*wrong[0], "port"), "correct the port")
        yield from check_schemes(subject, server, asked)


def asking(probes: Sequence[Path]) -> str:
    """The subject and verb of a sentence about probes."""
    return f"{', '.join(str(path[-2]) for path in probes)} {'ask' if len(probes) > 1 else 'asks'}"


def check_schemes(subject: Subject, server: Server, asked: Sequence[tuple[Path, Json]]) -> Iterator[Diagnostic]:
    """Probes that ask vLLM in another protocol than it speaks."""
    tls = speaks_tls(server)
    if tls is None:
        return
    wrong = [
        path
        for path, given in asked
        if path[-1] == HTTP and (given.get("scheme") == "HTTPS") != tls and is_server_port(server, given.get("port"))
    ]
    if wrong:
        asks, speaks = ("HTTP", "HTTPS") if tls else ("HTTPS", "HTTP")
        message = f"{asking(wrong)} in {asks}, but vLLM speaks {speaks} there"
        yield subject.finding(SCHEME, message, (*wrong[0], "scheme"), f"set scheme: {speaks}, or remove the field")


def handlers(server: Server) -> Iterator[tuple[Path, Json]]:
    """What the probes of a server ask, and where that stands."""
    for probe in PROBES:
        for handler in HANDLERS:
            given = (server.container.get(probe) or {}).get(handler)
            if given is not None:
                yield (*server.path, probe, handler), given


def port_problem(server: Server, port: Json) -> str:
    """Why nobody answers at a port; empty where somebody does, or where it cannot be told."""
    own = server.container.get("ports") or ()
    if isinstance(port, str):
        names = {entry.get("name") for entry in own}
        return "" if port in names else "main has no port of that name"
    listening, others = server_ports(server), other_ports(server)
    if not listening or port in listening or port in others:
        return ""
    return f"vLLM listens at {' or '.join(map(str, listening))}"


def server_ports(server: Server) -> list[int]:
    """The ports that vLLM may listen at, as far as it is told. What is appended to its command wins over that."""
    if not server.is_known:
        return []
    appended = values_of(server.arguments, "--port")[-1:]
    ports = appended or values_of(server.command, "--port")
    return [integer(port) for port in ports] if all(map(_is_number, ports)) else []


def other_ports(server: Server) -> set[int]:
    """The ports of the other containers of a pod, sidecars included."""
    containers = (*(server.pod.get("containers") or ()), *(server.pod.get("initContainers") or ()))
    return {port["containerPort"] for c in containers if c is not server.container for port in c.get("ports") or ()}


def is_server_port(server: Server, port: Json) -> bool:
    """Whether vLLM answers at a port, and no other process of the same container might."""
    if isinstance(port, str):
        port = next((p["containerPort"] for p in server.container.get("ports") or () if p.get("name") == port), None)
    return port in server_ports(server)
