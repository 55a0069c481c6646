"""Specs of LLMInferenceServices laid over each other."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.merging import UnmergeableError, full, merged

POD = {"containers": [{"name": "main", "image": "a", "env": [{"name": "A", "value": "1"}]}]}


def inline(config: Any) -> dict[str, Any]:
    """A spec with a scheduler's configuration."""
    return {"router": {"scheduler": {"config": {"inline": config}}}}


@pytest.mark.parametrize(
    ("base", "over", "expected"),
    [
        ({"replicas": 3}, {"replicas": 0}, {"replicas": 0}),
        ({"parallelism": {"expert": True}}, {"parallelism": {"expert": False}}, {"parallelism": {"expert": False}}),
        ({"labels": {"a": "1"}}, {"labels": {"b": "2"}}, {"labels": {"a": "1", "b": "2"}}),
        ({"labels": {"a": "1"}}, {"labels": {}}, {"labels": {"a": "1"}}),
        ({"router": {"scheduler": {}}}, {"router": {"route": {}}}, {"router": {"scheduler": {}, "route": {}}}),
        (
            {"model": {"uri": "hf://a/b", "name": "x"}},
            {"model": {"uri": "", "name": "y"}},
            {"model": {"uri": "hf://a/b", "name": "y"}},
        ),
        (
            {"model": {"lora": {"adapters": [{"name": "a"}]}}},
            {"model": {"lora": {"adapters": [{"name": "b"}]}}},
            {"model": {"lora": {"adapters": [{"name": "b"}]}}},
        ),
        (
            {"template": POD},
            {"template": {"containers": [{"name": "main", "env": [{"name": "A", "value": "2"}]}]}},
            {"template": {"containers": [{"name": "main", "image": "a", "env": [{"name": "A", "value": "2"}]}]}},
        ),
        (
            {"template": {"containers": [{"name": "main"}]}},
            {"template": {"containers": [{"name": "user"}]}},
            {"template": {"containers": [{"name": "user"}, {"name": "main"}]}},
        ),
        (
            {"router": {"route": {"http": {"spec": {"rules": [{"name": "a"}]}}}}},
            {"router": {"route": {"http": {"spec": {"rules": [{"name": "b"}]}}}}},
            {"router": {"route": {"http": {"spec": {"rules": [{"name": "b"}]}}}}},
        ),
        (
            {"router": {"route": {"http": {"spec": {"rules": [{"name": "a"}]}}}}},
            {"router": {"route": {"http": {"spec": {"rules": []}}}}},
            {"router": {"route": {"http": {"spec": {"rules": [{"name": "a"}]}}}}},
        ),
        (inline({"a": 1}), inline({"b": 2}), inline({"a": 1, "b": 2})),
        (inline({"a": 1}), inline({"a": {"b": 2}}), inline({"a": {"b": 2}})),
    ],
)
def test_what_wins(base: Any, over: Any, expected: Any) -> None:
    """Empty values do not win but for pointers; maps merge, keyed lists by key, all other lists are replaced."""
    assert merged([base, over]) == expected


@pytest.mark.parametrize(
    ("below", "above", "expected"),
    [
        (
            {"startupProbe": {"httpGet": {"port": 1}, "periodSeconds": 5}},
            {"startupProbe": {"exec": {"command": ["true"]}}},
            {"startupProbe": {"exec": {"command": ["true"]}, "periodSeconds": 5}},
        ),
        (
            {"startupProbe": {"httpGet": {"port": 1}}},
            {"startupProbe": {"periodSeconds": 5}},
            {"startupProbe": {"httpGet": {"port": 1}, "periodSeconds": 5}},
        ),
        (
            {"lifecycle": {"preStop": {"exec": {"command": ["x"]}}}},
            {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}},
            {"lifecycle": {"preStop": {"sleep": {"seconds": 5}}}},
        ),
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "1"}]},
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}, {"name": "B", "value": "1"}]},
        ),
        (
            {"env": [{"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "x"}}}]},
            {"env": [{"name": "A", "value": "1"}]},
            {"env": [{"name": "A", "value": "1"}]},
        ),
    ],
)
def test_one_excludes_the_other(below: Any, above: Any, expected: Any) -> None:
    """What a probe or hook does, and where a value comes from, is said once; Kubernetes refuses two."""
    base, over, both = ({"template": {"containers": [{"name": "main", **part}]}} for part in (below, above, expected))
    assert merged([base, over]) == both


def test_a_volume_lies_in_one_place() -> None:
    """A volume of the name of another takes its place, in every pod; what both have is merged."""
    below = {"volumes": [{"name": "home", "emptyDir": {"medium": "Memory"}}, {"name": "tmp", "emptyDir": {}}]}
    claim = {"name": "home", "persistentVolumeClaim": {"claimName": "h"}}
    for path in ("template", "worker"):
        found = merged([{path: below}, {path: {"volumes": [claim]}}])[path]["volumes"]
        assert found == [claim, {"name": "tmp", "emptyDir": {}}]
    sized = {"name": "home", "emptyDir": {"sizeLimit": "1Gi"}}
    found = merged([{"worker": below}, {"worker": {"volumes": [sized]}}])["worker"]["volumes"]
    assert found[0] == {"name": "home", "emptyDir": {"medium": "Memory", "sizeLimit": "1Gi"}}


def test_pods_of_the_router_are_merged_like_others() -> None:
    """Those of the scheduler and of its tokenizer."""
    below, above = {"httpGet": {"port": 1}}, {"exec": {"command": ["true"]}}
    for path in (("template",), ("tokenizer", "template")):
        found = merged([of_scheduler(path, below), of_scheduler(path, above)])
        assert found == of_scheduler(path, above)


def of_scheduler(path: tuple[str, ...], probe: Any) -> Any:
    """A spec whose scheduler has a pod with a probe at a path."""
    pod: Any = {"containers": [{"name": "main", "readinessProbe": probe}]}
    for step in reversed(("router", "scheduler", *path)):
        pod = {step: pod}
    return pod


@pytest.mark.parametrize("shared", [[{"type": "a"}], {"gate": True}])
def test_inline_configurations_that_share_a_list_or_map(shared: Any) -> None:
    """Kubernetes knows no way to merge them, and says so."""
    with pytest.raises(UnmergeableError, match="plugins"):
        merged([inline({"plugins": shared, "a": 1}), inline({"plugins": shared})])


def test_pods_have_a_list_of_containers() -> None:
    """KServe's defaulting gives it to every pod but the tokenizer's, and drops what is empty."""
    spec = {"template": {"hostNetwork": False}, "prefill": {"worker": {}}, "router": {"scheduler": {"tokenizer": {}}}}
    assert full(spec) == {
        "template": {"containers": []},
        "prefill": {"worker": {"containers": []}},
        "router": {"scheduler": {"tokenizer": {}}},
    }
