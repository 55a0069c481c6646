"""Pictures in Mermaid's language, which Git forges show in Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.drawing.picture import Shape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.drawing.picture import Box, Section

BRACKETS = {Shape.NODE: ('["', '"]'), Shape.SERVICE: ('(["', '"])'), Shape.ADDRESS: ('>"', '"]')}
_find_special = re.compile(r"[^\w .,:/=+*@$'()-]")


def mermaid(sections: Sequence[Section]) -> str:
    """A flowchart; each section is a subgraph."""
    lines = ["flowchart LR"]
    for i, section in enumerate(sections):
        lines += [f'  subgraph g{i}["{text(section.title)}"]', *contents(section, f"g{i}"), "  end"]
    return "\n".join((*lines, ""))


def contents(section: Section, prefix: str) -> Iterator[str]:
    """The boxes and arrows of a section."""
    names = {box.key: f"{prefix}b{i}" for i, box in enumerate(section.boxes)}
    for box in section.boxes:
        yield f"    {names[box.key]}{shaped(box)}"
    for arrow in section.arrows:
        label = f'|"{text(arrow.text)}"|' if arrow.text else ""
        yield f"    {names[arrow.source]} -->{label} {names[arrow.target]}"


def shaped(box: Box) -> str:
    """The text of a box in the brackets that give it its shape."""
    left, right = BRACKETS[box.shape]
    return f"{left}{joined(box.lines)}{right}"


def joined(lines: Sequence[str]) -> str:
    """Lines of text below one another."""
    return "<br/>".join(map(text, lines))


def text(plain: str) -> str:
    """A text in which nothing means anything to Mermaid or to HTML: other characters are written by their number."""
    return _find_special.sub(lambda found: f"#{ord(found[0])};", plain)
