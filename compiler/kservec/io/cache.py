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

from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve
from kservec.io.packaged import packaged
from kservec.recall import digest, keys_of
from kservec.workshop import Made

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.recall import Keys
    from kservec.workshop import Crew, Workshop

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

    def working(workshop: Workshop) -> Iterator[list[Made]]:
        keys = keys_of(workshop, own_stamp())
        if keys is None:
            yield from crew(workshop)
            return
        file = folder / f"{keys.base}{SUFFIX}"
        stored = read_file(file)
        known = known_of(workshop, keys, stored)
        units = workshop.units
        rest = [unit for i, unit in enumerate(units) if i not in known]
        fresh = (made for several in crew(rest_of(workshop, rest)) for made in several) if rest else iter(())
        added: dict[str, bytes] = {}
        for i in range(len(units)):
            made = known.get(i) or next(fresh)
            if i not in known and i in keys.units and not has_errors(made.diagnostics):
                added[keys.units[i]] = pickle.dumps(made, pickle.HIGHEST_PROTOCOL)
            yield [made]
        keep(file, {key: stored[key] for key in keys.units.values() if key in stored}, added, stored)

    return working


def rest_of(workshop: Workshop, units: list[Any]) -> Workshop:
    """The workshop of the units that are not known. It cannot be made of the documents again, which lead to all."""
    return workshop if len(units) == len(workshop.units) else evolve(workshop, units=units, inputs=None)


def known_of(workshop: Workshop, keys: Keys, stored: Mapping[str, bytes]) -> dict[int, Made]:
    """What is known of units, by their places. What does not speak of its unit is not."""
    known: dict[int, Made] = {}
    for place, key in keys.units.items():
        made = value_of(stored[key]) if key in stored else None
        if isinstance(made, Made) and made.ref == workshop.units[place].ref:
            known[place] = made
    return known


def keep(file: Path, used: dict[str, bytes], added: dict[str, bytes], stored: Mapping[str, bytes]) -> None:
    """Keep what is new, and what was of use; of the rest as much as that, for another run over the same base.

    Of what cannot be written nothing is said: the next run compiles it again.
    """
    with suppress(OSError):
        if not added:
            os.utime(file)
            return
        live = {**used, **added}
        unused = [key for key in stored if key not in live][: len(live)]
        write_file(file, {**live, **{key: stored[key] for key in unused}})
        evict(file.parent)


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
