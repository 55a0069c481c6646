"""The table of invariants: one family a file, each invariant a function from an output to what is wrong with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import identities, limits, ports, quantities, references, routes, scaling, secrecy, selectors, structure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .output import Output

FAMILIES = (identities, limits, ports, quantities, references, routes, scaling, secrecy, selectors, structure)
INVARIANTS: dict[str, Callable[[Output], Iterator[str]]] = {
    f"{family.__name__.rpartition('.')[2]}.{invariant.__name__}": invariant
    for family in FAMILIES
    for invariant in family.INVARIANTS
}
