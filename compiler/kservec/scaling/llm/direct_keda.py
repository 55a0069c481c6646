"""Scaling of LLM workloads by KEDA, by the user's own triggers.

KServe: pkg/controller/v1alpha2/llmisvc/scaling.go, expectedDirectScaledObject
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.llm.keda import scaled_object
from kservec.core.llm.scaling import scaling_labels, scaling_of
from kservec.core.registry import PartScaler

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.llm.part import Part
    from kservec.core.registry import Env, PartWorkload
    from kservec.core.unit import Unit

FIELD = ("keda",)


def render(unit: Unit, part: Part, workload: PartWorkload, env: Env) -> Manifest:
    """The ScaledObject of a part.

    Raises:
        Reject: the cluster has no KEDA.
    """
    own = ({"labels": scaling_labels(unit)}, scaling_of(unit, part)["keda"]["triggers"])
    return scaled_object(unit, part, workload, env, FIELD, own)


SCALER = PartScaler(name="direct keda", field=FIELD, render=render)
