"""Emitting: the same bytes always, and every reader reads what was meant."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import libyaml

from kservec.core.text.source import parse
from kservec.emit import dump, stream

DEPLOYMENT = {
    "spec": {
        "replicas": 2,
        "template": {
            "spec": {
                "containers": [
                    {
                        "name": "web",
                        "image": "docker.io/kserve/web:v1.0",
                        "args": ["--port=8080", "$(NAME)", "-c", "a b", "80"],
                        "env": [{"name": "ON", "value": "on"}, {"name": "EMPTY", "value": ""}],
                        "resources": {"limits": {"cpu": "1", "memory": "1.5Gi"}},
                    }
                ],
                "volumes": [{"emptyDir": {}, "name": "tmp"}],
                "tolerations": [],
            }
        },
        "strategy": {"rollingUpdate": {"maxSurge": "25%"}},
    },
    "metadata": {"namespace": "ml", "name": "web", "annotations": {"note": "# a\n  b\n\nc\n", "x": "1\n2"}},
    "kind": "Deployment",
    "apiVersion": "apps/v1",
    "extra": [[1, [2]], [{"a": None}], 0.5, True],
}
EXPECTED = """\
apiVersion: apps/v1
kind: Deployment
metadata:
  annotations:
    note: |
      # a
        b

      c
    x: |-
      1
      2
  name: web
  namespace: ml
extra:
- - 1
  - - 2
- - a: null
- 0.5
- true
spec:
  replicas: 2
  strategy:
    rollingUpdate:
      maxSurge: 25%
  template:
    spec:
      containers:
      - args:
        - --port=8080
        - $(NAME)
        - -c
        - a b
        - "80"
        env:
        - name: "ON"
          value: "on"
        - name: EMPTY
          value: ""
        image: docker.io/kserve/web:v1.0
        name: web
        resources:
          limits:
            cpu: "1"
            memory: 1.5Gi
      tolerations: []
      volumes:
      - emptyDir: {}
        name: tmp
"""
PLAIN = (
    "a", "v1", "a-b.c/d", "kserve-container", "s3://bucket/x", "a:b", "--flag=x", "--flag", "-c", "-x=y", "$(VAR)",
    "(a)", "/mnt/models", "25%", "500m", "1Gi", "1.5Gi", "1Ti", "10.0.0.0/8", "8080/tcp", "12h", "./x", "_x", "a b",
    "a=b c=d", "Mozilla/5.0", "deadbeef", "e3", "true false", "a@b", "x,y", "1.2.3-rc1", "http://x:80/y", "nano",
)  # fmt: skip
QUOTED = (
    "", " ", " a", "a ", "a  b", "~", "null", "NULL", "y", "N", "yes", "No", "on", "OFF", "true", "False", "nan",
    ".nan", ".inf", "-.inf", "+.INF", "inf", "0", "-1", "+1", "1e3", "1E3", "1.5", ".5", "5.", "0x1f", "0o17", "017",
    "08", "0b1", "1_000", "1,000", "12:30", "190:20:30", "2001-01-01", "2001-12-14t21:59:43.10-05:00",
    "2001-12-14 21:59:43.10 -5", "123e456", "1a2b", "1.0.0", "-_0", "-", "--", "---", "...", ".", "=", "<<", "*a", "&a",
    "!a", "|", ">", "%a", "@a", "`a`", "#a", "a #b", "a: b", "a:", ":a", "?", "? a", "- a", "[a]", "{a}", "{{ a }}",
    "'a'", '"a"', "a\tb", "\ta\nb", "a\rb", "a\r\nb", "a\n", "\n", "\n\n", "a\n\n", "\na", " a\nb", "a \nb", "a\n\tb",
    "a\x85b", "a\u2028b", "a\u2029\n", "\ufeffa", "\x00", "\x07", "\x7f", "é", "日本", "😀", "\uffff", "x" * 999 + ":",
)  # fmt: skip


def read(text: str) -> Any:
    """The one document in a text, as Kubernetes reads it."""
    documents, findings = parse(text.encode(), "out.yaml")
    assert not findings
    (document,) = documents
    return document.value


def test_a_document() -> None:
    """Keys are sorted below the first three, dashes stand below their key, text of several lines is a block."""
    assert dump(DEPLOYMENT) == EXPECTED
    assert read(EXPECTED) == DEPLOYMENT


@pytest.mark.parametrize("text", PLAIN)
def test_text_that_nothing_mistakes_needs_no_quotes(text: str) -> None:
    """Frequent shapes stay readable."""
    assert dump({"a": text}) == f"a: {text}\n"
    assert read(dump({text: [text]})) == {text: [text]}


@pytest.mark.parametrize("text", QUOTED)
def test_text_that_something_mistakes_is_kept_apart(text: str) -> None:
    """As value, item and key it is in double quotes or a block, and Kubernetes and PyYAML read it back."""
    value = {"m": {text: [text, [text], {text: text}]}}
    written = dump(value)
    assert f": {text}\n" not in written or "\n" in text
    assert read(written) == value
    assert libyaml.load(written) == value
    assert libyaml.load(written) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1.0, "1"),
        (0.1, "0.1"),
        (1e-7, "1.0e-07"),
        (1.5e300, "1.5e+300"),
        (1e22, "1.0e+22"),
        (1e17, "100000000000000000"),
        (-0.0, "0"),
        (2**63 - 1, "9223372036854775807"),
        (False, "false"),
        (None, "null"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_scalars(value: Any, expected: str) -> None:
    """Numbers are written so that Kubernetes and PyYAML read the same number."""
    assert dump({"a": value}) == f"a: {expected}\n"
    assert read(f"a: {expected}\n")["a"] == value
    assert libyaml.load(expected) == value


@pytest.mark.parametrize(
    ("value", "expected"),
    [([], "[]\n"), ({}, "{}\n"), ("a\nb", '"a\\nb"\n'), (None, "null\n"), ([1, "a\nb"], "- 1\n- |-\n  a\n  b\n")],
)
def test_other_values_than_maps(value: Any, expected: str) -> None:
    """Any value can be written, though documents are maps."""
    assert dump(value) == expected
    assert libyaml.load(expected) == value


@pytest.mark.parametrize("length", [900, 1001, 1020, 1024, 5000])
@pytest.mark.parametrize("value", [1, {"x": 1}, ["x"], "a\nb"])
def test_long_keys(length: int, value: Any) -> None:
    """Keys of any length are read back; readers look for the colon in the first 1,024 characters only."""
    expected = {"a": [{"k" * length: value, "z": 1}], "é" * length: value}
    assert read(dump(expected)) == expected


def test_nothing_is_folded_or_shared() -> None:
    """Long lines stay one line, and a value that occurs twice is written twice."""
    shared = {"text": "word " * 500 + "end"}
    written = dump({"a": shared, "b": shared})
    assert written.count("\n") == 4
    assert "&" not in written


class Colour(StrEnum):
    """Text that is more than text."""

    RED = "red"


@pytest.mark.parametrize("value", [(1,), {1}, Colour.RED, b"x", object(), {1: 2}, {None: 1}, {True: 1}])
def test_what_is_no_json_is_refused(value: Any) -> None:
    """A value of another type is a mistake of the caller's, not to be guessed at."""
    with pytest.raises(TypeError):
        dump({"a": value})


