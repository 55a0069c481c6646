"""The cache: what became of services in earlier runs, in a folder of the user's choice.

The folder is marked, so that nothing of others is ever taken for a cache, and removed from it.

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
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.io.packaged import packaged
from kservec.recall import Kept, digest
from kservec.workshop import Made

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from kservec.workshop import Crew

UNWRITABLE = Code(
    "cache/unwritable",
    Severity.WARNING,
    "a cache that cannot be written",
    "The folder of --cache, or a file in it, cannot be written, so the next run compiles again what this one did. The "
    "output is the same. Give the user who runs kservec the right to write there, or leave the option out.",
)
MARK = "CACHEDIR.TAG"
MARKED = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# This file says that its folder is a cache of kservec. About such files: https://bford.info/cachedir/\n"
)
"""What backups know a cache by, and kservec its own."""
HEADER = b"kservec cache 1\n"
SUFFIX, PART = ".made", ".part"
MOST_BYTES = 512 << 20
"""What the files of a folder may take together; the ones that were not used for longest go first."""
DATA = ("schemas", "catalog")
OWN = "kservec."
PLAIN = frozenset({"frozenset", "set"})


def ignore(finding: Diagnostic) -> None:
    """Nobody is told."""
    del finding


def recalling(folder: Path, crew: Crew, tell: Callable[[Diagnostic], None] = ignore) -> Crew:
    """A crew that looks up what it knows already and has another one do the rest.

    Args:
        folder: the cache.
        crew: does what is not known.
        tell: is told of a cache that cannot be written.
    """
    return recall.recalling(lambda base: FileShelf(folder / f"{base}{SUFFIX}", tell), own_stamp(), crew)


def is_of_others(folder: Path) -> bool:
    """Whether a folder holds something and is not marked as a cache of kservec.

    Raises:
        OSError: it cannot be looked at.
    """
    # In this order: another run may mark it in between.
    return bool(os.listdir(folder)) and not is_marked(folder)


def is_marked(folder: Path) -> bool:
    """Whether a folder is a cache of kservec. The mark of a run that was killed may be cut."""
    mark = folder / MARK
    return mark.is_file() and MARKED.startswith(mark.read_bytes()[: len(MARKED)])


def mark_folder(folder: Path) -> None:
    """Mark a folder as a cache, which git keeps out of commits.

    Raises:
        OSError: it cannot be written.
    """
    if not (folder / MARK).is_file() or (folder / MARK).stat().st_size < len(MARKED):
        (folder / MARK).write_bytes(MARKED)
        (folder / ".gitignore").write_bytes(b"*\n")


def unwritable(error: OSError, folder: Path) -> Diagnostic:
    """The warning about a cache that cannot be written."""
    message = f"cannot write the cache {folder}: {error.strerror}; the next run compiles again what this one did"
    return Diagnostic(code=UNWRITABLE, message=message, span=None, help="make it writable, or leave --cache out")


class FileShelf:
    """A file of the cache as it was when a run began."""

    def __init__(self, file: Path, tell: Callable[[Diagnostic], None]) -> None:
        self.file, self.tell = file, tell
        self.stored = read_file(file)

    def get(self, key: str) -> Kept | None:
        """What became of a unit, if it is known."""
        made = value_of(self.stored[key]) if key in self.stored else None
        return Kept(made) if isinstance(made, Made) else None

    def keep(self, added: Mapping[str, Kept], live: Collection[str]) -> None:
        """Keep what is new, and what was of use; of the rest as much as that, for another run over the same base.

        Of what cannot be written it is told: the next run compiles it again.
        """
        if not added:
            with suppress(OSError):
                os.utime(self.file)
            return
        used = {key: self.stored[key] for key in live if key in self.stored}
        new = {key: pickle.dumps(kept.made, pickle.HIGHEST_PROTOCOL) for key, kept in added.items()}
        entries = {**used, **new}
        unused = [key for key in self.stored if key not in entries][: len(entries)]
        try:
            write_file(self.file, {**entries, **{key: self.stored[key] for key in unused}})
        except OSError as error:
            self.tell(unwritable(error, self.file.parent))
            return
        with suppress(OSError):  # another run may have removed it
            evict(self.file.parent)


def write_file(file: Path, entries: Mapping[str, bytes]) -> None:
    """Write a file of the cache, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    body = pickle.dumps(dict(entries), pickle.HIGHEST_PROTOCOL)
    handle, name = tempfile.mkstemp(dir=file.parent, suffix=PART)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(HEADER + hashlib.sha256(body).digest())
            out.write(body)
        os.replace(name, file)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


def evict(folder: Path, most: int = MOST_BYTES) -> None:
    """Remove the files that were not used for longest until the others take no more than they may.

    What a run that was killed has left half written counts, too.

    Raises:
        OSError: something cannot be removed.
    """
    own = [entry for entry in os.scandir(folder) if entry.name.endswith((SUFFIX, PART))]
    entries = [(entry.stat().st_mtime_ns, entry.stat().st_size, entry.path) for entry in own]
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
