"""Pictures of graphs: what they show, in three languages, whatever names users choose."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import libyaml

from kservec.api import Target, front_of
from kservec.cli.graph import LANGUAGES
from kservec.drawing.dot import dot
from kservec.drawing.layout import arrange
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import svg
from kservec.io.reading import File, read_files
from kservec.topology.labels import LONGEST, line
from kservec.topology.steps import graph_topologies
from kservec.topology.values import Edge, Node, NodeKind, Topology

from .writing import called, graph, node, service

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

ROOT = Path(__file__).parents[2]
EXAMPLE = ("examples/services/payment-screening.yaml", "examples/services/fraud-detector.yaml")
PICTURE = ROOT / "docs" / "payment-screening.svg"
PAGE = ROOT / "docs" / "graph.md"
NAMESPACE = "{http://www.w3.org/2000/svg}"


def sections(*documents: Mapping[str, Any]) -> tuple[Topology, ...]:
    """What a picture of documents shows."""
    front, compilation = front_of([File("input.yaml", libyaml.dump_all(documents).encode())])
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    return graph_topologies(front.units, front.env)


def example() -> tuple[Topology, ...]:
    """What the picture in the documentation shows."""
    platform = read_files([str(ROOT / "examples" / "platform")], 1 << 20)
    files = read_files([str(ROOT / path) for path in EXAMPLE], 1 << 20)
    front, compilation = front_of(files, target=Target(platform=platform))
    assert compilation.ok
    return graph_topologies(front.units, front.env)


def test_the_picture_in_the_documentation(snapshot_update: bool) -> None:
    """The committed SVG is what is drawn today; `pytest --snapshot-update` draws it anew."""
    if snapshot_update:
        PICTURE.write_text(svg(example()))
    assert PICTURE.read_text() == svg(example())


def test_the_text_in_the_documentation() -> None:
    """The page shows what the command prints for the example."""
    assert f"```mermaid\n{mermaid(example())}```" in PAGE.read_text()


def test_what_is_shown() -> None:
    """Nodes with their type, steps with what their node heeds, services with their mode, URLs; the rest comes last."""
    first = graph(
        {
            "root": node(called(name="a", dependency="Hard"), {"nodeName": "pick", "data": "$response"}),
            "pick": node({"serviceName": "scorer", "condition": "tier"}, {"nodeName": "all"}, kind="Switch"),
            "all": node({"serviceUrl": "http://second/"}, called(weight=5), kind="Ensemble"),
            "spare": node(called(weight=100), kind="Splitter"),
        }
    )
    drawn = sections(service("scorer"), service("alone", "Knative"), first, graph(name="second"))
    claims, second, others = drawn
    assert [section.title for section in drawn] == [
        "InferenceGraph ml/claims (Standard)",
        "InferenceGraph ml/second (Standard)",
        "InferenceServices",
    ]
    assert [node.lines for node in claims.nodes] == [
        ("root", "Sequence"),
        ("pick", "Switch"),
        ("all", "Ensemble"),
        ("spare", "Splitter"),
        ("http://scorer.example.com/v1/models/scorer:predict",),
        ("scorer", "InferenceService, Standard"),
        ("second", "InferenceGraph, Standard"),
    ]
    assert [edge.text for edge in claims.edges] == ["1. a Hard", "2. $response", "if tier", "", "0", "1", "100%"]
    assert [node.lines for node in others.nodes] == [("alone", "InferenceService, Knative")]
    assert len(second.nodes) == 2


def test_the_order_of_files_does_not_matter() -> None:
    """The same documents give the same bytes in any order."""
    documents = [service("scorer"), service("alone"), graph({"root": node({"serviceName": "scorer"})}), graph(name="b")]
    for write in LANGUAGES.values():
        assert write(sections(*documents)) == write(sections(*reversed(documents)))


def test_no_password_is_drawn() -> None:
    """Credentials in a URL stay out of pictures."""
    (section,) = sections(graph({"root": node({"serviceUrl": "http://me:hunter2@scorer:80/v1@x"})}))
    assert section.nodes[1].lines == ("http://scorer:80/v1@x",)


HOSTILE = '"]; end; <script>&amp;</script> \\n \\" |`#quot; %%{init}%% --> {x}\n\u2028]]>\x07 é 名'


def hostile_section(text: str) -> Topology:
    """A picture in which every text is the same."""
    nodes = (Node("a", NodeKind.STEP, (line(text), line(text))), Node("b", NodeKind.ADDRESS, (line(text),)))
    return Topology(line(text), nodes, (Edge("a", "b", line(text)), Edge("a", "b")))


def test_hostile_texts_in_mermaid() -> None:
    """Nothing of a text can end its quotes or be taken for HTML: other characters are numbers."""
    text = mermaid([hostile_section(HOSTILE)])
    assert len(text.splitlines()) == 7
    inside = re.findall(r'"([^"]*)"', text)
    assert len(inside) == 4
    assert not any(re.search(r"[<>&|`{}\\\[\]%]", part.replace("<br/>", "")) for part in inside)


def test_hostile_texts_in_dot() -> None:
    """Quotes and backslashes are escaped; each statement keeps its line."""
    text = dot([hostile_section(HOSTILE)])
    strings = re.findall(r'label=("(?:[^"\\]|\\.)*")', text)
    assert len(strings) == 4
    assert len(text.splitlines()) == 12
    assert strings[0].replace("\\\\", "\0").replace('\\"', '"').replace("\0", "\\")[1:-1] == line(HOSTILE)


@settings(deadline=None)
@given(st.text(max_size=20))
def test_any_text_is_well_formed(text: str) -> None:
    """The SVG can be read by a parser and holds the text as it is."""
    root = ElementTree.fromstring(svg([hostile_section(text)]))  # noqa: S314 - our own text
    texts = [element.text or "" for element in root.iter(f"{NAMESPACE}text")]
    assert texts.count(line(text)) >= 4
    assert [t for t in texts if t.split() == line(text).split()] == texts
    assert mermaid([hostile_section(text)]).count("\n") == 7
    assert dot([hostile_section(text)]).count("\n") == 12


def test_long_texts_are_cut() -> None:
    """A line of a label has an end."""
    assert line("a" * LONGEST) == "a" * LONGEST
    assert line("a" * 1000) == "a" * (LONGEST - 1) + "…"


arrows = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20)


@settings(deadline=None)
@given(arrows)
def test_boxes_do_not_overlap(pairs: list[tuple[int, int]]) -> None:
    """Whatever leads where, each box has a place of its own, right of what leads to it where that can be."""
    boxes = tuple(Node(str(i), NodeKind.STEP, (f"box {i}",)) for i in range(8))
    arranged = arrange(Topology("any", boxes, tuple(Edge(str(a), str(b), f"{a}{b}") for a, b in pairs)))
    places = list(arranged.places.values())
    assert len(places) == len(boxes)
    for i, one in enumerate(places):
        assert one.x >= 0
        assert one.x + one.width <= arranged.width
        assert one.y + one.height <= arranged.height
        for other in places[i + 1 :]:
            apart_x = one.x + one.width <= other.x or other.x + other.width <= one.x
            assert apart_x or one.y + one.height <= other.y or other.y + other.height <= one.y
    if all(a < b for a, b in pairs):
        assert all(arranged.places[str(a)].x < arranged.places[str(b)].x for a, b in pairs)


@pytest.mark.parametrize("language", LANGUAGES)
def test_many_nodes(language: str) -> None:
    """A long chain of nodes is drawn without recursion."""
    nodes = {f"n{i}": node({"nodeName": f"n{i + 1}"}) for i in range(90)} | {"n90": node(called())}
    chain = {"root" if name == "n0" else name: value for name, value in nodes.items()}
    assert "n89" in LANGUAGES[language](sections(graph(chain)))
