"""Dockerfiles as lists of instructions."""

from __future__ import annotations

import re
from pathlib import Path


def instructions(path: Path) -> list[tuple[str, str]]:
    """The instructions of a Dockerfile, continued lines joined."""
    text = re.sub(r"\\\n\s*", "", path.read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(name, rest) for name, _, rest in (line.partition(" ") for line in lines)]


def arguments(path: Path) -> dict[str, str]:
    """The build arguments of a Dockerfile that have a default."""
    found = (rest.partition("=") for name, rest in instructions(path) if name == "ARG")
    return {name: value for name, sign, value in found if sign}


def environment(path: Path) -> dict[str, str]:
    """The variables that an image sets."""
    pairs = (pair.partition("=") for name, rest in instructions(path) if name == "ENV" for pair in rest.split())
    return {name: value for name, _, value in pairs}
