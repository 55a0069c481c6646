"""Selections: texts that choose services by namespace, by label, or one by one.

`payments` and `team-*` are namespaces; `payments/InferenceService/fraud` is a service, and any part may have a star;
`tier=dev,gpu!=h100` and `tier in (dev, test)` are labels, as kubectl takes them. Decides what such a text means.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import NamedTuple

STARRED = r"[A-Za-z0-9*](?:[-A-Za-z0-9.*]*[A-Za-z0-9*])?"
KEY = r"(?:[-A-Za-z0-9.]+/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
VALUE = r"[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?"
ANY = "*"

_is_namespace = re.compile(STARRED).fullmatch
_match_service = re.compile(f"({STARRED})/({STARRED})/({STARRED})").fullmatch
_match_equal = re.compile(rf"\s*({KEY})\s*(!=|==?)\s*({VALUE})?\s*").fullmatch
_match_set = re.compile(rf"\s*({KEY})\s+(in|notin)\s+\(\s*({VALUE}(?:\s*,\s*{VALUE})*)\s*\)\s*").fullmatch
_split_requirements = re.compile(r",(?![^(]*\))").split


class Requirement(NamedTuple):
    """What a label has to be: one of some values, or none of them; without the label it is none."""

    key: str
    values: frozenset[str]
    negated: bool = False

    def holds(self, labels: Mapping[str, str]) -> bool:
        """Whether labels are as required."""
        return (labels.get(self.key) in self.values) is not self.negated


class Selection(NamedTuple):
    """A text that chooses services: what their namespaces, kinds and names must look like, and their labels be."""

    text: str
    namespace: str = ANY
    kind: str = ANY
    name: str = ANY
    requirements: tuple[Requirement, ...] = ()

    def chooses(self, service: tuple[str, str, str], labels: Mapping[str, str]) -> bool:
        """Whether it chooses a service, by its namespace, kind and name, and by its own labels."""
        patterns = (self.namespace, self.kind, self.name)
        alike = all(fnmatchcase(part, pattern) for part, pattern in zip(service, patterns, strict=True))
        return alike and all(requirement.holds(labels) for requirement in self.requirements)


def selection_of(text: str) -> Selection | None:
    """What a text chooses; None if it is no selection."""
    if _is_namespace(text):
        return Selection(text, namespace=text)
    if service := _match_service(text):
        namespace, kind, name = service.groups()
        return Selection(text, namespace, kind, name)
    requirements = [requirement_of(part) for part in _split_requirements(text)]
    found = tuple(requirement for requirement in requirements if requirement is not None)
    return Selection(text, requirements=found) if len(found) == len(requirements) else None


def requirement_of(text: str) -> Requirement | None:
    """What one part of a text about labels requires; None if it is none."""
    if equal := _match_equal(text):
        key, operator, value = equal.groups()
        return Requirement(key, frozenset({value or ""}), negated=operator == "!=")
    if one_of := _match_set(text):
        key, operator, values = one_of.groups()
        return Requirement(key, frozenset(map(str.strip, values.split(","))), negated=operator == "notin")
    return None
