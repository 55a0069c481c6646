"""What holds for every workflow, ours and those that `kservec init` lays down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

EXPRESSION = re.compile(r"\$\{\{")
PINNED = re.compile(r"[\w.-]+/[\w./-]+@(?:[0-9a-f]{40})")
OURS = re.compile(r"kservec/kservec@v\d+\.\d+\.\d+")


def steps_of(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every step of a workflow or of a composite action."""
    yield from document.get("runs", {}).get("steps", ())
    for job in document.get("jobs", {}).values():
        yield from job["steps"]


def faults(document: Mapping[str, Any]) -> list[str]:
    """What is unsafe: expressions in scripts, actions that are not pinned, jobs that may do more than they need."""
    found = []
    for step in steps_of(document):
        if EXPRESSION.search(step.get("run", "")):
            found.append(f"an expression becomes part of a script: {step['run']}")
        uses = step.get("uses")
        if uses is not None and not PINNED.fullmatch(uses) and not OURS.fullmatch(uses):
            found.append(f"not pinned: {uses}")
        if (
            uses is not None
            and uses.startswith("actions/checkout@")
            and step["with"]["persist-credentials"] is not False
        ):
            found.append("the checkout leaves a token behind")
    if "jobs" in document and document.get("permissions") != {"contents": "read"}:
        found.append("permissions are not least")
    if "pull_request_target" in document.get(True, {}):  # YAML reads `on` as true
        found.append("code of a fork would run with the rights of this repository")
    return found
