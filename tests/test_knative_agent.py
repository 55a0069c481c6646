"""The agent in Knative mode: requests come to it, and it alone asks the server whether it is ready."""

from __future__ import annotations

import pytest

from kservec.core.records import evolve
from kservec.core.unit import Mode
from kservec.passes.add_sidecars import add_sidecars

QUANTITIES = {"cpuRequest": "100m", "cpuLimit": "1", "memoryRequest": "100Mi", "memoryLimit": "1Gi"}
SECTIONS = {
    "agent": {"image": "registry.example.com/agent:1", **QUANTITIES},
    "logger": {"defaultUrl": "http://broker", **QUANTITIES},
}
SERVER = {"name": "kserve-container", "image": "registry.example.com/server:1"}
TIMING = '"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3'


def containers(bench, *written):
    """The containers, by name, of a predictor that logs in Knative mode."""
    made = bench(**SECTIONS)
    unit = made.unit({"predictor": {"containers": list(written), "logger": {"mode": "all"}}})
    step = add_sidecars(evolve(unit, mode=Mode.KNATIVE), made.env)
    return {c["name"]: c for c in step.unit.components[0].pod.value["containers"]}


@pytest.mark.parametrize(
    ("ports", "listed", "served"),
    [
        ([], {"containerPort": 9081, "protocol": "TCP"}, "8080"),
        ([{"containerPort": 9000, "name": "http1"}], {"containerPort": 9081, "protocol": "TCP"}, "9000"),
        ([{"containerPort": 9000, "name": "h2c"}], {"containerPort": 9081, "protocol": "TCP", "name": "h2c"}, "9000"),
        ([{"containerPort": 9000}, {"containerPort": 9001, "name": "h2c"}], {"containerPort": 9081, "protocol": "TCP"},
         "9000"),
    ],
)  # fmt: skip
def test_the_agent_alone_lists_a_port(bench, ports, listed, served) -> None:
    """Knative takes one port; it is the agent's, for the protocol of the server's, which the agent is told of."""
    pod = containers(bench, SERVER | {"ports": ports}, {"name": "relay", "ports": [{"containerPort": 7000}]})
    assert pod["agent"]["ports"] == [listed]
    assert pod["agent"]["args"][-2:] == ["--component-port", served]
    assert not any(pod[name].get("ports") for name in ("kserve-container", "relay"))


@pytest.mark.parametrize(
    ("probe", "kept", "told"),
    [
        (None, None, f'{{"tcpSocket":{{"port":9000}},{TIMING}}}'),
        ({"httpGet": {"path": "/r", "port": "web"}}, None,
         f'{{"httpGet":{{"path":"/r","port":9000,"scheme":"HTTP"}},{TIMING}}}'),
        ({"exec": {"command": ["ready"]}}, {"exec": {"command": ["ready"]}}, None),
    ],
)  # fmt: skip
def test_the_agent_takes_over_the_servers_readiness_probe(bench, probe, kept, told) -> None:
    """What the agent can ask itself is no probe of the server any more; what it cannot stays one."""
    server = SERVER | {"ports": [{"containerPort": 9000, "name": "web"}]} | ({"readinessProbe": probe} if probe else {})
    pod = containers(bench, server)
    assert pod["kserve-container"].get("readinessProbe") == kept
    assert pod["agent"]["env"][0].get("value") == told


def test_probes_that_stay_do_not_name_ports_that_are_gone(bench) -> None:
    """A probe that named a port of its container gives the number instead."""
    server = SERVER | {
        "ports": [{"containerPort": 9000, "name": "web"}],
        "livenessProbe": {"httpGet": {"port": "web"}},
        "startupProbe": {"tcpSocket": {"port": 9001}},
    }
    pod = containers(bench, server)
    assert pod["kserve-container"]["livenessProbe"] == {"httpGet": {"port": 9000}}
    assert pod["kserve-container"]["startupProbe"] == {"tcpSocket": {"port": 9001}}


def test_a_collocated_transformer_is_what_the_agent_stands_before(bench) -> None:
    """Port and probe are the transformer's; the server's own probe stays."""
    probe = {"tcpSocket": {"port": 8080}}
    transformer = {"name": "transformer-container", "ports": [{"containerPort": 7000}], "readinessProbe": probe}
    pod = containers(bench, SERVER | {"readinessProbe": probe}, transformer)
    assert pod["agent"]["args"][-1] == "7000"
    assert "readinessProbe" not in pod["transformer-container"]
    assert pod["kserve-container"]["readinessProbe"] == probe
