"""Routes of a service: by its own path, by that of its model, and by a header that names the model."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.routes import with_members

from .services import built, ingress, llm, made, router, rules, slugs

HEADER = "X-Gateway-Model-Name"
BY_MODEL = {"v1-model-routing", "v1-catch-all-model-routing"}
OFF = {"serving.kserve.io/model-based-routing-enabled": "false"}


def gateway(name: str, **annotations: str) -> dict[str, Any]:
    """A Gateway of the services' namespace."""
    metadata = {"name": name, "namespace": "ml", "annotations": annotations}
    listener = {"name": "http", "protocol": "HTTP", "port": 80}
    spec = {"gatewayClassName": "envoy", "listeners": [listener]}
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": metadata, "spec": spec}


def behind(name: str) -> dict[str, Any]:
    """A router behind a Gateway of the namespace."""
    return {"route": {}, "gateway": {"refs": [{"name": name, "namespace": "ml"}]}}


def test_a_route_has_three_ways_in() -> None:
    """Twelve rules: completions, chat, responses and messages, and all other paths."""
    found = rules(made(llm(router=router())))
    kinds = ("completions", "chat-completions", "responses", "messages")
    assert list(found) == [
        *(f"v1-{kind}-path" for kind in kinds), "v1-model-routing", *(f"v1-{kind}-publisher-path" for kind in kinds),
        "v1-publisher-path-catch-all", "v1-catch-all-path", "v1-catch-all-model-routing",
    ]  # fmt: skip
    assert {ref["name"] for rule in found.values() for ref in rule["backendRefs"]} == {"chat-kserve-workload-svc"}


def test_a_scheduler_chooses_for_answers_only() -> None:
    """Rules for answers lead to the pool, those for everything else to the servers."""
    found = rules(made(llm(router=router({}))))
    to_servers = [name for name, rule in found.items() if rule["backendRefs"][0]["kind"] == "Service"]
    assert to_servers == ["v1-publisher-path-catch-all", "v1-catch-all-path", "v1-catch-all-model-routing"]


def test_adapters_are_models_of_their_own() -> None:
    """Every match for the model is there for each adapter, too, in the order of their names."""
    adapters = [{"name": name, "uri": f"pvc://models/{name}"} for name in ("polite", "brief")]
    found = rules(made(llm(model={"lora": {"adapters": adapters}}, router=router())))
    values = [
        match["headers"][0]["value"].rpartition("/")[2] for match in found["v1-catch-all-model-routing"]["matches"]
    ]
    assert values == ["chat", "brief", "polite"]
    assert len(found["v1-model-routing"]["matches"]) == 24


@pytest.mark.parametrize(
    ("documents", "is_on"),
    [
        ([llm(router=router())], True),
        ([llm(router=router(), annotations=OFF)], False),
        ([llm(router=router()), ingress(modelBasedRoutingMode="Disabled")], False),
        ([llm(router=router()), ingress(modelBasedRoutingMode="sometimes")], True),
        ([llm(router=router()), ingress(modelBasedRoutingHeaderName="X-Model")], True),
        ([llm(router=behind("edge")), gateway("edge")], True),
        ([llm(router=behind("edge")), gateway("edge", **OFF)], False),
        ([llm(router=behind("edge")), gateway("edge", **OFF), ingress(modelBasedRoutingMode="forced")], True),
    ],
)
def test_routing_by_model_can_be_switched_off(documents: list[dict[str, Any]], is_on: bool) -> None:
    """By the service, by a Gateway that it refers to, and by the platform, which can force it as well."""
    found = rules(made(*documents))
    assert set(found) >= BY_MODEL if is_on else not BY_MODEL & set(found)


def test_a_rule_keeps_its_other_matches() -> None:
    """Only matches that ask for the header by its very name are taken away; rules that are left without go."""
    asked = [{"headers": [{"name": name, "value": "x"}]} for name in (HEADER, HEADER.lower())]
    spec = {"rules": [{"name": "a", "matches": asked}, {"name": "b", "matches": asked[:1]}]}
    (rule,) = rules(made(llm(router=router(http={"spec": spec}), annotations=OFF))).values()
    assert [match["headers"][0]["name"] for match in rule["matches"]] == [HEADER.lower()]


def test_a_route_is_attached_where_the_service_says() -> None:
    """To the Gateways that it refers to, else to that of the platform."""
    objects = made(llm(router=behind("edge")), gateway("edge"))
    (parent,) = objects["HTTPRoute/chat-kserve-route"]["spec"]["parentRefs"]
    assert (parent["namespace"], parent["name"]) == ("ml", "edge")


def test_a_cluster_without_routes_is_told() -> None:
    """HTTPRoute is of the Gateway API, which may not be there."""
    assert slugs(built(llm(router=router()), absent=("HTTPRoute",))) == ["llm/route-kind-absent"]


def test_without_a_router_there_is_no_route() -> None:
    """A service is reached inside the cluster then."""
    assert not [name for name in made(llm()) if "HTTPRoute" in name]


def test_members_share_what_leads_to_the_service() -> None:
    """Rules for its own path and for other backends stay, whoever is in its group."""
    own = {"kind": "Service", "name": "chat-kserve-workload-svc"}
    spec = [
        {"matches": [{"path": {"value": "/ml/chat"}}], "backendRefs": [own]},
        {"matches": [{"path": {"value": "/ml/chatter"}}], "backendRefs": [own]},
        {"backendRefs": [{"name": "somebody"}]},
        {"backendRefs": [{"name": "chat-kserve-workload-svc"}]},
    ]
    assert with_members(spec, "ml", "chat", {}, [{"name": "all"}]).numbers == (1, 3)
