"""Patches of our own: a file of an overlay that holds values of one object, and the entry that names it.

Decides what such a file looks like. It is a strategic merge patch, last in `patches:`, so that it counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import index_of, lookup
from kservec.edits.changes import Add, Put, Remove, Target, changed
from kservec.edits.nodes import NotEditableError, values_of
from kservec.edits.pinned import CONTAINERS
from kservec.emit import dump
from kservec.overlays.objects import id_of

if TYPE_CHECKING:
    from kservec.core.paths import Json, Path
    from kservec.core.text.document import Document
    from kservec.edits.changes import Change
    from kservec.overlays.objects import Id

PATCHES = "patches"
ONLY = Target(0)


class Valued(NamedTuple):
    """An object as it is compiled, and a value that it is to have at a path (by the names of containers)."""

    document: Document
    path: Path
    value: Json


def addition(present: Json, valued: Valued) -> Change:
    """The change that gives a patch a value. Containers keep the order that the object has them in."""
    path, like = valued.path, valued.document.value
    node, field = present, ""
    at: Path = ()
    for i, step in enumerate(path):
        after = field_after(field, step)
        below = nested(path[i + 1 :], valued.value, lookup(like, path[: i + 1]), after)
        if isinstance(node, list):
            j = index_of(node, field, step)
            if j < 0:
                return Add((*at, len(node)), {"name": step, **below} if isinstance(step, str) else below)
            at, node = (*at, j), node[j]
        elif isinstance(node, dict) and step in node:
            at, node = (*at, step), node[step]
        else:
            return Add((*at, step), below)
        field = after
    return Put(at, valued.value)


def field_after(field: str, step: str | int) -> str:
    """The field that holds what a step leads to; none for the items of lists."""
    return step if isinstance(step, str) and field not in CONTAINERS else ""


def nested(path: Path, value: Json, like: Json, field: str) -> Json:
    """A value with the maps and lists around it. `like` is what the object has there, `field` the field of that."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    inner = nested(rest, value, lookup(like, (step,), field), field_after(field, step))
    if field in CONTAINERS:
        # What a patch names comes first: so it names all that come before the one that is meant.
        names = [item.get("name") for item in like or ()]
        before = names[: names.index(step)] if step in names else []
        return [*({"name": name} for name in before), {"name": step, **inner}]
    return {step: inner}


def skeleton(called: Id) -> Json:
    """A patch that changes nothing."""
    version = f"{called.group}/{called.version}".lstrip("/")
    place = {"namespace": called.namespace} if called.namespace else {}
    return {"apiVersion": version, "kind": called.kind, "metadata": {"name": called.name, **place}}


def is_patch_of(text: str, called: Id) -> bool:
    """Whether a file holds a patch of an object, and nothing else."""
    values = values_of(text)
    return len(values) == 1 and id_of(values[0]) == called


def with_value(text: str | None, called: Id, valued: Valued) -> str:
    """The text of a patch with one value more, or another one; `text` is None for a patch that is not there yet.

    Raises:
        NotEditableError: the patch cannot be edited.
    """
    if text is not None:
        return changed(text, ONLY, [addition(values_of(text)[0], valued)])
    change = addition(skeleton(called), valued)
    assert isinstance(change, Add)
    return dump(laid(skeleton(called), change))


def laid(value: Json, change: Add) -> Json:
    """A map with what a change adds to it."""
    step, rest = change.path[0], change.path[1:]
    inner = laid(value.get(step, {}), change._replace(path=rest)) if rest else change.value
    return {**value, step: inner}


def listed(kustomization: str, name: str) -> str:
    """A kustomization that names a patch.

    Raises:
        NotEditableError: it cannot be edited.
    """
    entries = patches_in(kustomization)
    if any(isinstance(entry, dict) and entry.get("path") == name for entry in entries or ()):
        return kustomization
    if entries is None:
        return changed(kustomization, ONLY, [Add((PATCHES,), [{"path": name}])])
    return changed(kustomization, ONLY, [Add((PATCHES, len(entries)), {"path": name})])


def unlisted(kustomization: str, name: str) -> str:
    """A kustomization that no longer names a patch.

    Raises:
        NotEditableError: it cannot be edited.
    """
    entries = patches_in(kustomization) or []
    places = [i for i, entry in enumerate(entries) if isinstance(entry, dict) and entry.get("path") == name]
    if len(places) != 1 or len(entries[places[0]]) != 1:
        raise NotEditableError(f"it does not name {name} once, by its path alone")
    return changed(kustomization, ONLY, [Remove((PATCHES, places[0]))])


def patches_in(kustomization: str) -> list[Json] | None:
    """The patches that a kustomization names; None if it has no such list."""
    values = values_of(kustomization)
    if len(values) != 1 or not isinstance(values[0], dict):
        raise NotEditableError("it is no map")
    if PATCHES not in values[0]:
        return None
    entries: list[Json] = values[0][PATCHES]
    return entries if isinstance(entries, list) else []
