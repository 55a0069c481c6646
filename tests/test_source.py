"""Reading: values as Kubernetes takes them, places to the column, and words that help for every mistake."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.text import events
from kservec.core.text.source import Document, Limits, parse


def only(text: str | bytes, file: str = "f.yaml", **limits: int) -> Document:
    """The one document of a text that has no fault."""
    documents, findings = parse(text if isinstance(text, bytes) else text.encode(), file, Limits(**limits))
    assert not findings
    (document,) = documents
    return document


def findings_of(text: str | bytes, file: str = "f.yaml", **limits: int) -> tuple[Diagnostic, ...]:
    """What is reported about a text."""
    return parse(text if isinstance(text, bytes) else text.encode(), file, Limits(**limits))[1]


def located(finding: Diagnostic) -> tuple[str, int, int]:
    """Slug, line and column of a finding."""
    assert finding.span is not None
    return finding.code.slug, finding.span.line, finding.span.column


@pytest.fixture(params=["fast", "slow"])
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test with libyaml and with PyYAML's own parser."""
    if request.param == "slow":
        monkeypatch.setattr(events, "HAS_LIBYAML", False)
    elif not events.HAS_LIBYAML:
        pytest.skip("PyYAML was built without libyaml")
    return str(request.param)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: &x {k: 1}\nb: *x\n", {"a": {"k": 1}, "b": {"k": 1}}),
        ("a: &x 1\nb: &x 2\nc: *x\n", {"a": 1, "b": 2, "c": 2}),
        ("&k key: 1\nb: *k\n", {"key": 1, "b": "key"}),
        ("a: &x on\n? *x\n: 1\n", {"a": True, "true": 1}),
        ("<<: {a: 1, b: 2}\na: 3\n", {"a": 3, "b": 2}),
        ("<<: [{a: 1}, {a: 2, b: 2}]\n", {"a": 1, "b": 2}),
        ("!!merge <<: {a: 1}\n", {"a": 1}),
    ],
)
def test_anchors_aliases_and_merge_keys_are_expanded(text: str, expected: Any) -> None:
    """The value holds no trace of how it was shared."""
    assert only(text).value == expected


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfa: {b: 1}\n",
        b"a:\r\n  b: 1\r\n",
        b"%YAML 1.2\n---\na: {b: 1}\n",
        b"# nothing\n---\n---\n~\n---\na: {b: 1}\n...\n",
        b'\n\t{\n\t\t"a"\n\t:\t{"b":\t1}\n\t}\n',
        b"{a: {b: 1},}",
    ],
)
def test_forms_of_one_document(content: bytes) -> None:
    """A byte order mark, line ends, directives, empty documents, tabs in JSON: the value is the same."""
    assert only(content).value == {"a": {"b": 1}}


def test_json_is_read_as_json() -> None:
    """What is no YAML, or other YAML, is read as Kubernetes reads it: it tries JSON first."""
    key = "k" * 2000
    text = '{"a": "\\ud83d\\ude00\\/", "b": "x\u2028y", "' + key + '": [1.0, -2e3, true, null, ""]}{"c":{}}\n{"d":[]}'
    documents, findings = parse(text.encode(), "f.json")
    assert not findings
    assert [d.value for d in documents] == [
        {"a": "\U0001f600/", "b": "x\u2028y", key: [1, -2000, True, None, ""]},
        {"c": {}},
        {"d": []},
    ]
    assert [(d.line, d.span().column) for d in documents] == [(1, 1), (1, text.index('{"c"') + 1), (2, 1)]
    assert documents[0].span(("a",)) == Span("f.json", 1, 7, 1, 23)


