"""Objects, annotations and arguments that are too large for a cluster."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.core.schemas.object_meta import SURELY_SMALL
from kservec.core.validity.object_size import MOST, MOST_DATA, MOST_OF_ONE, size_faults
from kservec.gitops.admissible import refused
from kservec.io.packaged import packaged_schemas

from .making import built, model, service

LARGE, LONG = "output/too-large", "pod/long-argument"
CONFIG_MAP = ObjectRef("v1", "ConfigMap", "ml", "a")


def said(predictor: dict[str, Any], mode: str = "Standard", **more: Any) -> list[str]:
    """What is said of sizes."""
    result = built(service(predictor, mode=mode, **more))
    return [d.code.slug for d in result.diagnostics if d.code.slug in (LARGE, LONG, "metadata/annotations-too-large")]


@pytest.mark.parametrize(
    ("args", "slugs"),
    [
        (["x" * (MOST_OF_ONE - 1)], []),
        (["x" * MOST_OF_ONE], [LONG]),
        (["€" * (MOST_OF_ONE // 3 + 1)], [LONG]),
        (["x" * 100_000] * 15, []),
        (["x" * 100_000] * 16, [LARGE]),
        (["€" * 40_000] * 14, [LARGE]),
        (["x" * 3_000_000], [LARGE, LONG]),
    ],
)
def test_arguments(args: list[str], slugs: list[str]) -> None:
    """Bytes count, those of one argument and those of the whole object; an object that is too large is an error."""
    assert said(model(model={"args": args})) == slugs
    assert built(service(model(model={"args": args}))).ok is (LARGE not in slugs)


def test_variables() -> None:
    """A variable is handed over like an argument."""
    assert said(model(model={"env": [{"name": "A", "value": "x" * MOST_OF_ONE}]})) == [LONG]


@pytest.mark.parametrize(("length", "slugs"), [(250_000, []), (270_000, ["metadata/annotations-too-large"])])
def test_annotations_of_pods_of_knative(length: int, slugs: list[str]) -> None:
    """A revision has the annotations of its template, and the limit of every object."""
    assert said(model(annotations={"example.com/note": "x" * length}), "Knative") == slugs


def test_what_is_too_large_is_found_at_its_longest_text() -> None:
    """The place is that of the text which takes most."""
    result = built(service(model(model={"args": ["--a", "x" * 100_000, *["y" * 200_000] * 8]})))
    (error,) = [d for d in result.diagnostics if d.is_error]
    assert error.span is not None
    assert error.span.end_column - error.span.column >= 200_000 or error.span.end_line > error.span.line
    assert result.objects == ()


@pytest.mark.parametrize(("length", "slugs"), [(MOST_DATA, []), (MOST_DATA + 1, [LARGE]), (MOST + 1, [LARGE])])
def test_included_config_maps(length: int, slugs: list[str]) -> None:
    """What a project includes is held against the same limits, and a ConfigMap against its own."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"b": "x" * length}}
    assert [fault.code.slug for fault in refused(body, CONFIG_MAP, packaged_schemas())] == slugs


def test_a_short_object_has_nothing_that_is_too_large() -> None:
    """Below the bound that objects are held against as text, no limit can be reached."""
    assert min(MOST, MOST_DATA, MOST_OF_ONE) >= SURELY_SMALL * 4
    body = {"metadata": {"name": "a"}, "data": {"b": "€" * (SURELY_SMALL // 4)}}
    assert list(size_faults(body, CONFIG_MAP)) == []


@pytest.mark.parametrize("name", [{"a": "b"}, ["a"], 1.5, True, None])
def test_items_of_kinds_that_nobody_knows_may_be_named_by_anything(name: Any) -> None:
    """Other projects' objects are sized whatever they hold; two items of one name count as two."""
    half = {"name": name, "text": "x" * (MOST // 2 + 1)}
    body = {"apiVersion": "acme.example/v1", "kind": "Widget", "metadata": {"name": "a"}, "spec": {"env": [half, half]}}
    ref = ObjectRef("acme.example/v1", "Widget", "ml", "a")
    assert [fault.code.slug for fault in refused(body, ref, packaged_schemas())] == [LARGE]
