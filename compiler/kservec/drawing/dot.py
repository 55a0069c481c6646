"""Pictures in the language of Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.drawing.picture import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.drawing.picture import Section

SHAPES = {Shape.NODE: "box", Shape.SERVICE: "component", Shape.ADDRESS: "note"}


def dot(sections: Sequence[Section]) -> str:
    """A directed graph; each section is a cluster."""
    lines = ["digraph kservec {", "  rankdir=LR;", '  node [fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    for i, section in enumerate(sections):
        lines += [f"  subgraph cluster_{i} {{", f"    label={quoted([section.title])};", *contents(section, i), "  }"]
    return "\n".join((*lines, "}", ""))


def contents(section: Section, number: int) -> Iterator[str]:
    """The boxes and arrows of a section."""
    names = {box.key: f"g{number}b{i}" for i, box in enumerate(section.boxes)}
    for box in section.boxes:
        yield f"    {names[box.key]} [shape={SHAPES[box.shape]}, label={quoted(box.lines)}];"
    for arrow in section.arrows:
        label = f" [label={quoted([arrow.text])}]" if arrow.text else ""
        yield f"    {names[arrow.source]} -> {names[arrow.target]}{label};"


def quoted(lines: Sequence[str]) -> str:
    """Lines of text as a string, below one another."""
    plain = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return '"' + "\\n".join(plain) + '"'
