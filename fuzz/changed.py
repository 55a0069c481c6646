"""Families of real files that are changed: as values, as YAML, as bytes."""

from __future__ import annotations

import json
from dataclasses import replace
from random import Random
from typing import Any

from fuzz.cases import as_input, plain
from fuzz.damaging import BYTE_DAMAGES, TEXT_DAMAGES
from fuzz.growing import enriched
from fuzz.inputs import BEFORE, DUMP, INPUT, Input
from fuzz.mutating import TIMES, Place, add, bend, mutate, places, remove, repeat, set_other, swap
from fuzz.stock import Case, Stock
from fuzz.words import QUANTITIES, SCALARS, TEMPLATES, URIS
from fuzz.writing import any_style, encoded, written
from kservec.io.packaged import packaged_schemas

RECOMBINING = (set_other, set_other, set_other, add, add, add, swap, remove, repeat, bend)
NOWHERE: Place = ({}, "", "")


def mutated(chance: Random, stock: Stock) -> Input:
    """A golden case or an example in which some places are something else."""
    return mutated_case(chance.choice(stock.cases), chance, stock)


def published(chance: Random, stock: Stock) -> Input:
    """A manifest of the corpus in which some places are something else; a golden case where there is no corpus."""
    return mutated_case(chance.choice(stock.published or stock.cases), chance, stock)


def mutated_case(case: Case, chance: Random, stock: Stock) -> Input:
    """A case with some mutations."""
    values = case.values()
    own = [documents for path, documents in values.items() if path.startswith(INPUT) and documents]
    changed = chance.choice(own) if own and chance.random() < 0.8 else chance.choice([*values.values(), []])
    mutate(changed, chance.choice(TIMES), chance, stock)
    return as_input(case, values)


def recombined(chance: Random, stock: Stock) -> Input:
    """A good case in which places have what other good files have there: most of these can be compiled."""
    case = chance.choice(stock.good)
    values = case.values()
    own = [documents for path, documents in values.items() if path.startswith(INPUT) and documents]
    specs = [d["spec"] for documents in own for d in documents if isinstance(d.get("spec"), dict)]
    mutate(specs, chance.choice((1, 2, 3, 5)), chance, stock, RECOMBINING)
    return replace(as_input(case, values), names_revisions=chance.random() < 0.5)


def enriched_case(chance: Random, stock: Stock) -> Input:
    """A good case whose objects have more of the fields that their schemas know."""
    case = chance.choice(stock.good)
    values = case.values()
    for path, texts in case.documents.items():
        if path.startswith(INPUT):
            values[path] = [enriched(text, chance, stock) if is_known(text) else json.loads(text) for text in texts]
    return replace(as_input(case, values), names_revisions=chance.random() < 0.3)


def is_known(text: str) -> bool:
    """Whether a schema ships for the kind of a document."""
    value = json.loads(text)
    return packaged_schemas().knows(str(value.get("apiVersion")), str(value.get("kind")))


def dumps(chance: Random, stock: Stock) -> Input:
    """The dump of a cluster: documents of real builds in one file, with some changes."""
    cases = [chance.choice(stock.good) for _ in range(chance.choice((1, 1, 2)))]
    documents = [d for case in cases for found in case.values().values() for d in found]
    mutate(documents, chance.choice((0, *TIMES)), chance, stock)
    as_list = chance.random() < 0.3
    text = written([{"apiVersion": "v1", "kind": "List", "items": documents}] if as_list else documents)
    return Input({f"{DUMP}all.yaml": encoded(text)})


def updates(chance: Random, stock: Stock) -> Input:
    """A good case as it was, and as it is after some changes."""
    case = chance.choice(stock.good)
    values = case.values()
    before = {BEFORE + p.removeprefix(INPUT): c for p, c in case.files.items() if p.startswith(INPUT)}
    own = [documents for path, documents in values.items() if path.startswith(INPUT) and documents]
    mutate(chance.choice(own or [[]]), chance.choice(TIMES), chance, stock, RECOMBINING)
    made = as_input(case, values)
    return replace(made.with_files({**made.files, **before}), names_revisions=chance.random() < 0.5)


def scalars(chance: Random, stock: Stock) -> Input:
    """A real file in which one single value is odd."""
    case = chance.choice(stock.cases)
    values = case.values()
    leaves = [p for p in places(list(values.values())) if not isinstance(p[0][p[1]], (dict, list))]
    holder, key, _ = chance.choice(leaves or [NOWHERE])
    holder[key] = chance.choice(SCALARS)
    return as_input(case, values)


