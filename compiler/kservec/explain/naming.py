"""What a user may call an object and a field of it: `Deployment/fraud-predictor.spec.replicas`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.digits import natural
from kservec.core.paths import index_of, lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path

_match_step = re.compile(r"\.?([^.\[\]]+)|\[(?:\"([^\"]*)\"|'([^']*)'|([^\]]*))\]").match


class Meant(NamedTuple):
    """An object, and the text of a field in it; an empty one means all of it."""

    ref: ObjectRef
    field: str


def candidates(text: str, refs: Iterable[ObjectRef]) -> list[Meant]:
    """The objects that a text may mean, those with the longest name: `[NAMESPACE/]KIND/NAME[.FIELD]`.

    The kind is written in any case. `KIND/NAMESPACE/NAME` and the way in which findings write it are as good.
    """
    found = [(name, ref) for ref in refs for name in names_of(ref) if is_start(name, text)]
    longest = max((len(name) for name, _ in found), default=0)
    best = [(name, ref) for name, ref in found if len(name) == longest]
    return [Meant(ref, text[len(name) :].removeprefix(".")) for name, ref in best]


def names_of(ref: ObjectRef) -> tuple[str, ...]:
    """What an object may be called."""
    short = f"{ref.kind}/{ref.name}"
    if not ref.namespace:
        return (short,)
    return short, f"{ref.namespace}/{short}", f"{ref.kind}/{ref.namespace}/{ref.name}", str(ref)


def is_start(name: str, text: str) -> bool:
    """Whether a text begins with the name of an object, and goes on with a field if at all."""
    if text[: len(name)].lower() != name.lower():
        return False
    return text[len(name) : len(name) + 1] in ("", ".", "[")


def step_of(text: str) -> str | int:
    """A step as it is written: an index where it is a number."""
    number = natural(text)
    return text if number is None else number


def field_steps(field: str) -> Path | None:
    """The steps of a field: `spec.containers[0].image`, `containers[web]`, `labels["a.b/c"]`; None if it is none."""
    steps: list[str | int] = []
    at = 0
    while at < len(field):
        found = _match_step(field, at)
        if found is None:
            return None
        plain, double, single, index = found.groups()
        bare = plain if plain is not None else index
        steps.append(double or single or (bare if plain is not None else step_of(bare)))
        at = found.end()
    return tuple(steps)


def resolved(value: Json, steps: Path) -> Path | None:
    """The path of a value as trees know it: names where items have names; None if nothing is there.

    A key with dots (`metadata.annotations.a.b/c`) may be written without brackets.
    """
    if not steps:
        return ()
    field = ""
    done: list[str | int] = []
    while steps:
        step, width = widest_key(value, steps) if isinstance(value, dict) else (steps[0], 1)
        if isinstance(value, list) and index_of(value, field, step) < 0:
            step = step_of(step) if isinstance(step, str) else step
        value = lookup(value, (step,), field)
        if value is None:
            return None
        done.append(step)
        field = step if isinstance(step, str) else ""
        steps = steps[width:]
    return tuple(done)


def widest_key(value: dict[str, Json], steps: Path) -> tuple[str | int, int]:
    """The longest key of a map that the next steps spell, and how many steps it takes."""
    for width in range(len(steps), 1, -1):
        key = ".".join(map(str, steps[:width]))
        if key in value:
            return key, width
    return steps[0], 1
