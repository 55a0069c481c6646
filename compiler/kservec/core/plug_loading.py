"""Finding plugs: the members of a package by their type. Must not know what they are for."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TypeVar

P = TypeVar("P")


def load(package: str, kind: type[P]) -> tuple[P, ...]:
    """The module constants of one type in a package, in the order of the modules' names."""
    found: dict[int, P] = {}
    module = importlib.import_module(package)
    for name in sorted(m.name for m in pkgutil.iter_modules(module.__path__)):
        member = importlib.import_module(f"{package}.{name}")
        found.update((id(v), v) for v in vars(member).values() if isinstance(v, kind))
    return tuple(found.values())


def refuse_repeats(claims: list[str]) -> None:
    """Fail on a claim that two plugs make.

    Raises:
        ValueError: a claim occurs twice; this is a mistake in kservec, found when it starts.
    """
    for claim in claims:
        if claims.count(claim) > 1:
            raise ValueError(f"two plugs claim {claim!r}")
