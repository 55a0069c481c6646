"""What an API server refuses between the fields of objects that are patched or included."""

from __future__ import annotations

from typing import Any

import pytest
from tests import libyaml

from kservec.api import packaged_schemas
from kservec.core.diagnostics import ObjectRef
from kservec.gitops.admissible import refused

POD = "{metadata: {labels: {app: x}}, spec: {containers: [{name: c, image: 'a/b:1'}]}}"
WORKLOAD = f"apiVersion: apps/v1\nkind: Deployment\nspec: {{selector: {{matchLabels: {{app: SEL}}}}, template: {POD}}}"
SCALER = "apiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nspec: {scaleTargetRef: {kind: A, name: b}, RANGE}"
SERVICE = "apiVersion: v1\nkind: Service\nspec: {ports: [PORTS]}"
BUDGET = "apiVersion: policy/v1\nkind: PodDisruptionBudget\nspec: {BOUNDS}"
PEERS = "ingress: [{from: [{ipBlock: {CIDR}}]}]"
POLICY = f"apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nspec: {{podSelector: {{}}, {PEERS}}}"


def codes(text: str) -> list[str]:
    """The codes of what is refused in an object."""
    value: Any = {"metadata": {"name": "own", "namespace": "ml"}, **libyaml.load(text)}
    ref = ObjectRef(value["apiVersion"], value["kind"], "ml", "own")
    return [fault.code.slug for fault in refused(value, ref, packaged_schemas())]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WORKLOAD.replace("SEL", "x"), []),
        (WORKLOAD.replace("SEL", "y"), ["output/selector-mismatch"]),
        (WORKLOAD.replace("matchLabels: {app: SEL}", ""), ["output/selector-mismatch"]),
        (WORKLOAD.replace("matchLabels: {app: SEL}", "matchExpressions: [{key: app, operator: DoesNotExist}]"),
         ["output/selector-mismatch"]),
        (WORKLOAD.replace("SEL", "x").replace("'a/b:1'", "a, env: [{name: A}, {name: A}]"), ["schema/duplicate"]),
        (WORKLOAD.replace("SEL", "x").replace("'a/b:1'", "a, ports: [{containerPort: 99999}]"), ["pod/invalid-value"]),
        (WORKLOAD.replace("SEL", "x").replace("'a/b:1'", "a, imagePullPolicy: Often"), ["schema/enum"]),
        (SCALER.replace("RANGE", "minReplicas: 1, maxReplicas: 1"), []),
        (SCALER.replace("RANGE", "minReplicas: 5, maxReplicas: 3"), ["output/replicas-range"]),
        (SCALER.replace("RANGE", "maxReplicas: 0"), ["output/replicas-range"]),
        (SCALER.replace("RANGE", "minReplicas: -1, maxReplicas: 3"), ["output/replicas-range"]),
        (SERVICE.replace("PORTS", "{port: 80}"), []),
        (SERVICE.replace("PORTS", "{port: 99999}"), ["output/port"]),
        (SERVICE.replace("PORTS", "{port: 80, targetPort: 0}"), ["output/port"]),
        (SERVICE.replace("PORTS", "{port: 80, name: a}, {port: 81, name: a}"), ["output/port"]),
        (BUDGET.replace("BOUNDS", "minAvailable: 50%"), []),
        (BUDGET.replace("BOUNDS", "minAvailable: 1, maxUnavailable: 1"), ["output/replicas-range"]),
        (BUDGET.replace("BOUNDS", "minAvailable: half"), ["output/replicas-range"]),
        (BUDGET.replace("BOUNDS", "maxUnavailable: -1"), ["output/replicas-range"]),
        (POLICY.replace("CIDR", "cidr: 10.0.0.0/8, except: [10.1.0.0/16]"), []),
        (POLICY.replace("CIDR", "cidr: 10.0.0.0/99"), ["output/network"]),
        (POLICY.replace("CIDR", "cidr: 10.0.0.0"), ["output/network"]),
        (POLICY.replace("CIDR", "cidr: 10.0.0.0/8, except: [192.168.0.0/16]"), ["output/network"]),
    ],
)  # fmt: skip
def test_fields_that_contradict_each_other(text: str, expected: list[str]) -> None:
    """What is refused, and what is not."""
    assert codes(text) == expected


