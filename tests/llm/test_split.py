"""split_llminferenceservice: names, labels and ServiceAccounts of the workloads."""

from __future__ import annotations

import pytest
from tests.llm.workloads import SIDECAR, account, build, group, named, pod, secret, single

ACCOUNT = "serviceAccountName"
SELECTED = {
    "app.kubernetes.io/name": "chat",
    "app.kubernetes.io/part-of": "llminferenceservice",
    "kserve.io/component": "workload",
}


def test_a_service_of_one_node_is_a_deployment(bench) -> None:
    """The object, its selector and its pods share their labels, and the workload Service selects the pods."""
    built = build(bench, single())
    made = built.of("Deployment")
    assert made["metadata"]["name"] == "chat-kserve"
    labels = {**SELECTED, "app.kubernetes.io/component": "llminferenceservice-workload", "llm-d.ai/role": "both"}
    assert made["metadata"]["labels"] == labels
    assert made["spec"]["selector"]["matchLabels"] == labels
    assert made["spec"]["template"]["metadata"]["labels"] == labels
    assert built.of("Service")["spec"]["selector"] == SELECTED
    assert "replicas" not in made["spec"]


def test_prefill_and_decode_are_two_deployments(bench) -> None:
    """The main workload decodes once there is another that prefills."""
    built = build(bench, single(prefill={"template": pod(), "replicas": 3}))
    main, prefill = built.of("Deployment", "chat-kserve"), built.of("Deployment", "chat-kserve-prefill")
    assert main["metadata"]["labels"]["llm-d.ai/role"] == "decode"
    assert prefill["metadata"]["labels"]["llm-d.ai/role"] == "prefill"
    assert prefill["spec"]["replicas"] == 3


def test_labels_of_the_spec_land_in_object_selector_and_pods(bench) -> None:
    """They win over labels of the metadata, of which only the approved ones are passed on."""
    metadata = {"kueue.x-k8s.io/queue-name": "slow", "team": "search"}
    built = build(bench, single(labels={"kueue.x-k8s.io/queue-name": "fast", "tier": "1"}), labels=metadata)
    made = built.of("Deployment")
    for labels in (
        made["metadata"]["labels"],
        made["spec"]["selector"]["matchLabels"],
        made["spec"]["template"]["metadata"]["labels"],
        {**built.of("Service")["metadata"]["labels"], "team": None},
    ):
        assert labels["kueue.x-k8s.io/queue-name"] == "fast"
        assert labels["tier"] == "1"
        assert labels.get("team") is None


def test_annotations_of_the_spec_reach_pods_only(bench) -> None:
    """The object gets the approved ones of the metadata, the pods both; the switch of model routing stays behind."""
    spec = {"note": "pods", "serving.kserve.io/model-based-routing-enabled": "true"}
    built = build(bench, single(annotations=spec), annotations={"prometheus.io/port": "8000", "owner": "ml"})
    made = built.of("Deployment")
    assert made["metadata"]["annotations"] == {"prometheus.io/port": "8000"}
    assert made["spec"]["template"]["metadata"]["annotations"] == {"prometheus.io/port": "8000", "note": "pods"}
    assert built.of("Service")["metadata"]["annotations"] == {"note": "pods"}


def test_workers_share_the_labels_of_their_object_and_leaders_take_requests(bench) -> None:
    """So labels of the spec are on all three, and the Service selects leaders alone."""
    made = build(bench, group(labels={"tier": "1"})).of("LeaderWorkerSet")
    template = made["spec"]["leaderWorkerTemplate"]
    leader, worker = (template[name]["metadata"]["labels"] for name in ("leaderTemplate", "workerTemplate"))
    assert worker == made["metadata"]["labels"]
    assert worker["app.kubernetes.io/component"] == "llminferenceservice-workload-worker"
    assert worker["tier"] == leader["tier"] == "1"
    assert leader.items() >= SELECTED.items()
    assert "kserve.io/component" not in worker


def test_workers_without_a_leader_take_requests(bench) -> None:
    """Then there is no leader's template, and they decode even where nobody prefills."""
    spec = {**group(), "template": None}
    made = build(bench, {name: value for name, value in spec.items() if value is not None}).of("LeaderWorkerSet")
    assert "leaderTemplate" not in made["spec"]["leaderWorkerTemplate"]
    assert made["metadata"]["labels"].items() >= {**SELECTED, "llm-d.ai/role": "decode"}.items()


