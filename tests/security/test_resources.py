"""Small inputs that would grow without end: each is refused or compiled within moments."""

from __future__ import annotations

import json
import time

import pytest

from kservec import compile_text
from kservec.importing.cleaning import LAST_APPLIED, last_applied
from kservec.io.remote.hub import value_of
from kservec.io.remote.registry import token_in
from kservec.io.remote.requests import Answer

from .hostile import FINE, SPEC

SECONDS = 20
"""How long anything may take here. All of it takes well under one on an idle machine."""
LAUGHS = "\n".join(f"{chr(98 + i)}: &{chr(98 + i)} [{', '.join([f'*{chr(97 + i)}'] * 9)}]" for i in range(9))
BOMBS = {
    "aliases of aliases": f"a: &a [lol]\n{LAUGHS}\n",
    "merges of merges": "a0: &a0 {x: 1}\n"
    + "".join(f"a{i}: &a{i} {{<<: [*a{i - 1}, *a{i - 1}]}}\n" for i in range(1, 60)),
    "nested lists": "a: " + "[" * 100_000,
    "nested maps": "{a: " * 50_000,
    "nested by indentation": "".join(f"{' ' * i}a:\n" for i in range(3000)),
    "nested JSON": '{"a":' * 100_000,
    "a huge key": f"{'k' * 5_000_000}: 1\n",
    "a huge number": f"a: {'9' * 1_000_000}\n",
    "a huge exponent": "a: 1e999999999\n",
    "a huge number in base 16": f"a: 0x{'f' * 1_000_000}\n",
    "many documents": "---\n" * 200_000,
    "many brackets": "[]{}" * 100_000,
    "many quotes": "'" * 200_001,
    "many tags": "!!a " * 100_000,
    "an endless comment": "#" * 5_000_000,
}
TEMPLATES = {
    "a wide number": '{{ printf "%1000000000d" 1 }}',
    "a width from an argument": '{{ printf "%*d" 1000000000 1 }}',
    "a template that includes itself": '{{ define "a" }}{{ template "a" }}{{ template "a" }}{{ end }}'
    '{{ template "a" }}',
    "ranges in ranges": "{{ range .Labels }}" * 40 + "x" + "{{ end }}" * 40,
    "nested parentheses": "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    "braces without an end": "{{" * 20_000,
    "names without an end": "$(" * 50_000,
    "repeated expansion": "$(NOTE)" * 50_000,
}
QUANTITIES = ["1e1000000", "9" * 100_000, "0." + "0" * 100_000 + "1", "1" * 50 + "Ei"]


def seconds(text: str) -> float:
    """How long a text takes to be compiled, whatever comes of it."""
    begun = time.monotonic()
    compile_text(text)
    return time.monotonic() - begun


@pytest.mark.slow
@pytest.mark.parametrize("name", BOMBS)
def test_documents_do_not_explode(name: str) -> None:
    """A bomb is an error, and not a wait."""
    begun = time.monotonic()
    made = compile_text(BOMBS[name])
    assert time.monotonic() - begun < SECONDS
    assert not made.objects


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, f"[{'9' * 100_000}]"])
def test_texts_in_notes_and_answers_do_not_explode(text: str) -> None:
    """JSON that others wrote and that nests without end, or has endless numbers, is none."""
    assert last_applied({"metadata": {"annotations": {LAST_APPLIED: text}}}) is None
    assert value_of(text.encode()) is None
    assert token_in(Answer(200, {}, text.encode())) == ""


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("place", ["argument", "variable"])
def test_templates_do_not_explode(name: str, place: str) -> None:
    """Placeholders are expanded in moments, or not at all."""
    values = {key: json.dumps(TEMPLATES[name] if key == place else value) for key, value in FINE.items()}
    assert seconds(SPEC.format(**values)) < SECONDS


@pytest.mark.parametrize("quantity", QUANTITIES, ids=range(len(QUANTITIES)))
def test_numbers_do_not_explode(quantity: str) -> None:
    """A quantity is read as what it is or refused; nothing counts that far."""
    values = {key: json.dumps(value) for key, value in FINE.items()}
    text = SPEC.format(**values) + f"      resources: {{limits: {{cpu: '{quantity}'}}}}\n"
    assert seconds(text) < SECONDS
