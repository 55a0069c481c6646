"""What differs between a manifest and the object that the API server made of it. No tolerance for other spellings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .client import Object

OF_THE_SERVER = frozenset({"creationTimestamp", "generation", "managedFields", "resourceVersion", "uid"})
"""Fields of `metadata` that a manifest does not have."""


def not_kept(written: Any, read: Any, path: str = "") -> Iterator[str]:
    """What was written and is not there, or reads otherwise. The server may add to maps, and to nothing else."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key in sorted(written):
            at = f"{path}.{key}" if path else key
            if key in read:
                yield from not_kept(written[key], read[key], at)
            else:
                yield f"{at}: {written[key]!r} is gone"
    elif isinstance(written, list) and isinstance(read, list) and len(written) == len(read):
        for index, (ours, theirs) in enumerate(zip(written, read, strict=True)):
            yield from not_kept(ours, theirs, f"{path}[{index}]")
    elif written != read or isinstance(written, bool) is not isinstance(read, bool):
        yield f"{path}: {written!r} reads {read!r}"


def added(written: Any, read: Any, path: str = "") -> Iterator[str]:
    """The paths of what the server added to maps of a manifest, at any depth."""
    if isinstance(written, dict) and isinstance(read, dict):
        for key in sorted(read):
            at = f"{path}.{key}" if path else key
            if key in written:
                yield from added(written[key], read[key], at)
            else:
                yield at
    elif isinstance(written, list) and isinstance(read, list):
        for index, (ours, theirs) in enumerate(zip(written, read, strict=False)):
            yield from added(ours, theirs, f"{path}[{index}]")


def content(stored: Object) -> Object:
    """An object without its status and without what only a server knows of it."""
    kept = {key: value for key, value in stored.items() if key != "status"}
    kept["metadata"] = {key: value for key, value in stored["metadata"].items() if key not in OF_THE_SERVER}
    return kept
