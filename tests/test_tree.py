"""The tree: writes share and never change, paths go through merge keys, every value can say where it comes from."""

from __future__ import annotations

import copy
import json
from typing import Any, NamedTuple

import pytest

from kservec.core.diagnostics import Span
from kservec.core.paths import with_keys
from kservec.core.tree import Concat, Graft, Layer, Layers, Origin, Tree, index_of, lookup


class Doc(NamedTuple):
    """A stand-in for a parsed document: the span's file is the path that was asked for, with indices."""

    value: Any

    def span(self, path: tuple[str | int, ...]) -> Span:
        """The path itself as text, as far as it leads."""
        node, field, steps = self.value, "", []
        for step in path:
            at = index_of(node, field, step) if isinstance(node, list) else step
            node = lookup(node, (step,), field)
            if node is None:
                break
            steps.append(str(at))
            field = step if isinstance(step, str) else ""
        return Span(".".join(steps), 1)


POD = {
    "containers": [
        {"name": "web", "image": "web:1", "args": ["a", "b"], "ports": [{"containerPort": 8080}, {"containerPort": 1}]},
        {"name": "log", "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
    ],
    "nodeSelector": {"zone": "x"},
}
SPEC = Origin(Layer.SPEC, "split", Doc({"spec": {"pod": POD}}), ("spec", "pod"))
RUNTIME = Origin(Layer.RUNTIME, "choose_runtime")
PASS = Origin(Layer.PASS, "expose")
PASS2 = Origin(Layer.PASS, "scale")


def by(tree: Tree, *path: str | int) -> str | None:
    """Who put the value at a path."""
    found = tree.origin(path)
    return found[0].by if found else None


def where(tree: Tree, *path: str | int) -> str | None:
    """The document path a value was copied from."""
    span = tree.span(path)
    return span.file if span else None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("containers", "web", "image"), "web:1"),
        (("containers", 0, "image"), "web:1"),
        (("containers", "web", "args", 1), "b"),
        (("containers", "web", "args", 2), None),
        (("containers", "web", "args", -1), None),
        (("containers", "web", "ports", 8080), {"containerPort": 8080}),
        (("containers", "web", "ports", 1), {"containerPort": 1}),
        (("containers", "web", "ports", 0), {"containerPort": 8080}),
        (("containers", "log", "env", "B", "value"), "2"),
        (("containers", "none", "env"), None),
        (("nodeSelector", "zone", "deeper"), None),
        ((), POD),
    ],
)
def test_reads_through_keys_and_indices(path: tuple[str | int, ...], expected: Any) -> None:
    """A step in a list is a merge key, or an index where no item has that key."""
    assert Tree.of(POD, SPEC).get(*path) == expected


def test_service_ports_are_named_by_port() -> None:
    """A list of ports without `containerPort` is keyed by `port`."""
    assert lookup({"ports": [{"port": 80, "targetPort": 8080}]}, ("ports", 80, "targetPort")) == 8080


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        (("a", "b"), 1, {"a": {"b": 1}}),
        (("containers", "x", "env", "E", "value"), "v",
         {"containers": [{"name": "x", "env": [{"name": "E", "value": "v"}]}]}),
        (("ports", 80, "name"), "http", {"ports": [{"containerPort": 80, "name": "http"}]}),
        (("volumeMounts", "/m", "name"), "v", {"volumeMounts": [{"mountPath": "/m", "name": "v"}]}),
        (("rules", 0, "matches", 0, "path"), "/", {"rules": [{"matches": [{"path": "/"}]}]}),
        ((), 5, 5),
    ],
)  # fmt: skip
def test_put_makes_what_is_missing(path: tuple[str | int, ...], value: Any, expected: Any) -> None:
    """Maps, keyed items and the next index of a plain list come into being on the way."""
    assert Tree.of({}, SPEC).put(path, value, PASS).value == expected


@pytest.mark.parametrize("path", [("nodeSelector", "zone", "deeper"), ("containers", "web", "args", 3)])
def test_put_refuses_places_that_cannot_be(path: tuple[str | int, ...]) -> None:
    """No write goes through a scalar or leaves a hole in a list."""
    with pytest.raises(LookupError):
        Tree.of(POD, SPEC).put(path, 1, PASS)