def test_lists_are_replaced_by_their_items() -> None:
    """Items keep their places; those of a typed list take their kind from it; lists may be nested."""
    text = (
        "apiVersion: v1\nkind: List\nitems:\n- kind: A\n  spec: {x: 1}\n"
        "- {kind: BList, apiVersion: g/v1, items: [{metadata: {name: b}}]}\n"
    )
    documents, findings = parse(text.encode(), "f.yaml")
    assert not findings
    assert [d.value for d in documents] == [
        {"kind": "A", "spec": {"x": 1}},
        {"metadata": {"name": "b"}, "kind": "B", "apiVersion": "g/v1"},
    ]
    a, b = documents
    assert (a.line, a.span(("spec", "x"))) == (4, Span("f.yaml", 5, 13, 5, 14))
    assert b.span(("metadata", "name")) == Span("f.yaml", 6, 61, 6, 62)
    assert b.span(("apiVersion",)) == Span("f.yaml", 6, 29, 6, 33)


SPANS = """\
# comment
metadata:
  name: 'a b'
  empty:
spec:
  &p pod: {image: "x\\ty", args: [--a, b]}
  env:
  - name: A
    value: !!str 1
  - name: B
    value: |
      one

      two
  ports: [{containerPort: 80}, {containerPort: 81}]
"""


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ((), (2, 1, 15, 52)),
        (("metadata",), (3, 3, 4, 9)),
        (("metadata", "name"), (3, 9, 3, 14)),
        (("metadata", "empty"), (4, 9, 4, 9)),
        (("spec", "pod"), (6, 11, 6, 42)),
        (("spec", "pod", "image"), (6, 19, 6, 25)),
        (("spec", "pod", "args"), (6, 33, 6, 41)),
        (("spec", "pod", "args", 1), (6, 39, 6, 40)),
        (("spec", "env", "A", "value"), (9, 12, 9, 19)),
        (("spec", "env", "B", "value"), (11, 12, 14, 10)),
        (("spec", "env", 1, "name"), (10, 11, 10, 12)),
        (("spec", "ports", 81), (15, 32, 15, 51)),
        (("spec", "nothing", "there"), (6, 3, 15, 52)),
        (("metadata", "name", "deeper"), (3, 9, 3, 14)),
    ],
)
def test_span_of_a_value(path: tuple[str | int, ...], expected: tuple[int, ...]) -> None:
    """Lines and columns count from 1; a path that leads nowhere ends at the last value on it."""
    assert only(SPANS).span(path) == ("f.yaml", *expected)


def test_span_of_a_key_and_quoting() -> None:
    """A key has a span of its own, a list item its value's; a document without text has only its file."""
    document = only(SPANS)
    assert document.key_span(("metadata", "name")) == Span("f.yaml", 3, 3, 3, 7)
    assert document.key_span(("spec", "pod")) == Span("f.yaml", 6, 3, 6, 9)
    assert document.key_span(("spec", "env", "A")) == document.span(("spec", "env", 0))
    assert document.key_span(("spec", "nothing")) == document.span(("spec",))
    assert document.quoted(("metadata", "name"))
    assert document.quoted(("spec", "env", "B", "value"))
    assert not document.quoted(("spec", "env", "A", "value"))
    assert not document.quoted(("metadata",))
    assert not document.quoted(("metadata", "nothing"))
    assert repr(document) == "Document('f.yaml', line=2)"
    assert Document("made.yaml", {"a": 1}).span(("a",)) == Span("made.yaml")


def test_aliases_point_to_what_they_repeat() -> None:
    """The span of a value below an alias is where it was written; the span of its key is its own."""
    document = only("a: &x {k: 1}\nb: *x\nc: {<<: *x, l: 2}\n")
    assert document.span(("b", "k")) == document.span(("a", "k")) == document.span(("c", "k"))
    assert document.key_span(("b",)) == Span("f.yaml", 2, 1, 2, 2)
    assert document.span(("c", "l")) == Span("f.yaml", 3, 16, 3, 17)


