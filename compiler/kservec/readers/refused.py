"""What the readers of several kinds ask about an object that admission refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import Diagnostic


def is_read_on(errors: Iterable[Diagnostic]) -> bool:
    """Whether an object becomes a unit in spite of its errors, for its passes to look for others."""
    from kservec.recovery import passes_concerned  # noqa: PLC0415 - most runs have no errors

    return passes_concerned(errors) is not None
