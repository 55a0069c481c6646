"""render_workloads: each component becomes the workload that runs its pods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.intents import CanaryIntent
from kservec.core.records import evolve
from kservec.core.serving.stopping import is_stopped
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


def render_workloads(unit: Unit, env: Env) -> Step:
    """Render every component's workload with the first kind that selects it.

    Takes:   CanaryIntent, where the workload itself shares traffic between its revisions
    Writes:  manifests
    Reports: output/object-twice; what the workload reports
    KServe:  reconcilers/factory.go, CreateWorkloadReconciler; what is stopped has no workload
    """
    bundle = unit.bundle
    found: list[Diagnostic] = []
    for component in unit.components:
        if is_stopped(unit, component):
            continue
        kind = next(k for k in env.plugs.workload_kinds if k.selects(unit, component))
        deployed = kind.render(unit, component, env)
        bundle = bundle.add(*deployed.manifests)
        found += deployed.diagnostics
    components = tuple([c.take(CanaryIntent)[1] if c.intents else c for c in unit.components])
    return Step(evolve(unit, components=components, bundle=bundle), tuple(found))
