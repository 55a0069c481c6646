"""InferencePools, in the versions that the cluster has, and how routes refer to them."""

from __future__ import annotations

import pytest

from .services import ALPHA_POOL, POOL, built, config, foreign_pool, llm, made, router, rules, slugs

MIGRATED = "serving.kserve.io/inference-pool-migrated"


@pytest.mark.parametrize(
    ("absent", "kinds", "group", "is_migrated"),
    [
        ((), ["InferencePool", "InferencePool.alpha"], ALPHA_POOL, False),
        ((f"{ALPHA_POOL}/v1alpha2/InferencePool",), ["InferencePool"], POOL, True),
        ((f"{POOL}/v1/InferencePool",), ["InferencePool.alpha"], ALPHA_POOL, False),
    ],
)
def test_pools_are_of_the_versions_that_there_are(
    absent: tuple[str, ...], kinds: list[str], group: str, is_migrated: bool
) -> None:
    """Routes refer to the older one while there are both, for so KServe leaves them."""
    objects = made(llm(router=router({})), absent=absent)
    assert [name.split("/")[0] for name in objects if "InferencePool" in name] == kinds
    backend = rules(objects)["v1-completions-path"]["backendRefs"][0]
    assert (backend["group"], backend["name"]) == (group, "chat-inference-pool")
    assert (MIGRATED in objects["HTTPRoute/chat-kserve-route"]["metadata"].get("annotations", {})) is is_migrated


def test_both_versions_say_the_same() -> None:
    """The older one has one port, and names what picks an endpoint in its own words."""
    objects = made(llm(router=router({})))
    assert objects["InferencePool.alpha/chat-inference-pool"]["spec"] == {
        "selector": objects["InferencePool/chat-inference-pool"]["spec"]["selector"]["matchLabels"],
        "targetPortNumber": 8000,
        "extensionRef": {
            "group": "",
            "kind": "Service",
            "name": "chat-epp-service",
            "portNumber": 9002,
            "failureMode": "FailOpen",
        },
    }


def test_a_cluster_without_pools_has_no_scheduler() -> None:
    """Without either version there is nothing that a scheduler could choose from."""
    assert slugs(built(llm(router=router({})), absent=("InferencePool",))) == ["llm/pool-kind-absent"]


def test_a_pool_of_another_has_the_route_change_over() -> None:
    """A route that leads to another pool of the newer version refers to its own by that version, too."""
    foreign = [
        {"group": POOL, "kind": "InferencePool", "name": name, "port": 8000}
        for name in ("chat-inference-pool", "other")
    ]
    spec = {"rules": [{"name": name, "backendRefs": [ref]} for name, ref in zip("ab", foreign, strict=True)]}
    objects = made(llm(router=router({}, http={"spec": spec})))
    assert {rule["backendRefs"][0]["group"] for rule in rules(objects).values()} == {POOL}
    assert objects["HTTPRoute/chat-kserve-route"]["metadata"]["annotations"] == {MIGRATED: "v1"}


@pytest.mark.parametrize("there", [POOL, ALPHA_POOL])
def test_routes_lead_to_pools_of_the_version_that_there_is(there: str) -> None:
    """Those of others too: of a group, and the one that a service refers to."""
    other = {POOL: f"{ALPHA_POOL}/v1alpha2", ALPHA_POOL: f"{POOL}/v1"}[there]
    objects = made(
        llm("chat", model={"name": "m"}, router=router({"pool": {"ref": {"name": "own"}}}, group="g", weight=1)),
        llm("talk", model={"name": "m"}, router=router({}, group="g", weight=2)),
        foreign_pool("own"),
        absent=(f"{other}/InferencePool",),
    )
    backends = [
        ref for name in ("chat", "talk") for rule in rules(objects, name).values() for ref in rule["backendRefs"]
    ]
    found = {(ref["group"], ref["name"]) for ref in backends if ref["kind"] == "InferencePool"}
    assert found == {(there, "own"), (there, "talk-inference-pool")}


@pytest.mark.parametrize("pool", [{}, {"pool": {}}])
def test_a_preset_of_the_namespace_without_a_pool(pool: dict[str, object]) -> None:
    """A scheduler has nothing to choose from, and KServe makes a pool that the API server refuses."""
    scheduler = {"template": {"containers": [{"name": "main", "image": "s:1"}]}, **pool}
    preset = config("kserve-config-llm-scheduler", router={"scheduler": scheduler})
    assert slugs(built(llm(router=router({})), preset)) == ["llm/no-pool"]
