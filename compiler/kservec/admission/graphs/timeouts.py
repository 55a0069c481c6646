"""Time limits of a graph that contradict each other.

The router ends a connection `serverWrite` seconds after the request, whatever a call may still take.
KServe: cmd/router/main.go, main; pkg/constants/constants.go, RouterTimeoutServerWrite
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.unit import Mode
from kservec.spec.graph import RouterTimeouts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic

SERVER_WRITE = 60
"""Seconds, where the graph says nothing."""

AT = ("spec", "routerTimeouts")
TOTAL = ("spec", "timeout")

CONTRADICTION = Code(
    "graph/timeouts",
    Severity.WARNING,
    "time limits that contradict each other",
    "The shortest limit counts. KServe's router closes the connection after serverWrite without an answer, so that the "
    "client sees a broken connection (EOF) where it should see that a service took too long. Let serviceClient be "
    "shorter than serverWrite, and serverWrite not longer than timeout.",
)


def check_timeouts(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Limits that never come to bear, because another is shorter."""
    limits = subject.spec.router_timeouts or RouterTimeouts()
    write = SERVER_WRITE if limits.server_write is None else limits.server_write
    said = "" if limits.server_write is not None else ", the default"
    client = limits.service_client
    if client is not None and 0 < write <= client:
        message = f"a call may take {client} s, but the router ends the request after {write} s (serverWrite{said})"
        hint = "let serviceClient be shorter than serverWrite"
        yield subject.site.finding(CONTRADICTION, message, (*AT, "serviceClient"), hint)
    if subject.spec.timeout is not None:
        yield from check_total(subject, subject.spec.timeout, (write, said))


def check_total(subject: GraphSubject, total: int, write: tuple[int, str]) -> Iterator[Diagnostic]:
    """`timeout`, which in Knative mode is the revision's; in Standard mode there is no route that could have it."""
    seconds, said = write
    if subject.mode is Mode.STANDARD:
        reason = "in Standard mode it is for the router alone, and KServe's does not read it (kservec-router does)"
        yield subject.without_effect(TOTAL, reason, "set routerTimeouts.serverWrite")
    elif 0 < seconds < total:
        message = f"requests may take {total} s, but the router ends them after {seconds} s (serverWrite{said})"
        yield subject.site.finding(CONTRADICTION, message, TOTAL, "set routerTimeouts.serverWrite to the same")
    elif 0 < total < seconds and not said:
        message = f"the router may take {seconds} s, but Knative ends requests after {total} s (timeout)"
        yield subject.site.finding(CONTRADICTION, message, (*AT, "serverWrite"), "let timeout be as long")
