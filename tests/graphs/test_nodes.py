"""Walks through nodes: what is reached, circles, and how deep it goes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kservec.core.graphs.nodes import depth, walk
from kservec.spec.graph import ROOT, InferenceRouter

if TYPE_CHECKING:
    from collections.abc import Mapping

Ways = dict[str, list[str]]


def routers(ways: Ways) -> Mapping[str, InferenceRouter]:
    """Nodes whose steps lead to other nodes."""
    return {
        name: InferenceRouter.read({"routerType": "Sequence", "steps": [{"nodeName": t} for t in targets]})
        for name, targets in ways.items()
    }


@pytest.mark.parametrize(
    ("ways", "reached", "cycles", "deep"),
    [
        ({"root": []}, ["root"], [], 1),
        ({"root": ["a", "b"], "a": ["b"], "b": [], "c": ["a"]}, ["b", "a", "root"], [], 3),
        ({"root": ["gone"]}, ["root"], [], 1),
        ({"root": ["root"]}, ["root"], [["root"]], 1),
        ({"root": ["a"], "a": ["b"], "b": ["a", "root"]}, ["b", "a", "root"], [["a", "b"], ["root", "a", "b"]], 3),
        ({"a": ["a"]}, [], [], 0),
    ],
)
def test_a_walk(ways: Ways, reached: list[str], cycles: list[list[str]], deep: int) -> None:
    """Nodes come after all that they lead to; a circle is told by the nodes round it."""
    found = walk(routers(ways))
    assert list(found.reached) == reached
    assert [[edge.node for edge in circle] for circle in found.cycles] == cycles
    assert depth(routers(ways), found) == deep


names = st.sampled_from([ROOT, *"abcde"])


@given(st.dictionaries(names, st.lists(names, max_size=4)))
def test_any_walk_ends(ways: Ways) -> None:
    """What is reached is closed under steps, and there is a circle exactly if a node leads back to itself."""
    found = walk(routers(ways))
    reached = set(found.reached)
    assert reached == ({ROOT} & ways.keys() | {t for name in reached for t in ways[name] if t in ways})
    order = {name: i for i, name in enumerate(found.reached)}
    backward = any(order[t] >= order[name] for name in reached for t in ways[name] if t in ways)
    assert bool(found.cycles) == backward
    for circle in found.cycles:
        assert [edge.target for edge in circle] == [*(edge.node for edge in circle[1:]), circle[0].node]
