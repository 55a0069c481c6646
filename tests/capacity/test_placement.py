"""Placement: which pools take which pods, what keeps the others away, and what a trial finds room for."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from tests import libyaml
from tests.policy.scenes import deployment, faults, scene

from kservec.capacity.findings import check_placement, rolled_out, shortages
from kservec.capacity.needs import Member, Need, in_units, is_alone, need_of, queue_proxy, standing_of, surge_of
from kservec.capacity.placing import group_shortage, obstacle
from kservec.capacity.trial import homes_of, tried
from kservec.core.diagnostics import ObjectRef
from kservec.core.nodes import Device, NodePool, Taint, shown_bytes, shown_units, units_of
from kservec.policy.demands import Defaults, Replicas, demand_of

GPU = "nvidia.com/gpu"
REF = ObjectRef("apps/v1", "Deployment", "ml", "chat")
NOTHING = Defaults({}, {})


def pool(name: str = "a", nodes: int = 2, room: dict[str, int] | None = None, **more: Any) -> NodePool:
    """A pool of nodes of four CPUs, unless more is said."""
    return NodePool(name=name, fewest=nodes, most=nodes, room={"cpu": 4000, "pods": 10, **(room or {})}, **more)


def member(spec: Any = None, pods: int = 1, **amounts: int) -> Member:
    """Pods of one CPU, unless more is said; a double underscore stands for the slash of a resource."""
    named = {name.replace("__", "/").replace("_", "."): amount for name, amount in amounts.items()}
    return Member(pods, spec or {}, ("spec", "template", "spec"), {"cpu": 1000, "pods": 1, **named})


def need(name: str = "chat", replicas: tuple[int, int] = (1, 1), *members: Member, **more: Any) -> Need:
    """A workload."""
    ref = REF._replace(name=name)
    return Need(ref, ref, members or (member(),), Replicas(*replicas), Replicas(0, 0), **more)


def affinity(*expressions: dict[str, Any]) -> dict[str, Any]:
    """A pod that wants a node which meets expressions."""
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}


@pytest.mark.parametrize(
    ("spec", "reason"),
    [
        ({"nodeSelector": {"team": "ml"}}, None),
        ({"nodeSelector": {"team": "web"}}, "has team=ml, and the node selector wants team=web"),
        ({"nodeSelector": {"disk": "ssd"}}, "has no label disk, and the node selector wants disk=ssd"),
        ({"nodeSelector": {"kubernetes.io/arch": "arm64"}}, None),
        ({"nodeSelector": {"nvidia.com/gpu.product": "NVIDIA-L4"}}, None),
        (affinity({"key": "team", "operator": "In", "values": ["ml", "web"]}), None),
        (affinity({"key": "team", "operator": "NotIn", "values": ["ml"]}), "no term of the node affinity is met"),
        (affinity({"key": "disk", "operator": "NotIn", "values": ["hdd"]}), None),
        (affinity({"key": "disk", "operator": "Exists"}), "no term of the node affinity is met"),
        (affinity({"key": "disk", "operator": "DoesNotExist"}), None),
        (affinity({"key": "generation", "operator": "Gt", "values": ["2"]}), None),
        (affinity({"key": "generation", "operator": "Lt", "values": ["3"]}), "no term of the node affinity is met"),
        (affinity({"key": "team", "operator": "Gt", "values": ["3"]}), "no term of the node affinity is met"),
        (affinity({"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["z"]}), None),
    ],
)
def test_labels_keep_pods_away(spec: dict[str, Any], reason: str | None) -> None:
    """As the scheduler reads them; labels that nodes have by themselves may have any value."""
    place = pool(labels={"team": "ml", "generation": "3"}, devices=(Device(GPU, 1, kind="NVIDIA-L4"),))
    found = obstacle(member(spec), place)
    assert (found and found.reason) == reason


@pytest.mark.parametrize(
    ("tolerations", "kept_away"),
    [
        ([], True),
        ([{"operator": "Exists"}], False),
        ([{"key": "gpu", "operator": "Exists"}], False),
        ([{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}], False),
        ([{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}], True),
        ([{"key": "gpu", "value": "l4"}], False),
        ([{"key": "gpu", "operator": "Equal", "value": "a100"}], True),
        ([{"value": "l4"}], True),
    ],
)
def test_taints_keep_pods_away(tolerations: list[dict[str, str]], kept_away: bool) -> None:
    """Unless one of the tolerations is about them."""
    found = obstacle(member({"tolerations": tolerations}), pool(taints=(Taint("gpu", "l4", "NoSchedule"),)))
    assert (found is not None) is kept_away


def test_a_taint_that_only_prefers_keeps_nobody_away() -> None:
    """The scheduler passes over it where there is no other node."""
    assert obstacle(member(), pool(taints=(Taint("old", "", "PreferNoSchedule"),))) is None


@pytest.mark.parametrize(
    ("amounts", "reason"),
    [
        ({"cpu": 5000}, "a node has 4 CPUs, and the pod needs 5"),
        ({"memory": 1 << 31}, "a node has 1Gi of memory, and the pod needs 2Gi"),
        ({"nvidia_com__gpu": 2}, "a node has 1 of nvidia.com/gpu, and the pod needs 2"),
        ({"rdma__hca": 1}, "has no rdma/hca (a node has 1 of nvidia.com/gpu), and the pod needs 1"),
        (
            {"nvidia_com__mig-1g.5gb": 1},
            "has no nvidia.com/mig-1g.5gb (a node has 1 of nvidia.com/gpu), and the pod needs 1",
        ),
    ],
)
def test_amounts_keep_pods_away(amounts: dict[str, int], reason: str) -> None:
    """A pod that is larger than an empty node."""
    place = pool(room={"memory": 1 << 30, GPU: 1}, devices=(Device(GPU, 1),))
    found = obstacle(member(**amounts), place)
    assert found is not None
    assert found.reason == reason


def test_a_pool_that_says_nothing_of_disks_has_some() -> None:
    """Every node has ephemeral storage, stated or not."""
    asking = Member(1, {}, (), {"cpu": 1, "pods": 1, "ephemeral-storage": 1 << 40})
    assert obstacle(asking, pool()) is None
    assert not tried([need("chat", (1, 1), asking)], [pool()], lambda each: each.replicas.most).left


def test_a_group_is_looked_for_within_one_pool() -> None:
    """Two pools of four CPUs each do not take a group of six."""
    group = need("group", (1, 1), member(cpu=2000), member(pods=2, cpu=2000))
    assert group_shortage(group, pool("a", 1)).startswith("a group of 3 pods needs 6 of cpu, and all nodes together")
    assert homes_of(group, [pool("a", 1), pool("b", 1)]) == ()
    assert [home.name for home in homes_of(group, [pool("a", 1), pool("b", 2)])] == ["b"]


def test_pods_without_gpus_go_to_nodes_without_gpus_first() -> None:
    """So that the others stay free for those that need them."""
    gpus = pool("gpus", 1, {GPU: 1}, devices=(Device(GPU, 1),))
    made = tried([need("chat", (3, 3))], [gpus, pool("plain", 1)], lambda each: each.replicas.most)
    assert (made.nodes, made.used["plain"]["cpu"]) == ({"gpus": 0, "plain": 1}, 3000)


def test_the_largest_are_placed_first() -> None:
    """In the order of their names the small ones would take the room of the large one."""
    needs = [need("a", (4, 4)), need("z", (1, 1), member(cpu=4000))]
    made = tried(needs, [pool("a", 2)], lambda each: each.replicas.most)
    assert made.left == ()
    assert made.nodes == {"a": 2}


def test_what_is_left_over_is_told_with_its_number() -> None:
    """Nodes are no more than there are."""
    made = tried([need("a", (20, 20))], [pool("a", 2)], lambda each: each.replicas.most)
    assert [(left.need.ref.name, left.replicas) for left in made.left] == [("a", 12)]
    assert made.used["a"] == {"cpu": 8000, "pods": 8}


def test_a_group_that_finds_no_room_leaves_none_of_its_pods_behind() -> None:
    """All of its pods run, or none."""
    group = need("group", (2, 2), member(cpu=3000), member(pods=1, cpu=3000))
    made = tried([group, need("small", (2, 2))], [pool("a", 3)], lambda each: each.replicas.most)
    assert [(left.need.ref.name, left.replicas) for left in made.left] == [("group", 1)]
    assert made.used["a"]["cpu"] == 8000


def test_what_runs_on_every_node_is_there_before_all_others() -> None:
    """It takes room of nodes that nobody else uses, too, but only where it may run."""
    agent = need("agent", (1, 1), member(), is_everywhere=True)
    pools = [pool("a", 3), pool("b", 1, taints=(Taint("x", "", "NoSchedule"),))]
    made = tried([agent, need("big", (1, 1), member(cpu=4000))], pools, lambda each: each.replicas.most)
    assert made.used == {"a": {"cpu": 3000, "pods": 3}, "b": {}}
    assert [left.need.ref.name for left in made.left] == ["big"]
    assert made.nodes == {"a": 0, "b": 0}


def test_pods_that_want_a_node_of_their_own_need_as_many_nodes() -> None:
    """Required anti-affinity to their own labels by the name of the node."""
    alone = member()._replace(is_alone=True)
    made = tried([need("a", (3, 3), alone)], [pool("a", 2)], lambda each: each.replicas.most)
    assert made.left[0].replicas == 1


def among(*apps: str) -> Any:
    """A selector of pods of one of some applications."""
    return {"matchExpressions": [{"key": "app", "operator": "In", "values": list(apps)}]}


@pytest.mark.parametrize(
    ("topology", "selector", "alone"),
    [
        ("kubernetes.io/hostname", {"matchLabels": {"app": "chat"}}, True),
        ("kubernetes.io/hostname", {"matchLabels": {"app": "other"}}, False),
        ("kubernetes.io/hostname", among("chat", "x"), True),
        ("kubernetes.io/hostname", among("other"), False),
        ("kubernetes.io/hostname", None, False),
        ("topology.kubernetes.io/zone", {"matchLabels": {"app": "chat"}}, False),
    ],
)
def test_which_anti_affinity_counts(topology: str, selector: Any, alone: bool) -> None:
    """Only that to pods of the same template on the same node."""
    term = {"topologyKey": topology, "labelSelector": selector}
    pod = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}}
    body = deployment({}, pod)
    body["spec"]["template"]["metadata"] = {"labels": {"app": "chat"}}
    assert is_alone(scene(body).pods[0]) is alone


def test_a_sum_that_is_too_large_is_certain_and_a_trial_is_not() -> None:
    """The two have codes of their own, and the most replicas are looked at where the fewest fit."""
    pools = [pool("a", 2)]
    found = {
        (9, 9): ("capacity-exceeded", "node pool a has 8 of cpu, and what can only run there needs 9"),
        (1, 9): ("capacity-at-max", "node pool a has 8 of cpu, and what can only run there needs 9"),
        (8, 8): None,
    }
    for replicas, expected in found.items():
        made = [shortage.fault for shortage in shortages([need("a", replicas)], pools)]
        assert [fault.code.slug for fault in made] == ([f"policy/{expected[0]}"] if expected else [])
        assert all(fault.message.startswith(expected[1]) for fault in made if expected)
    packed = [
        s.fault for s in shortages([need("a", (2, 2), member(cpu=2500)), need("b", (2, 2), member(cpu=1500))], pools)
    ]
    assert packed == []
    pieces = [s.fault for s in shortages([need("a", (3, 3), member(cpu=2500))], pools)]
    assert [fault.code.slug for fault in pieces] == ["policy/capacity-packing"]
    assert pieces[0].message.endswith("no node is left for 1 of a, with their fewest replicas")


def test_a_sum_counts_only_what_can_run_nowhere_else() -> None:
    """What has another pool to go to is no reason for a shortage in this one."""
    pools = [pool("a", 1, labels={"x": "1"}), pool("b", 4)]
    bound = need("bound", (5, 5), member({"nodeSelector": {"x": "1"}}))
    (shortage,) = shortages([bound, need("free", (4, 4))], pools)
    assert [place.name for place in shortage.pools] == ["a"]
    assert "has 4 of cpu, and what can only run there needs 5" in shortage.fault.message
    assert shortage.fault.help == "add nodes, or lower the largest: bound (5 x 1)"


def test_the_finding_names_every_pool_once_for_each_reason() -> None:
    """Pools with the same reason stand together, and it points at what leads to it."""
    pools = (pool("a"), pool("b"), pool("c", room={"cpu": 64000}, taints=(Taint("x", "", "NoExecute"),)))
    (fault,) = faults(check_placement, deployment({"resources": {"requests": {"cpu": 9}}}), node_pools=pools)
    assert fault.message == (
        "no node pool can take its pods: a, b: a node has 4 CPUs, and the pod needs 9; "
        "c: the taint x:NoExecute is not tolerated"
    )
    assert fault.path[-3:] == ("containers", "server", "resources")


@pytest.mark.parametrize("pod", [{"nodeName": "n1"}, {"resourceClaims": [{"name": "gpu"}]}])
def test_of_pods_that_name_a_node_or_claim_devices_nothing_is_said(pod: dict[str, Any]) -> None:
    """Nothing is known about either."""
    body = deployment({"resources": {"requests": {"cpu": 9}}}, pod)
    assert faults(check_placement, body, node_pools=(pool(),)) == []


def test_what_runs_on_every_node_must_fit_on_those_that_let_it_in() -> None:
    """Labels and taints choose its nodes; only a node that is too small is a fault."""
    pools = (
        pool("small", 1),
        pool("large", 1, {"cpu": 64000}),
        pool("other", 1, taints=(Taint("x", "", "NoSchedule"),)),
    )
    body = deployment({"resources": {"requests": {"cpu": 9}}}) | {"kind": "DaemonSet"}
    (fault,) = faults(check_placement, body, node_pools=pools)
    assert fault.message == (
        "not every node that is meant can take its pods: small: a node has 4 CPUs, and the pod needs 9"
    )


def test_without_pools_nothing_is_said() -> None:
    """Nobody stated which nodes there are."""
    assert faults(check_placement, deployment({"resources": {"requests": {"cpu": 9}}})) == []


def test_a_workload_that_is_stopped_needs_no_node() -> None:
    """Nothing of it is placed."""
    body = deployment({"resources": {"requests": {"cpu": 9}}}, spec={"replicas": 0})
    assert faults(check_placement, body, node_pools=(pool(),)) == []


@pytest.mark.parametrize(
    ("surge", "replicas", "more"), [("25%", 3, 1), ("25%", 0, 0), ("2", 5, 2), ("2", 0, 0), ("0", 5, 0), ("100%", 4, 4)]
)
def test_what_a_rollout_adds(surge: str, replicas: int, more: int) -> None:
    """Shares are rounded up, as Kubernetes does."""
    assert surge_of(surge, replicas) == more


@pytest.mark.parametrize(
    ("body", "surge"),
    [
        ({"kind": "Deployment", "spec": {}}, "25%"),
        ({"kind": "Deployment", "spec": {"strategy": {"rollingUpdate": {"maxSurge": 3}}}}, "3"),
        ({"kind": "Deployment", "spec": {"strategy": {"type": "Recreate"}}}, "0"),
        ({"kind": "StatefulSet", "spec": {}}, "0"),
    ],
)
def test_where_the_surge_of_a_rollout_is_written(body: dict[str, Any], surge: str) -> None:
    """Each kind has a place of its own for it, and a default."""
    value = deployment({})
    value |= {"kind": body["kind"], "spec": {**value["spec"], **body["spec"]}}
    standing = standing_of(scene(value))
    assert standing is not None
    assert standing.surge == surge


KNATIVE = """
apiVersion: serving.knative.dev/v1
kind: Service
metadata: {name: chat, namespace: ml}
spec:
  template:
    metadata: {annotations: {autoscaling.knative.dev/min-scale: "2"}}
    spec: {containers: [{name: user, resources: {requests: {cpu: "1"}}}]}
