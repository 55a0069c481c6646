"""render_workloads: each component becomes the workload that runs its pods."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.env import Env
    from kservec.core.unit import Unit


def render_workloads(unit: Unit, env: Env) -> Step:
    """Render every component's workload with the first kind that selects it.

    Takes:   nothing
    Writes:  manifests
    Reports: output/object-twice
    KServe:  reconcilers/factory.go, CreateWorkloadReconciler; a stopped service has no workload
    """
    if unit.stopped:
        return Step(unit)
    kinds = sorted(env.plugs.workloads, key=lambda w: w.rank)
    bundle = unit.bundle
    for component in unit.components:
        kind = next(k for k in kinds if k.selects(unit, component))
        bundle = bundle.add(*kind.render(unit, component, env))
    return Step(replace(unit, bundle=bundle))
