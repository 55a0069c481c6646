"""The stock: real files that inputs are made of, and what they hold by the names of fields.

Reads the golden cases and the examples, which every checkout has, and a corpus of manifests where there is one.
Everything is sorted, so that a number means the same input everywhere.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import yaml

from fuzz.inputs import INPUT, PLATFORM, PROJECT
from kservec.core.text.source import parse
from kservec.io.packaged import packaged_schemas

ROOT = Path(__file__).parents[1]
RECORDED = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
CORPUS = RECORDED.parent / "corpus"
SUFFIXES = (".yaml", ".yml", ".json")
LARGEST = 6_000
"""Bytes of a file that is taken: small inputs are quick, and are enough."""
MOST_KEPT = 60


@dataclass(frozen=True, slots=True)
class Case:
    """The files of one real build: contents by path, and the documents of each file as JSON texts."""

    files: dict[str, bytes]
    documents: dict[str, tuple[str, ...]]
    absent: tuple[str, ...] = ()
    names_revisions: bool = False
    has_catalog: bool = True

    @property
    def is_described(self) -> bool:
        """Whether it says anything about the cluster."""
        return any(path.startswith(PLATFORM) for path in self.documents)

    def values(self) -> dict[str, list[Any]]:
        """The documents of each file, made anew."""
        return {path: [json.loads(text) for text in texts] for path, texts in self.documents.items()}


@dataclass(slots=True)
class Stock:
    """All cases, those among them that give output, repositories and published manifests, and what fields hold.

    By the names of fields: `scalars`, `pieces` (maps and lists, as JSON), and `siblings`, the fields in them.
    """

    cases: list[Case] = field(default_factory=list)
    good: list[Case] = field(default_factory=list)
    projects: list[Case] = field(default_factory=list)
    published: list[Case] = field(default_factory=list)
    scalars: dict[str, list[Any]] = field(default_factory=dict)
    pieces: dict[str, list[str]] = field(default_factory=dict)
    siblings: dict[str, list[str]] = field(default_factory=dict)
    kinds: dict[str, list[str]] = field(default_factory=dict)

    def piece(self, key: str, chance: Random) -> Any:
        """A value that some file has for a field; None if no file has the field."""
        scalars, pieces = self.scalars.get(key, ()), self.pieces.get(key, ())
        at = chance.randrange(len(scalars) + len(pieces)) if scalars or pieces else -1
        if at < 0:
            return None
        return scalars[at] if at < len(scalars) else json.loads(pieces[at - len(scalars)])


def read_stock() -> Stock:
    """Read everything once."""
    stock = Stock()
    for folder in sorted(path for path in (ROOT / "golden").iterdir() if path.is_dir()):
        top = folder / "input" if (folder / "input" / PROJECT).is_file() else folder
        case = case_of(dict(files_below(top)), arguments(folder) if top is folder else ())
        if case.files and top is folder:
            stock.cases.append(case)
            stock.good += [case] * (not folder.name.startswith("err-"))
        elif case.files:
            stock.projects.append(case)
    for path in sorted((ROOT / "examples" / "services").glob("*.yaml")):
        platform = files_below(ROOT / "examples" / "platform")
        files = {f"{PLATFORM}{name}": content for name, content in platform}
        stock.cases.append(case_of({f"{INPUT}{path.name}": path.read_bytes(), **files}))
    for path in sorted(CORPUS.rglob("*.yaml")):
        stock.published.append(case_of({f"{INPUT}{path.name}": path.read_bytes()}))
    learn(stock)
    return stock


def files_below(folder: Path) -> Iterator[tuple[str, bytes]]:
    """The YAML and JSON files of a folder that are input, by their paths below it."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if name.startswith(("expect/", "case.yaml", ".")) or path.suffix not in SUFFIXES or not path.is_file():
            continue
        if "/expect/" not in name and path.stat().st_size <= LARGEST:
            yield name, path.read_bytes()


def arguments(folder: Path) -> tuple[str, ...]:
    """What a golden case has in its command line besides paths."""
    path = folder / "case.yaml"
    return tuple(map(str, yaml.safe_load(path.read_text()).get("args", ()))) if path.is_file() else ()


def case_of(files: dict[str, bytes], words: tuple[str, ...] = ()) -> Case:
    """A case with its documents read."""
    documents = {path: tuple(readable(content, path)) for path, content in files.items()}
    absent = tuple(value for word, value in pairwise(words) if word == "--absent")
    return Case(files, documents, absent, "hash" in words, "none" not in words)


def readable(content: bytes, path: str) -> Iterator[str]:
    """The documents of a file as JSON texts, without those that JSON cannot hold."""
    for document in parse(content, path)[0]:
        try:
            yield json.dumps(document.value, allow_nan=False)
        except (TypeError, ValueError):
            continue


def learn(stock: Stock) -> None:
    """Gather what fields hold, from the cases that every checkout has."""
    scalars: dict[str, dict[str, Any]] = {}
    pieces: dict[str, dict[str, None]] = {}
    siblings: dict[str, dict[str, None]] = {}
    kinds: dict[str, dict[str, None]] = {}
    for case in (*stock.cases, *stock.projects):
        for values in case.values().values():
            for value in values:
                if packaged_schemas().knows(str(value.get("apiVersion")), str(value.get("kind"))):
                    kinds.setdefault(value["kind"], {})[json.dumps(value)] = None
                for parent, key, part in fields("", value):
                    siblings.setdefault(parent, {})[key] = None
                    if isinstance(part, (dict, list)):
                        pieces.setdefault(key, {})[json.dumps(part)] = None
                    else:
                        scalars.setdefault(key, {})[json.dumps(part)] = part
    stock.scalars = {key: list(found.values())[:MOST_KEPT] for key, found in sorted(scalars.items())}
    stock.pieces = {key: few(found) for key, found in sorted(pieces.items())}
    stock.siblings = {key: sorted(found) for key, found in sorted(siblings.items())}
    stock.kinds = {key: list(found) for key, found in sorted(kinds.items())}


def few(texts: Iterable[str]) -> list[str]:
    """The shortest of some texts."""
    return sorted(texts, key=lambda text: (len(text), text))[:MOST_KEPT]


def fields(parent: str, value: Any) -> Iterator[tuple[str, str, Any]]:
    """Every field in a value, with the name of the field that it is below."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield parent, key, part
            yield from fields(key, part)
    elif isinstance(value, list):
        for part in value:
            yield from fields(parent, part)