def spliced(chance: Random, stock: Stock) -> Input:
    """Documents of several files together, with parts of the one in the other."""
    cases = [chance.choice(stock.cases), chance.choice(stock.cases)]
    first, second = (case.values() for case in cases)
    documents = [d for values in (first, second) for p, found in values.items() if p.startswith(INPUT) for d in found]
    from_second = [p for p in places(list(second.values())) if isinstance(p[0], dict)]
    for _ in range(chance.choice(TIMES)):
        targets = [p for p in places(documents) if isinstance(p[0], dict)]
        if targets and from_second:
            source = chance.choice(from_second)
            alike = [t for t in targets if t[2] == source[2]] or targets
            holder, key, _ = chance.choice(alike)
            holder[key] = json.loads(json.dumps(source[0][source[1]]))
    chance.shuffle(documents)
    files = {path: content for case in cases for path, content in case.files.items() if not path.startswith(INPUT)}
    files[f"{INPUT}a.yaml"] = encoded(written(documents))
    return plain(cases[0], files)


def yaml_text(chance: Random, stock: Stock) -> Input:
    """A real file written in another way, and then damaged as text."""
    case = chance.choice(stock.cases)
    values = case.values()
    path = chance.choice([*values, f"{INPUT}a.yaml"])
    text = written(values.get(path, []), any_style(chance))
    for _ in range(chance.choice((0, 1, 1, 2, 3))):
        text = chance.choice(TEXT_DAMAGES)(text, chance)
    if chance.random() < 0.05:
        text = "\ufeff" + text
    return plain(case, {**case.files, path: encoded(text)})


def as_bytes(chance: Random, stock: Stock) -> Input:
    """A real file with damaged bytes."""
    case = chance.choice(stock.cases if chance.random() < 0.7 else stock.published or stock.cases)
    path = chance.choice(sorted(case.files))
    content = case.files[path]
    if chance.random() < 0.15:
        content = json.dumps(case.values().get(path, [{}])[0] if case.values().get(path) else {}).encode()
    for _ in range(chance.choice((1, 1, 2, 4))):
        content = chance.choice(BYTE_DAMAGES)(content, chance)
    return plain(case, {**case.files, path: content})


def templates(chance: Random, stock: Stock) -> Input:
    """Go templates and placeholders where runtimes, presets and settings have them, and where they do not."""
    words = TEMPLATES if chance.random() < 0.6 else (chance.choice(TEMPLATES) + chance.choice(TEMPLATES),)
    return texts_in(
        chance.choice(stock.cases), chance, words, ("args", "command", "value", "template", "image", "domain")
    )


def uris(chance: Random, stock: Stock) -> Input:
    """Addresses of models."""
    return texts_in(chance.choice(stock.cases), chance, URIS, ("uri", "path", "prefix", "regex"))


def quantities(chance: Random, stock: Stock) -> Input:
    """Amounts of resources, and numbers of pods and ports."""
    wanted = (
        "cpu",
        "memory",
        "gpu",
        "storage",
        "size",
        "limit",
        "replicas",
        "target",
        "value",
        "parallel",
        "threshold",
    )
    return texts_in(chance.choice(stock.cases), chance, QUANTITIES, wanted)


def texts_in(case: Case, chance: Random, words: tuple[Any, ...], wanted: tuple[str, ...]) -> Input:
    """A case in which some texts, rather those of some fields, are odd ones."""
    values = case.values()
    leaves = [p for p in places(list(values.values())) if isinstance(p[0][p[1]], (str, int, float))]
    fields = [p for p in leaves if any(part in p[2].lower() for part in wanted)]
    for _ in range(chance.choice((1, 1, 2, 4))):
        if not leaves:
            break
        holder, key, _ = chance.choice(fields if fields and chance.random() < 0.85 else leaves)
        word, old = chance.choice(words), holder[key]
        mixed = isinstance(old, str) and isinstance(word, str) and chance.random() < 0.4
        holder[key] = f"{old}{word}" if mixed else word
    return as_input(case, values)


def large(chance: Random, stock: Stock) -> Input:
    """A real file of which one piece is there many times, under names of its own."""
    case = chance.choice(stock.cases)
    values = case.values()
    found = [p for p in places(list(values.values())) if p[0][p[1]] not in (None, "", [], {})]
    holder, key, _ = chance.choice(found or [({"a": "a"}, "a", "")])
    times = chance.choice((30, 100, 300))
    piece = holder[key]
    if isinstance(holder, list):
        holder.extend(renamed(piece, i) for i in range(times))
    elif isinstance(piece, str):
        holder[key] = piece * times
    else:
        holder.update({f"{key}-{i}": piece for i in range(times)})
    return as_input(case, values)


def renamed(piece: Any, number: int) -> Any:
    """A copy of an item under another name."""
    copy = json.loads(json.dumps(piece))
    if isinstance(copy, dict) and isinstance(copy.get("name"), str):
        copy["name"] = f"{copy['name'][:40]}-{number}"
    elif isinstance(copy, dict) and isinstance(copy.get("metadata"), dict):
        copy["metadata"]["name"] = f"{copy['metadata'].get('name')}-{number}"
    return copy