MISTAKES = {
    "\ta: b": ("yaml/tab", 1, 1, "tab"),
    "a:\n\t- b": ("yaml/tab", 2, 1, "tab"),
    "a: b\n\tc: d": ("yaml/tab", 2, 1, "tab"),
    "a: |\n  x\n\ty": ("yaml/tab", 3, 1, "tab"),
    "a: @b": ("yaml/syntax", 1, 4, "begin with `@`"),
    "a: `b`": ("yaml/syntax", 1, 4, "a backtick"),
    "a: %b": ("yaml/syntax", 1, 4, "begin with `%`"),
    "a: b: c": ("yaml/syntax", 1, 5, "a colon and a space"),
    "a:b\nc: d": ("yaml/syntax", 1, 2, "no space follows this colon"),
    "x: 1\na:b\nc: d": ("yaml/syntax", 2, 2, "no space follows this colon"),
    "-a\n-b: c": ("yaml/syntax", 2, 1, "no space follows this dash"),
    "a:b": ("yaml/not-a-mapping", 1, 1, "plain text instead of an object"),
    "a: 1\nfoo\nb: 2": ("yaml/syntax", 2, 1, "this line is no `key: value`"),
    "a: 'x": ("yaml/unclosed", 1, 4, "quote"),
    'a: 1\nb: "x\n---\nc: d': ("yaml/unclosed", 2, 4, "quote"),
    "a: [1,\n2\nb: c": ("yaml/unclosed", 1, 4, "bracket"),
    "a: [x\n---\nc: d": ("yaml/unclosed", 1, 4, "bracket"),
    'a: {b: "1"\nc: d': ("yaml/unclosed", 1, 4, "bracket"),
    "a: [\n  'x'\n  'y'\n]": ("yaml/syntax", 3, 3, "a comma or `]` is expected"),
    "a: [1,,2]": ("yaml/syntax", 1, 7, "a value is missing"),
    "key: [a, b]]": ("yaml/syntax", 1, 12, "`]` closes or separates nothing"),
    "a: b\n c: d": ("yaml/indentation", 2, 2, "has a value already"),
    "a:\n  b: 1\n c: 2": ("yaml/indentation", 3, 2, "fits nothing above it"),
    "a: b\n- c": ("yaml/indentation", 2, 1, "fits nothing above it"),
    "a:\n  - 1\n  b: 2": ("yaml/indentation", 3, 3, "a dash is expected"),
    "a: - b": ("yaml/syntax", 1, 4, "a list cannot begin here"),
    'a: "\\d"': ("yaml/syntax", 1, 5, "`\\d` begins no valid escape"),
    'a: "\\ud83d"': ("yaml/syntax", 1, 5, "no valid escape"),
    "a: 'it's'": ("yaml/syntax", 1, 8, "more text after the closing quote"),
    "a: *.x": ("yaml/syntax", 1, 4, "`*` begins an alias"),
    "a: & x": ("yaml/syntax", 1, 4, "`&` begins an anchor"),
    "a: !<": ("yaml/syntax", 1, 4, "`!` begins a tag"),
    "a: >x\n b": ("yaml/syntax", 1, 4, "nothing may follow `>`"),
    "%YAML 3.0\n---\na: b": ("yaml/syntax", 1, 1, "directive"),
    "a: 1\n...\nb": ("yaml/syntax", 3, 1, "after the end of the document"),
    "k" * 2000 + ": a": ("yaml/syntax", 1, 1, "more than 1,024 characters"),
    "{{ x }}: a": ("yaml/template", 1, 1, "template"),
    "a: b\nc: {{ x }}": ("yaml/template", 2, 4, "template"),
    "a: b\n{{- if x }}\nc: d\n": ("yaml/template", 2, 1, "template"),
    "{% if x %}\na: b": ("yaml/template", 1, 1, "template"),
    "a: 1\nb: 2\na: 3": ("yaml/duplicate-key", 3, 1, "`a` is here twice"),
    "<<: {a: 1}\n<<: {b: 1}": ("yaml/duplicate-key", 2, 1, "`<<`"),
    "1: a\n'1': b": ("yaml/duplicate-key", 2, 1, "`1`"),
    "a: 1\n<<: {a: 2}": ("yaml/merge-key", 2, 1, "comes after `a`"),
    "<<: 5": ("yaml/merge-key", 1, 1, "no map"),
    "a: *x": ("yaml/unknown-alias", 1, 4, "no anchor of this name"),
    "*x : a": ("yaml/unknown-alias", 1, 1, "no anchor of this name"),
    "a: &x [*x]": ("yaml/unknown-alias", 1, 8, "inside what it repeats"),
    "a: !foo x": ("yaml/tag", 1, 4, "no such tag"),
    "a: !!set {x}": ("yaml/tag", 1, 4, "no such tag"),
    "a: !!python/object/apply:os.system [id]": ("yaml/tag", 1, 4, "no such tag"),
    "a: !!int x": ("yaml/tag", 1, 4, "this is no `!!int`"),
    "a: !!binary //8=": ("yaml/tag", 1, 4, "base64"),
    "~: 1": ("yaml/key", 1, 1, "null"),
    "? [a]\n: b": ("yaml/key", 1, 3, "a map or a list"),
    "a: .inf": ("yaml/number", 1, 4, "JSON"),
    "a: 9223372036854775808": ("yaml/number", 1, 4, "64 bits"),
    "a: !!float 18446744073709551615": ("yaml/number", 1, 4, "64 bits"),
    "18446744073709551615: a": ("yaml/number", 1, 1, "64 bits"),
    "- a": ("yaml/not-a-mapping", 1, 1, "a list instead"),
    "kind: List\nitems: [{}, 5]": ("yaml/not-a-mapping", 2, 13, "a single value instead"),
    "a: b\x07c": ("yaml/control-character", 1, 5, "U+0007"),
    '{"a": "\\ud83d"}': ("yaml/control-character", 1, 7, "surrogate"),
    '{"a": 1e400}': ("yaml/number", 1, 7, "beyond what a number can hold"),
    '{"a": 1, "a": 2}': ("yaml/duplicate-key", 1, 10, "`a` is here twice"),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize(("text", "expected"), MISTAKES.items())
def test_mistakes_are_named_and_located(text: str, expected: tuple[str, int, int, str]) -> None:
    """One mistake gives one finding, at its place, in words that say what it is and what to do."""
    (finding,) = findings_of(text)
    assert located(finding) == expected[:3]
    assert expected[3] in finding.message
    assert finding.help


@pytest.mark.parametrize(
    "text",
    [
        *("password: @hunter2", "password:hunter2", "password: x: hunter2", "password: 'hunter2", "password: *hunter2"),
        *("password: !hunter2 x", "password: 99999999999999999999", "a: [hunter2\nb: c", "hunter2\na: b"),
        *("password: hunter2\n b: c", "password: !!int hunter2", "password: {{ hunter2 }}", 'password: "x" hunter2'),
    ],
)
def test_findings_repeat_no_value(text: str) -> None:
    """What was written as a value may be a secret, so neither message nor advice holds any of it."""
    findings = findings_of(text)
    assert findings
    for finding in findings:
        said = f"{finding.message} {finding.help} {finding.related}"
        assert "hunter2" not in said
        assert "999" not in said


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"a: b\nc: \xff", ("yaml/not-utf8", 2, 4)),
        (b"\xff\xfea\0:\0", ("yaml/not-utf8", 1, 1)),
        (b"a\0:\0 \0b\0", ("yaml/not-utf8", 1, 1)),
        (b"a: b" + b" " * 20, ("yaml/too-large", 0, 0)),
        (b"a: [1, 2, 3, 4]", ("yaml/too-large", 1, 14)),
        (b'{"a":[1, 2,3,4]}', ("yaml/too-large", 1, 15)),
        (b"a: [[[1]]]", ("yaml/too-deep", 1, 6)),
        (b'{"a":[[[1]]]}', ("yaml/too-deep", 1, 8)),
        (b"a: &a [1,1]\nb: *a", ("yaml/alias-expansion", 2, 4)),
    ],
)
def test_limits_and_encodings(content: bytes, expected: tuple[str, int, int]) -> None:
    """What is too large, too deep or no UTF-8 is refused at its place."""
    (finding,) = findings_of(content, max_bytes=22, max_nodes=3, max_depth=3)
    assert located(finding) == expected


