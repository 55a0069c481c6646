"""What an API server checks of pods in code. The verdicts were an API server's, and `make apiserver` asks again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec.core.diagnostics import Severity
from kservec.core.schemas.schema import Schemas
from kservec.core.validity.object_validity import object_faults
from kservec.io.packaged import packaged_schemas

VECTORS = libyaml.load((Path(__file__).parent / "vectors" / "pods.yaml").read_text())
KIND = ("apps/v1", "Deployment")


@pytest.fixture(name="schemas", scope="module")
def schemas_fixture() -> Schemas:
    """The schemas that ship with kservec."""
    return packaged_schemas()


def found(manifest: Any, schemas: Schemas) -> list[str]:
    """The errors in a Deployment, by code first and by its schema else, as `seal` does it."""
    stored = schemas.as_stored(manifest, *KIND)
    faults = object_faults(*KIND, stored)
    messages = [fault.message for fault in faults if fault.code.severity is Severity.ERROR]
    return messages or [message for _, message in schemas.output_errors(stored, *KIND)]


@pytest.mark.parametrize("title", VECTORS["accepted"])
def test_nothing_is_said_against_what_is_accepted(schemas: Schemas, deployment: Callable[..., Any], title: str) -> None:
    """What an API server accepts has no errors; what no node could run is warned of."""
    assert found(deployment(**VECTORS["accepted"][title]), schemas) == []


@pytest.mark.parametrize("title", VECTORS["refused"])
def test_what_is_refused_has_a_fault(schemas: Schemas, deployment: Callable[..., Any], title: str) -> None:
    """What an API server refuses has a fault, and no more than two."""
    assert 1 <= len(found(deployment(**VECTORS["refused"][title]), schemas)) <= 2


@pytest.mark.parametrize(
    ("laid_over", "path", "message"),
    [
        (
            {"container": {"env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"key": "b"}}}]}},
            ("containers", "kserve-container", "env", "A", "valueFrom", "configMapKeyRef"),
            "containers.kserve-container.env.A.valueFrom.configMapKeyRef has no name",
        ),
        (
            {"container": {"ports": [{"containerPort": 8080, "hostPort": 70000}]}},
            ("containers", "kserve-container", "ports", 8080, "hostPort"),
            "containers.kserve-container.ports.hostPort is 70000, but must be 0 to 65535",
        ),
        (
            {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}, {"ip": "10.0.0.1", "hostnames": ["b"]}]},
            ("hostAliases",),
            "hostAliases has 2 items with ip 10.0.0.1",
        ),
        (
            {"volumes": [{"name": "a", "configMap": {"name": "b", "items": [{"key": "c", "path": "../d"}]}}]},
            ("volumes", "a", "configMap", "items", 0, "path"),
            'volumes.a.configMap.items[0].path is "../d", but must be a relative path without ..',
        ),
    ],
)
def test_a_fault_names_its_place(
    deployment: Callable[..., Any], laid_over: dict[str, Any], path: tuple[str | int, ...], message: str
) -> None:
    """The path has merge keys, so that the place can be found in the user's file; the message says it in words."""
    (fault,) = object_faults(*KIND, deployment(**laid_over))
    assert fault.path == ("spec", "template", "spec", *path)
    assert fault.message == message


def test_ports_of_a_service_need_names() -> None:
    """A port without a name is fine alone, and an output/unnamed-port beside others."""
    service = {"metadata": {"name": "a"}, "spec": {"ports": [{"port": 80, "name": "b"}, {"port": 81}]}}
    assert [f.code.slug for f in object_faults("v1", "Service", service)] == ["output/unnamed-port"]
    service["spec"]["ports"].pop(0)
    assert list(object_faults("v1", "Service", service)) == []


@pytest.mark.parametrize(
    "laid_over",
    [
        {"readinessProbe": {"tcpSocket": {"port": 70000}}},
        {"livenessProbe": {"httpGet": {"port": 70000}}, "startupProbe": {"grpc": {"port": 70000}}},
        {"lifecycle": {"preStop": {"httpGet": {"port": 70000}}}},
    ],
    ids=["a probe", "two probes", "a hook"],
)
def test_a_port_is_told_of_once(schemas: Schemas, deployment: Callable[..., Any], laid_over: dict[str, Any]) -> None:
    """What uses a port of its container is wrong only because that is; what uses another one has a fault of its own."""
    ports = [{"containerPort": 70000}]
    (message,) = found(deployment(container={"ports": ports, **laid_over}), schemas)
    assert message.endswith("ports.containerPort is 70000, but must be 1 to 65535")
    elsewhere = found(deployment(container={"ports": [{"containerPort": 8080}], **laid_over}), schemas)
    assert len(elsewhere) == len(laid_over)


def test_what_is_valid_is_said(schemas: Schemas, deployment: Callable[..., Any]) -> None:
    """Whatever is refused has a remedy of its own: what is allowed, what to add, or that it has to go."""
    plain = {"correct the value", "add it", ""}
    for title, laid_over in VECTORS["refused"].items():
        stored = schemas.as_stored(deployment(**laid_over), *KIND)
        faults = [fault for fault in object_faults(*KIND, stored) if fault.code.severity is Severity.ERROR]
        assert all(fault.help not in plain for fault in faults), (title, [fault.help for fault in faults])
