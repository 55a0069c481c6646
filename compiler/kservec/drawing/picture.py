"""Pictures: boxes and the arrows between them. Knows neither graphs nor any language that a picture is written in."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

LONGEST = 60
"""Characters of one line of a label; the rest of a longer one is left out."""

_find_unfit = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]").sub


class Shape(Enum):
    """What a box stands for."""

    NODE = "node"
    SERVICE = "service"
    ADDRESS = "address"


class Box(NamedTuple):
    """A box with its lines of text; the first is its name. `key` tells it from others of its section."""

    key: str
    shape: Shape
    lines: tuple[str, ...]


class Arrow(NamedTuple):
    """An arrow between two boxes, by their keys, and its text."""

    source: str
    target: str
    text: str = ""


class Section(NamedTuple):
    """A part of a picture that stands for itself. The first box is where requests come in."""

    title: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...] = ()


def line(text: str) -> str:
    """A text as one line of a label: what cannot be shown becomes a space, and the end of a long one three dots."""
    shown = _find_unfit(" ", text)
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST - 1]}…"
