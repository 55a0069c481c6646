"""Layout and style: few crossings, straight lines, rows that hold their texts, and colours that can be read."""

from __future__ import annotations

import pytest

from kservec.drawing.layers import columns, crossings, layers_of
from kservec.drawing.layout import arrange
from kservec.drawing.metrics import LINE, ROW_CHARACTERS, boxes_of, text_width
from kservec.drawing.style import GROUND, LOOKS, MUTED, STYLE, TEXT
from kservec.topology.values import Edge, Node, NodeKind, Topology


def topology(*ways: str) -> Topology:
    """A topology of ways such as `ab`, or `ab:text`."""
    pairs = [(way[0], way[1], way[3:]) for way in ways]
    keys = dict.fromkeys(key for source, target, _ in pairs for key in (source, target))
    nodes = tuple(Node(key, NodeKind.STEP, (key,)) for key in keys)
    return Topology("any", nodes, tuple(Edge(*pair) for pair in pairs))


@pytest.mark.parametrize(
    ("ways", "expected"),
    [
        (("ab", "bc"), {"a": 0, "b": 1, "c": 2}),
        (("ab", "bc", "ac"), {"a": 0, "b": 1, "c": 2}),
        (("ab", "bc", "cd", "xd"), {"a": 0, "b": 1, "c": 2, "d": 3, "x": 2}),
        (("ab", "bc", "cd", "xy", "yd"), {"a": 0, "b": 1, "c": 2, "d": 3, "x": 1, "y": 2}),
        (("ab", "ba"), {"a": 0, "b": 1}),
    ],
    ids=["a chain", "a short cut", "a source of its own", "a chain of its own", "a circle"],
)
def test_columns(ways: tuple[str, ...], expected: dict[str, int]) -> None:
    """Each node is right of what leads to it; what the first node does not lead to is as far right as it can be."""
    assert columns(topology(*ways)) == expected


@pytest.mark.parametrize(
    "ways",
    [("ax", "by", "cz", "ra", "rb", "rc"), ("rz", "ry", "rx", "xc", "yb", "za"), ("ra", "rb", "ax", "ay", "bx", "bz")],
)
def test_what_need_not_cross_does_not(ways: tuple[str, ...]) -> None:
    """Trees and the like are drawn without crossings."""
    layers = layers_of(topology(*ways))
    assert crossings(layers.stacks, layers.links) == 0


def test_a_chain_is_straight() -> None:
    """The ends of lines that could be level are."""
    arranged = arrange(topology("ab", "bc", "cd"))
    assert {round(y, 3) for way in arranged.ways for _, y in way} == {arranged.ways[0][0][1]}


def test_long_texts_of_edges_are_broken_into_lines() -> None:
    """A row is as high as its lines, and the box as wide as the longest of them."""
    words = "if predictions.#(score>0.9) and then " * 4
    boxes = boxes_of(topology(f"ab:{words.strip()}", "ac:short"))
    first, second = boxes["a"].rows
    assert len(first.lines) > 1
    assert " ".join(first.lines) == words.strip()
    assert all(len(line) <= ROW_CHARACTERS for line in first.lines)
    assert second.top >= first.top + LINE * len(first.lines)
    assert all(text_width(line) < boxes["a"].width for line in first.lines)


def luminance(colour: str) -> float:
    """The relative luminance of a colour (WCAG 2.2)."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2.2)."""
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("kind", NodeKind)
def test_every_text_can_be_read(kind: NodeKind) -> None:
    """Texts have a contrast of 4.5 to their box, frames one of 3 to the ground, in light and dark."""
    look = LOOKS[kind]
    for ink in (TEXT, MUTED):
        assert contrast(ink.light, look.fill) >= 4.5
        assert contrast(ink.dark, look.dark_fill) >= 4.5
        assert contrast(ink.light, GROUND.light) >= 4.5
        assert contrast(ink.dark, GROUND.dark) >= 4.5
    assert contrast(look.frame, GROUND.light) >= 3
    assert contrast(look.dark_frame, GROUND.dark) >= 3
    assert f".kp-{kind} rect{{fill:{look.dark_fill}" in STYLE
