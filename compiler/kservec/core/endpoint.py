"""Endpoint: how a service or graph of the run is reached, for the graphs that call it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef, Span


class Endpoint(NamedTuple):
    """How a service, or another graph, of the run is reached.

    `fault` says why it cannot be; empty if it can. `pathless` says why its URL has no path; empty if it has one.
    `calls` are objects that it may call, as far as its spec shows. `is_broken`: it was refused, which has been said.
    """

    ref: ObjectRef
    place: Span
    url: str = ""
    protocol: str = ""
    fault: str = ""
    pathless: str = ""
    calls: frozenset[ObjectRef] = frozenset()
    is_broken: bool = False
