"""fit_deadlines: a rollout waits as long as its pods may take to start.

A Deployment of KServe's has ten minutes, and a model may load for half an hour: the rollout counts as failed then,
while nothing is wrong. No field of a spec changes that, and no pod restarts when it is changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Bundle
from kservec.core.pods.start_up import DEADLINE, longest_start_up
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

FITTED = Origin(Layer.PASS, "fit_deadlines")
KIND, FIELD = "Deployment", ("spec", "progressDeadlineSeconds")
SPARE = 60
"""Seconds beyond the start-up: for scheduling, and for what runs before the containers."""


def fit_deadlines(unit: Unit, env: Env) -> Step:
    """Raise the deadline of Deployments whose pods may start for longer.

    Takes:   nothing
    Writes:  progressDeadlineSeconds
    Reports: nothing
    """
    if env.additions is None or not env.additions.fits_deadlines:
        return Step(unit)
    made = tuple(map(fitted, unit.bundle.manifests))
    return Step(evolve(unit, bundle=Bundle(made)) if made != unit.bundle.manifests else unit)


def fitted(made: Manifest) -> Manifest:
    """A manifest whose deadline fits; the same one for other kinds, and where it does already."""
    if made.ref.kind != KIND:
        return made
    containers = made.body.get("spec", "template", "spec", "containers") or ()
    seconds, deadline = longest_start_up(containers), made.body.get(*FIELD) or DEADLINE
    return made if seconds < deadline else made._replace(body=made.body.put(FIELD, seconds + SPARE, FITTED))
