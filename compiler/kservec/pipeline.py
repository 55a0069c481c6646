"""The pipeline: which passes a kind goes through, in which order, and the short fold that runs them.

This screen is the architecture. `frontend.py` comes before it and `emit.py` after it, once a run; what stands here runs
once a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kservec.core.diagnostics import Diagnostic, Reject, has_errors
from kservec.core.unit import Step, Unit
from kservec.passes.add_sidecars import add_sidecars
from kservec.passes.attach_images import attach_images
from kservec.passes.attach_models import attach_models
from kservec.passes.choose_runtime import choose_runtime
from kservec.passes.claim_copies import claim_copies
from kservec.passes.default_pods import default_pods
from kservec.passes.expose import expose
from kservec.passes.merge_pods import merge_pods
from kservec.passes.plan_parallelism import plan_parallelism
from kservec.passes.render_localmodelcache import render_localmodelcache
from kservec.passes.render_workloads import render_workloads
from kservec.passes.scale import scale
from kservec.passes.seal import seal
from kservec.passes.select_accelerator import select_accelerator
from kservec.passes.split_canaries import split_canaries
from kservec.passes.split_inferenceservice import split_inferenceservice

if TYPE_CHECKING:
    from kservec.core.env import Env

Work: TypeAlias = "Callable[[Unit, Env], Step]"

PASSES: dict[str, tuple[Work, ...]] = {
    "InferenceService": (
        split_inferenceservice,
        choose_runtime,
        split_canaries,
        merge_pods,
        plan_parallelism,
        default_pods,
        select_accelerator,
        claim_copies,
        attach_models,
        add_sidecars,
        attach_images,
        scale,
        expose,
        render_workloads,
        seal,
    ),
    "LocalModelCache": (render_localmodelcache, seal),
    "LocalModelNamespaceCache": (render_localmodelcache, seal),
}


def run(unit: Unit, env: Env) -> Step:
    """Take a unit through the passes of its kind.

    A unit stops after the pass that reported an error; others go on, so that one run shows every problem.
    """
    found: list[Diagnostic] = []
    for work in PASSES[unit.ref.kind]:
        try:
            step = work(unit, env)
        except Reject as reject:
            return Step(unit, (*found, *reject.diagnostics))
        unit = step.unit
        if step.diagnostics:
            found += step.diagnostics
            if has_errors(step.diagnostics):
                break
    return Step(unit, tuple(found))
