"""Fields of steps that only nodes of another type heed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.spec.graph import ENSEMBLE, SEQUENCE, SPLITTER, SWITCH
from kservec.spec.graph_texts import REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json

DEPENDENCY = "dependency"
HEEDED = {
    "data": (SEQUENCE,),
    "mapPredictionsToInstances": (SEQUENCE,),
    "condition": (SEQUENCE, SWITCH),
    "weight": (SPLITTER,),
    DEPENDENCY: (SEQUENCE, ENSEMBLE),
}
"""Field of a step -> the types of nodes that heed it."""

ALREADY_SO = {"data": REQUEST, DEPENDENCY: "Soft"}
"""Field -> the value that says what is done anyway."""


def check_unused_fields(subject: GraphSubject) -> Iterator[Diagnostic]:
    """Fields without effect."""
    for place in subject.places():
        kind = place.router.router_type
        for field, types in HEEDED.items():
            if kind in types or not is_wanted(field, place.step.json.get(field)):
                continue
            reason = f"only a step of a {' or '.join(types)} heeds it"
            if field == DEPENDENCY:
                reason = f"in a {kind} one step is taken, and its answer is the node's whatever its status"
            yield subject.without_effect((*place.path, field), reason)
    yield from check_claims(subject)


def is_wanted(field: str, value: Json) -> bool:
    """Whether a value of a field asks for something other than what is done without it."""
    if field in ALREADY_SO:
        return value not in (None, "", ALREADY_SO[field])
    return value is not None if field == "weight" else bool(value)


def check_claims(subject: GraphSubject) -> Iterator[Diagnostic]:
    """KServe: knative_reconciler.go, constructResourceRequirements takes limits and requests alone."""
    if subject.spec.resources.get("claims"):
        yield subject.without_effect(("spec", "resources", "claims"), "the router gets limits and requests alone")