"""


def test_knative_adds_a_container_and_has_no_bound_unless_it_is_told() -> None:
    """Its queue-proxy asks for 25 thousandths of a CPU; a new revision starts beside the old one."""
    stage = scene(KNATIVE, queue_proxy=queue_proxy({}))
    standing, demand = standing_of(stage), demand_of(stage.ref, stage.body)
    assert standing is not None
    assert demand is not None
    made = need_of(stage.owner, demand, standing, NOTHING)
    assert (made.amounts["cpu"], made.is_unbounded) == (1025, True)
    assert (made.replicas.fewest, rolled_out(made).replicas.fewest) == (2, 4)


def test_the_config_map_of_knative_says_what_its_container_asks_for() -> None:
    """What is no quantity is left to Knative to refuse."""
    config = {"queue-sidecar-cpu-request": "100m", "queue-sidecar-memory-request": "lots"}
    assert queue_proxy(config) == {"cpu": 100}


POD = """
apiVersion: v1
kind: Pod
metadata: {name: chat, namespace: ml}
spec:
  overhead: {cpu: 100m}
  initContainers:
    - {name: first, resources: {requests: {cpu: "3"}}}
    - {name: sidecar, restartPolicy: Always, resources: {requests: {cpu: "1"}}}
    - {name: last, resources: {requests: {cpu: "LAST"}}}
  containers:
    - {name: main, resources: {requests: {cpu: "2"}, limits: {nvidia.com/gpu: "1"}}}