def test_writes_never_change_what_was_there() -> None:
    """Every editing method leaves the old tree as it was and shares what it did not touch."""
    before = copy.deepcopy(POD)
    old = Tree.of(POD, SPEC)
    new = old.put(("containers", "web", "image"), "web:2", PASS)
    new = new.fill(("nodeSelector",), {"zone": "y", "arch": "arm"}, PASS)
    new = new.append(("containers", "web", "args"), "c", PASS).prepend(("containers", "web", "args"), "0", PASS)
    new = new.without(("containers", "log", "env", "A"), PASS).without(("containers", "web", "args", 1), PASS)
    assert before == POD
    assert old.value is POD
    assert new.get("containers", "web", "ports") is POD["containers"][0]["ports"]  # type: ignore[index]
    assert new.get("containers", "web", "args") == ["0", "b", "c"]
    assert new.get("nodeSelector") == {"zone": "x", "arch": "arm"}
    assert new.get("containers", "log", "env") == [{"name": "B", "value": "2"}]


def test_the_newest_edit_answers() -> None:
    """An edit answers for its path and all below; older ones for the rest."""
    tree = Tree.of(POD, SPEC).put(("containers", "web", "image"), "x", PASS)
    assert by(tree, "containers", "web", "image") == "expose"
    assert by(tree, "containers", 0, "image") == "expose"
    assert by(tree, "containers", "web", "args", 0) == "split"
    assert by(tree.put(("containers", "web"), {"name": "web"}, PASS2), "containers", "web", "image") == "scale"
    assert by(Tree({}), "a") is None


def test_an_index_written_is_a_key_remembered() -> None:
    """A write by index is found under the merge key, even after other items moved in before it."""
    tree = Tree.of(POD, SPEC).put(("containers", 1, "image"), "x", PASS).prepend(("containers",), {"name": "z"}, PASS2)
    assert by(tree, "containers", "log", "image") == "expose"
    assert by(tree, "containers", "z", "name") == "scale"
    assert by(tree, "containers", 2, "env") == "split"


def test_spans_are_paths_of_the_document() -> None:
    """A path with merge keys becomes one with indices, below the place that was copied."""
    tree = Tree.of(POD, SPEC)
    assert where(tree, "containers", "log", "env", "B", "value") == "spec.pod.containers.1.env.1.value"
    assert where(tree, "containers", "web", "ports", 8080) == "spec.pod.containers.0.ports.0"
    assert where(tree, "containers", "web", "absent") == "spec.pod.containers.0"
    assert where(tree.put(("a",), 1, PASS), "a") is None


def test_a_place_may_end_at_a_keyed_list() -> None:
    """An origin that stands for a list still finds its items by key."""
    doc = Doc({"env": [{"name": "A"}, {"name": "B"}]})
    tree = Tree.of({}, PASS).put(("env",), doc.value["env"], Origin(Layer.SPEC, "s", doc, ("env",)))
    assert where(tree, "env", "B") == "env.1"


def test_union_asks_the_strongest_layer_that_has_the_key() -> None:
    """Later maps win, and each key knows its map."""
    tree = Tree.union(({"a": 1, "b": 1}, RUNTIME), (None, PASS), ({"b": 2}, SPEC))
    assert tree.value == {"a": 1, "b": 2}
    assert by(tree, "a") == "choose_runtime"
    assert by(tree, "b") == "split"
    assert by(tree, "c") is None


def test_layers_answer_by_merge_key() -> None:
    """A merged list asks each layer for the item's key, not for its index."""
    merged = {"env": [{"name": "B"}, {"name": "A"}]}
    layers = Layers((({"env": [{"name": "B"}]}, SPEC), ({"env": [{"name": "A"}, {"name": "B"}]}, RUNTIME)))
    tree = Tree.of(merged, layers)
    assert by(tree, "env", "B") == by(tree, "env", 0) == "split"
    assert by(tree, "env", "A") == "choose_runtime"


