"""The scheduler of a service: its arguments, whom it runs as, and the Services by which it is found."""

from __future__ import annotations

from typing import Any

import pytest

from .services import (
    account,
    built,
    foreign_pool,
    ingress,
    inline,
    llm,
    made,
    router,
    scheduler_args,
    scheduler_config,
    slugs,
)


def test_a_scheduler_has_all_that_it_needs() -> None:
    """Deployment, Service, ServiceAccount, Role, bindings, and a pool of both versions."""
    objects = made(llm(router=router({})))
    assert [name for name in objects if "epp" in name or "pool" in name or "scheduler" in name] == [
        "Deployment/chat-kserve-router-scheduler", "InferencePool/chat-inference-pool",
        "InferencePool.alpha/chat-inference-pool", "ClusterRoleBinding/ml-chat-epp-auth-rb", "Role/chat-epp-role",
        "RoleBinding/chat-epp-rb", "Service/chat-epp-service", "ServiceAccount/chat-epp-sa",
    ]  # fmt: skip
    ports = objects["Service/chat-epp-service"]["spec"]["ports"]
    named = {"grpc": 9002, "grpc-health": 9003, "metrics": 9090, "zmq": 5557}
    assert [(p["name"], p["port"], p["targetPort"]) for p in ports] == [(n, port, n) for n, port in named.items()]
    assert objects["RoleBinding/chat-epp-rb"]["subjects"] == [
        {"kind": "ServiceAccount", "name": "chat-epp-sa", "namespace": "ml"}
    ]


def test_a_port_has_the_protocol_of_its_container() -> None:
    """The Service takes what the container says of a port, and of ports of one name the last."""
    own = [{"name": "zmq", "containerPort": 5557, "protocol": "UDP"}, {"name": "metrics", "containerPort": 9090}]
    template = {"containers": [{"name": "main", "ports": [*own, {"name": "mine", "containerPort": 1}]}]}
    ports = made(llm(router=router({"template": template})))["Service/chat-epp-service"]["spec"]["ports"]
    listed = {p["name"]: (p["port"], p["protocol"]) for p in ports}
    assert (listed["zmq"], listed["metrics"], "mine" in listed) == ((5557, "UDP"), (9090, "TCP"), False)


@pytest.mark.parametrize("scheduler", [None, {"pool": {"ref": {"name": "own-pool"}}}])
def test_without_a_scheduler_of_its_own_there_is_nothing(scheduler: dict[str, Any] | None) -> None:
    """Neither without one nor with a pool of somebody else's is any of its objects made."""
    objects = made(llm(router=router(scheduler)), foreign_pool("own-pool"))
    assert not [name for name in objects if "epp" in name or "InferencePool" in name or "scheduler" in name]


@pytest.mark.parametrize(("replicas", "args"), [(1, []), (3, ["--ha-enable-leader-election"])])
def test_several_elect_a_leader(replicas: int, args: list[str]) -> None:
    """One scheduler elects nobody."""
    found = scheduler_args(made(llm(router=router({"replicas": replicas}))))
    assert found[:-2] == args
    assert found[-2] == "--config-text"


def test_an_election_that_is_asked_for_is_not_asked_for_twice() -> None:
    """A flag of the user's, in either spelling, is enough; the version takes one of them."""
    template = {"containers": [{"name": "main", "args": ["-ha-enable-leader-election"]}]}
    found = scheduler_args(made(llm(router=router({"replicas": 2, "template": template}))))
    assert found[:-1] == ["--ha-enable-leader-election", "--config-text"]


def test_a_configuration_of_the_user_takes_the_default_away() -> None:
    """An inline one is an argument, and one among the arguments stays where it is."""
    objects = made(llm(router=router(inline("queue-scorer", "max-score-picker"))))
    assert [p["type"] for p in scheduler_config(objects)["plugins"]] == ["queue-scorer", "max-score-picker"]
    args = ["--config-file", "/etc/epp.yaml", "--v=4"]
    template = {"containers": [{"name": "main", "args": args}]}
    assert scheduler_args(made(llm(router=router({"template": template})))) == args


