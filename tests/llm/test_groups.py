"""Groups of services that share the requests for one model."""

from __future__ import annotations

from typing import Any

import pytest

from .services import ALPHA_POOL, POOL, built, config, foreign_pool, llm, made, router, rules, slugs


def member(name: str, weight: int, scheduler: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A member of the group `fleet`, which serves the model `m`."""
    model = {"name": "m", **more.pop("model", {})}
    return llm(name, model=model, router=router(scheduler, group="fleet", weight=weight), **more)


def shares(objects: dict[str, Any], name: str) -> list[tuple[str, int]]:
    """The backends for requests that name the model, with their weights."""
    return [(ref["name"], ref["weight"]) for ref in rules(objects, name)["v1-model-routing"]["backendRefs"]]


def test_members_share_by_weight() -> None:
    """Every member's route has all of them, in the order of their names; its own path stays its own."""
    objects = made(member("green", 80, {}), member("blue", 20))
    for name in ("green", "blue"):
        assert shares(objects, name) == [("blue-kserve-workload-svc", 20), ("green-inference-pool", 80)]
        assert (
            objects[f"HTTPRoute/{name}-kserve-route"]["metadata"]["labels"]["serving.kserve.io/routing-group"]
            == "fleet"
        )
        assert len(rules(objects, name)["v1-completions-path"]["backendRefs"]) == 1
    pools = {
        ref["group"] for ref in rules(objects, "green")["v1-model-routing"]["backendRefs"] if "Pool" in ref["kind"]
    }
    assert pools == {POOL}


@pytest.mark.parametrize(
    ("other", "found"),
    [
        (member("blue", 20, stopped=True), [("green-inference-pool", 80)]),
        (member("blue", 20, replicas=0), [("green-inference-pool", 80)]),
        (member("blue", 0), [("blue-kserve-workload-svc", 0), ("green-inference-pool", 80)]),
        (
            llm("blue", model={"name": "another"}, router=router(group="other", weight=1)),
            [("green-inference-pool", 80)],
        ),
    ],
)
def test_only_members_with_pods_share(other: dict[str, Any], found: list[tuple[str, int]]) -> None:
    """Members that are stopped or have no pods are left out; one with the weight 0 stays."""
    assert shares(made(member("green", 80, {}), other), "green") == found


def test_a_member_without_pods_has_its_own_route() -> None:
    """It lists itself, as in KServe, though others do not."""
    objects = made(member("green", 80), member("blue", 20, replicas=0))
    assert ("blue-kserve-workload-svc", 20) in shares(objects, "blue")


def test_members_serve_the_same_models() -> None:
    """One that serves an adapter more gets no requests of the others, which is said at both."""
    adapters = {"lora": {"adapters": [{"name": "polite", "uri": "pvc://models/polite"}]}}
    documents = (member("green", 50), member("blue", 50, model=adapters))
    objects = made(*documents)
    assert shares(objects, "green") == [("green-kserve-workload-svc", 50)]
    assert shares(objects, "blue") == [("blue-kserve-workload-svc", 50)]
    assert slugs(built(*documents)) == ["llm/group-divergent", "llm/group-divergent"]


@pytest.mark.parametrize(("count", "routes", "found"), [(16, 16, []), (17, 0, ["llm/group-too-large"])])
def test_a_route_leads_to_so_many_members(count: int, routes: int, found: list[str]) -> None:
    """A rule has at most 16 backends; of a larger group nobody gets a route."""
    compilation = built(*(member(f"m{number:02}", 1) for number in range(count)))
    assert slugs(compilation) == found
    assert sum(made.ref.kind == "HTTPRoute" for made in compilation.objects) == routes


def test_a_pool_of_somebody_else_is_a_member_by_the_older_version() -> None:
    """As KServe refers to it."""
    objects = made(member("blue", 1, {"pool": {"ref": {"name": "own"}}}), foreign_pool("own"))
    (ref,) = rules(objects, "blue")["v1-model-routing"]["backendRefs"]
    assert (ref["group"], ref["name"]) == (ALPHA_POOL, "own")


def test_a_group_of_a_config_has_no_member() -> None:
    """The service sends requests to the members and is none, of which it is told."""
    base = config("shape", model={"uri": "pvc://models/tiny"}, router={"route": {"group": "fleet", "weight": 5}})
    service = llm("green", model={"name": "m"}, router=router(), baseRefs=[{"name": "shape"}])
    compilation = built(member("blue", 10), service, base)
    assert slugs(compilation) == ["llm/model-name-shared", "llm/group-from-config"]


def test_a_group_needs_a_weight() -> None:
    """All members at 0 answer with errors."""
    assert slugs(built(member("green", 0), member("blue", 0))) == ["llm/group-without-traffic"] * 2


def test_services_do_not_share_a_name_by_chance() -> None:
    """Both are told, unless one is stopped or has no route."""
    one, other = (llm(name, model={"name": "same"}, router=router()) for name in ("chat", "talk"))
    assert slugs(built(one, other)) == ["llm/model-name-shared"] * 2
    assert slugs(built(one, llm("talk", model={"name": "same"}))) == []
    assert slugs(built(one, llm("talk", model={"name": "same"}, router=router(), stopped=True))) == []


def test_a_base_config_names_the_model_of_a_member() -> None:
    """The name of the config counts for the others as well."""
    base = config("shape", model={"uri": "pvc://models/tiny", "name": "m"})
    named = member("blue", 20, model={"name": "x"}, baseRefs=[{"name": "shape"}])
    assert shares(made(member("green", 80), named, base), "green") == [
        ("blue-kserve-workload-svc", 20), ("green-kserve-workload-svc", 80),
    ]  # fmt: skip
