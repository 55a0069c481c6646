"""Weights: the shares of a Splitter's steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.records import evolve
from kservec.spec.graph import SPLITTER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic
    from kservec.spec.graph import InferenceRouter

WHOLE = 100

WEIGHTS = Code(
    "graph/weights",
    Severity.ERROR,
    "weights that are no shares of 100",
    "Each step of a Splitter has a weight of 0 or more, and they sum to 100. KServe's webhook accepts negative ones, "
    "which its router adds up to other shares than are written.",
)


def check_weights(subject: GraphSubject) -> Iterator[Diagnostic]:
    """KServe: inference_graph_validation.go, validateInferenceGraphSplitterWeight. Nodes without steps are empty."""
    for name, router in sorted(subject.routers.items()):
        if router.router_type == SPLITTER:
            yield from check_splitter(subject, name, router)


def check_splitter(subject: GraphSubject, name: str, router: InferenceRouter) -> Iterator[Diagnostic]:
    """The weights of one node."""
    missing = False
    for i, step in enumerate(router.steps):
        path = ("spec", "nodes", name, "steps", i)
        if step.weight is None:
            missing = True
            yield subject.site.finding(WEIGHTS, f"step {i} of Splitter {name} has no weight", path, "give it a weight")
        elif step.weight < 0 and name in subject.reached:
            message = f"step {i} of Splitter {name} has a negative weight"
            yield subject.site.finding(WEIGHTS, message, (*path, "weight"), "use 0 to 100")
    total = sum(step.weight or 0 for step in router.steps)
    if total != WHOLE and not missing:
        message = f"the weights of Splitter {name} sum to {total}, not to {WHOLE}"
        found = subject.site.finding(WEIGHTS, message, ("spec", "nodes", name), f"let them sum to {WHOLE}")
        # Its name alone, so that the finding is about none of the steps.
        yield evolve(found, span=subject.site.source.document.key_span(("spec", "nodes", name)))
