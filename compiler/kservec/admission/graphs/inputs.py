"""Inputs: what `data` asks for in the steps of a Sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.spec.graph import SEQUENCE
from kservec.spec.graph_texts import RESPONSE, input_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic

UNKNOWN_INPUT = Code(
    "graph/unknown-input",
    Severity.ERROR,
    "an input that there is not",
    "`data` of a step is `$request`, `$response`, or `$response.` with a GJSON path. KServe takes all other texts for "
    "`$request` without a word.",
)


def check_inputs(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Inputs that mean nothing, and a response where there is none yet."""
    for place in subject.places():
        text, path = place.step.data, (*place.path, "data")
        if place.router.router_type != SEQUENCE or not text:
            continue
        problem = input_problem(text)
        if problem is not None:
            yield subject.site.finding(UNKNOWN_INPUT, f"{place}: data {text!r}: {problem}", path, "correct it")
        elif place.number == 0 and text.startswith(RESPONSE):
            yield subject.without_effect(path, "no step comes before it, so its input is the request")
