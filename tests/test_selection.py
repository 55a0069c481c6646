"""Selections: which services a text chooses, and which texts are none."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.core.staging import staged
from kservec.spec.selection import selection_of

SERVICE = ("team-a", "InferenceService", "fraud")
LABELS = {"tier": "dev", "example.com/gpu": "h100"}


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("team-a", True), ("team-*", True), ("*", True), ("team", False), ("team-b", False),
        ("team-a/InferenceService/fraud", True), ("*/*/fraud", True), ("team-a/InferenceGraph/fraud", False),
        ("tier=dev", True), ("tier==dev", True), ("tier!=dev", False), ("tier!=prod", True), ("zone!=a", True),
        ("zone=a", False), ("tier=dev,example.com/gpu=h100", True), ("tier=dev,example.com/gpu=l4", False),
        ("tier in (dev, test)", True), ("tier notin (dev,test)", False), ("zone notin (a)", True),
        ("tier in (dev,test),zone!=a", True),
    ],
)  # fmt: skip
def test_what_a_text_chooses(text: str, chosen: bool) -> None:
    """Namespaces and services by their names, where stars stand for anything; labels as kubectl takes them."""
    selection = selection_of(text)
    assert selection is not None
    assert selection.chooses(SERVICE, LABELS) is chosen


@pytest.mark.parametrize("text", ["", "a b", "team-a/fraud", "tier=dev,", "=dev", "tier in ()", "a/b/c/d", "tier>1"])
def test_texts_that_choose_nothing(text: str) -> None:
    """A text that is no selection is none, instead of one that happens to choose nobody."""
    assert selection_of(text) is None


def test_services_are_counted_once() -> None:
    """Each selection knows how many it chooses; a service that several choose is one."""
    services = [
        (ObjectRef("serving.kserve.io/v1beta1", "InferenceService", namespace, "a"), {"metadata": {"labels": labels}})
        for namespace, labels in (("x", {"tier": "dev"}), ("y", {"tier": "dev"}), ("z", None))
    ]
    texts = ("x", "tier=dev", "other")
    found = staged(services, [selection for text in texts if (selection := selection_of(text)) is not None])
    assert found.counts == (1, 2, 0)
    assert [ref.namespace for ref in sorted(found.moved)] == ["x", "y"]
    assert found.total == 3