def test_fill_answers_only_for_what_it_added() -> None:
    """A default that was not needed leaves the origin alone, and a fill without effect is the same tree."""
    tree = Tree.of(POD, SPEC)
    filled = tree.fill((), {"nodeSelector": {}, "restartPolicy": "Always"}, PASS)
    assert by(filled, "restartPolicy") == "expose"
    assert by(filled, "nodeSelector") == "split"
    assert tree.fill((), {"nodeSelector": {}}, PASS) is tree
    assert tree.fill(("securityContext",), {"runAsUser": 1}, PASS).get("securityContext") == {"runAsUser": 1}


def test_concat_knows_both_lists() -> None:
    """Items of the second list count from its own start."""
    doc = Doc({"args": ["c"]})
    tree = Tree.of({"args": ["a", "b", "c"]}, PASS)
    tree = tree.note(("args",), Concat(2, RUNTIME, Origin(Layer.SPEC, "split", doc, ("args",))))
    assert by(tree, "args", 1) == "choose_runtime"
    assert where(tree, "args", 2) == "args.0"
    assert by(tree, "args") == "split"


def test_items_keep_their_origin_when_others_move_them() -> None:
    """Items without merge keys are followed through prepend, append and removal."""
    args = ("containers", "web", "args")
    tree = Tree.of(POD, SPEC).append(args, "c", PASS).prepend(args, "0", PASS2)
    assert [by(tree, *args, i) for i in range(4)] == ["scale", "split", "split", "expose"]
    cut = tree.without((*args, 1), PASS)
    assert cut.get(*args) == ["0", "b", "c"]
    assert [by(cut, *args, i) for i in range(3)] == ["scale", "split", "expose"]
    assert where(cut, *args, 1) == "spec.pod.containers.0.args.1"


def test_without_of_nothing_is_the_same_tree() -> None:
    """Removing what is not there is no edit; removing an explicit null is."""
    tree = Tree.of({"a": None}, SPEC)
    assert tree.without(("b",), PASS) is tree
    assert tree.without(("b", "c"), PASS) is tree
    assert tree.without(("a",), PASS).value == {}
    assert by(tree.without(("a",), PASS), "a") == "expose"


def test_a_graft_keeps_the_origins_of_the_other_tree() -> None:
    """A Deployment answers for its pod as the pod does."""
    pod = Tree.of(POD, SPEC).put(("containers", "web", "image"), "x", PASS)
    deployment = Tree.of({"kind": "Deployment"}, PASS2).graft(("spec", "template", "spec"), pod)
    at = ("spec", "template", "spec", "containers")
    assert by(deployment, *at, "web", "image") == "expose"
    assert where(deployment, *at, "log", "env", "A") == "spec.pod.containers.1.env.0"
    assert by(deployment, "kind") == "scale"
    assert by(deployment.put((*at, "web", "image"), "y", RUNTIME), *at, "web", "image") == "choose_runtime"
    assert where(pod.sub("containers", "log"), "env", "A") == "spec.pod.containers.1.env.0"
    assert by(Tree.of({"c": "x"}, Graft(pod, ("containers", "web"))), "image") == "expose"


def test_equal_values_are_equal_trees() -> None:
    """The journal is no part of a tree's identity."""
    assert Tree.of({"a": 1}, SPEC) == Tree.of({}, PASS).put(("a",), 1, PASS)


def test_indices_become_merge_keys() -> None:
    """A path may name an item by its place; it is remembered by its key where it has one."""
    assert with_keys(POD, ("containers", 0, "ports", 0, "x")) == ("containers", "web", "ports", 8080, "x")
    assert with_keys(POD, ("containers", 0, "args", 1)) == ("containers", "web", "args", 1)


def test_a_long_journal_needs_no_stack() -> None:
    """Thousands of edits are walked in a loop."""
    tree = Tree.of({}, SPEC)
    for i in range(5000):
        tree = tree.put((f"k{i % 7}",), i, PASS)
    assert by(tree, "other") == "split"
    assert json.dumps(tree.value["k0"]) == "4998"