def test_tls_moves_from_flags_into_the_configuration() -> None:
    """The scheduler of the preset has no flag for the scheme of metrics any more, and a plugin says it."""
    objects = made(llm(router=router({})), ingress(enableLLMInferenceServiceTLS=True))
    pod = objects["Deployment/chat-kserve-router-scheduler"]["spec"]["template"]["spec"]
    assert not [arg for arg in pod["containers"][0]["command"] if "metrics-scheme" in arg]
    assert scheduler_config(objects)["plugins"][-1] == {
        "type": "metrics-data-source",
        "parameters": {"scheme": "https"},
    }


def test_a_scheduler_of_today_asks_a_tokenizer() -> None:
    """A precise scorer leads to a tokenizer with a Service, and the scheduler knows its address."""
    objects = made(llm(router=router(inline("precise-prefix-cache-scorer", "max-score-picker"))))
    plugin = scheduler_config(objects)["plugins"][0]
    assert plugin["parameters"]["vllm"] == {"url": "http://chat-tokenizer.ml.svc.cluster.local:8000"}
    port = {"name": "render-http", "port": 8000, "protocol": "TCP", "targetPort": "render-http"}
    assert objects["Service/chat-tokenizer"]["spec"]["ports"] == [port]
    assert objects["Deployment/chat-tokenizer"]["spec"]["replicas"] == 1


def test_an_account_of_the_user_is_bound_as_it_is() -> None:
    """No account is made then; the roles are bound to the user's."""
    objects = made(llm(router=router({"template": {"serviceAccountName": "picker"}})), account("picker"))
    assert "ServiceAccount/chat-epp-sa" not in objects
    assert objects["ClusterRoleBinding/ml-chat-epp-auth-rb"]["subjects"][0]["name"] == "picker"


def test_an_account_takes_over_what_the_main_pods_have() -> None:
    """Annotations, Secrets and pull secrets of the account that the main pods run as."""
    runner = account("runner", annotations={"a": "b"}, secrets=[{"name": "hub"}], imagePullSecrets=[{"name": "pull"}])
    metadata = {"name": "hub", "namespace": "ml"}
    hub = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"HF_TOKEN": "x"}}
    service = llm(template={"serviceAccountName": "runner"}, router=router({}))
    found = made(service, runner, hub)["ServiceAccount/chat-epp-sa"]
    assert found["metadata"]["annotations"] == {"a": "b"}
    assert found["secrets"] == [{"name": "hub"}]
    assert found["imagePullSecrets"] == [{"name": "pull"}]


@pytest.mark.parametrize(
    ("template", "accounts", "token"),
    [
        ({"serviceAccountName": "picker"}, (account("picker", secrets=[{"name": "hub"}]),), True),
        ({"serviceAccountName": "picker"}, (account("picker"), account("default", secrets=[{"name": "hub"}])), False),
        ({}, (account("default", secrets=[{"name": "hub"}]),), True),
    ],
)
def test_a_schedulers_own_tokenizer_reads_as_the_scheduler(
    template: dict[str, Any], accounts: tuple[dict[str, Any], ...], token: bool
) -> None:
    """A tokenizer beside the scheduler downloads with the credentials of the account that the scheduler runs as."""
    metadata = {"name": "hub", "namespace": "ml"}
    hub = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"HF_TOKEN": "x"}}
    containers = [{"name": "tokenizer", "image": "registry.example.com/tokenizer:1"}]
    service = llm(model={"uri": "hf://acme/tiny"}, router=router({"template": {"containers": containers, **template}}))
    pod = made(service, hub, *accounts)["Deployment/chat-kserve-router-scheduler"]["spec"]["template"]["spec"]
    (download,) = pod["initContainers"]
    assert ("HF_TOKEN" in [variable["name"] for variable in download["env"]]) is token


def test_an_account_that_nothing_declares_is_refused() -> None:
    """KServe deploys no scheduler that runs as an account which is not there."""
    compilation = built(llm(router=router({"template": {"serviceAccountName": "ghost"}})))
    assert slugs(compilation) == ["llm/service-account-not-declared"]


def test_an_account_that_is_made_must_not_be_declared() -> None:
    """Two would set it back and forth."""
    assert slugs(built(llm(router=router({})), account("chat-epp-sa"))) == ["llm/service-account-taken"]


def test_a_service_that_is_stopped_has_nothing_left() -> None:
    """Whatever it had before; a build knows no earlier one, and what is gone is pruned."""
    assert made(llm(stopped=True, router=router({}))) == {}
