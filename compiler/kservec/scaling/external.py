"""An autoscaler that is no business of KServe: nothing is made, and the number of replicas is left to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.effects import without_effect
from kservec.core.registry import Scaled, Scaler
from kservec.core.serving.replicas import scale_settings
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.core.intents import ScaleIntent
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """Nothing; what the user says about scaling is for the autoscaler that they bring."""
    del env
    paths = (path for _, path in scale_settings(component, intent))
    return Scaled(diagnostics=tuple(without_effect(unit, path, "an external autoscaler decides") for path in paths))


SCALER = Scaler(name="external", modes=frozenset({Mode.STANDARD}), render=render)
