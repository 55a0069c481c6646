"""Names of containers that mean something, and those that were surely meant to be one of them.

Decides nearness alone; which names mean something in a place is its caller's knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.spelling import edits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from kservec.core.tree import Json

NEARLY = Code(
    "pod/container-name",
    Severity.WARNING,
    "a container whose name is nearly one that means something",
    "What is laid over a server, a transformer, a worker or the storage initializer is told by the name of its "
    "container, letter by letter. A container of any other name is one more beside them.",
)
SLIP = 1
"""Edits that lead from a name to the one that was meant; more would take honest names for misspelt ones."""
_DASHES = str.maketrans("_. ", "---")


def misnamed(containers: Iterable[Json], known: Collection[str]) -> Iterator[tuple[int, str, str]]:
    """The containers that were surely meant to have one of the known names: the number, the name, and the one meant."""
    for i, container in enumerate(containers):
        name = container.get("name") or ""
        if name not in known and (meant := meant_container(name, known)):
            yield i, name, meant


def meant_container(name: str, known: Iterable[str]) -> str:
    """The known name that another differs from by letter case, by other signs for dashes, or by one slip; else empty.

    A number behind the name tells that another container is meant.
    """
    folded = name.lower().translate(_DASHES)
    if name[-1:].isdigit():
        return ""
    return next((one for one in known if edits(folded, one, SLIP) <= SLIP), "")
