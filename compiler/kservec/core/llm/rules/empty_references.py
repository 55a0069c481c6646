"""References without a name, which lead nowhere.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_types.go; it looks for an object without a name, or passes over
the reference
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Path

LISTS: Final[tuple[tuple[Path, str], ...]] = (
    (("spec", "baseRefs"), "config"),
    (("spec", "router", "gateway", "refs"), "Gateway"),
    (("spec", "router", "route", "http", "refs"), "HTTPRoute"),
)
POOL_REF: Final[Path] = ("spec", "router", "scheduler", "pool", "ref")

EMPTY_REFERENCE = Code(
    "llm/empty-reference",
    Severity.ERROR,
    "a reference without a name",
    "baseRefs, gateway.refs, route.http.refs and scheduler.pool.ref name objects. An entry without a name leads to "
    "none; where the platform's own is meant, leave the list out, or write `gateway: {}`.",
)


def check_empty_references(subject: Subject) -> Iterator[Diagnostic]:
    """Entries of lists of references that have no name, and such a reference to a pool."""
    for path, noun in LISTS:
        for i, reference in enumerate(subject.at(*path) or ()):
            if not reference.get("name"):
                message = f"{'.'.join(map(str, path[1:]))}[{i}] does not say which {noun}"
                yield subject.finding(EMPTY_REFERENCE, message, (*path, i), "set `name`, or remove the entry")
    pool = subject.at(*POOL_REF)
    if pool is not None and not pool.get("name"):
        message = "router.scheduler.pool.ref does not say which InferencePool"
        yield subject.finding(EMPTY_REFERENCE, message, POOL_REF, "set `name`, or remove `ref`")
