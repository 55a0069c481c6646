"""Where a setting is written in the JSON text of a ConfigMap's data key."""

from __future__ import annotations

import json

import pytest

from kservec.core.section_text import SectionText
from kservec.core.text.embedded import setting_span, span_at
from kservec.core.text.source import Document, parse

SETTING = '{"a": {"Mode": "on"}}'
TEXTS = {
    "a literal block": 'data:\n  k: |\n    {"a":\n      {"Mode": "on"}}\n',
    "a literal block without its last break": 'data:\n  k: |-\n    {"a":\n      {"Mode": "on"}}\n',
    "a literal block with all its breaks": 'data:\n  k: |+\n    {"a":\n      {"Mode": "on"}}\n\n\n',
    "an indentation indicator": 'data:\n  k: |2\n      {"a":\n        {"Mode": "on"}}\n',
    "a comment behind the bar": 'data:\n  k: |  # settings\n    {"a":\n      {"Mode": "on"}}\n',
    "empty lines": 'data:\n  k: |\n\n\n    {"a":\n\n      {"Mode": "on"}}\n',
    "an anchor and a tag": 'data:\n  k: &x !!str |\n    {"a":\n      {"Mode": "on"}}\n',
    "Windows' line ends": 'data:\r\n  k: |\r\n    {"a":\r\n      {"Mode": "on"}}\r\n',
    "characters of four bytes": 'x: "\U0001f600"\ndata:\n  k: |\n    {"\U0001f600": 1, "a": {"Mode": "on"}}\n',
    "single quotes": f"data: {{k: '{SETTING}'}}\n",
    "a comment between": f"# {SETTING}\ndata:\n  k: '{SETTING}'\n",
}
UNMAPPED = {
    "a folded block": f"data:\n  k: >\n    {SETTING}\n",
    "double quotes": f"data:\n  k: {json.dumps(SETTING)}\n",
    "several lines in quotes": 'data:\n  k: \'{"a":\n    {"Mode": "on"}}\'\n',
    "no JSON": "data:\n  k: |\n    {a\n",
    "no such setting": 'data:\n  k: |\n    {"b": 1}\n',
    "nothing": "data:\n  k: ''\n",
    "a JSON file": json.dumps({"data": {"k": SETTING}}),
}


def read(text: str) -> Document:
    """The only document of a text."""
    (document,), findings = parse(text.encode(), "f.yaml")
    assert findings == ()
    return document


def written(text: str, document: Document, *, at_key: bool) -> str:
    """The text that a setting's place covers."""
    span = setting_span(document, ("data", "k"), ("a", "mode"), at_key=at_key)
    assert span is not None
    line = text.replace("\r\n", "\n").split("\n")[span.line - 1]
    return line[span.column - 1 : span.end_column - 1]


@pytest.mark.parametrize("name", TEXTS)
def test_keys_and_values_are_found(name: str) -> None:
    """Lines and columns are those of the file, whatever way the text is written; letter case does not count."""
    document = read(TEXTS[name])
    assert written(TEXTS[name], document, at_key=True) == '"Mode"'
    assert written(TEXTS[name], document, at_key=False) == '"on"'


@pytest.mark.parametrize("name", UNMAPPED)
def test_where_characters_cannot_be_told_apart_there_is_no_answer(name: str) -> None:
    """The section as a whole is blamed then."""
    document = read(UNMAPPED[name])
    assert setting_span(document, ("data", "k"), ("a", "mode")) is None
    assert SectionText("", document, "k").setting("a", "mode") == document.span(("data", "k"))


def test_the_exact_spelling_of_a_key_comes_first() -> None:
    """Go takes the key that matches exactly before those that differ in case."""
    document = read('data:\n  k: |\n    {"MODE": 1, "mode": 2, "Mode": 3}\n')
    span = setting_span(document, ("data", "k"), ("mode",))
    assert span is not None
    assert (span.line, span.column) == (3, 25)


def test_a_place_behind_the_text_is_none() -> None:
    """What is not in a scalar is nowhere."""
    document = read("data: {k: [1]}\n")
    assert span_at(document, ("data", "k"), 0) is None
    assert span_at(document, ("data", "x"), 0) is None


def test_settings_of_a_cluster_document_lie_over_those_below() -> None:
    """A setting is where it was written last: in the Cluster document, else in the ConfigMap."""
    below = read('data:\n  k: |\n    {"a": {"mode": "off"}, "b": 1}\n')
    over = read("inferenceServiceConfig:\n  k: {a: {MODE: on}}\n")
    section = SectionText("", over, "k", ("inferenceServiceConfig", "k"), SectionText("", below, "k"))
    assert section.setting("a", "mode") == over.span(("inferenceServiceConfig", "k", "a", "MODE"))
    assert section.setting_key("b").line == 3
    assert section.setting("c") == section.span