def test_pods_of_kinds_without_a_schema() -> None:
    """They are held against the schema of a Deployment's pods."""
    text = "apiVersion: v1\nkind: Pod\nspec: {containers: [{name: c, image: a, ports: x}]}"
    assert codes(text) == ["schema/type"]
    assert codes(text.replace("ports: x", "tty: true")) == []


CONTAINERS = "spec.template.spec.containers is missing"
LEFT_OUT = [
    ("apps/v1", "Deployment", "{}", ["spec.selector is missing", CONTAINERS]),
    ("apps/v1", "Deployment", "{spec: null}", ["spec.selector is missing", CONTAINERS]),
    ("apps/v1", "StatefulSet", "{}", ["spec.selector is missing", CONTAINERS]),
    ("batch/v1", "Job", "{}", [CONTAINERS]),
    ("batch/v1", "CronJob", "{}", ["spec.jobTemplate.spec.template.spec.containers is missing"]),
    ("v1", "Pod", "{}", ["spec.containers is missing"]),
    ("autoscaling/v2", "HorizontalPodAutoscaler", "{spec: {maxReplicas: 2}}", ["spec.scaleTargetRef is missing"]),
    ("v1", "Service", "{}", ["no port is named"]),
    ("serving.knative.dev/v1", "Service", "{}", [CONTAINERS]),
    ("serving.knative.dev/v1", "Service", "{spec: {template: {}}}", [CONTAINERS]),
    ("networking.k8s.io/v1", "NetworkPolicy", "{}", []),
    ("v1", "Namespace", "{}", []),
    ("v1", "ConfigMap", "{}", []),
    ("rbac.authorization.k8s.io/v1", "Role", "{}", []),
]  # fmt: skip


@pytest.mark.parametrize(("version", "kind", "rest", "expected"), LEFT_OUT)
def test_a_spec_that_is_left_out_is_an_empty_one(version: str, kind: str, rest: str, expected: list[str]) -> None:
    """So an API server reads it, and refuses what has to be in it."""
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "own"}, **libyaml.load(rest)}
    found = refused(value, ObjectRef(version, kind, "", "own"), packaged_schemas())
    assert [fault.message for fault in found] == expected


@pytest.mark.parametrize("kind", ["Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job"])
@pytest.mark.parametrize(
    ("pods", "expected"),
    [
        ("", CONTAINERS),
        (", spec: {}", CONTAINERS),
        (", spec: {containers: [{name: c, image: 'a/b:1', ports: [{containerPort: 0}]}]}", "must be 1 to 65535"),
    ],
)
def test_pods_of_all_workloads_are_looked_at(kind: str, pods: str, expected: str) -> None:
    """Whether their spec is left out or wrong."""
    version, service = "batch/v1" if kind == "Job" else "apps/v1", "serviceName: x," if kind == "StatefulSet" else ""
    selector = "" if kind == "Job" else "selector: {matchLabels: {app: x}},"
    spec = libyaml.load(f"{{{service} {selector} template: {{metadata: {{labels: {{app: x}}}}{pods}}}}}")
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "own", "namespace": "ml"}, "spec": spec}
    (found,) = refused(value, ObjectRef(version, kind, "ml", "own"), packaged_schemas())
    assert expected in found.message


@pytest.mark.parametrize(("version", "kind"), sorted(packaged_schemas().kinds()))
@pytest.mark.parametrize(
    "rest", ["{}", "{spec: null}", "{spec: {}}", "{spec: {template: {}}}", "{spec: {template: null}}"]
)
def test_an_object_of_any_kind_may_lack_anything(version: str, kind: str, rest: str) -> None:
    """It is taken or refused, with a place and a text."""
    value = {"apiVersion": version, "kind": kind, "metadata": {"name": "own"}, **libyaml.load(rest)}
    for fault in refused(value, ObjectRef(version, kind, "", "own"), packaged_schemas()):
        assert fault.message
        assert fault.code.slug
