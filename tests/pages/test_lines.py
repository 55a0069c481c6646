"""Lines: every line of a rendered object, and where it comes from."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import pytest
from tests.golden.cases import cases, compiled, inputs

from kservec.api import front_of
from kservec.compilation import steps_of
from kservec.core.bundle import Manifest
from kservec.core.diagnostics import NOT_SHOWN, has_errors
from kservec.core.tree import Layer, Origin, Tree
from kservec.emit import dump
from kservec.explain.values import explained
from kservec.site.lines import Provenance, equal_blocks, leaves_of, lines_later, lines_of, stretches

LATER = Provenance("patch", "patches/prod")


@cache
def manifests() -> tuple[Manifest, ...]:
    """The objects of all golden cases that compile, with their trees."""
    made: list[Manifest] = []
    for case in cases():
        if compiled(case).ok:
            files, target = inputs(case)
            front, _ = front_of(files, target=target)
            made += [m for s in steps_of(front) if not has_errors(s.diagnostics) for m in s.unit.bundle.manifests]
    return tuple(made)


@pytest.mark.slow
def test_every_line_has_a_source() -> None:
    """Of all golden objects: as many sources as lines, and where nothing is hidden the lines are the file's."""
    whole = 0
    for made in manifests():
        lines = lines_of(made.body, {})
        assert len(lines.texts) == len(lines.sources), made.ref
        assert lines == lines_of(made.body, {}, dump(made.body.value)), made.ref
        if lines.whole:
            whole += 1
            assert "\n".join((*lines.texts, "")) == dump(made.body.value), made.ref
    assert whole > 500


@pytest.mark.slow
def test_values_stand_on_their_lines() -> None:
    """Of all golden objects: the line of a short text holds the text, and says of its source what explain says."""
    looked = 0
    for made in manifests():
        lines = lines_of(made.body, {})
        told = {found.path: found for found in explained(made.body, ())}
        end = 0
        for leaf in leaves_of(made.body.value) if lines.whole else ():
            end += leaf.lines
            if isinstance(leaf.value, str) and leaf.value.isalnum():
                looked += 1
                assert leaf.value in lines.texts[end - 1], (made.ref, leaf)
                source, found = lines.sources[end - 1], told[leaf.path]
                assert (source.layer, source.by) == (found.layer, found.by)
                assert (source.file, source.line) == ((found.span.file, found.span.line) if found.span else ("", 0))
    assert looked > 5000


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"b": {"c": 1}}, "d": [[1, [2, {"e": "x"}]], []], "f": {}},
        {"text": "one\ntwo\n", "kept": "one\ntwo", "odd": "one \ntwo", "k" * 90: 1, "l" * 1200: {"m": 2}},
        {"list": [{"a": 1, "b": "x\ny\n"}, "z\nw\n", None, True]},
        [1, {"a": [2]}],
        {},
        "text",
    ],
    ids=["nested", "texts and long keys", "lists", "a list", "empty", "a text"],
)
def test_lines_are_counted_as_they_are_written(value: object) -> None:
    """The lines of all values together are those of the text."""
    assert sum(leaf.lines for leaf in leaves_of(value)) == dump(value).count("\n")


def test_credentials_are_hidden_with_their_sources_kept() -> None:
    """A value that may be a secret is not shown, on its line and with its source."""
    body = Tree.of({"kind": "Deployment", "env": [{"name": "API_KEY", "value": "s3cr3t"}]}, Origin(Layer.PASS, "ours"))
    lines = lines_of(body, {}, dump(body.value))
    assert not lines.whole
    assert f"  value: {NOT_SHOWN}" in lines.texts
    assert set(lines.sources) == {Provenance("pass", "ours")}


def deployment(**fields: object) -> Tree:
    """An object of one source."""
    return Tree.of({"kind": "Deployment", "metadata": {"name": "a"}, "spec": fields}, Origin(Layer.PASS, "ours"))


def test_what_a_patch_wrote_is_told_apart() -> None:
    """Lines that are as compiled keep their sources; changed and new ones come from the patch."""
    before, after = deployment(replicas=2, paused=True), deployment(replicas=3, paused=True, extra="x")
    lines = lines_later(lines_of(before, {}), dump(after.value), LATER)
    told = dict(zip(lines.texts, lines.sources, strict=True))
    assert told["  replicas: 3"] == told["  extra: x"] == LATER
    assert told["  paused: true"] == told["kind: Deployment"] == Provenance("pass", "ours")


def test_what_nothing_changed_stays_the_same_value() -> None:
    """An object that is rendered as it was compiled has the lines that it had."""
    body = deployment(replicas=2)
    lines = lines_of(body, {})
    assert lines_later(lines, dump(body.value), LATER) is lines


def test_credentials_of_patches_are_hidden() -> None:
    """A credential that a patch wrote is hidden, whether there was one before or not."""
    env = [{"name": "DB_PASSWORD", "value": "hunter2"}]
    for before in (deployment(env=[]), deployment(env=[{"name": "API_TOKEN", "value": "old-one"}])):
        lines = lines_later(lines_of(before, {}), dump(deployment(env=env).value), LATER)
        assert not [line for line in lines.texts if "hunter2" in line or "old-one" in line]
        assert any(NOT_SHOWN in line for line in lines.texts)


def test_stretches_cover_all_lines_once() -> None:
    """Neighbours from one place are together, and nothing is left out."""
    a, b = Provenance("spec"), Provenance("pass")
    assert list(stretches([a, a, b, a])) == [(0, 2), (2, 1), (3, 1)]
    assert list(stretches([])) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [("abc", "abc"), ("abc", "abxc"), ("abc", "ac"), ("", "ab"), ("ab", ""), ("aaa", "aa"), ("abcd", "xbyd")],
)
def test_equal_blocks_are_equal_and_apart(old: str, new: str) -> None:
    """What is called the same is, and no line of either text is in two blocks."""
    blocks = [block for block in equal_blocks(old, new) if block[2]]
    assert all(old[a : a + size] == new[b : b + size] for a, b, size in blocks)
    assert all(a + size <= c and b + size <= d for (a, b, size), (c, d, _) in pairwise(blocks))
