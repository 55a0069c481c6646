"""The checks notice each fault that they are there for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .checks import findings

if TYPE_CHECKING:
    from .client import ApiServer, Object


def config_map(**more: Any) -> Object:
    """A ConfigMap named a."""
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ml"}, **more}


def claim(storage: str) -> Object:
    """A PersistentVolumeClaim of a size."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": storage}}},
    }


def route(**backend: Any) -> Object:
    """An HTTPRoute to one backend, its other defaults written out."""
    parent = {"group": "gateway.networking.k8s.io", "kind": "Gateway", "name": "a"}
    match = {"path": {"type": "PathPrefix", "value": "/"}}
    rule = {"matches": [match], "backendRefs": [{"group": "", "kind": "Service", "name": "a", "port": 80, **backend}]}
    return {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "a", "namespace": "ml"},
        "spec": {"parentRefs": [parent], "rules": [rule]},
    }


@pytest.mark.parametrize(
    "manifest",
    [config_map(data={"key": "value"}), claim("1Gi"), route(weight=1)],
    ids=["built in", "canonical quantity", "custom with defaults"],
)
def test_nothing_is_found(server: ApiServer, prefix: str, manifest: Object) -> None:
    """A manifest that syncs cleanly has no findings."""
    assert findings(server, [manifest], prefix) == []


@pytest.mark.parametrize(
    ("manifest", "found"),
    [
        (config_map(dat={}), "field not declared in schema"),
        (config_map(data={"key": 1}), "expected string"),
        (config_map(data={"not/valid": "value"}), "a valid config key must consist of"),
        (config_map(kind="Nothing"), "no kind Nothing in v1"),
        (claim("1024Mi"), "'1024Mi' reads '1Gi'"),
        (route(), "spec.rules[0].backendRefs[0].weight is added by the server"),
        (route(weight=-1), "should be greater than or equal to 0"),
    ],
    ids=["unknown field", "wrong type", "bad value", "unknown kind", "quantity", "default left out", "schema of a CRD"],
)
def test_fault_is_found(server: ApiServer, prefix: str, manifest: Object, found: str) -> None:
    """A manifest that would not sync cleanly has one finding, which says why."""
    (finding,) = findings(server, [manifest], prefix)
    assert found in finding
