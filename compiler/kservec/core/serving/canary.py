"""Canary: one canary's predictor with everything that it inherits, as KServe merges the two.

Decides which values a canary has, and how many replicas. Must not know components, runtimes or routes.
KServe: components/predictor.go, buildCanaryPredictor
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.intents import RuntimeIntent
from kservec.core.names import KSERVE_CONTAINER
from kservec.core.pods.containers import find, variable
from kservec.core.pods.deep_merge import deep_merge
from kservec.core.records import record
from kservec.core.serving.replicas import DEFAULT_MIN
from kservec.core.serving.written import STORAGE_URI
from kservec.spec.inferenceservice import FRAMEWORKS, ComponentExtension, PredictorSpec

if TYPE_CHECKING:
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Component
    from kservec.spec.inferenceservice import CanarySpec

MODEL: Final = "model"
CLEARED: Final = ("maxReplicas", "scaleTarget", "scaleMetric", "autoScaling", "workerSpec", "canaryTrafficPercent")
"""What a canary does not inherit: a canary has a fixed number of replicas, and one node."""


@record
class Canary:
    """One canary: the predictor that the user wrote, what it comes to with all it inherits, and its replicas."""

    path: Path
    own: Json
    spec: PredictorSpec
    percent: int
    replicas: int

    @property
    def name(self) -> str:
        """The canary's name."""
        return self.spec.name

    @property
    def extension(self) -> ComponentExtension:
        """The common fields that count in a canary. `minReplicas` stands there only if the user wrote it."""
        return ComponentExtension(
            min_replicas=self.own.get("minReplicas"), labels=self.spec.labels, annotations=self.spec.annotations
        )


def resolved_predictor(spec: PredictorSpec, stable: Component) -> Json:
    """The stable predictor as canaries inherit it: with its runtime, its protocol, and what they added to its model."""
    predictor: Json = dict(spec.json)
    intent = next(iter(stable.peek(RuntimeIntent)), None)
    if intent is None or stable.runtime is None:
        return predictor
    model = {name: value for name, value in predictor[MODEL].items() if name not in intent.model.rest}
    model |= {**intent.container, "runtime": stable.runtime.name}
    if stable.protocol:
        model["protocolVersion"] = stable.protocol
    return {**predictor, MODEL: model}


def added_variables(stable: Component) -> frozenset[str]:
    """The names of the variables that the runtime's defaults gave to the stable predictor's model."""
    return frozenset(
        entry["name"]
        for intent in stable.peek(RuntimeIntent)
        for entry in (intent.container.get("env") or ())[len(intent.model.rest.get("env") or ()) :]
    )


def canary_of(written: CanarySpec, inherited: Json, index: int) -> Canary:
    """A canary with everything that it inherits. KServe: buildCanaryPredictor."""
    own = dict(written.predictor.json)
    replicas = replicas_of(own.get("minReplicas"), written.traffic_percent, inherited.get("minReplicas"))
    merged = {**with_one_model(deep_merge(inherited, own), own), "minReplicas": replicas}
    for field in CLEARED:
        merged.pop(field, None)
    return Canary(
        path=("spec", "canary", index, "predictor"),
        own=own,
        spec=PredictorSpec.read(merged),
        percent=written.traffic_percent,
        replicas=replicas,
    )


def replicas_of(own: int | None, percent: int, stable: int | None) -> int:
    """The replicas of a canary: its own number, or its share of the stable predictor's, rounded up.

    KServe: canaryReplicaCount
    """
    if own is not None:
        return own
    return -((DEFAULT_MIN if stable is None else stable) * percent // -100)


def with_one_model(merged: Json, own: Json) -> Json:
    """The merged predictor with either one model or several, where the canary and the stable predictor differ in it.

    KServe never loads `storageUris` in canaries, so that a canary of a predictor that has them starts without models;
    here they are loaded, unless the canary names its own model in the other way.
    """
    if names_one_model(own):
        return {field: value for field, value in merged.items() if field != "storageUris"}
    if not own.get("storageUris") or MODEL not in merged:
        return merged
    model = {field: value for field, value in merged[MODEL].items() if field != "storageUri"}
    if "storage" in model:
        model["storage"] = {field: value for field, value in model["storage"].items() if field != "path"}
    return {**merged, MODEL: model}


def names_one_model(own: Json) -> bool:
    """Whether a canary itself says where its one model lies."""
    models = [own[field] for field in (MODEL, *FRAMEWORKS) if own.get(field)]
    if any(m.get("storageUri") or (m.get("storage") or {}).get("path") for m in models):
        return True
    container = find(own.get("containers") or (), KSERVE_CONTAINER)
    return container is not None and bool(variable(container, STORAGE_URI))
