"""Deep digests of the compiler's values, and a program that prints the digest of what all cases give."""

from __future__ import annotations

import hashlib
import random
import sys
from collections.abc import Iterator, Mapping
from enum import Enum
from types import BuiltinFunctionType, FunctionType
from typing import Any

from kservec.api import compile_files
from kservec.core.records import fields_of
from kservec.core.schemas.schema import Schemas
from kservec.core.text.document import Document
from kservec.report.text import text_report
from kservec.spec.base import Model

from .cases import cases, inputs
from .projects import projects
from .projects import result as rendered_result

PLAIN = frozenset((str, int, float, bool, bytes, type(None)))
"""Types of nearly all values, which hold no others."""


def digest(value: Any) -> str:
    """A digest of a value and all that it holds, so that any change to any part of it gives another one."""
    found: list[str] = []
    seen: dict[int, Any] = {}  # with the value itself, so that no other gets its id while this runs
    waiting = [value]
    while waiting:
        part = waiting.pop()
        kind = type(part)
        if kind in PLAIN:
            found.append(f"{kind.__name__}0{part!r};")
            continue
        held = list(parts(part))
        found.append(f"{kind.__name__}{len(held)}{'' if held else scalar(part)};")
        if id(part) not in seen:
            seen[id(part)] = part
            waiting.extend(held)
    return hashlib.sha256("".join(found).encode(errors="surrogatepass")).hexdigest()


def parts(value: Any) -> Iterator[Any]:
    """What a value holds. Answers that `Schemas` keeps are no part of it, and a document is what it says."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key
            yield item
    elif isinstance(value, list | tuple):
        yield from value
    elif isinstance(value, set | frozenset):
        yield from sorted(value, key=repr)
    elif isinstance(value, Model):
        yield value.json
    elif isinstance(value, Document):
        yield from (value.file, value.value, value.positions)
    elif hasattr(value, "__fields__") and not isinstance(value, Schemas | type):
        yield from fields_of(value)


def scalar(value: Any) -> str:
    """The text of a value that holds no others."""
    if isinstance(value, FunctionType | BuiltinFunctionType | type):
        return value.__qualname__
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    return repr(value) if isinstance(value, str | int | float | bytes | None) else type(value).__name__


def outputs(seed: int) -> str:
    """One line a case and a project: its name, and the digest of what it gives. A seed other than 0 shuffles files."""
    lines = [f"{case.name} {digest_of(rendered_result(case))}\n" for case in projects()]
    for case in cases():
        files, target = inputs(case)
        if seed:
            random.Random(seed).shuffle(files)  # noqa: S311 - the order of a test
        made = compile_files(files, target=target)
        text = made.yaml + text_report(made.diagnostics, made.sources) + repr(sorted(made.urls.items()))
        lines.append(f"{case.name} {hashlib.sha256(text.encode()).hexdigest()}\n")
    return "".join(lines)


def digest_of(files: Mapping[str, bytes]) -> str:
    """The digest of files, whatever order they come in."""
    found = hashlib.sha256()
    for path in sorted(files):
        found.update(f"{path}\0{len(files[path])}\0".encode() + files[path])
    return found.hexdigest()


if __name__ == "__main__":
    sys.stdout.write(outputs(int(sys.argv[1])))
