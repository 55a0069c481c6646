"""Reading objects that nobody has checked: what is not of the shape that is asked for counts as missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.paths import lookup

if TYPE_CHECKING:
    from kservec.core.paths import Json, Path


def map_at(value: Json, *path: str) -> dict[str, Json]:
    """The map at a path; an empty one if there is none."""
    found = at(value, path)
    return found if isinstance(found, dict) else {}


def maps_at(value: Json, *path: str) -> list[dict[str, Json]]:
    """The maps in the list at a path; none if there is no list."""
    found = at(value, path)
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def at(value: Json, path: Path) -> Json:
    """What stands at a path of maps; None if there is nothing."""
    return lookup(value, path)


def number_at(value: Json, path: Path) -> int | None:
    """The whole number at a path that is none below zero; None if there is none."""
    found = at(value, path)
    return found if isinstance(found, int) and not isinstance(found, bool) and found >= 0 else None
