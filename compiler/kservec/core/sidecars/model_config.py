"""Model configuration: the ConfigMap that tells the agent of a multi-model server which models to pull.

KServe: pkg/modelconfig/configmap.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest, manifest
from kservec.core.golang.encoding import quote, struct
from kservec.core.names import model_config_name
from kservec.core.quantity import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.intents import PulledModel
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

FILE = "models.json"


def models_json(models: Iterable[PulledModel]) -> str:
    """The models as the agent reads them, by name; KServe's own order changes from time to time.

    Raises:
        ValueError: the memory of a model is no quantity.
    """
    return f"[{','.join(map(entry, sorted(models, key=lambda m: m.name)))}]"


def entry(model: PulledModel) -> str:
    """One model as JSON."""
    spec = {
        "storageUri": quote(model.uri),
        "framework": quote(model.framework),
        "memory": quote(canonical(model.memory)),
    }
    return struct({"modelName": quote(model.name), "modelSpec": struct(spec)})


def render_model_config(unit: Unit, models: Iterable[PulledModel] = ()) -> Manifest:
    """The ConfigMap of a service with its models; it has the labels that the user gave the service."""
    metadata: dict[str, Json] = {"name": model_config_name(unit.name), "namespace": unit.namespace}
    labels = dict(unit.spec.metadata.labels)
    if labels:
        metadata["labels"] = labels
    made = manifest("v1", "ConfigMap", metadata, {"data": {FILE: models_json(models)}}, unit.source.origin("spec"))
    return made._replace(body=made.body.note(("metadata", "labels"), unit.source.origin("metadata", "labels")))
