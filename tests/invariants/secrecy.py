"""No value of a Secret is shown in an object or in a finding, and credentials are references."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING

from kservec.api import plugs

from .output import Object, Output, maps, title

if TYPE_CHECKING:
    from collections.abc import Iterator

SHORTEST = 8
"""Shorter values are words and paths that may stand anywhere."""
LIKE_CREDENTIALS = ("PASSWORD", "SECRET", "TOKEN", "ACCESS_KEY", "API_KEY", "PRIVATE_KEY")


def no_secret_is_rendered(output: Output) -> Iterator[str]:
    """Objects of the kind Secret are never written."""
    yield from (title(body) for body in output.of("Secret"))


def no_value_of_a_secret_is_shown(output: Output) -> Iterator[str]:
    """No value of a Secret of the inputs is in the text of an object or of a finding, encoded or not."""
    shown = "\n".join((*output.texts, *(finding.text for finding in output.findings)))
    for body in (*output.inputs, *output.cluster):
        for key, value in values_of(body):
            if value in shown:
                yield f"{title(body)}: the value of {key} is shown"


def values_of(body: Object) -> Iterator[tuple[str, str]]:
    """The secret values of a document in every spelling; what KServe itself copies in plain text is none."""
    if body.get("kind") != "Secret":
        return
    for field in ("data", "stringData"):
        for key, value in (body.get(field) or {}).items():
            if key in plugs().secret_settings or not isinstance(value, str):
                continue
            texts = {value, *decoded(value)} if field == "data" else {value, base64.b64encode(value.encode()).decode()}
            yield from ((key, part) for text in sorted(texts) for part in parts_of(text))


def decoded(value: str) -> list[str]:
    """What a value in base64 stands for."""
    try:
        return [base64.b64decode(value, validate=True).decode()]
    except (binascii.Error, UnicodeDecodeError):
        return []


def parts_of(text: str) -> list[str]:
    """A text and its lines, and of an entry of a storage Secret the values that are credentials."""
    try:
        held = json.loads(text)
    except ValueError:
        return [part for part in {text, *text.splitlines()} if len(part) >= SHORTEST]
    if not isinstance(held, dict):
        return [text] if len(text) >= SHORTEST else []
    credentials = {key: value for key, value in held.items() if any(word in key.upper() for word in LIKE_CREDENTIALS)}
    return [value for value in credentials.values() if isinstance(value, str) and len(value) >= SHORTEST]


def credentials_are_references(output: Output) -> Iterator[str]:
    """A variable that is named like a credential has no value of its own, unless the users' files give it just that."""
    written = {
        (part.get("name"), part.get("value")) for body in (*output.inputs, *output.cluster) for part in maps(body)
    }
    for pods in output.pods:
        for variable in (one for container in pods.containers for one in container.get("env") or ()):
            is_credential = any(variable["name"].upper().endswith(word) for word in LIKE_CREDENTIALS)
            if is_credential and variable.get("value") and (variable["name"], variable["value"]) not in written:
                yield f"{title(pods.workload)}: {variable['name']} is written out"


INVARIANTS = (no_secret_is_rendered, no_value_of_a_secret_is_shown, credentials_are_references)
