"""What the objects that run parts of LLMInferenceServices have in common: metadata, pod templates, replicas.

Decides how an object and its templates are put together, with where each piece comes from. Must not know their kinds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.llm.part import Part
    from kservec.core.tree import Json, Path, Source, Tree
    from kservec.core.unit import Unit

ROLLOUT: Final = "rolloutStrategy"


def of_object(
    identity: tuple[str, str], unit: Unit, part: Part
) -> tuple[dict[str, Json], Sequence[tuple[Path, Source]]]:
    """An object with the name and metadata of a part, and the sources of those; `identity`: apiVersion and kind."""
    api_version, kind = identity
    names = {"name": part.name, "namespace": unit.namespace}
    metadata = {**names, **with_metadata(part.labels, part.annotations)}
    sources = ((("metadata", "labels"), part.labels), (("metadata", "annotations"), part.annotations))
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}, sources


def of_pods(at: Path, labels: Tree, annotations: Tree, pod: Tree) -> tuple[Json, Sequence[tuple[Path, Source]]]:
    """A pod template, and the sources of its pieces below the path of the template."""
    metadata = (*at, "metadata")
    sources = (((*metadata, "labels"), labels), ((*metadata, "annotations"), annotations), ((*at, "spec"), pod))
    return {"metadata": with_metadata(labels, annotations), "spec": pod.value}, sources


def with_metadata(labels: Tree, annotations: Tree) -> dict[str, Json]:
    """Labels and annotations, without an empty map."""
    return {"labels": labels.value, **({"annotations": annotations.value} if annotations.value else {})}


def replicas(part: Part) -> dict[str, Json]:
    """The number of copies, where the spec says it; else whoever scales the object, or the API server, does."""
    return {"replicas": part.replicas} if part.replicas is not None else {}
