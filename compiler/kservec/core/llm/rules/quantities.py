"""Quantities in a config: the CRD takes any text there, and reading the config as Go does then fails.

A template stands for a quantity in no config; only texts can be templates.
KServe: k8s.io/apimachinery pkg/api/resource/quantity.go, as every config passes through it
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.quantity import misfit

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

MAPS: Final = ("limits", "requests", "overhead")
FIELDS: Final = ("sizeLimit", "divisor", "tolerance")
OFFLOADING: Final = {"kvCacheOffloading": "cpu", "emptyDir": "size"}
FREE: Final = ("inline", "adapters")
"""Fields below which anything goes."""

QUANTITY = Code(
    "llm/config-quantity",
    Severity.ERROR,
    "a quantity in a config that cannot be read",
    "Amounts of memory, CPU and the like are a number and an optional suffix: 500m, 2, 1.5Gi. They cannot be "
    "templates; give them in the service.",
)


def check_quantities(subject: Subject) -> Iterator[Diagnostic]:
    """Each quantity of a config."""
    for path, quantity in quantities(subject.spec, ("spec",)):
        problem = misfit(quantity) if isinstance(quantity, str) else ""
        if problem:
            help_text = "write a quantity here, or leave it to the service"
            yield subject.finding(QUANTITY, f"{path[-1]} {problem}", path, help_text)


def quantities(value: Json, path: Path) -> Iterator[tuple[Path, Json]]:
    """The quantities at and below a value, with where they stand."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from quantities(item, (*path, i))
    elif isinstance(value, dict):
        for name, item in value.items():
            at = (*path, name)
            if name in MAPS and isinstance(item, dict):
                yield from (((*at, key), amount) for key, amount in item.items())
            elif name in FIELDS or name == OFFLOADING.get(str(path[-1])):
                yield at, item
            elif name not in FREE:
                yield from quantities(item, at)
