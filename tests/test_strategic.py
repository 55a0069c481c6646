"""Strategic merge: KServe's results, recorded with apimachinery's own code, and the rules one by one."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kservec.core.pods.strategic import concat_args, merge, merge_container, merge_pod_spec, omit_empty, patch_container

TYPES = json.loads((Path(__file__).parents[1] / "schemas/output/types.json").read_text(encoding="utf-8"))["$defs"]
ZEROS = {"string": "", "integer": 0}
OMITTED = {("restartPolicyRules", "action", "")}
"""What Kubernetes demands, and Go leaves out all the same."""
VECTORS = json.loads((Path(__file__).parent / "vectors" / "strategic.json").read_text(encoding="utf-8"))


def written_by_go(value: Any) -> Any:
    """Without the empty struct and zero quantity that Go's encoder adds, and nulls."""
    if isinstance(value, dict):
        kept = {k: written_by_go(v) for k, v in value.items() if v is not None}
        empty = {"resources": {}, "metadata": {}, "divisor": "0"}
        return {k: v for k, v in kept.items() if k not in empty or v != empty[k]}
    return [written_by_go(v) for v in value] if isinstance(value, list) else value


@pytest.mark.parametrize("vector", VECTORS, ids=range(len(VECTORS)))
def test_merges_as_kubernetes_does(vector: dict[str, Any]) -> None:
    """Every recorded pair merges to the recorded value, and neither input changes."""
    before = copy.deepcopy(vector)
    function = merge_container if vector["kind"] == "container" else merge_pod_spec
    merged = function(omit_empty(vector["original"]), omit_empty(vector["patch"]))
    assert written_by_go(merged) == vector["merged"]
    assert vector == before


FIELD = {"fieldRef": {"fieldPath": "p"}}


def env(*names: str) -> list[dict[str, str]]:
    """Variables; `A=1` has a value."""
    return [dict(zip(("name", "value"), name.split("="), strict=False)) for name in names]


@pytest.mark.parametrize(
    ("runtime", "override", "expected"),
    [
        ("A B C", "D B", "D A B C"),
        ("A B C", "B", "A B C"),
        ("A B C", "C A", "B C A"),
        ("A B", "C D", "C D A B"),
        ("A=1 B", "A=2", "A=2 B"),
        ("A=one B A=two", "C", "C A=one A=two B"),
        ("A=x A=y", "A=three Z A=four", "A=four A=y Z"),
        ("", "A=1 A=2", "A=1 A=2"),
        ("A", "", "A"),
    ],
)
def test_order_of_merged_lists(runtime: str, override: str, expected: str) -> None:
    """What the spec names keeps the spec's order; what only the runtime has goes in by the runtime's."""
    base, overlay = ({"name": "c", "env": env(*text.split())} for text in (runtime, override))
    assert merge_container(omit_empty(base), omit_empty(overlay))["env"] == env(*expected.split())


@pytest.mark.parametrize(
    ("runtime", "override", "expected"),
    [
        ({"tty": True}, {"tty": False}, {"tty": True}),
        ({"command": ["a"]}, {"command": []}, {"command": ["a"]}),
        ({"command": ["a", "b"]}, {"command": ["c"]}, {"command": ["c"]}),
        ({"workingDir": "/a"}, {"workingDir": ""}, {"workingDir": "/a"}),
        ({"livenessProbe": {"periodSeconds": 5}}, {"livenessProbe": {"periodSeconds": 0}},
         {"livenessProbe": {"periodSeconds": 5}}),
        ({"securityContext": {"runAsNonRoot": True, "runAsUser": 1}},
         {"securityContext": {"runAsNonRoot": False, "runAsUser": 0}},
         {"securityContext": {"runAsNonRoot": False, "runAsUser": 0}}),
        ({"resources": {"limits": {"cpu": "1", "memory": "1Gi"}}}, {"resources": {"limits": {"cpu": "2"}}},
         {"resources": {"limits": {"cpu": "2", "memory": "1Gi"}}}),
        ({"livenessProbe": {"httpGet": {"port": 1}}}, {"livenessProbe": {"tcpSocket": {"port": 2}}},
         {"livenessProbe": {"httpGet": {"port": 1}, "tcpSocket": {"port": 2}}}),
        ({"livenessProbe": {"grpc": {"port": 1, "service": "x"}}},
         {"livenessProbe": {"grpc": {"port": 1, "service": ""}}},
         {"livenessProbe": {"grpc": {"port": 1, "service": ""}}}),
        ({"ports": [{"containerPort": 80, "name": "a"}]}, {"ports": [{"containerPort": 80, "protocol": "UDP"}]},
         {"ports": [{"containerPort": 80, "name": "a", "protocol": "UDP"}]}),
        ({"envFrom": [{"secretRef": {"name": "a"}}]}, {"envFrom": [{"secretRef": {"name": "b"}}]},
         {"envFrom": [{"secretRef": {"name": "b"}}]}),
        ({"args": ["--a"]}, {"args": ["--b", "--a"]}, {"args": ["--a", "--b", "--a"]}),
        ({"args": []}, {}, {}),
        ({"name": "x"}, {"name": ""}, {"name": "x"}),
        ({"name": "x"}, {"name": "y"}, {"name": "y"}),
        ({"env": [{"name": "A", "value": "1"}]}, {"env": [{"name": "A", "valueFrom": FIELD}]},
         {"env": [{"name": "A", "valueFrom": FIELD}]}),
        ({"env": [{"name": "A", "valueFrom": FIELD}]}, {"env": [{"name": "A", "value": "1"}]},
         {"env": [{"name": "A", "value": "1"}]}),
        ({"env": [{"name": "A", "valueFrom": FIELD}]}, {"env": [{"name": "A", "value": ""}]},
         {"env": [{"name": "A", "valueFrom": FIELD}]}),
    ],
)  # fmt: skip
def test_what_wins_in_a_container(runtime: Any, override: Any, expected: Any) -> None:
    """Empty fields of the spec never win, explicit pointers do; lists merge, are replaced or (args) concatenated."""
    assert merge_container(omit_empty(runtime), omit_empty(override)) == expected


