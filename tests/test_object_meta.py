"""Rules for names, labels and annotations that the API server has in code."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.schemas.object_meta import is_key, metadata_faults

CASES: list[tuple[str, Any, list[str]]] = [
    ("well formed", {"name": "a.b-1", "namespace": "ml", "labels": {"example.com/a": "B_1.x", "b": ""}}, []),
    ("no name", {}, ["metadata/missing-name metadata"]),
    ("an empty name", {"name": ""}, ["metadata/missing-name metadata"]),
    ("a generated name", {"generateName": "a-"}, ["metadata/missing-name metadata.generateName"]),
    ("a name beside a generated one", {"name": "a", "generateName": "a-"}, []),
    ("capitals in a name", {"name": "Llama"}, ["metadata/invalid-name metadata.name"]),
    ("a placeholder", {"name": "{{ name }}"}, ["metadata/invalid-name metadata.name"]),
    ("a long name", {"name": "a" * 254}, ["metadata/invalid-name metadata.name"]),
    ("a trailing newline in a name", {"name": "a\n"}, ["metadata/invalid-name metadata.name"]),
    ("a dot in a namespace", {"name": "a", "namespace": "a.b"}, ["metadata/invalid-namespace metadata.namespace"]),
    ("a long namespace", {"name": "a", "namespace": "a" * 64}, ["metadata/invalid-namespace metadata.namespace"]),
    ("a bad label key", {"name": "a", "labels": {"a b": "c"}}, ["metadata/invalid-key metadata.labels.a b"]),
    ("a bad label", {"name": "a", "labels": {"a": "c d"}}, ["metadata/invalid-label metadata.labels.a"]),
    ("a long label", {"name": "a", "labels": {"a": "c" * 64}}, ["metadata/invalid-label metadata.labels.a"]),
    (
        "a bad annotation key",
        {"name": "a", "annotations": {"/a": ""}},
        ["metadata/invalid-key metadata.annotations./a"],
    ),
    ("capitals before the slash of an annotation", {"name": "a", "annotations": {"Example.com/a": "x y"}}, []),
    (
        "capitals before the slash of a label",
        {"name": "a", "labels": {"Ex/a": ""}},
        ["metadata/invalid-key metadata.labels.Ex/a"],
    ),
    (
        "large annotations",
        {"name": "a", "annotations": {"a": "é" * 131_073}},
        ["metadata/annotations-too-large metadata.annotations"],
    ),
    ("just not too large", {"name": "a", "annotations": {"a": "é" * 131_071}}, []),
    (
        "values of the wrong type are left to the schema",
        {"name": 3, "namespace": [], "labels": [], "annotations": {"a": 1}},
        [],
    ),
    ("no mapping", ["x"], []),
]


@pytest.mark.parametrize(("metadata", "expected"), [row[1:] for row in CASES], ids=[row[0] for row in CASES])
def test_metadata_faults(metadata: Any, expected: list[str]) -> None:
    """Metadata gives exactly the faults that the API server would refuse it for."""
    assert [f"{f.code.slug} {'.'.join(map(str, f.path))}" for f in metadata_faults(metadata)] == expected


@pytest.mark.parametrize(("name", "ok"), [("system:Node_x", True), ("a/b", False), ("50%", False), ("..", False)])
def test_names_of_rbac_kinds(name: str, ok: bool) -> None:
    """Roles and bindings take any name that can be a segment of a path."""
    assert (metadata_faults({"name": name}, takes_any_name=True) == []) is ok


def test_placeholders_are_called_by_name() -> None:
    """A template variable that nobody filled in is recognised as one."""
    (fault,) = metadata_faults({"name": "<model-name>"})
    assert fault.help == "this looks like a placeholder that was never filled in"


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("a", True),
        ("a" * 63, True),
        ("a" * 64, False),
        ("a.b-c_d", True),
        ("-a", False),
        ("a-", False),
        ("", False),
        ("x/", False),
        ("x/y/z", False),
        ("x" * 253 + "/a", True),
        ("x" * 254 + "/a", False),
        ("a\n", False),
    ],
)
def test_keys(key: str, expected: bool) -> None:
    """Keys are told apart as the API server does."""
    assert is_key(key) is expected
