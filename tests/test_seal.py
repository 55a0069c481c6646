"""seal: what no pass honoured, and what an API server would refuse, is reported where it comes from."""

from __future__ import annotations

from typing import Any

import pytest

from kservec import compile_text
from kservec.core.bundle import Bundle, manifest
from kservec.core.intents import ExposeIntent
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Unit
from kservec.io.packaged import packaged_schemas
from kservec.passes.seal import seal


@pytest.fixture(name="unit")
def unit_fixture(bench: Any) -> Unit:
    """A unit that nothing is left to do for."""
    made: Unit = bench().unit({"predictor": {"model": {"modelFormat": {"name": "sklearn"}}}})
    return evolve(made, intents=(), components=())


def test_an_intent_that_is_left_is_reported(bench: Any, unit: Unit) -> None:
    """A wish that no pass took is an error, never silence."""
    left = evolve(unit, intents=(ExposeIntent(origin=unit.source.origin("metadata", "name")),))
    (found,) = seal(left, bench().env).diagnostics
    assert found.code.slug == "output/intent-left"
    assert found.span is not None


def test_an_object_that_does_not_fit_its_schema_is_reported(bench: Any, unit: Unit) -> None:
    """What the schema of an emitted kind refuses is an error of the unit, at the place that the value comes from."""
    origin = unit.source.origin("spec", "predictor")
    body = {"spec": {"ports": [{"port": "eighty"}]}}
    made = manifest("v1", "Service", {"name": "churn", "namespace": "ml"}, body, origin)
    env = evolve(bench().env, schemas=packaged_schemas())
    (found,) = seal(evolve(unit, bundle=Bundle((made,))), env).diagnostics
    assert found.code.slug == "output/refused"
    assert found.message.startswith("Service churn: spec.ports[0].port ")
    assert found.span == unit.source.span("spec", "predictor")


def test_what_is_nobodys_is_reported_at_the_units_name(bench: Any, unit: Unit) -> None:
    """A value that the compiler made up, and that does not fit, is reported where the unit says who it is."""
    body = {"spec": {"ports": [{"port": "eighty"}]}}
    made = manifest("v1", "Service", {"name": "churn", "namespace": "ml"}, body, Origin(Layer.KSERVE_DEFAULT, "test"))
    env = evolve(bench().env, schemas=packaged_schemas())
    (found,) = seal(evolve(unit, bundle=Bundle((made,))), env).diagnostics
    assert found.span == unit.source.span("metadata", "name")
    assert found.span != unit.source.span("metadata")


def test_internal_annotations_are_not_written() -> None:
    """What only spoke to KServe's webhooks is in no object."""
    text = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: iris
  annotations: {serving.kserve.io/deploymentMode: Standard, internal.serving.kserve.io/batcher: "true"}
spec:
  predictor:
    model: {modelFormat: {name: sklearn}, storageUri: "gs://models/iris"}
"""
    compiled = compile_text(text)
    assert compiled.ok, compiled.diagnostics
    assert "internal.serving.kserve.io" not in compiled.yaml
    assert "--enable-batcher" in compiled.yaml


def test_alternatives_of_a_schema_are_explained() -> None:
    """A document that fits none of several alternatives is refused under a code of its own (schema/alternatives)."""
    text = """
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: iris}
spec:
  predictor:
    deploymentStrategy: {rollingUpdate: {maxSurge: {percent: 25}}}
    model: {modelFormat: {name: sklearn}}
"""
    found = [d for d in compile_text(text).diagnostics if d.is_error]
    assert [d.code.slug for d in found] == ["schema/type"]
    assert found[0].span is not None
    assert found[0].span.line == 7
