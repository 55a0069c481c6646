"""Dumps of clusters: recorded inputs and what KServe made of them, in the form in which a server has them."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

Object = dict[str, Any]
OWNER = {
    "apiVersion": "serving.kserve.io/v1beta1", "kind": "InferenceService", "name": "owner", "uid": "00000000",
    "controller": True, "blockOwnerDeletion": True,
}  # fmt: skip
OWN_GROUP = "kservec.dev"


def documents(path: Path) -> Iterator[Object]:
    """The documents of a file."""
    yield from (d for d in libyaml.load_all(path.read_text()) if d is not None)


def as_served(value: Object, number: int) -> Object:
    """An object as a server hands it out: with its own fields, an empty status and somebody's notes."""
    served = copy.deepcopy(value)
    served.setdefault("metadata", {}).update(
        uid=f"uid-{number}",
        resourceVersion=str(number + 1),
        generation=2,
        creationTimestamp="2026-01-01T00:00:00Z",
        managedFields=[{"manager": "kubectl", "operation": "Update"}],
        finalizers=["foregroundDeletion"],
    )
    notes = served["metadata"].get("annotations") or {}
    tracking = {"argocd.argoproj.io/tracking-id": "app:/v1:a/b"}
    served["metadata"]["annotations"] = {**notes, **tracking}
    return {**served, "status": {"conditions": []}}


def owned(value: Object) -> Object:
    """An object that belongs to one of KServe's."""
    return {**value, "metadata": {**value["metadata"], "ownerReferences": [OWNER]}}


def laid_over(values: Iterable[Object]) -> list[Object]:
    """Objects as they end up in one cluster: a later config map overrides keys, any other object replaces."""
    merged: dict[tuple[str, ...], Object] = {}
    for value in values:
        metadata = value.get("metadata") or {}
        key = tuple(str(part) for part in (value["kind"], metadata.get("namespace"), metadata.get("name")))
        if value["kind"] == "ConfigMap" and key in merged:
            merged[key] = {**value, "data": {**merged[key].get("data", {}), **value.get("data", {})}}
        else:
            merged[key] = value
    return list(merged.values())


def dump_of(inputs: Iterable[Object], made: Iterable[Object]) -> File:
    """What `kubectl get -o json` prints of all that is in a cluster; what no cluster has is left out."""
    objects = [value for value in laid_over(inputs) if not value["apiVersion"].startswith(OWN_GROUP)]
    items = [*objects, *(owned(value) for value in made)]
    served = [as_served(value, i) for i, value in enumerate(items)]
    return File("dump.json", json.dumps({"apiVersion": "v1", "kind": "List", "items": served}).encode())
