"""Patches of our own and patches inside of kustomizations, as texts."""

from __future__ import annotations

import pytest

from kservec.core.text.document import Document
from kservec.edits.changes import Put, Target
from kservec.edits.inline import changed_inline
from kservec.edits.nodes import NotEditableError
from kservec.edits.patch_files import Valued, listed, unlisted, with_value
from kservec.overlays.objects import Id

CALLED = Id("serving.kserve.io", "v1beta1", "InferenceService", "", "iris")
LIKE = {"spec": {"predictor": {"containers": [{"name": "a"}, {"name": "b"}, {"name": "c"}]}}}
AT = ("spec", "predictor", "containers")
HEAD = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata:\n  name: iris\nspec:\n  predictor:\n"


def valued(name: str, value: str) -> Valued:
    """An image of a container."""
    return Valued(Document("iris.yaml", LIKE), (*AT, name, "image"), value)


def test_a_patch_keeps_the_order_of_containers() -> None:
    """It names those that come before the one that is meant; more values are added, or changed where they are there."""
    made = with_value(None, CALLED, valued("b", "b:1"))
    assert made == f"{HEAD}    containers:\n    - name: a\n    - image: b:1\n      name: b\n"
    more = with_value(made, CALLED, valued("a", "a:1"))
    assert more == made.replace("- name: a\n", "- name: a\n      image: a:1\n")
    last = with_value(more, CALLED, valued("c", "c:1"))
    assert last.endswith("      name: b\n    - image: c:1\n      name: c\n")
    assert with_value(last, CALLED, valued("b", "b:2")) == last.replace("b:1", "b:2")


@pytest.mark.parametrize(
    "text", ["resources: [x]\n", "patches:\n- path: a.yaml\n", "patches: [{path: a.yaml}]  # x\n", "resources: [x]"]
)
def test_an_entry_of_a_patch_comes_and_goes(text: str) -> None:
    """Naming it twice is naming it once."""
    made = listed(text, "own.yaml")
    assert listed(made, "own.yaml") == made != text
    assert unlisted(made, "own.yaml") == text


def test_an_entry_with_a_target_is_somebody_elses() -> None:
    """It is not taken away."""
    with pytest.raises(NotEditableError):
        unlisted("patches: [{path: own.yaml, target: {kind: X}}]\n", "own.yaml")


INLINE = [
    ("p: |\n  # x\n  a: old  # y\n  b: 1\nq: old\n", "p: |\n  # x\n  a: new  # y\n  b: 1\nq: old\n"),
    ("p: |-\r\n    a: old\r\nq: 1\r\n", "p: |-\r\n    a: new\r\nq: 1\r\n"),
    ("p: '{a: old}'\n", "p: '{a: new}'\n"),
    ('p: "a: old\\n"\n', 'p: "a: new\\n"\n'),
]


@pytest.mark.parametrize(("text", "expected"), INLINE)
def test_a_value_in_a_text_is_replaced(text: str, expected: str) -> None:
    """Nothing around it changes."""
    assert changed_inline(text, ("p",), Target(0), Put(("a",), "new")) == expected


@pytest.mark.parametrize("text", ["p: >-\n  a: old\n", "p: &x |\n  a: old\n", "p: 1\n"])
def test_texts_that_are_not_edited(text: str) -> None:
    """Folded ones have other lines than the file; others are shared, or no texts."""
    with pytest.raises(NotEditableError):
        changed_inline(text, ("p",), Target(0), Put(("a",), "new"))
