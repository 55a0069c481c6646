"""Waivers: findings that are excused by the project file, or by an annotation of the object, always with a reason.

A compile knows no clock. Whether a waiver has expired is asked at the edge, with a date that is handed in; it is then a
warning, and changes no byte of the output.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.policy import WAIVER, Waiver

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.unit import Unit

WAIVER_INVALID = Code(
    "policy/waiver-invalid",
    Severity.ERROR,
    "an annotation that waives nothing",
    "kservec.dev/waive.<rule>: <reason> waives findings of the code policy/<rule> for one object. The reason must be "
    "there; it may begin with an end: `until 2027-01-31: <reason>`. A project may allow waivers in its own file alone "
    "(policy.annotationWaivers: false).",
)
WAIVER_UNUSED = Code(
    "policy/waiver-unused",
    Severity.WARNING,
    "a waiver that excuses nothing",
    "No finding of that code is about the object any more, or the object is written otherwise. A waiver that is "
    "forgotten excuses the next mistake: remove it.",
)
WAIVER_EXPIRED = Code(
    "policy/waiver-expired",
    Severity.WARNING,
    "a waiver whose day has come",
    "It still excuses what it did, since the output of a build must not hang on the day. Renew it, or remove it and "
    "correct what it excuses. `lint` counts the finding as the project's rules say, as an error too; other commands "
    "show it as a warning. The date is the machine's, or that of --today.",
)
FAMILY = "policy/"
_match_until = re.compile(r"until\s+(\d{4}-\d{2}-\d{2})\s*:\s*(.*)", re.DOTALL).fullmatch


class Excuse(NamedTuple):
    """A waiver, where it is written, whether it excused something, and which findings."""

    waiver: Waiver
    span: Span | None
    used: bool
    found: tuple[Diagnostic, ...] = ()


def waivers_of(unit: Unit) -> tuple[Waiver, ...]:
    """The waivers that a unit's annotations state, as far as they say a reason."""
    return tuple(w for w, _ in annotated(unit.spec.metadata.annotations or {}, unit.ref, span_of(unit)) if w)


def span_of(unit: Unit) -> Callable[[str], Span]:
    """What says where an annotation of a unit is."""
    return lambda key: unit.source.span("metadata", "annotations", key)


def annotated(
    annotations: object, ref: ObjectRef, span: Callable[[str], Span | None]
) -> Iterator[tuple[Waiver | None, str]]:
    """The waivers among annotations, each with its key; None for those that say no reason."""
    for key, text in annotations.items() if isinstance(annotations, dict) else ():
        if key.startswith(WAIVER):
            until = _match_until(str(text).strip())
            expires, reason = until.groups() if until else ("", str(text).strip())
            code = FAMILY + key.removeprefix(WAIVER)
            yield (Waiver(code, str(ref), reason, expires, span=span(key)) if reason else None), key


def annotation_findings(unit: Unit, *, allowed: bool) -> Iterator[Diagnostic]:
    """Errors about annotations that waive nothing: they say no reason, or the project does not allow them."""
    for waiver, key in annotated(unit.spec.metadata.annotations or {}, unit.ref, span_of(unit)):
        if not allowed:
            message, hint = f"{key} has no effect in this project", "write the waiver under policy.waivers"
        elif waiver is None:
            message, hint = f"{key} says no reason", "write why the finding does not matter here"
        else:
            continue
        span = unit.source.span("metadata", "annotations", key)
        yield Diagnostic(code=WAIVER_INVALID, message=message, span=span, help=hint, subject=unit.ref)


def excused(waivers: Iterable[Waiver], code: str, refs: Iterable[ObjectRef]) -> Waiver | None:
    """The first waiver of a code that fits one of the names of an object."""
    names = [str(ref) for ref in refs]
    return next((w for w in waivers if w.code == code and any(pattern(w.object)(name) for name in names)), None)


@lru_cache(maxsize=256)
def pattern(text: str) -> Callable[[str], object]:
    """What matches the objects that a waiver names."""
    return re.compile(".*".join(map(re.escape, text.split("*"))), re.DOTALL).fullmatch


def unused(excuse: Excuse) -> Diagnostic:
    """The warning about a waiver that excused nothing."""
    message = f"nothing of the code {excuse.waiver.code} is found about {excuse.waiver.object}"
    return Diagnostic(code=WAIVER_UNUSED, message=message, span=excuse.span, help="remove the waiver")


def expired(excuse: Excuse) -> Diagnostic:
    """The warning about a waiver whose day has come."""
    waiver = excuse.waiver
    message = f"the waiver of {waiver.code} for {waiver.object} has expired on {waiver.expires}"
    hint = "correct what it excuses and remove it, or renew it with a reason"
    return Diagnostic(code=WAIVER_EXPIRED, message=message, span=excuse.span, help=hint)


def waiver_findings(several: Sequence[Sequence[Excuse]], today: str, *, whole: bool) -> Iterator[Diagnostic]:
    """Warnings about the waivers of some environments.

    Args:
        several: the waivers of each environment.
        today: the day, `2027-01-31`; a waiver holds to the end of the day that it names. Empty where it does not count.
        whole: whether these are all environments, so that a waiver which none of them needs is not needed.
    """
    places = dict.fromkeys((e.waiver, e.span) for excuses in several for e in excuses)
    used = {(e.waiver, e.span) for excuses in several for e in excuses if e.used}
    for waiver, span in places:
        excuse = Excuse(waiver, span, used=(waiver, span) in used)
        if today and waiver.expires and waiver.expires < today:
            yield expired(excuse)
        elif whole and not excuse.used:
            yield unused(excuse)
