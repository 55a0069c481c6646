"""The index of a run: the services and graphs that graphs may call, gathered while services are compiled.

Decides who is listed. Without a graph in the run nothing is worked out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.endpoint import Endpoint
from kservec.core.graphs.endpoints import GRAPH, LLM, SERVICE, graph_endpoint, named_services, service_endpoint
from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


class Index:
    """Endpoints as they gather. Of services that no graph names only the place is known."""

    def __init__(self, units: Iterable[Unit], refused: Sequence[Unit], found: Iterable[Diagnostic], env: Env) -> None:
        """Begin with the graphs, and with what was refused before it became a unit, graphs that are looked at among it.

        Args:
            units: all units, graphs and others.
            refused: graphs that were refused, which ask for services but are none that others could call.
            found: what is wrong with all that was refused.
            env: what all units share.
        """
        graphs = [unit for unit in units if unit.ref.kind == GRAPH]
        self.is_wanted = bool(graphs or refused)
        self.called = {ref for unit in (*graphs, *refused) for ref in named_services(unit)}
        self.endpoints: dict[ObjectRef, Endpoint] = {unit.ref: graph_endpoint(unit, env) for unit in graphs}
        errors = (d for d in found if d.is_error and d.subject is not None) if self.is_wanted else ()
        for diagnostic in errors:
            if diagnostic.subject is not None and diagnostic.span is not None:
                broken = Endpoint(diagnostic.subject, diagnostic.span, is_broken=True)
                self.endpoints.setdefault(diagnostic.subject, broken)

    def endpoint(self, unit: Unit, env: Env, *, is_broken: bool) -> Endpoint | None:
        """How a unit that has gone through its passes, or was refused by one, is reached; None if nobody asks."""
        if not self.is_wanted or unit.ref.kind not in (SERVICE, LLM):
            return None
        place = unit.source.span("metadata", "name")
        if unit.ref.kind == LLM:
            from kservec.core.llm.settings import service_url  # noqa: PLC0415 - most runs have no such service

            return Endpoint(unit.ref, place, url=service_url(unit, env.platform), is_broken=is_broken)
        if unit.ref in self.called and not is_broken:
            return service_endpoint(unit, env)
        return Endpoint(unit.ref, place, is_broken=is_broken)

    def take(self, endpoints: Iterable[Endpoint | None]) -> None:
        """Take up how units are reached, of which it is asked for."""
        self.endpoints |= {endpoint.ref: endpoint for endpoint in endpoints if endpoint is not None}

    def known_in(self, env: Env) -> Env:
        """The Env for units that refer to what has gathered."""
        return evolve(env, endpoints=dict(self.endpoints)) if self.is_wanted else env
