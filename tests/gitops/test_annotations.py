"""Annotations added to text: the result is what the emitter would have written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests import libyaml

from kservec.emit import dump
from kservec.gitops.annotations import annotated, annotations_of

from .trees import EXPECTED, Object

if TYPE_CHECKING:
    from pathlib import Path

ADDED = {"argocd.argoproj.io/sync-wave": "1", "kustomize.toolkit.fluxcd.io/substitute": "disabled", "a": "on", "z": "~"}


def expected(body: Object) -> str:
    """The text of an object with the annotations of ADDED that it lacks."""
    metadata = body["metadata"]
    return dump({**body, "metadata": {**metadata, "annotations": {**ADDED, **(metadata.get("annotations") or {})}}})


@pytest.mark.parametrize("part", range(8))
def test_the_result_is_what_the_emitter_would_write(part: int) -> None:
    """For every object of the golden trees: the same bytes as reading, adding and writing it give."""
    for path in EXPECTED[part::8]:
        for text in documents(path):
            assert annotated(text, ADDED) == expected(libyaml.load(text)), path


def documents(path: Path) -> list[str]:
    """The texts of the objects of a file."""
    text = path.read_text()
    return [part for part in re.split(r"(?m)^---\n", text) if part]


@pytest.mark.parametrize(
    "annotations",
    [
        {},
        {"b": "one\ntwo\n"},
        {"b": "\nfirst line empty\n\n\nlast", "c": "x"},
        {"y": "no", "true": "yes", "a:b": "c", 'q"uote': "d: e"},
        {"argocd.argoproj.io/sync-wave": "7"},
        {"long/" + "k" * 120: "v" * 400, "b": "    four\n    spaces"},
    ],
)
def test_odd_annotations(annotations: dict[str, str]) -> None:
    """Values of several lines, keys in quotes, annotations that are there already."""
    metadata = {"annotations": annotations, "name": "x"} if annotations else {"name": "x"}
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"annotations": "    a: b"}}
    once = annotated(dump(body), ADDED)
    assert once == expected(body)
    assert annotated(once, ADDED) == once
    assert annotations_of(dump(body)).keys() == annotations.keys()


def test_nothing_to_add() -> None:
    """The text stays as it is."""
    text = dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}})
    assert annotated(text, {}) == text
