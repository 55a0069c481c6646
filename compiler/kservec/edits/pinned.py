"""Every pin of an object: the fields that say which version of a model it serves, by what.

Decides what a promotion from one environment to another takes along. Must not know files, nor what a pin is set to.
Canaries have none: what is tried is not promoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import item_key, lookup

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.paths import Json, Path

SCALARS = frozenset({"image", "runtime", "runtimeVersion", "storageUri"})
"""Fields that are pins wherever they hold text."""
MODEL: Path = ("spec", "model")
CONTAINERS = frozenset({"containers", "initContainers"})
ADAPTERS = "adapters"
LISTS = CONTAINERS | {ADAPTERS}
"""Lists whose items are looked into, each by its name."""
URIS, ARGS, REVISION = "storageUris", "args", "--revision"
WHOLE = frozenset({ADAPTERS, ARGS, URIS})
"""Lists that patches replace as a whole."""
PASSED = frozenset({"canary", "logger", "metadata", "status"})
"""Fields below which nothing is a pin."""
SHARES: Path = ("spec", "predictor", "canaryTrafficPercent")


class Pin(NamedTuple):
    """A pin: where its scalar stands, by the names of containers, and what stands in that scalar before it."""

    path: Path
    value: str
    before: str = ""

    @property
    def is_in_list(self) -> bool:
        """Whether it stands in a list whose items have no names, which a patch can only replace as a whole."""
        return any(step in WHOLE for step in self.path)

    @property
    def holder(self) -> Path:
        """What it is a field of; if it is in a list, what that is a field of."""
        return self.path[: min((i for i, step in enumerate(self.path) if step in WHOLE), default=len(self.path) - 1)]


def pins_in(value: Json, path: Path = ()) -> Iterator[tuple[Path, Pin]]:
    """Every pin of an object or a part of it, each under what it is called wherever it stands."""
    for key, part in value.items():
        at = (*path, key)
        if isinstance(part, str):
            if is_pin(at):
                yield at, Pin(at, part)
        elif key in PASSED:
            continue
        elif isinstance(part, dict):
            yield from pins_in(part, at)
        elif isinstance(part, list):
            yield from pins_of_items(part, at)


def is_pin(path: Path) -> bool:
    """Whether a text at a path is a pin."""
    last = path[-1]
    if last in SCALARS or path[-2:] == ("storage", "path"):
        return True
    return (path[:-1] == MODEL and last in ("name", "uri")) or (path[-3:-2] == (ADAPTERS,) and last == "uri")


def pins_of_items(items: Sequence[Json], path: Path) -> Iterator[tuple[Path, Pin]]:
    """The pins of the items of a list."""
    field = str(path[-1])
    if field in LISTS:
        for item in items:
            name = item_key(item, field)
            if isinstance(name, str):
                yield from pins_in(item, (*path, name))
    elif field == URIS:
        for i, item in enumerate(items):
            if isinstance(item, dict) and isinstance(item.get("uri"), str):
                yield (*path, item.get("mountPath", i), "uri"), Pin((*path, i, "uri"), item["uri"])
    elif field == ARGS:
        yield from revision_in(items, path)


def revision_in(items: Sequence[Json], path: Path) -> Iterator[tuple[Path, Pin]]:
    """The revision of a model that is an argument, if there is just one."""
    found: list[Pin] = []
    for i, item in enumerate(items):
        if isinstance(item, str) and item.startswith(f"{REVISION}="):
            found.append(Pin((*path, i), item.removeprefix(f"{REVISION}="), f"{REVISION}="))
        elif item == REVISION and i + 1 < len(items) and isinstance(items[i + 1], str):
            found.append(Pin((*path, i + 1), items[i + 1]))
    if len(found) == 1:
        yield (*path, REVISION), found[0]


def has_canary(value: Json) -> bool:
    """Whether a canary of an InferenceService runs."""
    return lookup(value, SHARES) is not None or bool(lookup(value, ("spec", "canary")))
