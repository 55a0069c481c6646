"""Values grown from the schemas that ship with kservec: objects with the structure of their kind, and odd contents."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

from fuzz.mutating import odd
from fuzz.stock import Stock
from fuzz.words import DURATIONS, NUMBERS, QUANTITIES, TEXTS
from kservec.io.packaged import packaged_own_schema, packaged_schemas

MOST_FIELDS = 45
"""Fields of one object: small ones are quick, and show a fault as well as large ones."""
COMPONENTS = ("canary", "explainer", "transformer")
"""What is not added to objects that are there: hardly any is whole when it is grown."""
TYPES: dict[str, type] = {"array": list, "boolean": bool, "integer": int, "object": dict, "string": str}
_is_quantity = re.compile(r"\^\(\\\+\|-\)\?").match


class Grower:
    """Grows one value after a schema. `odds` is how often a leaf is odd."""

    def __init__(self, schema: Any, chance: Random, stock: Stock, odds: float) -> None:
        self.definitions = schema.get("$defs", {})
        self.chance = chance
        self.stock = stock
        self.odds = odds
        self.left = MOST_FIELDS

    def value(self, schema: Any, key: str) -> Any:
        """A value that the schema more or less allows."""
        schema = self.resolved(schema)
        chance = self.chance
        if chance.random() < self.odds:
            return odd(key, chance)
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if "const" in schema:
            return schema["const"]
        kind = schema.get("type")
        kind = chance.choice(kind) if isinstance(kind, list) else kind
        if kind == "object" or "properties" in schema:
            return self.map(schema, key)
        if kind == "array":
            return [self.value(schema.get("items", {}), key) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
        return self.scalar(schema, kind, key)

    def resolved(self, schema: Any) -> Any:
        """A schema behind references, and one of several ways."""
        for _ in range(9):
            if not isinstance(schema, dict):
                return {}
            if "$ref" in schema:
                schema = self.definitions.get(schema["$ref"].rpartition("/")[2], {})
            elif "anyOf" in schema and "properties" not in schema:
                schema = self.chance.choice(schema["anyOf"])
            elif "oneOf" in schema and "properties" not in schema:
                schema = self.chance.choice(schema["oneOf"])
            else:
                break
        return schema

    def map(self, schema: Any, key: str) -> Any:
        """An object with what it must have, and some of what it may have: rather fields that are in use somewhere."""
        chance = self.chance
        properties = schema.get("properties")
        if not properties:
            more = schema.get("additionalProperties")
            if not isinstance(more, dict):
                return self.stock.piece(key, chance) or {}
            names = self.stock.siblings.get(key) or ["a", "app", "cpu"]
            return {chance.choice(names): self.value(more, key) for _ in range(chance.choice((0, 1, 1, 2)))}
        made: dict[str, Any] = {}
        for name in schema.get("required", ()):
            made[name] = self.field(properties.get(name, {}), name)
        used = [name for name in properties if name in self.stock.pieces or name in self.stock.scalars]
        for _ in range(min(chance.choice((0, 1, 1, 2, 2, 3, 5)), self.left)):
            name = (
                chance.choice(used or list(properties)) if chance.random() < 0.85 else chance.choice(list(properties))
            )
            if name not in made:
                made[name] = self.field(properties[name], name)
        return made

    def field(self, schema: Any, name: str) -> Any:
        """The value of a field: grown, or as some file has it."""
        self.left -= 1
        if self.left < 0 or self.chance.random() < 0.3:
            found = self.stock.piece(name, self.chance)
            if found is not None and (self.odds or is_of_type(found, self.resolved(schema).get("type"))):
                return found
        return self.value(schema, name) if self.left > -MOST_FIELDS else None

    def enrich(self, schema: Any, value: Any, key: str) -> None:
        """Add a field that the schema knows to a map somewhere in a value, which is changed where it is."""
        schema = self.resolved(schema)
        if isinstance(value, list) and value:
            self.enrich(schema.get("items", {}), self.chance.choice(value), key)
        if not isinstance(value, dict):
            return
        properties = schema.get("properties", {})
        below = [name for name, part in value.items() if name in properties and isinstance(part, (dict, list)) and part]
        if below and self.chance.random() < 0.75:
            name = self.chance.choice(below)
            self.enrich(properties[name], value[name], name)
        elif missing := [name for name in properties if name not in value and name not in COMPONENTS]:
            name = self.chance.choice(missing)
            value[name] = self.field(properties[name], name)

    def scalar(self, schema: Any, kind: Any, key: str) -> Any:
        """A single value."""
        chance = self.chance
        if kind == "boolean":
            return chance.random() < 0.5
        if kind in ("integer", "number"):
            low, high = schema.get("minimum", 0), schema.get("maximum", 9000)
            within = (max(low, min(high, 1)), max(low, min(high, 2)), min(high, 8080), low, high)
            return chance.choice((*within, low - 1, high + 1, chance.choice(NUMBERS)) if self.odds else within)
        known = [value for value in self.stock.scalars.get(key, ()) if self.odds or is_of_type(value, kind)]
        if known and chance.random() < 0.8:
            return chance.choice(known)
        if _is_quantity(schema.get("pattern", "")):
            return chance.choice(QUANTITIES)
        if "duration" in schema.get("format", ""):
            return chance.choice(DURATIONS)
        if schema.get("x-kubernetes-int-or-string"):
            return chance.choice(("25%", "1", 1, 8080, "http"))
        return chance.choice(("a", "iris", "ml", "model", "a-b", chance.choice(TEXTS)))


def is_of_type(value: Any, kind: Any) -> bool:
    """Whether a value is of one of a schema's types; of a schema without one, any."""
    return kind is None or any(
        isinstance(value, TYPES.get(name, object)) for name in (kind if isinstance(kind, list) else [kind])
    )


def grown(api_version: str, kind: str, chance: Random, stock: Stock) -> Any:
    """An object of a kind that schemas ship for."""
    schema = packaged_schemas().document(api_version, kind)
    grower = Grower(schema, chance, stock, chance.choice((0.0, 0.0, 0.01, 0.05, 0.2)))
    value = grower.map(schema, "")
    metadata = value.get("metadata")
    name = {"name": chance.choice(("a", "b", "iris")), "namespace": "ml"}
    value["metadata"] = {**metadata, **name} if isinstance(metadata, dict) else name
    value |= {"apiVersion": api_version, "kind": kind}
    if "spec" in schema["properties"] and "spec" not in value:
        value["spec"] = grower.field(schema["properties"]["spec"], "spec")
    return value


def enriched(text: str, chance: Random, stock: Stock) -> Any:
    """An object out of a file, as JSON, with some more fields that the schema of its kind knows."""
    value = json.loads(text)
    schema = packaged_schemas().document(value["apiVersion"], value["kind"])
    grower = Grower(schema, chance, stock, chance.choice((0.0, 0.0, 0.0, 0.05)))
    for _ in range(chance.choice((1, 1, 2, 4, 8))):
        grower.enrich(schema["properties"].get("spec", {}), value.get("spec"), "spec")
    return value


def grown_own(document: str, chance: Random, stock: Stock) -> Any:
    """A document of kservec's own: `project` or `cluster`."""
    schema = json.loads(packaged_own_schema(document))
    grower = Grower(schema, chance, stock, chance.choice((0.0, 0.0, 0.01, 0.05)))
    return grower.map(schema, document)
