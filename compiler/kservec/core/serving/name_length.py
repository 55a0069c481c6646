"""How long the name of a service may be, so that all that KServe makes of it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.names import app_label
from kservec.core.schemas.object_meta import MAX_LABEL
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.core.unit import Unit


def longest_name(unit: Unit) -> int:
    """The most characters that the name may have by what its components are called, which their labels hold.

    Hosts may leave less room. In Knative mode the names of the components' services are hosts themselves.
    """
    is_labelled = unit.mode is Mode.STANDARD
    made = [app_label(component.name) if is_labelled else component.name for component in unit.components]
    return MAX_LABEL - max((len(text) - len(unit.name) for text in made), default=0)
