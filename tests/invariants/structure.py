"""Every object has the structure of its kind, by two validators that know nothing of each other."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from kservec.api import packaged_schemas

from .output import Object, Output, title

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDERS = [Path(__file__).parents[2] / "schemas" / side for side in ("output", "input")]
"""Namespaces, which are read as well, are among what is read."""
TYPES = "types.json"
NO_SCHEMA = "no schema"


def the_compilers_validator_agrees(output: Output) -> Iterator[str]:
    """jsonschema-rs finds no fault, by the schemas as the compiler uses them."""
    known = packaged_schemas().kinds()
    for body in output.objects:
        if (body["apiVersion"], body["kind"]) not in known:
            yield from [] if is_included(output, body) else [f"{title(body)}: no schema"]
            continue
        for path, message in packaged_schemas().output_errors(body, body["apiVersion"], body["kind"]):
            yield f"{title(body)}: {'.'.join(map(str, path))}: {message}"


def the_reference_validator_agrees(output: Output) -> Iterator[str]:
    """jsonschema, the reference, finds no fault, by the files in schemas/output as they are."""
    for body in output.objects:
        for message in reference_faults(json.dumps(without_names(body))):
            if message == NO_SCHEMA and is_included(output, body):
                continue
            yield f"{title(body)}: {message}"


def is_included(output: Output, body: Object) -> bool:
    """Whether an object is a user's own, which a project renders as it is: those may be of any kind."""
    return any(title(body) == title(own) for own in output.inputs if "kind" in own)


def without_names(body: Object) -> Object:
    """An object without what tells it from others alike, so that those need no look of their own."""
    return {
        **body,
        "metadata": {key: value for key, value in body["metadata"].items() if key not in {"name", "namespace"}},
    }


@cache
def reference_faults(text: str) -> tuple[str, ...]:
    """The faults that the reference finds in an object."""
    body = json.loads(text)
    validator = reference(f"{body['apiVersion']}/{body['kind']}".lower())
    return (NO_SCHEMA,) if validator is None else tuple(fault.message for fault in validator.iter_errors(body))


@cache
def reference(identity: str) -> Any:
    """The reference validator of a kind; None if no schema is there for it."""
    version, _, kind = identity.rpartition("/")
    called = f"{version if '/' in version else f'core/{version}'}/{kind}.json".replace("/", "_")
    path = next((folder / called for folder in FOLDERS if (folder / called).is_file()), None)
    if path is None:
        return None
    types = Resource(contents=json.loads((path.parent / TYPES).read_text()), specification=DRAFT202012)
    checker = jsonschema.Draft202012Validator.FORMAT_CHECKER
    registry = Registry().with_resource(TYPES, types)
    return jsonschema.Draft202012Validator(json.loads(path.read_text()), registry=registry, format_checker=checker)


INVARIANTS = (the_compilers_validator_agrees, the_reference_validator_agrees)
