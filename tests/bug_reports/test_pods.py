"""Pods: containers side by side, and what Knative takes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from .making import CONTAINER, KNATIVE, PLAIN, POD, SERVER, built, deployment, dig, found, made, model, service

if TYPE_CHECKING:
    from collections.abc import Mapping


def side_by_side(server: Mapping[str, Any], transformer: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A predictor whose transformer runs in the same pod, written first."""
    pair = [{"name": "transformer-container", "image": "prep:1", **transformer}]
    return {"containers": [*pair, {"name": SERVER, "image": "server:1", **server}], **more}


LISTED = ({"ports": [{"containerPort": 8092, "name": "h2c"}]}, {"ports": [{"containerPort": 8010, "name": "http1"}]})


@pytest.mark.parametrize(("more", "target"), [({}, 8010), ({"logger": {"mode": "all", "url": "http://sink"}}, 9081)])
def test_requests_go_to_the_transformer_in_the_pod(more: dict[str, Any], target: int) -> None:
    """The Service leads to the transformer, or to the agent before it; each container is asked at its own port."""
    result = built(service(side_by_side(*LISTED, **more)))
    (port,) = dig(made(result)["Service/churn-predictor"], ("spec", "ports"))
    assert (port["port"], port["targetPort"]) == (80, target)
    probe = ("readinessProbe", "tcpSocket", "port")
    assert deployment(result, *CONTAINER, *probe) == 8092
    assert deployment(result, *POD, "containers", "transformer-container", *probe) == 8010
    if more:
        args = deployment(result, *POD, "containers", "agent", "args")
        assert args[args.index("--component-port") + 1] == "8010"


@pytest.mark.parametrize(
    ("server", "transformer", "expected"),
    [
        ({"ports": [{"containerPort": 8080}]}, {"ports": [{"containerPort": 8080}]}, "pod/port-taken"),
        ({}, {"ports": [{"containerPort": 8080}]}, "pod/port-assumed"),
        ({}, {}, "pod/port-assumed"),
    ],
)
def test_two_containers_at_one_port(server: dict[str, Any], transformer: dict[str, Any], expected: str) -> None:
    """Containers of a pod that list one port are refused, and one that is taken to listen at another's is a warning."""
    assert found(built(service(side_by_side(server, transformer)))) == [expected]


def test_a_model_for_both_containers() -> None:
    """One container names the model, in either order; both find it, and a second model is refused."""
    uri = {"env": [{"name": "STORAGE_URI", "value": "s3://models/churn"}]}
    result = built(service(side_by_side({**LISTED[0], **uri}, LISTED[1])))
    assert deployment(result, *POD, "initContainers", 0, "args") == ["s3://models/churn", "/mnt/models"]
    for name in (SERVER, "transformer-container"):
        assert deployment(result, *POD, "containers", name, "volumeMounts", "/mnt/models", "readOnly") is True
    assert found(built(service(side_by_side({**LISTED[0], **uri}, {**LISTED[1], **uri})))) == [
        "storage/uri-on-transformer-container"
    ]


def test_ports_of_two_containers_are_refused_in_knative_mode() -> None:
    """Knative takes one port a pod; the error names the containers that list some."""
    second = {"name": "prep", "image": "prep:1", "ports": [{"containerPort": 9000}]}
    first = {**PLAIN["containers"][0], "ports": [{"containerPort": 8080}]}
    (error,) = built(service({"containers": [first, second]}, mode="Knative"), knative=KNATIVE).diagnostics
    assert error.code.slug == "knative/several-ports"
    assert "8080 (kserve-container), 9000 (prep)" in error.message


@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_probes_by_grpc_stay(mode: str) -> None:
    """A gRPC probe keeps its port and period in both modes."""
    probe = {"grpc": {"port": 8033}, "periodSeconds": 5}
    container = {"name": SERVER, "image": "server:1", "ports": [{"containerPort": 8033}], "readinessProbe": probe}
    objects = made(built(service({"containers": [container]}, mode=mode), knative=KNATIVE))
    kept = next(p for o in objects.values() if (p := dig(o, (*CONTAINER, "readinessProbe"))))
    assert kept["grpc"]["port"] == 8033
    assert kept["periodSeconds"] == 5
    assert "tcpSocket" not in kept


def on_a_claim(mode: str, **more: Any) -> dict[str, Any]:
    """A service with a node selector whose model lies on a claim."""
    return service(model(uri="pvc://store/churn", nodeSelector={"gpu": "a100"}), mode=mode, **more)


def test_features_of_knative_are_checked() -> None:
    """Each feature that is off is an error where it is needed; Standard mode needs none."""
    off = {**KNATIVE, "features": {"kubernetes.podspec-tolerations": "enabled"}}
    result = built(on_a_claim("Knative"), knative=off)
    assert found(result) == ["knative/feature-disabled"] * 2
    assert [("nodeselector" in d.message, "-claim" in d.message) for d in result.diagnostics] == [
        (False, True),
        (True, False),
    ]
    assert found(built(on_a_claim("Standard"), knative=off)) == []


def test_a_model_on_a_claim_in_knative_mode() -> None:
    """With the features for claims and node selectors, and without that for writing, Knative takes the service."""
    result = built(on_a_claim("Knative"), knative=KNATIVE)
    spec = dig(made(result)["Service/churn-predictor"], POD)
    assert spec["nodeSelector"] == {"gpu": "a100"}
    assert dig(spec, ("volumes", 0, "persistentVolumeClaim")) == {"claimName": "store", "readOnly": True}
    (mount,) = dig(spec, ("containers", SERVER, "volumeMounts"))
    assert mount == {"name": "kserve-pvc-source", "mountPath": "/mnt/models", "subPath": "churn", "readOnly": True}
    assert found(result) == []


def test_a_volume_without_a_source() -> None:
    """An API server makes it an emptyDir, so that is written out; Knative takes none."""
    mounted = [{"name": SERVER, "image": "server:1", "volumeMounts": [{"name": "scratch", "mountPath": "/scratch"}]}]
    predictor = {"volumes": [{"name": "scratch"}], "containers": mounted}
    assert deployment(built(service(predictor)), *POD, "volumes", "scratch") == {"name": "scratch", "emptyDir": {}}
    assert "knative/volume" in found(built(service(predictor, mode="Knative"), knative=KNATIVE))
