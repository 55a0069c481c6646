"""The stored form: each expectation was read back from an API server (`make apiserver` reads all of them back)."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema_rs import Draft202012Validator, RegexOptions
from tests import libyaml

from kservec.core.quantity import canonical
from kservec.core.schemas.stored_form import PLAIN_QUANTITY, changing, stored_schema
from kservec.core.schemas.structure import plan_of
from kservec.io.packaged import packaged_schemas

SCHEMAS = packaged_schemas()
GOLDEN = Path(__file__).parents[1] / "golden"


def pod(**fields: Any) -> dict[str, Any]:
    """A Deployment whose pods have these fields."""
    return {"apiVersion": "apps/v1", "kind": "Deployment", "spec": {"template": {"spec": fields}}}


def container(**fields: Any) -> dict[str, Any]:
    """A Deployment with one container, which has these fields."""
    return pod(containers=[{"name": "a", **fields}])


def claim(**spec: Any) -> dict[str, Any]:
    """A PersistentVolume with this spec."""
    return {"apiVersion": "v1", "kind": "PersistentVolume", "spec": spec}


def autoscaler(*metrics: Any) -> dict[str, Any]:
    """A HorizontalPodAutoscaler with these metrics."""
    return {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "spec": {"metrics": list(metrics)}}


def scaled_object(**metadata: Any) -> dict[str, Any]:
    """A ScaledObject with one trigger, complete but for the metadata of the trigger."""
    trigger = {"type": "cpu", "useCachedMetrics": False, "metadata": metadata}
    return {"apiVersion": "keda.sh/v1alpha1", "kind": "ScaledObject", "spec": {"triggers": [trigger]}}


def knative_service(**container: Any) -> Any:
    """A Knative service with one container."""
    template = {"spec": {"containerConcurrency": 0, "containers": [{"name": "a", **container}]}}
    return {"apiVersion": "serving.knative.dev/v1", "kind": "Service", "spec": {"template": template}}


def resources(**amounts: Any) -> dict[str, Any]:
    """Resources of a container whose limits and requests are alike."""
    return {"resources": {"limits": amounts, "requests": amounts}}


def metric(quantity: str) -> dict[str, Any]:
    """A metric of an autoscaler, with its target in both forms that are quantities."""
    return {"type": "Pods", "pods": {"target": {"averageValue": quantity, "value": quantity}}}


def own_resource(divisor: str) -> dict[str, Any]:
    """A variable that is taken from the container's own resources."""
    return {"name": "b", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": divisor}}}


def cache(limit: str) -> dict[str, Any]:
    """A volume in memory."""
    return {"name": "a", "emptyDir": {"medium": "Memory", "sizeLimit": limit}}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (container(**resources(**{"nvidia.com/gpu": 1})), container(**resources(**{"nvidia.com/gpu": "1"}))),
        (container(**resources(cpu="0.1")), container(**resources(cpu="100m"))),
        (container(**resources(cpu="1000m")), container(**resources(cpu="1"))),
        (container(**resources(memory="1024Mi")), container(**resources(memory="1Gi"))),
        (container(**resources(memory="much")), container(**resources(memory="much"))),
        (container(**resources(memory=True)), container(**resources(memory=True))),
        (container(env=[own_resource("1000m")]), container(env=[own_resource("1")])),
        (container(securityContext={"privileged": False}),) * 2,
        (
            pod(initContainers=[{"name": "a", **resources(cpu="0.5")}]),
            pod(initContainers=[{"name": "a", **resources(cpu="500m")}]),
        ),
        (pod(overhead={"cpu": "0.5"}), pod(overhead={"cpu": "500m"})),
        (pod(volumes=[cache("2048Mi")]), pod(volumes=[cache("2Gi")])),
        (pod(volumes=[{"name": "a", "emptyDir": {}}]),) * 2,
        (autoscaler(metric("1000m")), autoscaler(metric("1"))),
        (claim(capacity={"storage": "1024Gi"}), claim(capacity={"storage": "1Ti"})),
        (knative_service(**resources(cpu="1000m")), knative_service(**resources(cpu="1"))),
        (scaled_object(value="1000m"),) * 2,
        ({"apiVersion": "v1", "kind": "ConfigMap", "data": {"limits": "1000m", "empty": ""}},) * 2,
        ({"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"limits": {"cpu": "1000m"}}},) * 2,
    ],
)
def test_stored_form(written: Any, stored: Any) -> None:
    """Quantities are canonical, and nothing else changes."""
    before = copy.deepcopy(written)
    assert SCHEMAS.as_stored(written, written["apiVersion"], written["kind"]) == stored
    assert written == before


def test_what_is_stored_as_it_is_is_not_copied() -> None:
    """An object that is in its stored form already is returned itself."""
    value = container(**resources(cpu="1"), env=[{"name": "a", "value": "b"}])
    assert SCHEMAS.as_stored(value, "apps/v1", "Deployment") is value


match_kind = re.compile(r"apiVersion: (.+)\nkind: (.+)\n").match


def objects() -> dict[tuple[str, str], Any]:
    """The largest object of each kind among the golden cases."""
    texts: dict[tuple[str, str], str] = {}
    for file in sorted(GOLDEN.glob("*/expect/**/*.yaml"), key=lambda file: (file.stat().st_size, file)):
        text = file.read_text()
        if kind := match_kind(text):
            texts[kind[1], kind[2]] = text
    return {key: libyaml.load(text) for key, text in texts.items() if SCHEMAS.knows(*key)}


OBJECTS = objects()


def altered(value: Any) -> Any:
    """A value and all that it is with one thing in it left out, null, or a quantity in another form."""
    yield value
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in [*children]:
        for other in (*altered(child), None, "1000m", "1024Mi", "0.5", 1000):
            yield {**value, step: other} if isinstance(value, dict) else [*value[:step], other, *value[step + 1 :]]
        if isinstance(value, dict):
            yield {name: held for name, held in value.items() if name != step}


@pytest.mark.parametrize("defaulted", [lambda _: True, lambda name: name == "protocol"], ids=["all", "protocol"])
@pytest.mark.parametrize("key", OBJECTS, ids=lambda key: f"{key[0]} {key[1]}")
def test_what_passes_at_once_needs_no_change(key: tuple[str, str], defaulted: Any) -> None:
    """Whatever default is missing or quantity written otherwise: what the quick look lets pass, the walk leaves."""
    plan = plan_of(SCHEMAS.document(*key), defaulted)
    if plan is None:
        return
    look, change = Draft202012Validator(stored_schema(plan), pattern_options=RegexOptions()).is_valid, changing(plan)
    stored = change(OBJECTS[key])
    assert change(stored) is stored
    for value in altered(stored):
        assert not look(value) or change(value) is value, value


@pytest.mark.parametrize("suffix", ["", "n", "u", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"])
def test_plain_quantities_are_canonical(suffix: str) -> None:
    """A quantity that is seen to be canonical at once is written no other way."""
    for number in (*range(1030), 1500, 10500, 20480, 99900, 123456789012, 100000000000):
        text = f"{number}{suffix}"
        assert not re.search(PLAIN_QUANTITY, text) or canonical(text) == text


@pytest.mark.parametrize("text", ["1", "500m", "1500m", "100Mi", "4Gi", "10500", "999Ti"])
def test_usual_quantities_are_plain(text: str) -> None:
    """Those that people write need no walk."""
    assert re.search(PLAIN_QUANTITY, text)
