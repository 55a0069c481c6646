"""The quick looks by which most objects pass: what they let pass has no fault, and most objects do pass."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator
from tests import libyaml

from kservec.core.schemas.object_meta import PLAIN_OBJECT, metadata_faults
from kservec.core.validity.pod_validity import RULES, every_fault, is_plain

GOLDEN = Path(__file__).parents[1] / "golden"
TEXTS = (
    "",
    "-a",
    "A_b",
    "a.b",
    "a" * 64,
    "a/b",
    "../a",
    "10.0.0.1",
    "Exists",
    "Localhost",
    "-1",
    "0.5",
    "1e3",
    "ü",
    "a\n",
)
NUMBERS = (-1, 0, 1, 2, 65536, 2**31, 2**33)
MOST_PODS, QUICK = 40, 16
"""How many pods are changed in every way, and how many of them always."""
PLAIN_METADATA = Draft202012Validator(PLAIN_OBJECT)


def pods() -> list[Any]:
    """The PodSpecs of the golden cases, each once, and those that an API server was asked about."""
    found: dict[str, Any] = {}
    for file in sorted(GOLDEN.glob("*/expect/**/deployment-*.yaml")):
        pod = libyaml.load(file.read_text())["spec"]["template"]["spec"]
        found.setdefault(repr([sorted(c) for c in pod["containers"]]) + repr(sorted(pod)), pod)
        if len(found) == MOST_PODS:
            break
    return list(found.values())


PODS = pods()
each_pod = pytest.mark.parametrize(
    "pod", [pytest.param(pod, id=str(i), marks=pytest.mark.slow if i >= QUICK else ()) for i, pod in enumerate(PODS)]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values below a value."""
    for step, child in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield (*path, step)
        yield from places(child, (*path, step))


def instead(value: Any) -> tuple[Any, ...]:
    """Other values of the same type."""
    if isinstance(value, bool):
        return (not value,)
    if isinstance(value, list):
        return ([], [*value, *copy.deepcopy(value)])
    if isinstance(value, dict):
        return ({}, *({k: v for k, v in value.items() if k != name} for name in value if name != "name"))
    return NUMBERS if isinstance(value, int) else TEXTS


def changed(pod: Any) -> Iterator[Any]:
    """The pod with one value changed, for each value and several changes."""
    for path in places(pod):
        at = copy.deepcopy(pod)
        holder = at
        for step in path[:-1]:
            holder = holder[step]
        for other in instead(holder[path[-1]]):
            holder[path[-1]] = other
            yield at


@each_pod
def test_no_rule_speaks_against_what_passes_at_once(pod: Any) -> None:
    """Whatever value of a pod is changed: what the quick look lets pass, no rule has anything to say about."""
    for other in changed(pod):
        if "name" in repr(other) and RULES.plain.is_valid(other):
            assert not [*RULES.check(other)], other


@each_pod
def test_no_pod_that_passes_at_once_has_a_fault(pod: Any) -> None:
    """Whatever value of a pod is changed: where the quick looks let it pass, looking one by one finds nothing."""
    for other in changed(pod):
        if RULES.plain.is_valid(other) and is_plain(other):
            assert not [*every_fault(other)], other


def test_most_pods_pass_at_once() -> None:
    """The quick look is worth taking: it lets most pods of the golden cases pass."""
    assert sum(RULES.plain.is_valid(pod) and is_plain(pod) for pod in PODS) > 0.8 * len(PODS)


@pytest.mark.parametrize("text", [*TEXTS, "example.com/a", "a.b/c_D", "/a", "a/", "Example.com/a", "a" * 63, "a..b"])
def test_plain_metadata_has_no_fault(text: str) -> None:
    """Names, keys and values that pass at once are well formed."""
    for metadata in (
        {"name": text},
        {"name": "a", "namespace": text},
        {"name": "a", "labels": {text: ""}},
        {"name": "a", "labels": {"a": text}},
        {"name": "a", "annotations": {text: ""}},
        {"name": "a", "annotations": {"a": text}},
        {"name": "a", "annotations": {f"a{i}": "ü" * 800 for i in range(60)}},
    ):
        if PLAIN_METADATA.is_valid({"metadata": metadata}):
            assert metadata_faults(metadata) == []


@pytest.mark.parametrize("name", [None, 5, [], {}])
def test_a_name_that_is_no_text_is_not_plain(name: Any) -> None:
    """A name that is left empty is null, which would leave the object out without a word."""
    assert not PLAIN_METADATA.is_valid({"metadata": {"name": name}})


def test_common_metadata_passes_at_once() -> None:
    """The metadata that nearly all objects have needs no second look."""
    metadata = {
        "name": "iris",
        "namespace": "ml",
        "labels": {"app.kubernetes.io/name": "iris"},
        "annotations": {"a": "ü"},
    }
    assert PLAIN_METADATA.is_valid({"metadata": metadata})
