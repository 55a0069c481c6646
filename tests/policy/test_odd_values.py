"""Nothing that a document holds crashes what looks at documents of a cluster, and at included ones."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from .odd_values import ODD, PLACES, changed, documents, laid_out, paths, rendered

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENTS = list(documents())
SAMPLE = 4


@pytest.mark.slow
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: f"{d['apiVersion']}-{d['kind']}")
@pytest.mark.parametrize("place", PLACES)
def test_no_value_is_too_odd(place: str, document: dict[str, object], tmp_path: Path) -> None:
    """Any value in any place of a document is a finding or nothing; a sample of them, the same each time."""
    folder = laid_out(tmp_path)
    chosen = random.Random(f"{place} {document['apiVersion']} {document['kind']}")  # noqa: S311 - which values to try
    for path, value in [(p, v) for p in chosen.sample(list(paths(document)), SAMPLE) for v in chosen.sample(ODD, 1)]:
        rendering = rendered(folder, place, changed(document, path, value))
        assert all(d.span is not None or not d.is_error for d in rendering.diagnostics)


@pytest.mark.parametrize(
    ("document", "path", "value"),
    [
        (kind, path, value)
        for kind, path, value in (
            ("ResourceQuota", ("spec", "hard"), {"pods": "x"}),
            ("ResourceQuota", ("spec", "hard"), "1Gi"),
            ("ResourceQuota", ("spec", "hard"), {"requests.cpu": []}),
            ("ResourceQuota", ("spec",), "text"),
            ("LimitRange", ("spec", "limits"), [1.5]),
            ("LimitRange", ("spec", "limits", 0, "min"), "../.."),
            ("LimitRange", ("spec", "limits", 0, "max", "cpu"), "../.."),
        )
    ],
)
def test_wrong_bounds_are_errors_at_their_place(
    document: str, path: tuple[str, ...], value: object, tmp_path: Path
) -> None:
    """A ResourceQuota or LimitRange of the wrong structure is an error in the platform's file."""
    sound = next(d for d in DOCUMENTS if d["kind"] == document)
    found = rendered(laid_out(tmp_path), "platform", changed(sound, path, value)).diagnostics
    errors = [d for d in found if d.is_error]
    assert errors
    assert all(d.span is not None and d.span.file.endswith("platform/document.yaml") for d in errors)
    assert all(d.code.slug.startswith("schema/") for d in errors)


@pytest.mark.parametrize("version", ["networking.istio.io/v1beta1", "networking.istio.io/v1"])
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("spec",), "x"),
        (("spec", "http"), [True]),
        (("spec", "http"), "1Gi"),
        (("spec", "http", 0, "route"), "x"),
        (("spec", "http", 0, "route", 0, "destination"), "{"),
    ],
)
def test_odd_routes_lead_nowhere(version: str, path: tuple[str, ...], value: object, tmp_path: Path) -> None:
    """A VirtualService of the version that is known is refused; of another one nothing is found."""
    sound = next(d for d in DOCUMENTS if (d["apiVersion"], d["kind"]) == (version, "VirtualService"))
    rendering = rendered(laid_out(tmp_path), "include", changed(sound, path, value))
    assert rendering.ok == (version == "networking.istio.io/v1")
