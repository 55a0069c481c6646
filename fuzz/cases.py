"""Inputs out of real builds: their documents written anew, with values in Secrets that can be told in an output."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from fuzz.inputs import Input
from fuzz.stock import Case
from fuzz.writing import PLAIN, Style, encoded, written
from kservec.api import plugs

SETTINGS = plugs().secret_settings


def as_input(case: Case, values: dict[str, list[Any]], style: Style = PLAIN) -> Input:
    """A case as an input, with its documents written anew, and values of its own in every other Secret."""
    planted = tuple(secret for documents in values.values() for document in documents for secret in plant(document))
    texts = {
        path: encoded(written(documents, style))
        for path, documents in values.items()
        if documents or case.documents.get(path)
    }
    return replace(plain(case, {**case.files, **texts}), secrets=planted)


def plain(case: Case, files: dict[str, bytes]) -> Input:
    """An input with the options of a case."""
    return Input(files, case.absent, case.names_revisions, case.has_catalog)


def plant(document: Any) -> Iterator[str]:
    """Give the keys of a Secret, but for those that KServe copies into pods, values that can be told in an output."""
    if not isinstance(document, dict) or document.get("kind") != "Secret":
        return
    name = str(document.get("metadata"))
    for section in ("data", "stringData"):
        texts = document.get(section)
        if isinstance(texts, dict):
            yield from plant_texts(texts, name, in_base64=section == "data")


def plant_texts(texts: dict[str, Any], name: str, *, in_base64: bool) -> Iterator[str]:
    """Give the keys of one section of a Secret such values; those that are JSON are left, since they are read."""
    for key, text in texts.items():
        if key not in SETTINGS and isinstance(text, str) and "{" not in text:
            secret = hashlib.sha256(f"{name} {key}".encode()).hexdigest()[:24]
            written_secret = base64.b64encode(secret.encode()).decode()
            texts[key] = written_secret if in_base64 else secret
            yield from (secret, written_secret)
