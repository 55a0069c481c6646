"""Selections: which services a text chooses, and which texts are none."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.core.staging import Staged, staged
from kservec.project.upgrade import unchosen
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


def test_selections_without_services_are_told() -> None:
    """A service that several selections choose is one; those that choose none are named."""
    services = [
        (ObjectRef("serving.kserve.io/v1beta1", "InferenceService", namespace, "a"), {"metadata": {"labels": labels}})
        for namespace, labels in (("x", {"tier": "dev"}), ("y", {"tier": "dev"}), ("z", None))
    ]
    texts = ("x", "tier=dev", "other")
    found = staged(services, [selection for text in texts if (selection := selection_of(text)) is not None])
    assert found.idle == {"other": ""}
    assert [ref.namespace for ref in sorted(found.moved)] == ["x", "y"]
    assert found.total == 3


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("taem-a", "team-a"), ("fraud", "team-a/InferenceService/fraud"), ("zzz", ""),
        ("team-a/InferenceService/fruad", "team-a/InferenceService/fraud"), ("*/*/fruad", "*/*/fraud"),
        ("team-a/inferenceservice/*", "team-a/InferenceService/*"), ("tier=dve", "tier=dev"), ("teir=dev", "tier=dev"),
        ("tier in (prod)", ""), ("tier=dev,zone=a", ""),
    ],
)  # fmt: skip
def test_what_a_text_that_chooses_nothing_was_meant_to_be(text: str, meant: str) -> None:
    """The nearest namespace, label or service; a lone name of a service is that service; nothing where nothing is."""
    selection = selection_of(text)
    assert selection is not None
    ref = ObjectRef("serving.kserve.io/v1beta1", SERVICE[1], SERVICE[0], SERVICE[2])
    assert staged([(ref, {"metadata": {"labels": LABELS}})], [selection]).idle == {text: meant}


@pytest.mark.parametrize(
    ("idle", "remedy"),
    [
        (({"a": "b"}, {}), None), (({"a": ""}, {"a": "b"}), "did you mean b?"), (({"c": ""},), None), ((), None),
        (({"a": ""},), "a selection is a namespace, a label as tier=dev, or a service as "
                       "payments/InferenceService/fraud"),
    ],
)  # fmt: skip
def test_one_environment_that_has_the_services_is_enough(idle: tuple[dict[str, str], ...], remedy: str | None) -> None:
    """A selection is refused where it chooses no service in any environment; what it was meant to be may be in any."""
    selection = selection_of("a")
    assert selection is not None
    found = list(unchosen([selection], [Staged(frozenset(), each, 1) for each in idle], None))
    assert [diagnostic.help for diagnostic in found] == ([] if remedy is None else [remedy])
    assert all(diagnostic.is_error for diagnostic in found)
