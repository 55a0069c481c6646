"""Share: the part of an environment that one of several machines compiles, by namespaces.

Whose a namespace is follows from its name alone, so that machines agree without asking each other, and a namespace that
comes or goes moves no other.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple


class Share(NamedTuple):
    """The part of this number, from 1, of so many."""

    number: int
    of: int

    def holds(self, namespace: str) -> bool:
        """Whether a namespace is in it. What is in none is in the first."""
        return namespace_number(namespace, self.of) == self.number

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


def namespace_number(namespace: str, count: int) -> int:
    """The number of the part, of so many, that holds a namespace."""
    if not namespace:
        return 1
    return int.from_bytes(hashlib.sha256(namespace.encode()).digest()[:8]) % count + 1
