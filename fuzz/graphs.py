"""Families of graphs: as the compiler gets them, and as the router does."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from fuzz.damaging import BYTE_DAMAGES
from fuzz.growing import grown
from fuzz.inputs import BODY, GRAPH, INPUT, Input
from fuzz.mutating import mutate
from fuzz.stock import Stock
from fuzz.words import ADDRESSES, CONDITIONS
from fuzz.writing import encoded, written

GRAPH_KIND = ("serving.kserve.io/v1alpha1", "InferenceGraph")


def graphs(chance: Random, stock: Stock) -> Input:
    """Graphs: conditions, weights, targets and circles of nodes, now and then beside services."""
    files = {f"{INPUT}a.yaml": encoded(written([graph_document(chance, stock)]))}
    beside = chance.choice(stock.cases).files if chance.random() < 0.4 else {}
    return Input({**beside, **files})


def graph_document(chance: Random, stock: Stock) -> Any:
    """A graph that is grown, or one of a golden case, with some changes."""
    own = json.loads(chance.choice(stock.kinds["InferenceGraph"]))
    graph = grown(*GRAPH_KIND, chance, stock) if chance.random() < 0.4 else own
    nodes = graph["spec"].get("nodes") if isinstance(graph.get("spec"), dict) else None
    nodes = nodes if isinstance(nodes, dict) else {}
    listed = [n["steps"] for n in nodes.values() if isinstance(n, dict) and isinstance(n.get("steps"), list)]
    steps = [step for steps in listed for step in steps if isinstance(step, dict)]
    for _ in range(chance.choice((0, 1, 2, 4))):
        change_step(chance.choice(steps or [{}]), tuple(map(str, nodes)), chance)
    mutate([graph], chance.choice((0, 0, 1, 1, 2)), chance, stock)
    return graph


def change_step(step: dict[str, Any], nodes: tuple[str, ...], chance: Random) -> None:
    """Let one field of a step say something else."""
    ways: dict[str, tuple[Any, ...]] = {
        "condition": CONDITIONS,
        "data": ("$request", "$response", *CONDITIONS),
        "serviceUrl": ADDRESSES,
        "nodeName": (*nodes, "root"),
        "weight": (0, 1, 50, 100, -1),
        "dependency": ("Hard", "Soft"),
    }
    field = chance.choice(list(ways))
    step[field] = chance.choice(ways[field])


def router(chance: Random, stock: Stock) -> Input:
    """The router's argument, and a body that its conditions are tried on."""
    graph = graph_document(chance, stock)
    text = json.dumps(
        graph["spec"] if isinstance(graph.get("spec"), dict) and chance.random() < 0.8 else graph, default=str
    )
    body = json.dumps(json.loads(chance.choice(stock.pieces[chance.choice(sorted(stock.pieces))])))
    contents = [text.encode("utf-8", "replace"), body.encode("utf-8", "replace")]
    for i, often in enumerate((0.2, 0.4)):
        if chance.random() < often:
            contents[i] = chance.choice(BYTE_DAMAGES)(contents[i], chance)
    return Input({GRAPH: contents[0], BODY: contents[1]})
