"""Share: the part of an environment that one of several machines compiles, by namespaces.

Whose a namespace is follows from its name alone, so that machines agree without asking each other, and a namespace that
comes or goes moves no other.
"""

from __future__ import annotations

import hashlib
import re
from typing import NamedTuple

_parts = re.compile(r"([1-9][0-9]{0,3})/([1-9][0-9]{0,3})").fullmatch


class Share(NamedTuple):
    """The part of this number, from 1, of so many."""

    number: int
    of: int

    def holds(self, namespace: str) -> bool:
        """Whether a namespace is in it. What is in none is in the first."""
        return namespace_number(namespace, self.of) == self.number

    @property
    def siblings(self) -> tuple[Share, ...]:
        """All parts of so many, this one too."""
        return tuple(Share(number + 1, self.of) for number in range(self.of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def share_of(text: str) -> Share | None:
    """The part that a text as `2/4` names; None if it names none."""
    found = _parts(text)
    return Share(int(found[1]), int(found[2])) if found is not None and int(found[1]) <= int(found[2]) else None


def namespace_number(namespace: str, count: int) -> int:
    """The number of the part, of so many, that holds a namespace."""
    if not namespace:
        return 1
    return int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:8]) % count + 1