@pytest.mark.parametrize("value", [float("inf"), float("nan"), "\ud800", {"\udfff": 1}, "a\n\ud800"])
def test_what_cannot_be_written_is_refused(value: Any) -> None:
    """Infinities and halves of surrogate pairs have no form that could be read back."""
    with pytest.raises(ValueError, match=r"JSON number|surrogate"):
        dump({"a": value})


def test_a_stream_begins_each_document_with_a_marker() -> None:
    """Documents follow each other without blank lines and end with one line end."""
    assert stream([dump({"a": 1}), dump({"b": 2})]) == "---\na: 1\n---\nb: 2\n"
    assert stream([]) == ""


HOSTILE = st.text("abeyn01.-+_:~ #\n\t\"'\\{}[],&*!|>%@=?/()$\x85\u2028é😀\ufeff", max_size=12) | st.sampled_from(
    QUOTED
)
TEXT = HOSTILE | st.text(st.characters(exclude_categories=("Cs",)), max_size=8)
NUMBERS = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=15,
)


@settings(deadline=None)
@given(st.dictionaries(TEXT, VALUES, max_size=4))
def test_every_value_is_read_back(value: dict[str, Any]) -> None:
    """Kubernetes' rules and PyYAML's give the value that was written, and writing it again gives the same bytes."""
    written = dump(value)
    again = read(written)
    assert as_floats(again) == as_floats(value)
    assert as_floats(libyaml.load(written)) == as_floats(value)
    assert dump(again) == written
    assert written.endswith("\n")
    assert not written.endswith("\n\n")
    assert "\r" not in written
    written.encode()


def as_floats(value: Any) -> Any:
    """The value with large integral floats as Go writes them told from others by worth only."""
    if isinstance(value, dict):
        return {key: as_floats(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_floats(item) for item in value]
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


@settings(deadline=None)
@given(st.permutations(list(DEPLOYMENT.items())))
def test_the_order_of_keys_does_not_matter(items: list[tuple[str, Any]]) -> None:
    """The same map gives the same bytes however it was built."""
    assert dump(dict(items)) == EXPECTED
