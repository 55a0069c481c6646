"""Neighbour: an LLMInferenceService as the others of its namespace see it, and all of them in a run.

Knows nothing of where they come from: that is `neighbours`'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.tree import Json

Name = tuple[str, str]
"""A namespace and something in it."""


@record
class Neighbour:
    """One service as the others of its namespace see it.

    `group` and `weight` are those of its own spec. `backend` is where routes of others lead to it. `models` are the
    names of its model and adapters. `is_idle`: it has no pods to take requests, though it is not stopped. `is_routed`:
    requests come in by a route of its own.
    """

    ref: ObjectRef
    place: Span
    models: tuple[str, ...]
    backend: Json
    group: str = ""
    weight: int = 0
    is_stopped: bool = False
    is_idle: bool = False
    is_routed: bool = False


@record
class Neighbourhood:
    """The services of a run, by namespace and group, and by namespace and model; each in the order of their names.

    `made` has the names of objects that they may make, and that others refer to: pools and routes.
    """

    groups: Mapping[Name, tuple[Neighbour, ...]] = fresh(factory=dict)
    models: Mapping[Name, tuple[Neighbour, ...]] = fresh(factory=dict)
    made: frozenset[Name] = frozenset()
