"""Features and limits of Knative's configuration that a revision needs, and whether the platform declares them."""

from __future__ import annotations

import pytest

from kservec.core.knative.demands import (
    DEFAULTS,
    FEATURES,
    LIMITS,
    MAY_BE_ALLOWED,
    ON_BY_DEFAULT,
    POD_FIELDS,
    VOLUME_SOURCES,
    Demand,
    demands,
    is_granted,
)

SERVER = {"name": "kserve-container"}
INIT_CONTAINERS = "kubernetes.podspec-init-containers"


def keys(pod):
    """The settings that a pod needs."""
    return [d.key for d in demands({"containers": [SERVER], **pod})]


@pytest.mark.parametrize(("field", "feature"), [*POD_FIELDS.items()])
def test_fields_of_a_pod(field, feature):
    """Each of these fields needs a feature, and only where it says something."""
    value = [{"name": "a"}] if field == "initContainers" else {"a": 1}
    assert keys({field: value}) == [feature]
    assert keys({field: type(value)()}) == []


@pytest.mark.parametrize("source", VOLUME_SOURCES)
def test_sources_of_volumes(source):
    """Each of these sources needs a feature; a claim that can be written to needs two."""
    expected = [VOLUME_SOURCES[source]]
    if source == "persistentVolumeClaim":
        expected.append("kubernetes.podspec-persistent-volume-write")
    assert keys({"volumes": [{"name": "v", source: {}}]}) == expected


@pytest.mark.parametrize(
    ("pod", "expected"),
    [
        ({}, []),
        ({"volumes": [{"name": "v", "secret": {}}]}, []),
        (
            {"volumes": [{"name": "v", "persistentVolumeClaim": {"readOnly": True}}]},
            ["kubernetes.podspec-persistent-volume-claim"],
        ),
        ({"containers": [SERVER, {"name": "b"}]}, ["multi-container"]),
        (
            {"containers": [{**SERVER, "ports": [1]}, {"name": "b", "livenessProbe": {"exec": {}}}]},
            ["multi-container", "multi-container-probing"],
        ),
        ({"containers": [{**SERVER, "ports": [1], "livenessProbe": {"exec": {}}}]}, []),
        (
            {"containers": [{**SERVER, "env": [{"name": "A", "valueFrom": {"resourceFieldRef": {"a": 1}}}]}]},
            ["kubernetes.podspec-fieldref"],
        ),
        ({"containers": [{**SERVER, "env": [{"name": "A", "valueFrom": {"secretKeyRef": {"a": 1}}}]}]}, []),
        (
            {"containers": [{**SERVER, "securityContext": {"capabilities": {"add": ["NET_RAW"]}}}]},
            ["kubernetes.containerspec-addcapabilities"],
        ),
        ({"containers": [{**SERVER, "securityContext": {"capabilities": {"drop": ["ALL"]}}}]}, []),
        (
            {"containers": [{**SERVER, "volumeMounts": [{"mountPropagation": "HostToContainer"}]}]},
            ["kubernetes.podspec-volumes-mount-propagation"],
        ),
        ({"timeoutSeconds": 900}, ["max-revision-timeout-seconds"]),
        ({"containerConcurrency": 5}, ["container-concurrency-max-limit"]),
    ],
)
def test_demands(pod, expected):
    """What needs a setting, and what does not."""
    assert keys(pod) == expected


@pytest.mark.parametrize(
    ("key", "given", "granted"),
    [
        (INIT_CONTAINERS, None, False),
        (INIT_CONTAINERS, "Enabled", True),
        (INIT_CONTAINERS, "allowed", False),
        (INIT_CONTAINERS, "on", False),
        ("kubernetes.podspec-affinity", "Allowed", True),
        ("kubernetes.podspec-affinity", "disabled", False),
        ("multi-container", None, True),
        ("multi-container", "disabled", False),
        ("multi-container", "nonsense", True),
    ],
)
def test_features(key, given, granted):
    """A flag that is not set, or set to nonsense, has Knative's default."""
    assert is_granted(Demand(FEATURES, key, ()), {} if given is None else {key: given}) is granted


@pytest.mark.parametrize(
    ("limit", "given", "granted"),
    [(600, None, True), (601, None, False), (900, "900", True), (901, "900", False), (600, "x", True)],
)
def test_limits(limit, given, granted):
    """A number within the limit that is set, or within Knative's own."""
    key, _ = LIMITS["timeoutSeconds"]
    assert is_granted(Demand(DEFAULTS, key, (), limit), {} if given is None else {key: given}) is granted


