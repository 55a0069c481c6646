"""Pins of objects: what is one, under which name it is compared, and what is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import libyaml

from kservec.edits.pinned import Pin, pins_in

if TYPE_CHECKING:
    from kservec.core.paths import Path

CASES: dict[str, tuple[str, dict[Path, Pin]]] = {
    "a model": (
        "spec: {predictor: {minReplicas: 1, sklearn: {storageUri: s3://m, runtimeVersion: '1', resources: {}}}}",
        {
            ("spec", "predictor", "sklearn", "storageUri"): Pin(
                ("spec", "predictor", "sklearn", "storageUri"), "s3://m"
            ),
            ("spec", "predictor", "sklearn", "runtimeVersion"): Pin(
                ("spec", "predictor", "sklearn", "runtimeVersion"), "1"
            ),
        },
    ),
    "a path in a bucket": (
        "spec: {predictor: {logger: {storage: {path: logs}}, model: {storage: {key: k, path: p}}}}",
        {
            ("spec", "predictor", "model", "storage", "path"): Pin(
                ("spec", "predictor", "model", "storage", "path"), "p"
            )
        },
    ),
    "several models": (
        "spec: {predictor: {storageUris: [{uri: s3://a, mountPath: /a}, {uri: s3://b}]}}",
        {
            ("spec", "predictor", "storageUris", "/a", "uri"): Pin(
                ("spec", "predictor", "storageUris", 0, "uri"), "s3://a"
            ),
            ("spec", "predictor", "storageUris", 1, "uri"): Pin(
                ("spec", "predictor", "storageUris", 1, "uri"), "s3://b"
            ),
        },
    ),
    "a revision in one argument": (
        "spec: {template: {containers: [{name: main, args: [--x, --revision=abc]}]}}",
        {
            ("spec", "template", "containers", "main", "args", "--revision"): Pin(
                ("spec", "template", "containers", "main", "args", 1), "abc", "--revision="
            )
        },
    ),
    "a revision twice": ("spec: {template: {containers: [{name: main, args: [--revision=a, --revision, b]}]}}", {}),
    "adapters": (
        "spec: {model: {uri: hf://m, lora: {adapters: [{name: a, uri: hf://a}]}}}",
        {
            ("spec", "model", "uri"): Pin(("spec", "model", "uri"), "hf://m"),
            ("spec", "model", "lora", "adapters", "a", "uri"): Pin(
                ("spec", "model", "lora", "adapters", "a", "uri"), "hf://a"
            ),
        },
    ),
    "canaries and metadata": (
        "metadata: {annotations: {image: x}}\nspec: {canary: [{predictor: {model: {storageUri: s3://c}}}]}",
        {},
    ),
    "names elsewhere": ("spec: {predictor: {name: v7, model: {name: x, modelFormat: {name: sklearn}}}}", {}),
}


@pytest.mark.parametrize("name", CASES)
def test_pins_of_an_object(name: str) -> None:
    """They are found with where they stand, by the names of containers."""
    text, expected = CASES[name]
    assert dict(pins_in(libyaml.load(text))) == expected


@pytest.mark.parametrize(
    ("path", "holder"),
    [
        (("spec", "predictor", "model", "storageUri"), ("spec", "predictor", "model")),
        (("spec", "template", "containers", "main", "args", 1), ("spec", "template", "containers", "main")),
        (("spec", "model", "lora", "adapters", "a", "uri"), ("spec", "model", "lora")),
    ],
)
def test_what_holds_a_pin(path: Path, holder: Path) -> None:
    """Of a list that a patch can only replace as a whole it is what has the list."""
    assert Pin(path, "x").holder == holder
