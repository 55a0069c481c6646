"""Objects as people would write them: without what an API server, a controller or a GitOps tool has added."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.serving.tracking import ARGOCD, without_tracking
from kservec.spec.inferenceservice import FRAMEWORKS

if TYPE_CHECKING:
    from kservec.core.paths import Json

SERVER_FIELDS = frozenset(
    {
        "creationTimestamp", "deletionGracePeriodSeconds", "deletionTimestamp", "finalizers", "generation",
        "managedFields", "ownerReferences", "resourceVersion", "selfLink", "uid",
    }
)  # fmt: skip
"""Fields of `metadata` that a server or a controller sets."""

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
NOTED = (LAST_APPLIED, "deployment.kubernetes.io/revision", "serving.knative.dev/creator",
         "serving.knative.dev/lastModifier")  # fmt: skip
"""Annotations that are somebody's notes about the object as it was applied."""
COMPONENTS = ("predictor", "transformer", "explainer")
MODELS = ("model", *FRAMEWORKS)


def cleaned(value: Json) -> Json:
    """An object without server fields, status and notes of tools, and without the empty fields that KServe stores."""
    metadata = value.get("metadata") or {}
    labels, annotations = without_tracking(metadata.get("labels") or {}, metadata.get("annotations") or {})
    kept = {k: v for k, v in annotations.items() if k not in NOTED and not k.startswith(ARGOCD)}
    named = {k: v for k, v in metadata.items() if k not in SERVER_FIELDS and k not in ("labels", "annotations")}
    named |= {k: dict(v) for k, v in (("labels", labels), ("annotations", kept)) if v}
    rest = {k: v for k, v in value.items() if k not in ("metadata", "status")}
    return with_plain_models({**rest, "metadata": named})


def with_plain_models(value: Json) -> Json:
    """An InferenceService without the empty name and resources that its models are stored with."""
    spec = value.get("spec")
    if value.get("kind") != "InferenceService" or not isinstance(spec, dict):
        return value
    components = {name: with_plain_model(part) if name in COMPONENTS else part for name, part in spec.items()}
    return {**value, "spec": components}


def with_plain_model(component: Json) -> Json:
    """A component without what is empty in its model."""
    if not isinstance(component, dict):
        return component
    return {name: without_empty(part) if name in MODELS else part for name, part in component.items()}


def without_empty(model: Json) -> Json:
    """A model without an empty name and empty resources."""
    if not isinstance(model, dict):
        return model
    return {k: v for k, v in model.items() if not (k in ("name", "resources") and v in ("", {}))}


def last_applied(value: Json) -> Json | None:
    """The object as somebody applied it last, by the note that kubectl makes; None without one."""
    note = ((value.get("metadata") or {}).get("annotations") or {}).get(LAST_APPLIED)
    try:
        applied = json.loads(note) if isinstance(note, str) else None
    except ValueError:
        return None
    return cleaned(applied) if isinstance(applied, dict) else None