def test_an_overlay_without_concatenation_replaces_args() -> None:
    """The storage initializer's container takes args as any other list."""
    assert patch_container({"args": ["a"]}, {"args": ["b"]}) == {"args": ["b"]}


def test_only_some_fields_of_a_runtime_pod_count() -> None:
    """A runtime's hostIPC is lost, its volumes merge by name, both sources of a volume stay."""
    runtime = {
        "hostIPC": True,
        "containers": [{"name": "x"}],
        "volumes": [{"name": "v", "emptyDir": {}}, {"name": "w"}],
    }
    override = {"volumes": [{"name": "v", "secret": {"secretName": "s"}}], "tolerations": []}
    assert merge_pod_spec(runtime, omit_empty(override)) == {
        "volumes": [{"name": "v", "emptyDir": {}, "secret": {"secretName": "s"}}, {"name": "w"}]
    }


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"hostNetwork": False, "hostUsers": False}, {"hostUsers": False}),
        ({"nodeSelector": {}, "securityContext": {}}, {"securityContext": {}}),
        ({"nodeSelector": {"a": ""}}, {"nodeSelector": {"a": ""}}),
        ({"volumes": [{"name": "v", "emptyDir": {"medium": ""}}]}, {"volumes": [{"name": "v", "emptyDir": {}}]}),
        ({"containers": [], "volumes": []}, {"containers": []}),
        ({"priority": None, "hostAliases": [{"ip": "1", "hostnames": ["a", ""]}]},
         {"hostAliases": [{"ip": "1", "hostnames": ["a", ""]}]}),
        ({"volumes": [{"csi": {"readOnly": False}}, {"nfs": {"readOnly": False}}]},
         {"volumes": [{"csi": {"readOnly": False}}, {"nfs": {}}]}),
    ],
)  # fmt: skip
def test_what_go_leaves_out(value: Any, expected: Any) -> None:
    """Zero values go unless the Go field is a pointer, a struct or always written."""
    assert omit_empty(value) == expected


def resolved(schema: Any) -> Any:
    """A schema, or the type that it refers to."""
    return resolved(TYPES[schema["$ref"].rpartition("/")[2]]) if "$ref" in schema else schema


def demanded(schema: Any, holder: str, seen: list[Any]) -> Iterator[tuple[str, str, Any]]:
    """The scalars and lists that a schema demands: what field holds their struct, their own, the zero of their type."""
    schema = resolved(schema)
    if schema in seen:
        return
    seen.append(schema)
    fields = {name: resolved(field) for name, field in schema.get("properties", {}).items()}
    for name in schema.get("required", ()):
        yield from ((holder, name, zero) for kind, zero in ZEROS.items() if kind in fields[name]["type"])
    for name, field in fields.items():
        yield from demanded(field, name, seen)
    yield from demanded(schema.get("items", {}), holder, seen)


def test_what_a_pod_must_have_stays() -> None:
    """A field that Kubernetes demands is always written by Go, so that an empty one is there for others to judge."""
    found = set(demanded(resolved(TYPES["template"])["properties"]["spec"], "", []))
    assert {("volumes", "name", ""), ("volumeMounts", "name", ""), ("matchExpressions", "key", "")} < found
    for holder, name, zero in found - OMITTED:
        assert omit_empty({holder: [{name: zero}]}) == {holder: [{name: zero}]}


def test_a_null_removes() -> None:
    """A null in a patch takes the field away, and none is left in what is new."""
    assert merge({"a": 1, "b": 2}, {"a": None, "c": {"d": None}}) == {"b": 2, "c": {}}


def test_ports_of_a_service_merge_by_port() -> None:
    """Lists called ports have another key where items are no container ports."""
    assert merge({"ports": [{"port": 80}]}, {"ports": [{"port": 80, "name": "x"}, {"port": 81}]}) == {
        "ports": [{"port": 80, "name": "x"}, {"port": 81}]
    }


def test_unchanged_parts_are_shared() -> None:
    """A merge copies only what it touches."""
    original = {"affinity": {"nodeAffinity": {}}, "nodeSelector": {"a": "b"}}
    merged = merge(original, {"nodeSelector": {"c": "d"}})
    assert merged["affinity"] is original["affinity"]
    assert original["nodeSelector"] == {"a": "b"}


def test_concatenation_skips_what_is_absent() -> None:
    """Missing lists count as empty."""
    assert concat_args(["a"], None, [], ["b", "a"]) == ["a", "b", "a"]
