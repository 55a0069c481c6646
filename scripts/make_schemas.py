"""Make `schemas/` from a folder of structural schemas: the facts about every kind, in the compact form that ships.

    python scripts/make_schemas.py ../shared/schemas

The source folder holds one JSON Schema per kind plus `core_types.json` (its README describes it); kinds that it lacks
are in `kinds/` beside this script, in the same form. What comes out:

    schemas/index.json           every kind: apiVersion, kind, plural, scope, file
    schemas/input/<kind>.json    kinds that kservec reads; input/types.json has the structure that several of them share
    schemas/output/<kind>.json   kinds that kservec emits; output/types.json likewise

Each file is a JSON Schema 2020-12 document that an editor can use as it stands. What the source leaves to its reader
is made explicit: closed objects say `additionalProperties: false`, int32 and int64 have bounds, a required field with
a default is not required, lists of type set have unique items, and `x-kubernetes-nulls: absent` at the top marks the
built-in kinds, which take null for any field. Equal subtrees are written once. The result depends on these files alone.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"
TYPES_FILE = "types.json"
CORE_FILE = "core_types.json"
KINDS = Path(__file__).resolve().parent / "kinds"
READ_GROUP = "serving.kserve.io"
READ_BUILTIN = frozenset({"LimitRange", "Namespace", "ResourceQuota", "Secret"})
OWN = "kservec.dev_"
"""How the schemas of our own documents begin, which `make_docs.py` makes from their models."""

SMALLEST_SHARED = 60
"""Characters of JSON below which a repeated subtree is repeated rather than shared."""

OPEN: Schema = {"x-kubernetes-preserve-unknown-fields": True}
BOUNDS = {"int32": (-(2**31), 2**31 - 1), "int64": (-(2**63), 2**63 - 1)}
UNCHECKED_FORMATS = frozenset({"binary", "duration"})
"""Formats that Kubernetes and JSON Schema read differently, or that no validator knows."""

DROPPED = frozenset({"$defs", "$ref", "$schema", "x-embeds", "x-kubernetes-map-type", "x-kubernetes-unions"})
SUBSCHEMA_LISTS = ("allOf", "anyOf", "oneOf")
NESTED = ("items", "additionalProperties")

QUANTITY = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)

WELL_KNOWN: tuple[tuple[str, Schema], ...] = (
    ("int32", {"type": "integer", "format": "int32", "minimum": BOUNDS["int32"][0], "maximum": BOUNDS["int32"][1]}),
    ("int64", {"type": "integer", "format": "int64", "minimum": BOUNDS["int64"][0], "maximum": BOUNDS["int64"][1]}),
    ("intOrString", {"type": ["integer", "string"], "x-kubernetes-int-or-string": True}),
    ("quantity", {"type": ["integer", "string"], "pattern": QUANTITY, "x-kubernetes-int-or-string": True}),
    ("quantityOrFraction", {"type": ["number", "string"], "pattern": QUANTITY, "x-kubernetes-int-or-string": True}),
    ("stringList", {"type": "array", "items": {"type": "string"}}),
    ("stringMap", {"type": "object", "additionalProperties": {"type": "string"}}),
)
"""Structures that deserve a better name than that of the first field which has them."""


def text_of(schema: object) -> str:
    """The one JSON text of a value: compact, keys sorted."""
    return json.dumps(schema, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """One file of the source folder, with what its references may point at."""

    document: Schema
    core: Schema

    def expand(self, schema: Schema, *, core: bool = False) -> Schema:
        """The schema with every reference replaced by what it points at; keywords beside a reference stay."""
        scope = core
        merged: Schema = {}
        if "$ref" in schema:
            file, _, name = schema["$ref"].partition("#/$defs/")
            scope = core or file == CORE_FILE
            merged.update(self.expand((self.core if scope else self.document["$defs"])[name], core=scope))
        for key, value in schema.items():
            if key == "properties":
                merged[key] = {name: self.expand(child, core=core) for name, child in value.items()}
            elif key in NESTED and isinstance(value, dict):
                merged[key] = self.expand(value, core=core)
            elif key not in DROPPED:
                merged[key] = value
        return merged


def close(schema: Schema) -> Schema:
    """Say what the source implies about fields that are not named and fields that may be missing."""
    properties = schema.get("properties")
    if properties is None:
        return schema
    required = [name for name in schema.get("required", ()) if "default" not in properties.get(name, {})]
    closed = {key: value for key, value in schema.items() if key != "required"}
    if required:
        closed["required"] = required
    if not schema.get("x-kubernetes-preserve-unknown-fields"):
        closed.setdefault("additionalProperties", False)
    return closed


def bound(schema: Schema) -> Schema:
    """Turn Kubernetes' own notions (integer formats, int-or-string, list types) into keywords of JSON Schema."""
    result = dict(schema)
    if result.pop("x-int-or-string", False):
        result["x-kubernetes-int-or-string"] = True
    low, high = BOUNDS.get(result.get("format", ""), (None, None))
    if low is not None:
        result.setdefault("minimum", low)
        result.setdefault("maximum", high)
    if result.get("format") in UNCHECKED_FORMATS:
        del result["format"]
    list_type = result.get("x-kubernetes-list-type")
    if list_type == "atomic":
        del result["x-kubernetes-list-type"]
    if list_type == "set":
        result["uniqueItems"] = True
    return result


