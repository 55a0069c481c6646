"""The cache: what became of services in earlier runs, in a folder of the user's choice.

One file for each base (`recall.py`), which holds what the last run over it had use for. A file counts only whole: it
begins with the digest of all that follows, and is read by something that makes plain values of ours and nothing else.
Whatever is odd about it, it is passed over and the services are compiled. Files are written beside and renamed.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
import tempfile
from contextlib import suppress
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kservec import recall
from kservec.io.packaged import packaged
from kservec.recall import Kept, digest
from kservec.workshop import Made

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from kservec.workshop import Crew

HEADER = b"kservec cache 1\n"
SUFFIX = ".made"
MOST_BYTES = 512 << 20
"""What the files of a folder may take together; the ones that were not used for longest go first."""
DATA = ("schemas", "catalog")
OWN = "kservec."
PLAIN = frozenset({"frozenset", "set"})


def recalling(folder: Path, crew: Crew) -> Crew:
    """A crew that looks up what it knows already and has another one do the rest.

    Args:
        folder: the cache.
        crew: does what is not known.
    """
    return recall.recalling(lambda base: FileShelf(folder / f"{base}{SUFFIX}"), own_stamp(), crew)


class FileShelf:
    """A file of the cache as it was when a run began."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.stored = read_file(file)

    def get(self, key: str) -> Kept | None:
        """What became of a unit, if it is known."""
        made = value_of(self.stored[key]) if key in self.stored else None
        return Kept(made) if isinstance(made, Made) else None

    def keep(self, added: Mapping[str, Kept], live: Collection[str]) -> None:
        """Keep what is new, and what was of use; of the rest as much as that, for another run over the same base.

        Of what cannot be written nothing is said: the next run compiles it again.
        """
        with suppress(OSError):
            if not added:
                os.utime(self.file)
                return
            used = {key: self.stored[key] for key in live if key in self.stored}
            new = {key: pickle.dumps(kept.made, pickle.HIGHEST_PROTOCOL) for key, kept in added.items()}
            entries = {**used, **new}
            unused = [key for key in self.stored if key not in entries][: len(entries)]
            write_file(self.file, {**entries, **{key: self.stored[key] for key in unused}})
            evict(self.file.parent)


def write_file(file: Path, entries: Mapping[str, bytes]) -> None:
    """Write a file of the cache, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    body = pickle.dumps(dict(entries), pickle.HIGHEST_PROTOCOL)
    handle, name = tempfile.mkstemp(dir=file.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(HEADER + hashlib.sha256(body).digest())
            out.write(body)
        os.replace(name, file)
    except OSError:
        with suppress(OSError):
            os.unlink(name)
        raise


def evict(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove the files that were not used for longest until the others take no more than they may.

    Raises:
        OSError: something cannot be removed.
    """
    entries = [(e.stat().st_mtime_ns, e.stat().st_size, e.path) for e in os.scandir(folder) if e.name.endswith(SUFFIX)]
    taken = 0
    for _, size, path in sorted(entries, reverse=True):
        taken += size
        if taken > most:
            os.unlink(path)


def read_file(file: Path) -> dict[str, bytes]:
    """What a file of the cache holds; nothing if it is not there, or not as it was written."""
    try:
        content = file.read_bytes()
    except OSError:
        return {}
    start = len(HEADER) + hashlib.sha256().digest_size
    body = content[start:]
    if content[:start] != HEADER + hashlib.sha256(body).digest():
        return {}
    found = value_of(body)
    return found if isinstance(found, dict) and all(isinstance(v, bytes) for v in found.values()) else {}


def value_of(content: bytes) -> object:
    """The value of some bytes; None if they hold none, or something that no run keeps."""
    try:
        return PlainValues(io.BytesIO(content)).load()
    except Exception:  # noqa: BLE001 - bytes that somebody made up can raise anything
        return None


class PlainValues(pickle.Unpickler):
    """Reads values of ours, which do nothing when they are made, and calls nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        """A class of plain values.

        Raises:
            pickle.UnpicklingError: it is something else.
        """
        return plain_class(module, name)


@cache
def plain_class(module: str, name: str) -> Any:
    """A class of ours whose values are records, named tuples or members of enumerations; or a set.

    Raises:
        pickle.UnpicklingError: it is something else.
    """
    if module == "builtins" and name in PLAIN:
        return {"frozenset": frozenset, "set": set}[name]
    if module.startswith(OWN) and "." not in name:
        found = getattr(import_module(module), name, None)
        if isinstance(found, type) and (issubclass(found, tuple | Enum) or hasattr(found, "__fields__")):
            return found
    raise pickle.UnpicklingError(f"{module}.{name} is no plain value")


@cache
def own_stamp() -> str:
    """A digest of kservec itself: its code and data, and the version of Python."""
    package = Path(__file__).parents[1]
    files = [*package.rglob("*.py"), *(path for name in DATA for path in packaged(name).rglob("*") if path.is_file())]
    contents = (f"{path.name}\0{hashlib.sha256(path.read_bytes()).hexdigest()}" for path in sorted(files))
    return digest((sys.version, *contents))