def test_json_files_get_json_messages() -> None:
    """In a file named .json what is no JSON is an error, though YAML might take it."""
    (finding,) = findings_of('{\n"a": 1,\n}', "f.json")
    assert located(finding) == ("yaml/syntax", 3, 1)
    assert "JSON" in finding.message


def test_related_places_are_given() -> None:
    """A finding that has to do with two places shows both."""
    (finding,) = findings_of("a: 1\nb: 2\na: 3")
    assert finding.related == ((Span("f.yaml", 1, 1, 1, 2), "first here"),)
    (finding,) = findings_of("a: ['x' 'y']")
    assert finding.related == ((Span("f.yaml", 1, 4, 1, 5), "opened here"),)


def test_an_error_hides_no_other_document() -> None:
    """Reading goes on with the next document, and with the next key after a mistake that is no syntax error."""
    text = "a: 1\n---\nb: [\n---\nc: 1\nc: 2\nd: ~\n---\n- e\n---\nf: @\n--- {g: 1}\n"
    documents, findings = parse(text.encode(), "f.yaml")
    assert [d.value for d in documents] == [{"a": 1}, {"c": 1, "d": None}, {"g": 1}]
    assert [d.line for d in documents] == [1, 5, 12]
    assert documents[2].span(("g",)) == Span("f.yaml", 12, 9, 12, 10)
    assert [located(f) for f in findings] == [
        ("yaml/unclosed", 3, 4),
        ("yaml/duplicate-key", 6, 1),
        ("yaml/not-a-mapping", 9, 1),
        ("yaml/syntax", 11, 4),
    ]