def normalise(schema: Schema, *, builtin: bool) -> Schema:
    """One expanded schema in our form. Subschemas of anyOf and the like only constrain, so they stay as they are."""
    result = bound(schema)
    if "properties" in result:
        result["properties"] = {
            name: normalise(child, builtin=builtin) for name, child in sorted(result["properties"].items())
        }
    for key in NESTED:
        if isinstance(result.get(key), dict):
            result[key] = normalise(result[key], builtin=builtin)
    if builtin and "enum" in result and "default" in result:
        result["enum"] = ["", *result["enum"]]
    return close(result)


def nullable(schema: Schema) -> Schema:
    """The same object with null allowed for each of its fields."""
    properties = {
        name: {**child, "type": [child["type"], "null"]} if "type" in child else child
        for name, child in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def kind_schema(source: Source) -> Schema:
    """The whole schema of one kind: head, `metadata`, and the rest of its fields; `status` is nobody's to write."""
    document = source.document
    builtin = "x-storage" not in document
    full = normalise(source.expand(document), builtin=builtin)
    metadata = normalise(source.expand({"$ref": f"{CORE_FILE}#/$defs/meta.v1.ObjectMeta"}), builtin=True)
    properties = full["properties"] | {"metadata": nullable(metadata)}
    if "status" in properties:
        properties["status"] = OPEN
    identity = document["x-kubernetes-group-version-kind"]
    api_version = "/".join(part for part in (identity["group"], identity["version"]) if part)
    head: Schema = {
        "$schema": DIALECT,
        "title": f"{identity['kind']} {api_version}",
        "x-kubernetes-group-version-kind": identity,
        "x-plural": document["x-plural"],
        "x-scope": document["x-scope"],
        "x-source": document["x-source"],
    }
    if builtin:
        head["x-kubernetes-nulls"] = "absent"
    body = {key: value for key, value in full.items() if key not in head and not key.startswith("x-")}
    rules = {key: full[key] for key in ("x-kubernetes-validations",) if key in full}
    return head | body | rules | {"properties": dict(sorted(properties.items()))}


def children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The schemas directly below one, each with the name that it would be called by."""
    yield from schema.get("properties", {}).items()
    for key in NESTED:
        if isinstance(schema.get(key), dict):
            yield key, schema[key]


@dataclass(slots=True)
class Repeats:
    """Which subtrees occur where, over the kinds of one family."""

    places: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    files: dict[str, set[str]] = field(default_factory=dict)
    hints: dict[str, str] = field(default_factory=dict)

    def visit(self, schema: Schema, file: str, parent: str, hint: str) -> None:
        """Count one subtree, and what is below it the first time that it is seen in this file."""
        text = text_of(schema)
        self.places.setdefault(text, set()).add((parent, hint))
        self.hints.setdefault(text, hint)
        seen = self.files.setdefault(text, set())
        if file in seen:
            return
        seen.add(file)
        for name, child in children(schema):
            suffix = {"items": "Item", "additionalProperties": "Value"}.get(name)
            self.visit(child, file, text, hint + suffix if suffix else name)

    def names(self) -> dict[str, str]:
        """Subtree -> name, for those that are worth sharing. Names are unique within the family."""
        known = {text_of(schema): name for name, schema in WELL_KNOWN}
        worthy = [
            text
            for text, places in self.places.items()
            if text in known or (len(places) > 1 and len(text) >= SMALLEST_SHARED)
        ]
        taken: Counter[str] = Counter(known.values())
        names: dict[str, str] = {}
        for text in sorted(worthy, key=lambda text: (self.hints[text], text)):
            name = known.get(text)
            if name is None:
                hint = self.hints[text]
                taken[hint] += 1
                name = hint if taken[hint] == 1 else f"{hint}{taken[hint]}"
            names[text] = name
        return names


@dataclass(frozen=True, slots=True)
class Family:
    """The kinds of one folder, with the subtrees that they share."""

    kinds: Mapping[str, Schema]
    repeats: Repeats
    names: Mapping[str, str]

    @classmethod
    def of(cls, kinds: Mapping[str, Schema]) -> Family:
        """Find what the kinds have in common."""
        repeats = Repeats()
        for file, schema in kinds.items():
            for name, child in children(schema):
                repeats.visit(child, file, file, name)
        return cls(kinds, repeats, repeats.names())

    def is_shared(self, text: str) -> bool:
        """Whether more than one kind has this subtree."""
        return len(self.repeats.files[text]) > 1

    def fold(self, schema: Schema, *, inside_types: bool) -> Schema:
        """The schema with each shared subtree replaced by a reference to it."""
        folded = dict(schema)
        if "properties" in schema:
            folded["properties"] = {
                name: self.reference(child, inside_types=inside_types) for name, child in schema["properties"].items()
            }
        for key in NESTED:
            if isinstance(schema.get(key), dict):
                folded[key] = self.reference(schema[key], inside_types=inside_types)
        return folded

    def reference(self, schema: Schema, *, inside_types: bool) -> Schema:
        """A reference to the schema if it is shared, itself otherwise."""
        text = text_of(schema)
        name = self.names.get(text)
        if name is None:
            return self.fold(schema, inside_types=inside_types)
        file = TYPES_FILE if self.is_shared(text) and not inside_types else ""
        return {"$ref": f"{file}#/$defs/{name}"}

    def definitions(self, file: str | None) -> Schema:
        """The shared subtrees that belong into one kind's file, or (None) into the family's."""
        belongs = {
            name: text
            for text, name in self.names.items()
            if (self.is_shared(text) if file is None else self.repeats.files[text] == {file})
        }
        return {name: self.fold(json.loads(text), inside_types=file is None) for name, text in sorted(belongs.items())}

    def documents(self) -> dict[str, Schema]:
        """File name -> document."""
        result: dict[str, Schema] = {TYPES_FILE: {"$schema": DIALECT, "$defs": self.definitions(None)}}
        for file, schema in self.kinds.items():
            own = self.definitions(file)
            result[file] = self.fold(schema, inside_types=False) | ({"$defs": own} if own else {})
        return result


def file_text(document: Schema) -> str:
    """The document as JSON with one field or definition a line, so that a diff names what changed."""
    parts = []
    for key, value in document.items():
        if key in ("properties", "$defs"):
            lines = ",\n".join(f" {text_of(name)}:{text_of(child)}" for name, child in value.items())
            parts.append(f"{text_of(key)}:{{\n{lines}\n}}")
        else:
            parts.append(f"{text_of(key)}:{text_of(value)}")
    return "{" + ",\n".join(parts) + "}\n"


def family_of(document: Schema) -> str:
    """The folder that a kind belongs into."""
    identity = document["x-kubernetes-group-version-kind"]
    is_read = identity["group"] == READ_GROUP or (not identity["group"] and identity["kind"] in READ_BUILTIN)
    return "input" if is_read else "output"


def index_text(families: Mapping[str, Mapping[str, Schema]]) -> str:
    """The list of all kinds, one a line, ordered by apiVersion and kind."""
    rows = []
    for folder, kinds in families.items():
        for file, schema in kinds.items():
            identity = schema["x-kubernetes-group-version-kind"]
            row = {
                "apiVersion": "/".join(part for part in (identity["group"], identity["version"]) if part),
                "kind": identity["kind"],
                "plural": schema["x-plural"],
                "scope": schema["x-scope"],
                "file": f"{folder}/{file}",
            }
            rows.append((row["apiVersion"], row["kind"], json.dumps(row)))
    return '{"kinds":[\n' + ",\n".join(text for _, _, text in sorted(rows)) + "\n]}\n"


def make(source: Path) -> dict[str, bytes]:
    """Every file of `schemas/`, by its path below it.

    Args:
        source: the folder with the structural schemas.

    Raises:
        OSError: a file cannot be read.
        KeyError: a reference leads nowhere, or a head keyword is missing.
    """
    core = json.loads((source / CORE_FILE).read_text("utf-8"))["$defs"]
    families: dict[str, dict[str, Schema]] = {"input": {}, "output": {}}
    for path in sorted([*source.glob("*.json"), *KINDS.glob("*.json")], key=lambda path: path.name):
        if path.name == CORE_FILE:
            continue
        document = json.loads(path.read_text("utf-8"))
        families[family_of(document)][path.name] = kind_schema(Source(document=document, core=core))
    made = {"index.json": index_text(families).encode()}
    for folder, kinds in families.items():
        for file, folded in Family.of(kinds).documents().items():
            made[f"{folder}/{file}"] = file_text(folded).encode()
    return made


def main(arguments: list[str]) -> int:
    """Write `schemas/` anew from the folder that the first argument names; the second says where."""
    if not 1 <= len(arguments) <= 2:
        sys.stderr.write("usage: make_schemas.py SOURCE_FOLDER [TARGET_FOLDER]\n")
        return 2
    target = Path(arguments[1]) if len(arguments) > 1 else Path(__file__).resolve().parent.parent / "schemas"
    made = make(Path(arguments[0]))
    for stale in sorted(target.glob("*/*.json")):
        if stale.relative_to(target).as_posix() not in made and not stale.name.startswith(OWN):
            stale.unlink()
    for name, content in sorted(made.items()):
        path = target / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    sys.stdout.write(f"{len(made)} files, {sum(map(len, made.values()))} bytes\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
