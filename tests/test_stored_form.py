"""The stored form: each expectation was read back from an API server (`make apiserver` reads all of them back)."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from kservec.core.stored_form import stored_form


def pod(**container: Any) -> dict[str, Any]:
    """A Deployment with one container."""
    return {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [{"name": "a", **container}]}}}}


@pytest.mark.parametrize(
    ("written", "stored"),
    [
        (pod(resources={"limits": {"nvidia.com/gpu": 1}}), pod(resources={"limits": {"nvidia.com/gpu": "1"}})),
        (pod(resources={"requests": {"cpu": "0.1"}}), pod(resources={"requests": {"cpu": "100m"}})),
        (pod(resources={"requests": {"memory": "1024Mi"}}), pod(resources={"requests": {"memory": "1Gi"}})),
        (pod(resources={"requests": {"memory": "much"}}), pod(resources={"requests": {"memory": "much"}})),
        (pod(env=[{"name": "b", "value": ""}]), pod(env=[{"name": "b"}])),
        (pod(envFrom=[{"prefix": "", "secretRef": {"name": "b"}}]), pod(envFrom=[{"secretRef": {"name": "b"}}])),
        (pod(securityContext={"privileged": False}), pod(securityContext={"privileged": False})),
        (
            {"spec": {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "2048Mi"}}]}},
            {"spec": {"volumes": [{"name": "a", "emptyDir": {"sizeLimit": "2Gi"}}]}},
        ),
        (
            {"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}},
            {"spec": {"volumes": [{"name": "a", "emptyDir": {}}]}},
        ),
        (
            {"spec": {"metrics": [{"resource": {"target": {"averageValue": "1000m"}}}]}},
            {"spec": {"metrics": [{"resource": {"target": {"averageValue": "1"}}}]}},
        ),
        ({"spec": {"capacity": {"storage": "1024Gi"}}}, {"spec": {"capacity": {"storage": "1Ti"}}}),
        ({"data": {"limits": "1000m", "empty": ""}}, {"data": {"limits": "1000m", "empty": ""}}),
        ({"spec": {"template": {"spec": {"containerConcurrency": 0}}}},) * 2,
    ],
)
def test_stored_form(written: Any, stored: Any) -> None:
    """Quantities are canonical, empty fields of pods are gone, and nothing else changes."""
    before = copy.deepcopy(written)
    assert stored_form(written) == stored
    assert written == before


def test_what_is_stored_as_it_is_is_not_copied() -> None:
    """An object that is in its stored form already is returned itself."""
    value = pod(resources={"limits": {"cpu": "1"}}, env=[{"name": "a", "value": "b"}])
    assert stored_form(value) is value
    assert stored_form(stored_form(pod(resources={"limits": {"cpu": 1}}))) == pod(resources={"limits": {"cpu": "1"}})
