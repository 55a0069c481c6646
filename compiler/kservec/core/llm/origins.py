"""Origins: where in the resolved spec of an LLMInferenceService something made for it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.tree import Path
    from kservec.core.unit import Unit


def origin_of(unit: Unit, path: Path, by: str) -> Origin:
    """The place of the resolved spec, as the origin of what a pass or module adds because of it."""
    assert unit.resolved is not None
    found = unit.resolved.origin(path)
    if found is None:
        return Origin(Layer.KSERVE_DEFAULT, by)
    place, rest = found
    return place._replace(layer=Layer.PASS, by=by, at=(*place.at, *rest))
