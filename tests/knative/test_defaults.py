"""What Knative's webhook would fill in, written out; and the port that requests come to."""

from __future__ import annotations

import pytest

RELAY = {"name": "relay", "image": "registry.example.com/relay:1"}


def server_of(outcome, name="kserve-container"):
    """A container of the revision."""
    return next(c for c in outcome.template()["spec"]["containers"] if c["name"] == name)


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        ({}, {"successThreshold": 1, "tcpSocket": {"port": 8080}}),
        ({"ports": [{"containerPort": 9000}]}, {"successThreshold": 1, "tcpSocket": {"port": 9000}}),
        (
            {"readinessProbe": {"httpGet": {"path": "/ready"}}},
            {"successThreshold": 1, "httpGet": {"path": "/ready", "port": 8080}},
        ),
        ({"readinessProbe": {"exec": {"command": ["ok"]}}}, {"successThreshold": 1, "exec": {"command": ["ok"]}}),
        (
            {"readinessProbe": {"periodSeconds": 5}},
            {
                "successThreshold": 1,
                "failureThreshold": 3,
                "timeoutSeconds": 1,
                "periodSeconds": 5,
                "tcpSocket": {"port": 8080},
            },
        ),
        (
            {"readinessProbe": {"tcpSocket": {"port": 8080}, "periodSeconds": 5}},
            {
                "successThreshold": 1,
                "failureThreshold": 3,
                "timeoutSeconds": 1,
                "periodSeconds": 5,
                "tcpSocket": {"port": 8080},
            },
        ),
    ],
)
def test_readiness(knative, predictor, server, expected):
    """The serving container has a readiness probe with a port and thresholds."""
    assert server_of(knative(predictor(server=server)))["readinessProbe"] == expected


def test_only_the_serving_container_is_probed(knative, predictor):
    """A sidecar gets no probe."""
    outcome = knative(predictor(RELAY, server={"ports": [{"containerPort": 9000}]}))
    assert "readinessProbe" not in server_of(outcome, "relay")


@pytest.mark.parametrize(("name", "port"), [("livenessProbe", {}), ("startupProbe", {"port": 0})])
def test_probes_without_a_port(knative, predictor, name, port):
    """A probe of the serving container that names no port means that of requests."""
    probe = {"httpGet": {"path": "/", **port}}
    outcome = knative(predictor(server={"ports": [{"containerPort": 9000}], name: probe}))
    assert server_of(outcome)[name]["httpGet"]["port"] == 9000


@pytest.mark.parametrize(
    ("further", "serving", "port"),
    [
        ((), "kserve-container", None),
        ((RELAY,), "kserve-container", 8080),
        (({**RELAY, "name": "transformer-container"},), "transformer-container", 8080),
        (({**RELAY, "ports": [{"containerPort": 9000}]},), "relay", 9000),
    ],
)
def test_the_port_of_requests(knative, predictor, further, serving, port):
    """With one container Knative takes 8080; with several, one of them lists the port."""
    outcome = knative(predictor(*further))
    listed = {
        c["name"]: c["ports"][0]["containerPort"] for c in outcome.template()["spec"]["containers"] if "ports" in c
    }
    assert listed == ({serving: port} if port else {})
    assert "readinessProbe" in server_of(outcome, serving)


@pytest.mark.parametrize(
    ("settings", "fields", "expected"),
    [
        ({"revision-timeout-seconds": "120"}, {}, {"timeoutSeconds": 120}),
        ({"revision-timeout-seconds": "120"}, {"timeout": 0}, {"timeoutSeconds": 120}),
        ({"container-concurrency": "5"}, {}, {"containerConcurrency": 5}),
        ({"enable-service-links": "true"}, {}, {"enableServiceLinks": True}),
        ({"enable-service-links": "default"}, {}, {"enableServiceLinks": None}),
        ({"revision-response-start-timeout-seconds": "60"}, {}, {"responseStartTimeoutSeconds": 60}),
        ({"revision-response-start-timeout-seconds": "300"}, {}, {"responseStartTimeoutSeconds": None}),
        ({"revision-idle-timeout-seconds": "30"}, {}, {"idleTimeoutSeconds": 30}),
        ({"revision-timeout-seconds": "120"}, {"timeout": 60}, {"timeoutSeconds": 60}),
    ],
)
def test_defaults_of_the_platform(knative, predictor, settings, fields, expected):
    """Knative's config-defaults say what is filled in; the service's own values stay."""
    spec = knative(predictor(**fields), config={"defaults": settings}).template()["spec"]
    assert {name: spec.get(name) for name in expected} == expected


def test_default_resources_of_the_platform(knative, predictor):
    """Requests and limits that the platform gives to containers which have none."""
    settings = {"revision-cpu-request": "200m", "revision-memory-limit": "1Gi"}
    server = {"resources": {"requests": {"memory": "512Mi"}}}
    outcome = knative(predictor(server=server), config={"defaults": settings})
    assert server_of(outcome)["resources"] == {
        "requests": {"cpu": "200m", "memory": "512Mi"},
        "limits": {"memory": "1Gi"},
    }


def test_readiness_of_a_sidecar(knative, predictor):
    """A probe of a sidecar states its thresholds too, though it is no serving container."""
    relay = {**RELAY, "readinessProbe": {"tcpSocket": {"port": 9000}}}
    outcome = knative(predictor(relay, server={"ports": [{"containerPort": 8080}]}))
    assert server_of(outcome, "relay")["readinessProbe"] == {"successThreshold": 1, "tcpSocket": {"port": 9000}}


SAFE = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


@pytest.mark.parametrize(
    ("flag", "fields", "expected"),
    [
        ("disabled", {}, None),
        ("Enabled", {}, {**SAFE, "runAsNonRoot": True}),
        ("AllowRootBounded", {}, SAFE),
        (
            "enabled",
            {"securityContext": {"runAsNonRoot": False, "seccompProfile": {"type": "Unconfined"}}},
            {k: v for k, v in SAFE.items() if k != "seccompProfile"},
        ),
        (
            "enabled",
            {"server": {"ports": [{"containerPort": 80}], "securityContext": {"runAsNonRoot": False}}},
            {**SAFE, "runAsNonRoot": False, "capabilities": {"drop": ["ALL"], "add": ["NET_BIND_SERVICE"]}},
        ),
        (
            "enabled",
            {"server": {"securityContext": {"capabilities": {"drop": ["NET_RAW"]}}}},
            {**SAFE, "runAsNonRoot": True, "capabilities": {"drop": ["NET_RAW"]}},
        ),
    ],
)
def test_safe_settings_of_the_platform(secured, flag, fields, expected):
    """With secure-pod-defaults Knative fills in what is unsafe by default; what containers and pod say stays."""
    assert server_of(secured(flag, fields)).get("securityContext") == expected


def test_mounts_that_cannot_be_written_to(knative, predictor):
    """Mounts of all volumes but emptyDir and claims are read-only."""
    volumes = [
        {"name": "config", "configMap": {"name": "c"}},
        {"name": "scratch", "emptyDir": {}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "c"}},
    ]
    mounts = [{"name": v["name"], "mountPath": f"/{v['name']}"} for v in volumes]
    outcome = knative(predictor(server={"volumeMounts": mounts}, volumes=volumes))
    assert {m["name"]: m.get("readOnly") for m in server_of(outcome)["volumeMounts"]} == {
        "config": True,
        "scratch": None,
        "claim": None,
    }
