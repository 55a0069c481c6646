"""Gateways, HTTPRoutes and InferencePools that a service refers to."""

from __future__ import annotations

from typing import Any

import pytest

from .services import built, llm, router, slugs


def http_route(name: str, gateway: str) -> dict[str, Any]:
    """An HTTPRoute of the services' namespace."""
    metadata = {"name": name, "namespace": "ml"}
    spec = {
        "parentRefs": [{"name": gateway}],
        "rules": [{"backendRefs": [{"name": "chat-kserve-workload-svc", "port": 8000}]}],
    }
    return {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": metadata, "spec": spec}


def at_no_gateway(name: str, **parents: Any) -> dict[str, Any]:
    """An HTTPRoute that is attached to nothing."""
    found = http_route(name, "edge")
    return {**found, "spec": {"rules": found["spec"]["rules"], **parents}}


def leaving_it_to(route: str) -> dict[str, Any]:
    """A service that leaves its routes to an HTTPRoute."""
    return llm(router={"route": {"http": {"refs": [{"name": route}]}}})


EDGE = {"gateways": [{"namespace": "ml", "name": "edge"}]}


@pytest.mark.parametrize(
    ("documents", "facts", "found"),
    [
        ([llm(router=router())], {}, []),
        ([llm(router=router())], {"gateways": []}, ["llm/gateway-undeclared"]),
        ([llm(router={"gateway": {"refs": [{"name": "edge", "namespace": "ml"}]}})], {}, ["llm/gateway-undeclared"]),
        ([llm(router={"gateway": {"refs": [{"name": "edge"}]}})], EDGE, []),
        ([leaving_it_to("own")], {}, ["llm/route-not-found"]),
        ([leaving_it_to("own"), http_route("own", "edge")], {}, ["llm/gateway-undeclared"]),
        ([leaving_it_to("own"), http_route("own", "edge")], EDGE, []),
        ([leaving_it_to("own"), at_no_gateway("own")], EDGE, ["llm/route-without-gateway"]),
        ([leaving_it_to("own"), at_no_gateway("own", parentRefs=[])], EDGE, ["llm/route-without-gateway"]),
        ([llm(router=router({"pool": {"ref": {"name": "own"}}}))], {}, ["llm/pool-not-found"]),
        (
            [llm(router=router({"pool": {"ref": {"name": "talk-inference-pool"}}})), llm("talk", router=router({}))],
            {},
            [],
        ),
    ],
)
def test_what_a_service_refers_to_must_be_there(
    documents: list[dict[str, Any]], facts: dict[str, Any], found: list[str]
) -> None:
    """A Gateway may be the cluster's and is asked for; a route or a pool that nobody makes is an error."""
    assert slugs(built(*documents, **facts)) == found


@pytest.mark.parametrize(
    "router_of",
    [lambda _: router(), lambda _: {"gateway": {"refs": [{"name": "edge", "namespace": "ml"}]}}],
    ids=["the platform's", "written in each spec"],
)
def test_a_gateway_that_nothing_declares_is_told_of_once(router_of: Any) -> None:
    """However many services lead to it, from presets or from their own specs; another Gateway is told of, too."""
    several = [llm(name, router=router_of(name)) for name in ("a", "b", "c")]
    compilation = built(*several, gateways=[])
    assert slugs(compilation) == ["llm/gateway-undeclared"]
    (found,) = (d for d in compilation.diagnostics if d.code.slug == "llm/gateway-undeclared")
    assert found.subject is None
    assert found.span is not None
    other = llm("d", router={"gateway": {"refs": [{"name": "other", "namespace": "ml"}]}})
    assert slugs(built(*several, other, gateways=[])) == ["llm/gateway-undeclared"] * 2


def test_a_route_that_is_left_to_another_is_not_made() -> None:
    """Nothing is routed twice."""
    compilation = built(leaving_it_to("own"), http_route("own", "edge"), **EDGE)
    assert not [item for item in compilation.objects if item.ref.kind == "HTTPRoute"]


@pytest.mark.parametrize(
    ("documents", "facts", "meant"),
    [
        ([leaving_it_to("own"), http_route("own-route", "edge")], EDGE, "own-route"),
        ([leaving_it_to("other"), http_route("own-route", "edge")], EDGE, ""),
        ([llm(router={"gateway": {"refs": [{"name": "edge-gw", "namespace": "ml"}]}})], EDGE, "edge"),
        ([llm(router={"gateway": {"refs": [{"name": "edge-gw", "namespace": "other"}]}})], EDGE, ""),
    ],
)
def test_a_reference_that_is_nearly_right(documents: list[dict[str, Any]], facts: dict[str, Any], meant: str) -> None:
    """What is declared in the namespace, and resembles it, was meant."""
    (found,) = (d for d in built(*documents, **facts).diagnostics if d.code.slug.startswith("llm/"))
    assert found.help.startswith(f"did you mean {meant}? If not, declare " if meant else "declare ")
