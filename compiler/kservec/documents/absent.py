"""Absent kinds: whether what is said to be missing from the cluster is a kind that anything could ask for.

A misspelt one would have no effect, and the build would use what the cluster does not have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.diagnostics import Span
    from kservec.documents.facts import Facts

UNKNOWN_ABSENT = Code(
    "cluster/unknown-absent",
    Severity.WARNING,
    "a kind that is said to be absent and that nothing asks for",
    "`--absent`, and `absent` of a Cluster document, take kinds as Kind, Kind.group or group/version/Kind, in the case "
    "in which Kubernetes writes them. `kservec schema` lists those that matter.",
)


def unknown_absent(
    given: Iterable[str], facts: Iterable[Facts], kinds: Iterable[tuple[str, str]]
) -> Iterator[Diagnostic]:
    """A warning for each absent kind that nothing asks for: those given by the caller, and those of documents."""
    kinds = list(kinds)
    places: list[tuple[str, Span | None]] = [(name, None) for name in given]
    places += [(name, f.document.span(("absent", i))) for f in facts for i, name in enumerate(f.model.absent)]
    for name, span in places:
        reason, hint = misfit(name, kinds)
        if reason:
            yield Diagnostic(code=UNKNOWN_ABSENT, message=f"absent: {reason}", span=span, help=hint)


def misfit(name: str, kinds: Iterable[tuple[str, str]]) -> tuple[str, str]:
    """What is wrong with the name of an absent kind, and what to write instead; both empty if it is one of `kinds`.

    Args:
        name: `Kind`, `Kind.group` or `group/version/Kind`.
        kinds: apiVersion and kind of all that are known.
    """
    spelt = {spelling: f"{version}/{kind}" for version, kind in kinds for spelling in spellings(version, kind)}
    if name in spelt:
        return "", ""
    if not name.strip():
        return "a kind is empty", "name one, such as VirtualService"
    meant = closest(name, sorted(spelt))
    same = sorted({full for spelling, full in spelt.items() if spelling == name.rpartition("/")[2].partition(".")[0]})
    hint = f"it is in {' and '.join(same)}" if same else "kservec schema lists the kinds that matter"
    return f"nothing asks for a kind {name!r}", f"did you mean {meant}?" if meant else hint


def spellings(api_version: str, kind: str) -> Iterator[str]:
    """The ways to name a kind."""
    yield from (kind, f"{api_version}/{kind}")
    group = api_version.rpartition("/")[0]
    if group:
        yield f"{kind}.{group}"
