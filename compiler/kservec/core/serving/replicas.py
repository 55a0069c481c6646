"""How many replicas: the bounds that every autoscaler derives in the same way from what the user wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kservec.core.intents import ScaleIntent
    from kservec.core.tree import Path
    from kservec.core.unit import Component

DEFAULT_MIN = 1


class Bounds(NamedTuple):
    """The least and the greatest number of replicas."""

    least: int
    most: int


def bounds(intent: ScaleIntent, floor: int = 0) -> Bounds:
    """The bounds of an intent: one replica where the user wrote nothing, and never more at least than at most.

    Args:
        intent: what the user wrote.
        floor: the least number that the autoscaler can keep.
    """
    least = max(DEFAULT_MIN if intent.min_replicas is None else intent.min_replicas, floor)
    return Bounds(least, max(intent.max_replicas, least))


def scale_settings(component: Component, intent: ScaleIntent) -> list[tuple[str, Path]]:
    """Each setting of an intent that the user wrote: the name of its field and its path in the spec.

    A canary has a number of replicas even if the user wrote none.
    """
    written = (
        ("minReplicas", component.extension.min_replicas is not None),
        ("maxReplicas", intent.max_replicas != 0),
        ("scaleTarget", intent.target is not None),
        ("scaleMetric", intent.metric is not None),
        ("autoScaling", intent.auto_scaling is not None),
    )
    return [(name, (*component.path, name)) for name, is_written in written if is_written]
