"""choose_runtime: pick the serving runtime of a model predictor, and let its kind of server default the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.records import evolve
from kservec.core.serving.runtime_choice import ambiguities, with_labels, with_runtime
from kservec.core.serving.runtime_leftovers import leftovers
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


def choose_runtime(unit: Unit, env: Env) -> Step:
    """Pick a runtime for the predictor.

    Takes:   nothing; the RuntimeIntent goes on to merge_pods with the runtime's defaults in its container
    Writes:  component.runtime, protocol; labels of the service and of every component
    Reports: runtime/not-found, runtime/disabled, runtime/protocol, runtime/format, runtime/none-fits,
             runtime/ambiguous, runtime/field-without-effect
    KServe:  components/predictor.go, reconcileModel
    """
    served = [with_runtime(unit, c, env) for c in unit.components]
    found = [d for c, _ in served if c.runtime is not None for d in (*ambiguities(unit, c, env), *leftovers(unit, c))]
    added = {k: v for _, labels in served for k, v in labels.items() if unit.labels.get(k) != v}
    if not added:
        return Step(evolve(unit, components=tuple([c for c, _ in served])), tuple(found))
    components = tuple([with_labels(c, added) for c, _ in served])
    return Step(evolve(unit, labels={**unit.labels, **added}, components=components), tuple(found))
