"""The name of a service: what its objects' names and labels allow.

Names of objects never grow too long, for KServe shortens those that would by a hash. But the name itself is the value
of a label on all of them, and the names of Services begin with it.
KServe: knative.dev/pkg/kmeta, ChildName; Kubernetes: pkg/apis/core/validation, ValidateServiceName
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import NAME_LABEL
from kservec.core.schemas.object_meta import allowed_in_name
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.part import Part
    from kservec.core.unit import Unit

LONGEST: Final = 63
"""Of the value of a label, and of the name of a Service."""
LONGEST_SET: Final = 52
"""Of the name of a StatefulSet whose pods can be made: a label of theirs has its revision behind it, 11 characters."""
is_short_enough = re.compile(rf".{{1,{LONGEST}}}", re.DOTALL).fullmatch
begins_a_service = re.compile(r"[a-z][-a-z0-9]*").fullmatch

NAME: Final = Code(
    "llm/name",
    Severity.ERROR,
    "a name that objects of the service cannot have",
    "The name of an LLMInferenceService is a label of all its objects, and names of Services begin with it: at most 63 "
    "characters, a letter first, then letters, digits and dashes. Longer names of its objects are shortened by a hash.",
)
LONG_GROUP: Final = Code(
    "llm/name-of-group",
    Severity.WARNING,
    "a LeaderWorkerSet whose pods cannot be made",
    "A LeaderWorkerSet makes StatefulSets, and label values of their pods are made of their names, the number of the "
    "group and a hash. With a long name the values have more than 63 characters, and the API server refuses the pods. "
    "Shorten the name of the service.",
)


def name_errors(unit: Unit) -> Iterator[Diagnostic]:
    """Why no object can carry the name of a service."""
    name = unit.name
    if not is_short_enough(name):
        message = f"the name of {unit.ref.kind} {name} has {len(name)} characters, and {LONGEST} are allowed"
        hint = f"it is the value of the label {NAME_LABEL}; allowed: {allowed_in_name(unit.ref.kind, name)}"
        yield finding(unit, NAME, message, ("metadata", "name"), hint)
    elif not begins_a_service(name):
        message = f"names of Services cannot begin with {name}"
        hint = f"allowed: {allowed_in_name(unit.ref.kind, name)}"
        yield finding(unit, NAME, message, ("metadata", "name"), hint)


def group_findings(unit: Unit, part: Part, suffix: str) -> Iterator[Diagnostic]:
    """A warning about workers whose pods cannot be made; `suffix` is what their names have behind the service's."""
    longest = LONGEST_SET - len(f"-{max((part.replicas or 1) - 1, 0)}")
    if len(part.name) > longest:
        message = f"no pods can be made of LeaderWorkerSet {part.name}, which has {len(part.name)} characters"
        hint = f"shorten the name of the service to {longest - len(suffix)} characters"
        yield finding(unit, LONG_GROUP, message, ("metadata", "name"), hint)
