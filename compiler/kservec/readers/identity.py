"""What the readers of several kinds ask of an object."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Json


def with_identity(value: Json, ref: ObjectRef) -> Json:
    """An object as the API server keeps it: with its namespace, and without metadata that has no value."""
    metadata = value["metadata"]
    if metadata.get("namespace") == ref.namespace and None not in metadata.values():
        return value
    kept = {name: part for name, part in metadata.items() if part is not None}
    return {**value, "metadata": {**kept, "namespace": ref.namespace}}