def test_every_flag_is_known():
    """The flags for which Allowed does, and those on by default, are among those that pods can need."""
    known = {*POD_FIELDS.values(), *VOLUME_SOURCES.values(), "multi-container", "kubernetes.podspec-fieldref"}
    assert known >= MAY_BE_ALLOWED | ON_BY_DEFAULT


def test_disabled_features_are_named_one_by_one(knative, predictor):
    """Each feature that is off is an error of its own: where it is needed, and the command that turns it on."""
    outcome = knative(predictor(nodeSelector={"a": "b"}, schedulerName="fast"), config={"features": {}})
    found = [d for d in outcome.compilation.diagnostics if d.code.slug == "knative/feature-disabled"]
    names = ["kubernetes.podspec-nodeselector", "kubernetes.podspec-schedulername"]
    assert [name in d.message for name, d in zip(names, found, strict=True)] == [True, True]
    assert all(d.span.line > 1 for d in found)
    assert found[0].help == (
        "kubectl patch configmap config-features -n knative-serving --type merge "
        """-p '{"data":{"kubernetes.podspec-nodeselector":"enabled"}}'"""
    )
    assert outcome.objects == {}


def test_undeclared_features_are_a_warning(knative, predictor):
    """Where config-features is not declared, each feature that is off by default is named, and output is made."""
    fields = {"nodeSelector": {"a": "b"}, "volumes": [{"name": "v", "emptyDir": {}}]}
    server = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    outcome = knative(predictor(server=server, **fields), config={"features": None})
    assert "kubernetes.podspec-nodeselector" in outcome.find("knative/settings-undeclared").message
    assert outcome.compilation.ok


def test_limits_of_the_platform(knative, predictor):
    """A timeout beyond the platform's limit is refused with the number that it would have to be."""
    outcome = knative(predictor(timeout=900))
    found = outcome.find("knative/limit-exceeded")
    assert "max-revision-timeout-seconds of at least 900" in found.message
    wide = knative(predictor(timeout=900), config={"defaults": {"max-revision-timeout-seconds": "900"}})
    unknown = knative(predictor(timeout=900), config={"defaults": None})
    assert (wide.slugs, unknown.slugs) == ([], ["knative/settings-undeclared"])


@pytest.mark.parametrize(
    ("settings", "fields", "refused"),
    [
        ({"allow-container-concurrency-zero": "false"}, {}, True),
        ({"allow-container-concurrency-zero": "false", "container-concurrency": "5"}, {}, False),
        (
            {"allow-container-concurrency-zero": "false", "container-concurrency": "5"},
            {"containerConcurrency": 0},
            True,
        ),
        ({"allow-container-concurrency-zero": "false"}, {"containerConcurrency": 4}, False),
        ({"allow-container-concurrency-zero": "True"}, {}, False),
    ],
)
def test_any_number_of_requests(knative, predictor, settings, fields, refused):
    """A platform may want every pod to limit how many requests it takes at a time."""
    outcome = knative(predictor(**fields), config={"defaults": settings})
    assert ("knative/limit-exceeded" in outcome.slugs) is refused


@pytest.mark.parametrize(
    ("flag", "fields", "refused"),
    [
        ("enabled", {"securityContext": {"seccompProfile": {"type": "Unconfined"}}}, False),
        ("AllowRootBounded", {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, False),
        ("enabled", {"securityContext": {"seccompProfile": {"type": "Localhost"}}}, True),
        ("enabled", {"securityContext": {"runAsUser": 1000}}, True),
        ("disabled", {"securityContext": {"seccompProfile": {"type": "RuntimeDefault"}}}, True),
        ("enabled", {"server": {"ports": [{"containerPort": 80}]}}, False),
        ("enabled", {"server": {"securityContext": {"capabilities": {"add": ["NET_BIND_SERVICE"]}}}}, False),
        ("enabled", {"server": {"securityContext": {"capabilities": {"add": ["SYS_TIME"]}}}}, True),
    ],
)
def test_safe_settings_need_no_feature(knative, predictor, flag, fields, refused):
    """Where the platform fills in safe settings, it takes those that such a default would be, and ports below 1024."""
    outcome = knative(predictor(**fields), config={"features": {"secure-pod-defaults": flag}})
    assert ("knative/feature-disabled" in outcome.slugs) is refused
