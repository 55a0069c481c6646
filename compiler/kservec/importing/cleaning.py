"""Objects as people would write them: without what an API server, a controller or a GitOps tool has added."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.golang.decoding import decode
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
    metadata = mapping(value.get("metadata"))
    labels, annotations = without_tracking(mapping(metadata.get("labels")), mapping(metadata.get("annotations")))
    kept = {k: v for k, v in annotations.items() if k not in NOTED and not k.startswith(ARGOCD)}
    named = {k: v for k, v in metadata.items() if k not in SERVER_FIELDS and k not in ("labels", "annotations")}
    named |= {k: dict(v) for k, v in (("labels", labels), ("annotations", kept)) if v}
    rest = {k: v for k, v in value.items() if k not in ("metadata", "status")}
    return with_plain_models({**rest, "metadata": named})


def mapping(value: Json) -> Json:
    """A map; an empty one in the place of anything else, for a dump may hold whatever a definition lets through."""
    return value if isinstance(value, dict) else {}


def is_plain(value: Json) -> bool:
    """Whether what is read of Secrets, ServiceAccounts, config maps and namespaces has the form that it has to have."""
    metadata = mapping(value.get("metadata"))
    maps = [metadata.get(key) for key in ("labels", "annotations")] + [value.get(key) for key in ("data", "stringData")]
    lists = [value.get(key) for key in ("secrets", "imagePullSecrets")]
    return all(map(is_map_of_texts, maps)) and all(map(is_list_of_names, lists))


def is_map_of_texts(value: Json) -> bool:
    """Whether a value is a map of texts, or is left out."""
    return value is None or (isinstance(value, dict) and all(isinstance(text, str) for text in value.values()))


def is_list_of_names(value: Json) -> bool:
    """Whether a value is a list of references by name, or is left out."""
    if value is None:
        return True
    return isinstance(value, list) and all(isinstance(mapping(item).get("name"), str) for item in value)


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
    note = mapping(mapping(value.get("metadata")).get("annotations")).get(LAST_APPLIED)
    try:
        applied = decode(note) if isinstance(note, str) else None
    except ValueError:
        return None
    return cleaned(applied) if isinstance(applied, dict) else None
