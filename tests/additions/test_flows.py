"""Who reaches whom under the NetworkPolicies of a golden project, worked out as Kubernetes defines it."""

from __future__ import annotations

from ipaddress import ip_address, ip_network
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import libyaml

TREE = Path(__file__).parents[2] / "golden" / "project-network-policy" / "expect" / "rendered" / "prod"
POLICIES = [libyaml.load(path.read_text()) for path in sorted(TREE.rglob("networkpolicy-*.yaml"))]
LLM = {"app.kubernetes.io/name": "assistant", "app.kubernetes.io/part-of": "llminferenceservice"}


class Pod(NamedTuple):
    """A pod by its namespace and labels, or a host outside of the cluster by its address."""

    namespace: str = ""
    labels: dict[str, str] = {}  # noqa: RUF012 - never changed
    address: str = ""


PODS = {
    "gateway": Pod("envoy-gateway-system", {}),
    "activator": Pod("knative-serving", {}),
    "prometheus": Pod("monitoring", {"app.kubernetes.io/name": "prometheus"}),
    "grafana": Pod("monitoring", {"app.kubernetes.io/name": "grafana"}),
    "batch": Pod("payments", {"app": "batch-scorer"}),
    "batch elsewhere": Pod("other", {"app": "batch-scorer"}),
    "stranger": Pod("payments", {"app": "stranger"}),
    "stranger in support": Pod("support", {"app": "stranger"}),
    "dns": Pod("kube-system", {}),
    "broker": Pod("events", {}),
    "store": Pod(address="10.20.7.1"),
    "closed store": Pod(address="10.20.1.1"),
    "internet": Pod(address="93.184.216.34"),
    "api": Pod(address="10.0.0.1"),
    "predictor": Pod("payments", {"app": "isvc.scorer-predictor", "serving.kserve.io/inferenceservice": "scorer"}),
    "transformer": Pod("payments", {"app": "isvc.scorer-transformer", "serving.kserve.io/inferenceservice": "scorer"}),
    "fraud": Pod(
        "payments", {"serving.knative.dev/service": "fraud-predictor", "serving.kserve.io/inferenceservice": "fraud"}
    ),
    "graph": Pod("payments", {"app": "isvc.claims", "serving.kserve.io/inferencegraph": "claims"}),
    "head": Pod("support", {"app": "isvc.llama-predictor", "serving.kserve.io/inferenceservice": "llama"}),
    "worker": Pod("support", {"app": "isvc.llama-predictor-worker", "serving.kserve.io/inferenceservice": "llama"}),
    "decode": Pod("support", {**LLM, "leaderworkerset.sh/name": "assistant-kserve-mn"}),
    "prefill": Pod("support", {**LLM, "leaderworkerset.sh/name": "assistant-kserve-mn-prefill"}),
    "scheduler": Pod("support", {**LLM, "app.kubernetes.io/component": "llminferenceservice-router-scheduler"}),
}


def selects(selector: Any, labels: dict[str, str]) -> bool:
    """Whether a label selector selects."""
    wanted = selector.get("matchLabels") or {}
    exists = [e["key"] in labels for e in selector.get("matchExpressions") or () if e["operator"] == "Exists"]
    return wanted.items() <= labels.items() and all(exists)


def is_peer(peer: Any, pod: Pod, own_namespace: str) -> bool:
    """Whether a pod or host is one of a peer."""
    block = peer.get("ipBlock")
    if block is not None:
        ranges = [ip_network(block["cidr"]), *map(ip_network, block.get("except", ()))]
        address = ip_address(pod.address) if pod.address else None
        return address is not None and address in ranges[0] and not any(address in r for r in ranges[1:])
    if pod.address:
        return False
    spaces = peer.get("namespaceSelector")
    in_space = pod.namespace == own_namespace
    if spaces is not None:
        in_space = selects(spaces, {"kubernetes.io/metadata.name": pod.namespace})
    return in_space and selects(peer.get("podSelector") or {}, pod.labels)


def allows(pod: Pod, other: Pod, port: int, direction: tuple[str, str]) -> bool:
    """Whether the policies that select a pod let it talk to another one; without a policy it may."""
    kind, field = direction
    rules = [
        rule
        for policy in POLICIES
        if policy["metadata"]["namespace"] == pod.namespace and selects(policy["spec"]["podSelector"], pod.labels)
        for rule in [None, *(policy["spec"].get(kind) or ())]
    ]
    return not rules or any(
        any(is_peer(peer, other, pod.namespace) for peer in rule[field])
        and ("ports" not in rule or port in [p["port"] for p in rule["ports"]])
        for rule in rules
        if rule is not None
    )


def reaches(caller: str, callee: str, port: int) -> bool:
    """Whether both ends let a call through."""
    here, there = PODS[caller], PODS[callee]
    return allows(here, there, port, ("egress", "to")) and allows(there, here, port, ("ingress", "from"))


@pytest.mark.parametrize(
    ("caller", "callee", "port"),
    [
        ("gateway", "predictor", 9081),
        ("gateway", "transformer", 8080),
        ("transformer", "predictor", 9081),
        ("batch", "predictor", 9081),
        ("graph", "transformer", 8080),
        ("graph", "predictor", 9081),
        ("graph", "internet", 8443),
        ("predictor", "store", 9000),
        ("predictor", "broker", 8080),
        ("predictor", "dns", 53),
        ("prometheus", "predictor", 8080),
        ("activator", "fraud", 8012),
        ("activator", "fraud", 9090),
        ("head", "worker", 6379),
        ("worker", "head", 40123),
        ("gateway", "head", 8080),
        ("gateway", "scheduler", 9002),
        ("gateway", "decode", 8000),
        ("scheduler", "decode", 8000),
        ("scheduler", "prefill", 8000),
        ("scheduler", "api", 443),
        ("decode", "scheduler", 5557),
        ("decode", "prefill", 5600),
        ("prefill", "decode", 40123),
        ("decode", "decode", 5555),
        ("decode", "store", 443),
        ("prometheus", "scheduler", 9090),
    ],
)
def test_who_has_to_reaches(caller: str, callee: str, port: int) -> None:
    """Requests, downloads, logs, metrics and the traffic between nodes get through."""
    assert reaches(caller, callee, port)


@pytest.mark.parametrize(
    ("caller", "callee", "port"),
    [
        ("stranger", "predictor", 9081),
        ("stranger", "predictor", 8080),
        ("batch elsewhere", "predictor", 9081),
        ("gateway", "predictor", 8080),
        ("grafana", "predictor", 8080),
        ("predictor", "transformer", 8080),
        ("predictor", "internet", 443),
        ("predictor", "closed store", 443),
        ("transformer", "store", 443),
        ("transformer", "internet", 443),
        ("graph", "internet", 443),
        ("gateway", "worker", 8080),
        ("stranger in support", "worker", 6379),
        ("stranger in support", "decode", 5600),
        ("stranger in support", "scheduler", 9002),
        ("gateway", "scheduler", 5557),
        ("scheduler", "decode", 5600),
        ("scheduler", "store", 443),
        ("prefill", "api", 443),
        ("head", "decode", 8000),
    ],
)
def test_others_do_not_reach(caller: str, callee: str, port: int) -> None:
    """Strangers, other namespaces, and ways that nobody needs are closed."""
    assert not reaches(caller, callee, port)
