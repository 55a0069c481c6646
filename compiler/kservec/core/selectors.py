"""Selectors: whether labels satisfy what a label selector, or a term of a node affinity, asks of them.

Decides from given labels alone. What a label may be that nobody states is for the caller to say.
Kubernetes: staging/src/k8s.io/apimachinery/pkg/labels/selector.go, Requirement.Matches
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.patterns import Pattern

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.tree import Json

_is_number = Pattern(r"[+-]?[0-9]{1,19}").fullmatch


def selects(selector: Json, labels: Mapping[str, str]) -> bool:
    """Whether a selector selects what has these labels; an empty one selects all."""
    wanted, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or ()
    return all(labels.get(key) == value for key, value in wanted.items()) and all(
        satisfies(labels, expression) for expression in expressions
    )


def satisfies(labels: Mapping[str, str], expression: Json) -> bool:
    """Whether labels satisfy an expression; an operator that there is not is for the schema to refuse."""
    key, operator, values = expression.get("key"), expression.get("operator"), expression.get("values") or ()
    match operator:
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
        case "Gt" | "Lt":
            return compares(labels.get(key), values, more=operator == "Gt")
        case _:
            return True


def compares(label: str | None, values: Sequence[str], *, more: bool) -> bool:
    """Whether the number in a label is more, or less, than the one that is asked for; what is no number is neither."""
    if label is None or len(values) != 1 or not (_is_number(label) and _is_number(values[0])):
        return False
    return int(label) > int(values[0]) if more else int(label) < int(values[0])