def test_control_characters_hide_nothing() -> None:
    """Every one is reported, and the documents around it are read."""
    documents, findings = parse(b"a: 1\n---\nb: \x01 x\n---\nc: @\n---\nd: \x7f\n", "f.yaml")
    assert [list(d.value) for d in documents] == [["a"], ["b"], ["d"]]
    assert [located(f)[1:] for f in findings] == [(3, 4), (5, 4), (7, 4)]


def test_markers_inside_block_text_are_text() -> None:
    """Only a `---` in the first column separates documents."""
    assert only("a: |\n  ---\n  b\n").value == {"a": "---\nb\n"}


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Every path to a scalar, and the scalar."""
    if isinstance(value, dict | list) and value:
        for step, item in value.items() if isinstance(value, dict) else enumerate(value):
            yield from places(item, (*path, step))
    else:
        yield path, value


def text_at(text: str, span: Span) -> str:
    """The text that a span covers."""
    lines = text.splitlines(keepends=True)
    starts = [sum(map(len, lines[:i])) for i in range(len(lines) + 1)]
    return text[starts[span.line - 1] + span.column - 1 : starts[span.end_line - 1] + span.end_column - 1]


WORDS = st.text("abz019 .:#-'\"é😀", min_size=1, max_size=6)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=12,
)


@settings(deadline=None)
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), st.booleans(), st.sampled_from((10, 80)))
def test_spans_hold_the_text_of_their_value(value: dict[str, Any], flow: bool, width: int) -> None:
    """The text at the span of each scalar, read on its own, is its value; likewise for keys."""
    text = yaml.safe_dump(value, default_flow_style=flow, width=width, allow_unicode=True)
    documents, findings = parse(text.encode(), "f.yaml")
    # PyYAML writes some words bare that Kubernetes takes for something else; the values are those that were read.
    for document in documents if not findings else ():
        for path, scalar in places(document.value):
            lines = [line.strip() for line in text_at(text, document.span(path)).split("\n")]
            assert only("a: " + "\n  ".join(lines)).value == {"a": scalar}
            if isinstance(path[-1], str):
                key = text_at(text, document.key_span(path))
                assert list(only(("? " + key) if len(key) > 90 else key + ": 1").value) == [path[-1]]


@settings(deadline=None)
@given(st.binary(max_size=60) | st.text("ab:-[]{}'\"|>&*!%@?,#\n \t~<.0é\x00\u2028\r", max_size=40).map(str.encode))
def test_no_bytes_make_it_raise(content: bytes) -> None:
    """Whatever the bytes are, there is an answer, and every finding has a place in the file."""
    documents, findings = parse(content, "f.yaml")
    last_line = len(content.splitlines()) + 1
    for finding in findings:
        assert finding.span is not None
        assert 1 <= finding.span.line <= last_line
        assert finding.message
    for document in documents:
        assert isinstance(document.value, dict)
        assert 1 <= document.line <= last_line


@settings(deadline=None)
@given(st.dictionaries(WORDS, VALUES, min_size=1, max_size=4), st.sampled_from((None, 1)))
def test_json_round_trip(value: dict[str, Any], indent: int | None) -> None:
    """What json writes is read back, by the JSON reader and, after a comment, by the YAML reader."""
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert only(text, "f.json").value == value
    assert only("# yaml\n" + text).value == value


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a: b".encode("utf-16"), ("UTF-16", "Out-File")),
        ("a: b".encode("utf-16-be"), ("UTF-16", "Out-File")),
        ("a: b".encode("utf-32"), ("UTF-32", "Out-File")),
        ("a: b".encode("utf-32-le"), ("UTF-32", "Out-File")),
        ("a: b\nc: caf\u00e9".encode("latin-1"), ("0xE9", "Windows-1252, which it seems to be, the byte is \u00e9")),
        ("a: \u20ac".encode("cp1252"), ("0x80", "the byte is \u20ac")),
        (b"a: \x81", ("0x81", "save the file as UTF-8")),
        ("a: caf\u00e9".encode()[:-1], ("ends in the middle of a character", "cut off")),
        (b"\x1f\x8b\x08\x00\x00", ("compressed (gzip)", "unpack")),
        (b"a: b\0c", ("U+0000", "binary")),
        (b"\0\0a: b", ("U+0000", "binary")),
        (b"a: \xff\0", ("0xFF", "NUL bytes")),
        (b"a: \x1b[31mred\x1b[0m", ("U+001B", "colours")),
        (b"a: b\x1a", ("U+001A", "DOS")),
        (b"a: b\x07", ("U+0007", "escape in double quotes")),
        (b'{"a": "b\0c"}', ("U+0000", "escape")),
        (b'{"a": "b}', ("not closed", "quotes")),
    ],
)
def test_bytes_that_are_no_text_get_the_advice_that_helps(content: bytes, words: tuple[str, str]) -> None:
    """Each encoding, and each kind of stray byte, is named and has its own remedy."""
    found = parse(content, "f.json" if content.startswith(b"{") else "f.yaml")[1][0]
    assert words[0] in found.message
    assert words[1] in f"{found.message} {found.help}"


def test_files_that_were_put_together_keep_their_marks() -> None:
    """A byte order mark at the start of a line is no part of a key."""
    documents, findings = parse("\ufeffa: 1\n---\n\ufeffb: 2\n\ufeff---\nc: 3\n".encode(), "f.yaml")
    assert (findings, [d.value for d in documents]) == ((), [{"a": 1}, {"b": 2}, {"c": 3}])
