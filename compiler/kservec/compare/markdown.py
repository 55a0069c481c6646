"""Text that is safe in a Markdown comment wherever it came from: no links, no mentions, no HTML of others' making."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from kservec.report.words import printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_find_special = re.compile(r"[\\`*_{}\[\]#!|~>]").sub
_find_mentions = re.compile(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9])").sub
_find_ticks = re.compile(r"`+").findall
INVISIBLE = "\u200b"


def plain(text: str) -> str:
    """Text as it is, whatever is in it."""
    escaped = _find_special(r"\\\g<0>", html.escape(" ".join(printable(text).split()), quote=False))
    return _find_mentions(f"@{INVISIBLE}", escaped)


def code(text: str) -> str:
    """Text as code in a line; empty for none."""
    inside = " ".join(printable(text).split()).replace("`", "'").replace("|", "\\|")
    return f"`{inside}`" if inside else ""


def fenced(lines: Iterable[str], language: str) -> str:
    """Lines as a block of code."""
    body = "\n".join(lines)
    fence = "`" * max(3, 1 + max(map(len, _find_ticks(body)), default=0))
    return f"{fence}{language}\n{body}\n{fence}"


def details(summary: str, body: str) -> str:
    """A block that opens when its summary is clicked."""
    title = _find_mentions(f"@{INVISIBLE}", html.escape(printable(summary)))
    return f"<details><summary>{title}</summary>\n\n{body}\n\n</details>\n"


def row(cells: Sequence[str]) -> str:
    """A row of a table."""
    return f"| {' | '.join(cells)} |\n"


def header(title: str, names: Sequence[str]) -> str:
    """The title and the first two lines of a table."""
    return f"\n**{title}**\n\n{row(names)}{row(['---'] * len(names))}"