@pytest.mark.parametrize(
    ("parallelism", "size"),
    [
        ({"data": 8, "dataLocal": 2}, 4),
        ({"data": 9, "dataLocal": 2}, 4),
        ({"data": 1, "dataLocal": 4}, 1),
        ({"pipeline": 3}, 3),
        ({"tensor": 2}, None),
    ],
)
def test_the_size_of_a_group_follows_from_parallelism(bench, parallelism, size) -> None:
    """As many pods as hold all copies of the model, or as the pipeline has stages."""
    made = build(bench, {**group(), "parallelism": parallelism}).of("LeaderWorkerSet")
    assert made["spec"]["leaderWorkerTemplate"].get("size") == size


@pytest.mark.parametrize(
    ("more", "replicas"),
    [({}, 1), ({"replicas": 0}, 0), ({"scaling": {"maxReplicas": 3, "wva": {"variantCost": "1", "hpa": {}}}}, None)],
)
def test_the_number_of_groups_is_written_unless_an_autoscaler_has_it(bench, more, replicas) -> None:
    """The kind's own default would be a difference after each sync."""
    assert build(bench, group(**more)).of("LeaderWorkerSet")["spec"].get("replicas") == replicas


def test_prefilling_groups_are_kept_together(bench) -> None:
    """Only those that are data parallel, as in KServe."""
    prefill = {"template": pod(), "worker": pod(), "parallelism": {"data": 4, "dataLocal": 2}}
    made = build(bench, group(prefill=prefill)).of("LeaderWorkerSet", "chat-kserve-mn-prefill")
    assert made["spec"]["leaderWorkerTemplate"]["subGroupPolicy"] == {"subGroupSize": 2}


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {"maxSurge": 0, "maxUnavailable": 1}),
        ({"maxSurge": "50%"}, {"maxSurge": "50%", "maxUnavailable": 1}),
        ({"maxUnavailable": 2}, {"maxSurge": 0, "maxUnavailable": 2}),
    ],
)
def test_rollout_of_groups(bench, given, expected) -> None:
    """A number that is left out is KServe's, and the same as the one that the webhook of the kind fills in."""
    made = build(bench, group(**({"rolloutStrategy": given} if given else {}))).of("LeaderWorkerSet")
    assert made["spec"]["rolloutStrategy"].get("rollingUpdateConfiguration") == expected


def test_rollout_of_a_deployment(bench) -> None:
    """A number that is left out is the API server's."""
    built = build(bench, single(rolloutStrategy={"maxSurge": 1}))
    assert built.of("Deployment")["spec"]["strategy"] == {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}
    assert built.written("Deployment", "chat-kserve", "spec", "strategy") == "spec.rolloutStrategy"


@pytest.mark.parametrize(
    ("probe", "deadline"),
    [
        ({"failureThreshold": 90}, 1500),
        ({"periodSeconds": 400}, 1800),
        ({"periodSeconds": 5, "failureThreshold": 120}, None),
        ({"periodSeconds": 5, "failureThreshold": 120, "initialDelaySeconds": 1}, 1201),
    ],
)
def test_a_rollout_waits_for_slow_starts(bench, probe, deadline) -> None:
    """As long as a probe allows for the start, and the usual time after that; by Kubernetes' defaults for the rest."""
    server = {"name": "main", "image": "registry.example.com/vllm:1", "startupProbe": probe}
    made = build(bench, single(template={"containers": [server]})).of("Deployment")
    assert made["spec"].get("progressDeadlineSeconds") == deadline


def test_the_rollout_of_groups_comes_from_the_service(bench) -> None:
    """Its origin is what the service says of it, and so is that of the size of a group."""
    built = build(bench, group(rolloutStrategy={"maxSurge": 1}))
    where = ("LeaderWorkerSet", "chat-kserve-mn", "spec")
    assert built.written(*where, "rolloutStrategy") == "spec.rolloutStrategy"
    assert built.written(*where, "leaderWorkerTemplate", "size") == "spec.parallelism"


