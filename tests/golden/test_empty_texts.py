"""Texts that are empty, as variables of templates leave them: what is said of them names nothing that nobody sees."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
from tests import libyaml

from kservec.api import compile_files
from kservec.core.text.source import parse
from kservec.io.reading import File

from .cases import Case, cases

CHUNKS, QUICK = 8, 1
"""Parts of the fields, which several processes can take, and how many of them are looked at always."""
PARTS = [pytest.param(chunk, marks=pytest.mark.slow if chunk >= QUICK else ()) for chunk in range(CHUNKS)]
find_gap = re.compile(r" (?=[ ,;:.)](?: |$)|$)|(?<=\w)/(?=[,;:]|$)").search
"""Two spaces, one before a sign or at the end, a slash with nothing behind it: where a text should stand."""


def texts(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The places of all texts of a value that are not empty."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, item in items:
        yield from texts(item, (*path, step))
    if isinstance(value, str) and value and path[0] not in ("apiVersion", "kind"):
        yield path


def without_text(value: Any, path: tuple[str | int, ...]) -> Any:
    """A value with an empty text at a place."""
    if not path:
        return ""
    step, *rest = path
    if isinstance(value, list):
        return [without_text(item, tuple(rest)) if i == step else item for i, item in enumerate(value)]
    return {key: without_text(item, tuple(rest)) if key == step else item for key, item in value.items()}


def files_of(case: Case, folder: str) -> list[File]:
    """The YAML files of a folder of a case."""
    return [File(path.name, path.read_bytes()) for path in sorted((case.folder / folder).rglob("*.yaml"))]


@cache
def fields() -> list[tuple[Case, int, tuple[str | int, ...]]]:
    """Each field of a kind that has a text in some case: the case, which of its documents, and where."""
    found: dict[tuple[str, ...], tuple[Case, int, tuple[str | int, ...]]] = {}
    for case in cases():
        for i, document in enumerate(documents_of(case)):
            for path in texts(document):
                name = (str(document["kind"]), *("[]" if isinstance(step, int) else step for step in path))
                found.setdefault(name, (case, i, path))
    return list(found.values())


@cache
def documents_of(case: Case) -> list[Any]:
    """The documents of a case, if each of its files can be read."""
    read = [parse(file.content, file.name) for file in files_of(case, "input")]
    found = [document.value for documents, _ in read for document in documents]
    is_read = all(not faults for _, faults in read) and all(isinstance(d, dict) and "kind" in d for d in found)
    return found if is_read else []


@pytest.mark.parametrize("chunk", PARTS)
def test_no_message_has_a_gap(chunk: int) -> None:
    """Whatever text of a spec, a runtime or the platform is empty, messages show that it is."""
    gaps = []
    for case, i, path in fields()[chunk::CHUNKS]:
        changed = [without_text(d, path) if i == j else d for j, d in enumerate(documents_of(case))]
        text = libyaml.dump_all(changed)
        compilation = compile_files([File("input.yaml", text.encode()), *files_of(case, "platform")])
        for found in compilation.diagnostics:
            gaps += [(case.name, path, said) for said in (found.message, found.help) if find_gap(said)]
    assert gaps == []
