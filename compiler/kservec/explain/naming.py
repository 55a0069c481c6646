"""What a user may call an object and a field of it: `Deployment/fraud-predictor.spec.replicas`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.digits import natural
from kservec.core.listing import listed_near
from kservec.core.paths import index_of, lookup
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

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


def suggestion(text: str, refs: Sequence[ObjectRef]) -> str:
    """What a text that names no object may have been meant to name, else what there is.

    The objects are told as the text does it: with their namespaces if it has one, with their kinds in any case.
    """
    word = text.partition(".")[0]
    *heads, name = word.casefold().split("/")
    width = len(heads)
    known: dict[str, ObjectRef] = {}
    for ref in refs:
        for called in forms_of(ref, width):
            known.setdefault(called, ref)
    alike = (c for c, ref in known.items() if ref.name == name and (not heads or ref.kind.casefold() in heads))
    near = next(alike, None) or closest(word, known)
    if near is not None:
        found = known[near]
        return f"did you mean {near if width else f'{found.kind}/{found.name}'}?"
    there = dict.fromkeys(forms_of(ref, max(width, 1))[0] for ref in refs)
    return f"there are {listed_near(word, there)}" if there else "there are no objects here"


def forms_of(ref: ObjectRef, width: int) -> tuple[str, ...]:
    """What an object may be called, with as many names in front of its own."""
    if not width:
        return (ref.name,)
    return tuple(name for name in names_of(ref)[:3] if name.count("/") == width) or names_of(ref)[:1]


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