def test_a_sidecar_gets_account_role_and_the_pool(bench) -> None:
    """The account is made for it, with the secrets of `default`, and may read pods and pools."""
    accounts = (account("default", "hub", image_pull_secrets=("pull",)),)
    spec = single(template=pod(initContainers=[SIDECAR]), router={"scheduler": {}})
    built = build(bench, spec, accounts=accounts, secrets=(secret("hub", "HF_TOKEN"),))
    made = built.of("ServiceAccount")
    assert made["metadata"]["name"] == "chat-kserve"
    assert (made["secrets"], made["imagePullSecrets"]) == ([{"name": "hub"}], [{"name": "pull"}])
    assert built.of("RoleBinding")["subjects"][0]["name"] == "chat-kserve"
    assert [rule["resources"] for rule in built.of("Role")["rules"]] == [["pods"], ["inferencepools"]]
    assert built.pod["serviceAccountName"] == "chat-kserve"
    sidecar = named(built.pod["initContainers"], "llm-d-routing-sidecar")
    assert sidecar["env"] == [{"name": "INFERENCE_POOL_NAME", "value": "chat-inference-pool"}]


def test_a_sidecar_without_router_knows_no_pool(bench) -> None:
    """There is none."""
    built = build(bench, single(template=pod(initContainers=[SIDECAR])))
    assert "env" not in named(built.pod["initContainers"], "llm-d-routing-sidecar")


def test_an_account_of_the_users_is_bound(bench) -> None:
    """Both Roles are there then, for KServe looks at the pod of one node as if it led several."""
    spec = single(template=pod(initContainers=[SIDECAR], serviceAccountName="runner"))
    built = build(bench, spec, accounts=(account("runner"),))
    assert {k for k, _ in built.names} == {"Deployment", "Role", "RoleBinding", "Service"}
    assert [n for k, n in built.names if k == "Role"] == ["chat-kserve-mn-role", "chat-kserve-role"]
    assert built.of("RoleBinding", "chat-kserve-rb")["subjects"][0]["name"] == "runner"


def test_leaders_and_workers_run_as_one_account(bench) -> None:
    """That of the leader, else of the worker, else one that is made for them."""
    made = build(bench, group())
    template = made.of("LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]
    assert {template[n]["spec"]["serviceAccountName"] for n in ("leaderTemplate", "workerTemplate")} == {
        "chat-kserve-mn"
    }
    assert made.of("ServiceAccount")["metadata"]["labels"] == {
        "app.kubernetes.io/name": "chat",
        "app.kubernetes.io/part-of": "llminferenceservice",
    }
    spec = {**group(), "worker": pod(serviceAccountName="runner")}
    named_one = build(bench, spec, accounts=(account("runner"),))
    template = named_one.of("LeaderWorkerSet")["spec"]["leaderWorkerTemplate"]
    assert template["leaderTemplate"]["spec"]["serviceAccountName"] == "runner"
    assert not [k for k, _ in named_one.names if k == "ServiceAccount"]
    accounts = (
        named_one.written("LeaderWorkerSet", "chat-kserve-mn", "spec", "leaderWorkerTemplate", role, "spec", ACCOUNT)
        for role in ("leaderTemplate", "workerTemplate")
    )
    assert list(accounts) == ["", "spec.worker.serviceAccountName"]


@pytest.mark.parametrize(
    "spec",
    [
        single(template=pod(serviceAccountName="runner")),
        single(prefill={"template": pod(serviceAccountName="runner")}),
        {**group(), "worker": pod(serviceAccountName="runner")},
        single(template=pod(serviceAccountName="chat-kserve")),
    ],
)
def test_accounts_must_be_declared(bench, spec) -> None:
    """KServe deploys nothing before it has found them; the finding is at the pod that names the account."""
    built = build(bench, spec)
    assert built.slugs == ["llm/service-account-not-declared"]
    assert built.diagnostics[0].span is not None


def test_the_name_of_a_made_account_is_taken(bench) -> None:
    """KServe does not take over an account that it has not made."""
    built = build(bench, single(template=pod(initContainers=[SIDECAR])), accounts=(account("chat-kserve"),))
    assert built.slugs == ["llm/service-account-taken"]


@pytest.mark.parametrize(
    "ingress",
    [{"ingressGateway": ""}, {"ingressGateway": "a/b", "enableGatewayApi": True, "kserveIngressGateway": "c"}],
)
def test_the_platform_must_say_how_requests_come_in(bench, ingress) -> None:
    """KServe reads the whole section before it looks at a service, also at one without routes."""
    built = build(bench, single(), sections={"ingress": ingress})
    assert built.slugs == ["platform/configuration"]
