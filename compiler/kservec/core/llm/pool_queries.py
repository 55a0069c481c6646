"""Queries that scale a workload by the metrics of an InferencePool, and pools that none of the services makes.

Decides which pool a query names. Must not know what else is in a query: it is handed on as it is.
llm-d-router: pkg/metrics, the label `name` of inference_pool_*
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.names import POOL, child_name
from kservec.core.llm.part import PartRole
from kservec.core.llm.presets import pool_reference
from kservec.core.llm.references import is_there
from kservec.core.llm.resolved import POOL_KIND, POOL_SPEC
from kservec.core.spelling import meant_name
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

TRIGGERS: Final = ("scaling", "keda", "triggers")
selectors = re.compile(r"\binference_pool_\w+\s*\{([^{}]*)\}").finditer
matchers = re.compile(r"""\b(\w+)\s*=\s*["']([^"']*)["']""").findall

POOL_OF_QUERY: Final = Code(
    "llm/query-pool",
    Severity.WARNING,
    "a query for an InferencePool that is not there",
    "The workload is scaled by metrics of a pool that no service of the input makes, and no document declares. Such a "
    "query has no result, and KEDA leaves the workload as it is. A pool is called as its service, with -inference-pool "
    "behind it; longer names are shortened by a hash.",
)


def query_findings(unit: Unit, env: Env) -> Iterator[Diagnostic]:
    """A warning about each trigger that asks for a pool which is not there."""
    assert unit.resolved is not None
    for part in unit.parts:
        if part.role not in (PartRole.MAIN, PartRole.PREFILL):
            continue
        path = (*part.path, *TRIGGERS)
        for i, trigger in enumerate(unit.resolved.get(*path) or ()):
            query = (trigger.get("metadata") or {}).get("query") or ""
            for name in pools_of(query, unit.namespace):
                if not is_made(unit, env, name):
                    place = unit.resolved.span((*path, i, "metadata", "query"))
                    message = f"the query asks for InferencePool {name} of {unit.namespace}, which is not there"
                    yield finding(unit, POOL_OF_QUERY, message, place, hint(unit, name))


def pools_of(query: str, namespace: str) -> Iterator[str]:
    """The pools of a namespace that a query names."""
    for selector in selectors(query):
        labels = dict(matchers(selector[1]))
        if labels.get("name") and labels.get("namespace", namespace) == namespace:
            yield labels["name"]


def is_made(unit: Unit, env: Env, name: str) -> bool:
    """Whether a pool is there: the service's own only where it has one."""
    assert unit.resolved is not None
    if name == child_name(unit.name, POOL):
        return unit.resolved.get(*POOL_SPEC) is not None
    return is_there(unit, env, POOL_KIND, name)


def hint(unit: Unit, name: str) -> str:
    """The pool that was likely meant."""
    assert unit.resolved is not None
    known = [pool_reference(unit.resolved.value) or child_name(unit.name, POOL)]
    near = meant_name(name, known)
    return f"did you mean {near}?" if near else f"the pool of {unit.name} is {known[0]}, where it has a scheduler"