"""


@pytest.mark.parametrize(("last", "cpu"), [("1", 3100), ("3", 4100)])
def test_a_pod_counts_as_kubernetes_counts_it(last: str, cpu: int) -> None:
    """Containers and sidecars together, or an init container beside the sidecars before it, and the overhead."""
    stage = scene(libyaml.load(POD.replace("LAST", last)))
    standing, demand = standing_of(stage), demand_of(stage.ref, stage.body)
    assert standing is not None
    assert demand is not None
    made = need_of(stage.owner, demand, standing, NOTHING)
    assert made.amounts == {"cpu": cpu, GPU: 1, "pods": 1}


def test_what_is_asked_for_is_rounded_up_and_what_there_is_down() -> None:
    """So that nothing fits which does not."""
    assert in_units({"requests.cpu": Fraction(1, 3000), "limits.cpu": Fraction(1)}) == {"cpu": 1, "pods": 1}
    assert (units_of("cpu", "1.5m"), units_of("cpu", "1.5m", up=False)) == (2, 1)


@pytest.mark.parametrize(
    ("resource", "units", "text"),
    [
        ("cpu", 250, "250m"), ("cpu", 4000, "4"), ("cpu", 43500, "43.5"), ("memory", 1536 << 20, "1.5Gi"),
        ("memory", 512, "512"), ("memory", 0, "0"), (GPU, 8, "8"), ("hugepages-2Mi", 1 << 21, "2Mi"),
    ],
)  # fmt: skip
def test_amounts_as_people_write_them(resource: str, units: int, text: str) -> None:
    """Each resource in its unit."""
    assert shown_units(resource, units) == text


def test_what_is_less_than_nothing_has_its_unit_too() -> None:
    """As what is left of a GPU may be."""
    assert shown_bytes(-(3 << 30)) == "-3Gi"
