"""Containers that patches add to rendered pods, though one that is there was meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path
    from kservec.overlays.closure import Patch

CONTAINER = Code(
    "patches/container-name",
    Severity.WARNING,
    "a patch that adds a container whose name is nearly that of another",
    "A patch changes the container that has the name which it says, and adds one where none has it. What was meant for "
    "the other one then has no effect on that.",
)
CONTAINERS = ("containers", "initContainers")


def added_containers(patch: Patch, before: Json, after: Json, ref: ObjectRef) -> Iterator[Diagnostic]:
    """Warnings about containers that a patch adds to an object, where one is called nearly so that it does not name.

    Args:
        patch: the patch, no list of operations.
        before: the object without patches.
        after: the object with all of them.
        ref: what it is called.
    """
    for path in lists_of_containers(patch.document.value):
        named = names_at(patch.document.value, path)
        others = names_at(before, path)
        left = [name for name in others if name not in named]
        for name in named:
            near = closest(name, left) if name not in others and name in names_at(after, path) else None
            if near is not None:
                yield Diagnostic(
                    code=CONTAINER,
                    message=f"this patch adds the container {name} to {ref.kind} {ref.name}",
                    span=patch.document.span((*path, name, "name")),
                    help=f"did you mean {near}?",
                    subject=ref,
                )


def lists_of_containers(value: Json, path: Path = ()) -> Iterator[Path]:
    """Where the lists of containers are in a patch."""
    for key, child in value.items() if isinstance(value, dict) else ():
        if key in CONTAINERS and isinstance(child, list):
            yield (*path, key)
        else:
            yield from lists_of_containers(child, (*path, key))


def names_at(value: Json, path: Path) -> list[str]:
    """The names of the items of a list."""
    items = lookup(value, path)
    names = [item.get("name") for item in items if isinstance(item, dict)] if isinstance(items, list) else []
    return [name for name in names if isinstance(name, str)]
