"""What the router makes of an input: a plan or a refusal, and what its conditions find in a body."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from fuzz.building import Built
from fuzz.inputs import BODY, GRAPH, Input
from kservec.core.text.source import parse
from kservec_router.bodies import has_match, is_mergeable, mapped_predictions, matching_step, part_of
from kservec_router.documents import read_graph
from kservec_router.errors import GraphError
from kservec_router.plan import Plan, compile_plan
from kservec_router.policies import Policies

ARGUMENT = "--graph-json"


def planned(text: bytes) -> Plan | None:
    """The plan of a graph; None if it is refused."""
    try:
        return compile_plan(read_graph(text), Policies())
    except GraphError as error:
        if not str(error).strip():
            raise
        return None


def route_faults(given: Input) -> Iterator[str]:
    """What must not be so: a part of a body that is no JSON, an answer about what is none."""
    plan, body = planned(given.files[GRAPH]), given.files[BODY]
    if plan is None:
        return
    for node in plan.nodes:
        matching_step(node, body)
        for step in node.steps:
            if step.condition is not None:
                has_match(step.condition, body)
            part = part_of(body, step.part) if step.part else None
            if part is not None and is_mergeable(body) and not is_mergeable(part):
                yield f"router: a part of a JSON body is none: {part[:60]!r}"
    mapped = mapped_predictions(body)
    if is_mergeable(body) and not is_mergeable(mapped):
        yield f"router: the mapped body is no JSON: {mapped[:60]!r}"


def graph_faults(built: Built) -> Iterator[str]:
    """What the compiler renders for graphs and the router refuses to serve."""
    for made in built.objects:
        if ARGUMENT not in made.text or made.owner.kind != "InferenceGraph":
            continue
        value = parse(made.text.encode(), "made.yaml")[0][0].value
        for text in arguments(value):
            try:
                compile_plan(read_graph(text.encode()), Policies())
            except GraphError as error:
                yield f"router: it refuses what is rendered: {error}"


def arguments(value: object) -> Iterator[str]:
    """The graphs in the arguments of containers."""
    if isinstance(value, dict):
        args = value.get("args")
        words = [a for a in args if isinstance(a, str)] if isinstance(args, list) else []
        # Kubernetes makes one of two dollar signs before a container starts.
        yield from (after.replace("$$", "$") for word, after in pairwise(words) if word == ARGUMENT)
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from arguments(part)
