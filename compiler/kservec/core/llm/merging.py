"""Merging: one spec of an LLMInferenceService laid over another, as KServe lays services over their configs.

Decides what wins. Must not know which specs are merged, nor where they come from.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, mergeSpecs
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING, Final

from kservec.core.llm.go_types import written
from kservec.core.llm.one_of import exclusive
from kservec.core.pods.strategic import merge
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.tree import Json

INLINE: Final = ("router", "scheduler", "config", "inline")
PODS: Final = (
    ("template",), ("worker",), ("prefill", "template"), ("prefill", "worker"), ("router", "scheduler", "template"),
)  # fmt: skip
"""The pods of a spec that have a list of containers even where none is written; a tokenizer's is not among them."""
ALL_PODS: Final = (*PODS, ("router", "scheduler", "tokenizer", "template"))


class UnmergeableError(Exception):
    """Two inline scheduler configurations share a map or list, which Kubernetes has no way to merge.

    `field` is the first such field.
    """

    def __init__(self, field: str) -> None:
        super().__init__(f"both have {field}")
        self.field = field


def merged(specs: Iterable[Json]) -> Json:
    """The specs laid over each other, the weakest first.

    An empty value (false, 0, "", [], {}) of a stronger one does not win, unless its field is a pointer in Go.

    Raises:
        UnmergeableError: two inline scheduler configurations have a map or list in common.
    """
    return reduce(laid_over, map(full, specs))


def full(spec: Json) -> Json:
    """A spec as Go writes it: without empty values, and with a list of containers in its pods."""
    kept = written(spec)
    for path in PODS:
        pod = lookup(kept, path)
        if isinstance(pod, dict) and "containers" not in pod:
            kept = with_containers(kept, path)
    return kept


def with_containers(spec: Json, path: tuple[str, ...]) -> Json:
    """A spec with an empty list of containers in the pod at a path."""
    return with_pod(spec, path, {**lookup(spec, path), "containers": []})


def laid_over(base: Json, patch: Json) -> Json:
    """One spec laid over another."""
    ours, theirs = lookup(patch, INLINE), lookup(base, INLINE)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        shared = [name for name in ours if isinstance(theirs.get(name), dict | list)]
        if shared:
            raise UnmergeableError(min(shared))
    if not lookup(patch, ("model", "uri")) and "model" in patch:
        patch = {**patch, "model": {name: part for name, part in patch["model"].items() if name != "uri"}}
    for path in ALL_PODS:
        pod, below = lookup(patch, path), lookup(base, path)
        if pod and below and (alone := exclusive(below, pod)) is not pod:
            patch = with_pod(patch, path, alone)
    return merge(base, patch)


def with_pod(spec: Json, path: tuple[str, ...], pod: Json) -> Json:
    """A spec with another pod at a path."""
    return {**spec, path[0]: with_pod(spec[path[0]], path[1:], pod)} if path else pod
