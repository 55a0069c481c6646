"""Edits change what they say and nothing else, and adding and removing undo each other, byte for byte."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from kservec.edits.changes import Add, Change, Put, Remove, Target, changed
from kservec.edits.nodes import NotEditableError

FIRST = Target(0)

PUTS = [
    ("a: 1\n", ("a",), 2, "a: 2\n"),
    ("a: old  # why\nb: 1\n", ("a",), "new", "a: new  # why\nb: 1\n"),
    ("a: 'old'\n", ("a",), "it's", "a: 'it''s'\n"),
    ('a: "old"\n', ("a",), 'say "x"', 'a: "say \\"x\\""\n'),
    ("a: {b: old, c: 1}\n", ("a", "b"), "x,y", 'a: {b: "x,y", c: 1}\n'),
    ("- b: 1\n  c: 2\n", (0, "c"), 3, "- b: 1\n  c: 3\n"),
    ("a:\nb: 1\n", ("a",), 5, "a: 5\nb: 1\n"),
    ("a: old\n", ("a",), "1", 'a: "1"\n'),
    ("a: old\n", ("a",), "yes", 'a: "yes"\n'),
    ("a: old\r\nb: 1\r\n", ("a",), "new", "a: new\r\nb: 1\r\n"),
    ('{"a": "old", "b": 1}\n', ("a",), "new", '{"a": "new", "b": 1}\n'),
]


@pytest.mark.parametrize(("text", "path", "value", "expected"), PUTS)
def test_a_scalar_is_replaced_in_its_style(text: str, path: tuple[str | int, ...], value: Any, expected: str) -> None:
    """Quotes stay where they can hold the new value; comments, order and line ends stay anyway."""
    assert changed(text, FIRST, [Put(path, value)]) == expected


ADDS = [
    ("a: 1\n", ("b",), 2, "a: 1\nb: 2\n"),
    ("a: 1", ("b",), 2, "a: 1\nb: 2"),
    ("a: 1\r\n", ("b",), 2, "a: 1\r\nb: 2\r\n"),
    ("a:\n  b: 1  # x\nc: 2\n", ("a", "d"), "v", "a:\n  b: 1  # x\n  d: v\nc: 2\n"),
    ("a:\n    b: 1\n", ("a", "x", "z"), "v", "a:\n    b: 1\n    x:\n      z: v\n"),
    ("a: {b: 1}\n", ("a", "c"), "v", "a: {b: 1, c: v}\n"),
    ("a: { b: 1 }\n", ("a", "c"), "v", "a: { b: 1, c: v }\n"),
    ('{"a": {"b": 1}}', ("a", "c"), "v", '{"a": {"b": 1, "c": "v"}}'),
    ("a:\n- x: 1\nb: 2\n", ("a", 1), {"x": 2}, "a:\n- x: 1\n- x: 2\nb: 2\n"),
    ("a:\n  - x: 1\n", ("a", 1), {"x": 2, "z": 3}, "a:\n  - x: 1\n  - x: 2\n    z: 3\n"),
    ("a: [1]\n", ("a", 1), 2, "a: [1, 2]\n"),
    ("a: |\n  text\n  more\n\nb: 1\n", ("c",), 2, "a: |\n  text\n  more\n\nb: 1\nc: 2\n"),
    ("b: 1\na: |\n  text\n", ("c",), 2, "b: 1\na: |\n  text\nc: 2\n"),
    ("- a: 1\n- b: 2\n", (0, "c"), 3, "- a: 1\n  c: 3\n- b: 2\n"),
    ("x: 0\n---\na: 1\n---\ny: 0\n", ("b",), 2, "x: 0\n---\na: 1\nb: 2\n---\ny: 0\n"),
]


@pytest.mark.parametrize(("text", "path", "value", "expected"), ADDS)
def test_an_entry_is_added_and_taken_away(text: str, path: tuple[str | int, ...], value: Any, expected: str) -> None:
    """It comes last, in the style of what is there; taking it away gives the bytes that were there before."""
    target = Target(1 if text.startswith("x: 0\n---") else 0)
    made = changed(text, target, [Add(path, value)])
    assert made == expected
    assert changed(made, target, [Remove(path)]) == text


REMOVALS = [
    ("a: 1\nb: 2\n", ("a",), "b: 2\n"),
    ("a: 1\nb:\n  c: 1\n  # of d\n  d: 2\ne: 3\n", ("b", "c"), "a: 1\nb:\n  # of d\n  d: 2\ne: 3\n"),
    ("a: 1\nb:\n  c: 1\ne: 3\n", ("b", "c"), "a: 1\ne: 3\n"),
    ("- a: 1\n  b: 2\n", (0, "a"), "- b: 2\n"),
    ("x:\n- a\n- b\n- c\n", ("x", 1), "x:\n- a\n- c\n"),
    ("x:\n  - a: 1\n    b: 2\n  - c: 3\n", ("x", 0), "x:\n  - c: 3\n"),
    ("a: {b: 1, c: 2}\n", ("a", "b"), "a: {c: 2}\n"),
    ("a: {b: 1, c: 2}\n", ("a", "c"), "a: {b: 1}\n"),
    ("z: 1\na: [1]\n", ("a", 0), "z: 1\n"),
]


@pytest.mark.parametrize(("text", "path", "expected"), REMOVALS)
def test_an_entry_is_removed(text: str, path: tuple[str | int, ...], expected: str) -> None:
    """What is left empty goes, too."""
    assert changed(text, FIRST, [Remove(path)]) == expected


REFUSALS: list[tuple[str, Change, str]] = [
    ("a: &x old\nb: *x\n", Put(("a",), "new"), "several places"),
    ("a: &x old\n", Put(("a",), "new"), "anchor"),
    ("a: &x old\nb: *x\n", Put(("b",), "new"), "several places"),
    ("a: {}\n", Add(("a", "b"), 1), "empty map"),
    ("a: 1\n", Add(("a",), 1), "already"),
    ("a: !!str old\n", Put(("a",), "new"), "tag"),
    ("a: |\n  old\n", Put(("a",), "new"), "no value in one line"),
    ("a: old\n  and more\n", Put(("a",), "new"), "several lines"),
    ("a: {b: 1}\n", Put(("a",), "new"), "no value in one line"),
    ("a: 1\n", Put(("b",), "new"), "there is no b"),
    ("a: 1\n", Add(("a", "b"), 1), "no map"),
    ("a: &x {b: 1}\nc: *x\n", Add(("a", "d"), 1), "several places"),
    ("x:\n- a: 1\n", Remove(("x", 0, "b")), "there is no x.0.b"),
    ("a: [1\n", Put(("a",), 1), "no YAML"),
    ("a: " + "[" * 3000, Put(("a",), 1), "no YAML"),
    ("<<: &b {a: 1}\n", Put(("a",), 2), "there is no a"),
    ("base: &b {a: 1}\nc:\n  <<: *b\n", Add(("c", "a"), 1), "already"),
]


@pytest.mark.parametrize(("text", "change", "reason"), REFUSALS)
def test_what_cannot_be_undone_is_refused(text: str, change: Change, reason: str) -> None:
    """Anchors, tags, texts of several lines and what is not there are left to the user, with the reason."""
    with pytest.raises(NotEditableError, match=reason):
        changed(text, FIRST, [change])


SCALARS = st.one_of(st.integers(-5, 10**6), st.booleans(), st.none(), st.text(max_size=12))
KEYS = st.text("abcdefgh-_./", min_size=1, max_size=6).filter(lambda key: key[0].isalpha())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, min_size=1, max_size=3) | st.dictionaries(KEYS, inner, min_size=1, max_size=3),
    max_leaves=12,
)
MAPS = st.dictionaries(KEYS, VALUES, min_size=1, max_size=4)


def paths_of(value: Any, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """The paths of all values below a value."""
    items: Any = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for step, part in items for path in ((*at, step), *paths_of(part, (*at, step)))]


def maps_of(value: Any) -> list[tuple[str | int, ...]]:
    """The paths of all maps in a value, itself included."""
    return [path for path in ((), *paths_of(value)) if isinstance(at(value, path), dict)]


def at(value: Any, path: tuple[str | int, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


@given(MAPS, st.data(), st.booleans(), st.sampled_from(["\n", "\r\n"]), VALUES)
def test_adding_and_removing_undo_each_other(value: Any, data: Any, flow: bool, newline: str, added: Any) -> None:
    """In any file that PyYAML writes, at any map, for any value."""
    text = yaml.safe_dump(value, default_flow_style=flow, width=10**6, allow_unicode=True).replace("\n", newline)
    path = data.draw(st.sampled_from(maps_of(value)))
    key = data.draw(KEYS.filter(lambda key: key not in at(value, path)))
    try:
        made = changed(text, FIRST, [Add((*path, key), added)])
    except NotEditableError:
        return
    assert at(yaml.safe_load(made), path)[key] == added
    assert changed(made, FIRST, [Remove((*path, key))]) == text


@given(MAPS, st.data(), st.booleans(), SCALARS)
def test_replacing_changes_one_value(value: Any, data: Any, flow: bool, new: Any) -> None:
    """All lines but the one of the scalar stay as they are."""
    text = yaml.safe_dump(value, default_flow_style=flow, width=10**6, allow_unicode=True)
    scalars = [path for path in paths_of(value) if not isinstance(at(value, path), dict | list)]
    if not scalars:
        return
    path = data.draw(st.sampled_from(scalars))
    try:
        made = changed(text, FIRST, [Put(path, new)])
    except NotEditableError:
        return
    assert at(yaml.safe_load(made), path) == new
    differing = [pair for pair in zip(text.split("\n"), made.split("\n"), strict=True) if pair[0] != pair[1]]
    assert len(differing) <= 1
