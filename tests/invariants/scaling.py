"""One master of the replicas: a scaler's target is there, states no replicas, and has no second scaler."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from .output import Object, Output, name, namespace, title

if TYPE_CHECKING:
    from collections.abc import Iterator

SCALERS = ("HorizontalPodAutoscaler", "ScaledObject")


def target_of(scaler: Object) -> tuple[str, str, str]:
    """The kind, namespace and name of what a scaler scales."""
    target = scaler["spec"]["scaleTargetRef"]
    return target.get("kind", "Deployment"), namespace(scaler), target["name"]


def scalers_have_a_target(output: Output) -> Iterator[str]:
    """What is scaled is in the output, in the version that is named, and does not state replicas."""
    known = {(body["kind"], namespace(body), name(body)): body for body in output.objects}
    for scaler in output.of(*SCALERS):
        body = known.get(target_of(scaler))
        if body is None:
            yield f"{title(scaler)}: no {' '.join(target_of(scaler))}"
            continue
        if "replicas" in body["spec"]:
            yield f"{title(body)} states replicas, and {title(scaler)} sets them"
        if scaler["spec"]["scaleTargetRef"].get("apiVersion", "apps/v1") != body["apiVersion"]:
            yield f"{title(scaler)} names another version than {body['apiVersion']}"


def targets_have_one_scaler(output: Output) -> Iterator[str]:
    """No two scalers have one target."""
    for target, count in Counter(map(target_of, output.of(*SCALERS))).items():
        if count > 1:
            yield f"{count} scalers of {' '.join(target)}"


def scalers_have_a_range(output: Output) -> Iterator[str]:
    """The least number of replicas is not above the most."""
    for scaler in output.of(*SCALERS):
        least = scaler["spec"].get("minReplicas", scaler["spec"].get("minReplicaCount", 0))
        most = scaler["spec"].get("maxReplicas", scaler["spec"].get("maxReplicaCount", least))
        if least > most:
            yield f"{title(scaler)}: from {least} to {most} replicas"


INVARIANTS = (scalers_have_a_target, targets_have_one_scaler, scalers_have_a_range)
