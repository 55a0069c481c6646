"""Fields that the user wrote and that have no effect where they stand: the warning that says why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.faults import field_path
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Path
    from kservec.core.unit import Unit

NO_EFFECT = Code(
    "spec/without-effect",
    Severity.WARNING,
    "a field that has no effect",
    "The field is valid, but in this mode, under this autoscaler or on this platform nothing comes of it; KServe "
    "ignores it without a word. Remove it, or change what the message names.",
)


def without_effect(unit: Unit, path: Path, reason: str, help_text: str = "") -> Diagnostic:
    """The warning that the field at a path of the spec does nothing, and why."""
    return finding(unit, NO_EFFECT, f"{field_path(path)} has no effect: {reason}", path, help_text)
