"""Names of pages: files and folders that every file system and web server takes, and no two things share.

Decides them from names alone, so that the page of a unit never depends on others.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef

LONGEST = 100
MARK_LENGTH = 12

_find_odd = re.compile(r"[^a-z0-9-]+").sub


def slug(text: str) -> str:
    """A text as the name of a file or folder: lower-case letters, digits and hyphens.

    Whatever cannot stay as it is makes the name end in a mark made of the whole text: two texts never have one name,
    be it on a file system that takes upper and lower case for the same.
    """
    plain = _find_odd("-", text.lower()).strip("-")
    if plain == text and len(plain) <= LONGEST:
        return plain
    mark = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:MARK_LENGTH]
    return f"{plain[: LONGEST - MARK_LENGTH - 1]}.{mark}".lstrip(".")


def page_of(stem: str, number: int = 1) -> str:
    """The file of a page, or of one of the pages after it where what it shows is split."""
    return f"{stem}.html" if number == 1 else f"{stem}.p{number}.html"


def namespace_stem(namespace: str) -> str:
    """The page of a namespace, without the end of its name; what is in none has a page of its own."""
    return f"namespaces/n-{slug(namespace)}" if namespace else "namespaces/cluster"


def unit_stem(ref: ObjectRef) -> str:
    """The page of a unit, without the end of its name."""
    folder = f"n-{slug(ref.namespace)}" if ref.namespace else "cluster"
    return f"units/{folder}/{slug(ref.kind.lower())}-{slug(ref.name)}"


def source_stem(file: str) -> str:
    """The page of a source file, without the end of its name."""
    return f"sources/f-{slug(file)}"
