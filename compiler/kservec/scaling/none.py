"""No autoscaler: a fixed number of replicas. KServe: deployment_reconciler.go, createRawDefaultDeployment."""

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

REASON = "without an autoscaler the number of replicas is minReplicas"


def render(unit: Unit, component: Component, intent: ScaleIntent, env: Env) -> Scaled:
    """The number of replicas, if the user gave one."""
    del env
    honoured = {"minReplicas"} | ({"maxReplicas"} if intent.max_replicas == intent.min_replicas else set())
    unused = (path for name, path in scale_settings(component, intent) if name not in honoured)
    found = tuple(without_effect(unit, path, REASON) for path in unused)
    return Scaled(replicas=intent.min_replicas, diagnostics=found)


SCALER = Scaler(name="none", modes=frozenset({Mode.STANDARD}), render=render, owns_replicas=False)
