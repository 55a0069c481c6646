"""GraphSubject: an InferenceGraph as the rules of admission look at it, and the way a rule reports. Holds no rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.effects import NO_EFFECT
from kservec.core.schemas.faults import field_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.admission.subject import Site
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.graphs.nodes import Walk
    from kservec.core.tree import Path
    from kservec.core.unit import Mode
    from kservec.spec.graph import InferenceGraphSpec, InferenceRouter, InferenceStep


class Place(NamedTuple):
    """A step with its node, its number, and where it stands."""

    node: str
    router: InferenceRouter
    number: int
    step: InferenceStep

    @property
    def path(self) -> Path:
        """Where the step stands in the graph."""
        return ("spec", "nodes", self.node, "steps", self.number)

    def __str__(self) -> str:
        named = f" ({self.step.name})" if self.step.name else ""
        return f"step {self.number}{named} of node {self.node}"


class GraphSubject(NamedTuple):
    """A graph that its schema has let through. `walk` is what requests meet; `mode` is None where none can be told."""

    site: Site
    spec: InferenceGraphSpec
    mode: Mode | None
    walk: Walk
    annotations: Mapping[str, str]

    @property
    def routers(self) -> Mapping[str, InferenceRouter]:
        """All nodes by name."""
        return self.spec.routers

    @property
    def reached(self) -> tuple[str, ...]:
        """The nodes that a request can come to, by name."""
        return tuple(sorted(self.walk.reached))

    def places(self, *, all_nodes: bool = False) -> Iterator[Place]:
        """The steps of the nodes that are reached, or of all nodes."""
        for name in sorted(self.routers) if all_nodes else self.reached:
            router = self.routers[name]
            for i, step in enumerate(router.steps):
                yield Place(name, router, i, step)

    def without_effect(self, path: Path, reason: str, help_text: str = "remove it") -> Diagnostic:
        """The warning that a field does nothing, and why."""
        return self.site.finding(NO_EFFECT, f"{field_path(path)} has no effect: {reason}", path, help_text)
