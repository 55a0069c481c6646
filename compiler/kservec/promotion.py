"""Promotions: the pins that one environment is to take over from another, as edits of its overlay.

What this makes is written by whoever asked for it. Neither the other environment nor the base is ever edited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Diagnostic, Reject
from kservec.core.paths import lookup
from kservec.core.paths import with_value as value_with
from kservec.core.records import record
from kservec.edits.layered import Texts, patched, pins_stem, put, refuse_changed
from kservec.edits.patch_files import Valued
from kservec.edits.pinned import has_canary, pins_in
from kservec.edits.pins import REFUSED
from kservec.overlay_edits import overlay_of, values_of
from kservec.overlays.objects import id_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.paths import Json, Path
    from kservec.core.text.source import Document
    from kservec.core.unit import Unit
    from kservec.edits.layered import Overlay
    from kservec.edits.pinned import Pin
    from kservec.io.workspace import Workspace
    from kservec.overlays.objects import Id


class Pair(NamedTuple):
    """A unit in both environments: where pins are taken from, and where they go."""

    source: Unit
    target: Unit

    @property
    def name(self) -> str:
        """The unit as the target calls it."""
        return f"{self.target.ref.namespace}/{self.target.ref.name}"


class Promoted(NamedTuple):
    """A pin that gets another value. `before` is empty where the target has none; `span` is where that comes from."""

    ref: ObjectRef
    field: str
    before: str
    after: str
    span: Span


@record
class Promotion:
    """What a promotion does, or why it cannot be made.

    `contents` are the files that are edited by their paths in the project, `expected` what the target compiles then.
    `left` are remarks about what differs and is none of a promotion's business.
    """

    promoted: tuple[Promoted, ...] = ()
    overlay: Overlay | None = None
    contents: Mapping[str, bytes | None] = {}
    expected: Mapping[Id, Json] = {}
    left: tuple[str, ...] = ()


def pairs_of(source: Sequence[Unit], target: Sequence[Unit]) -> list[Pair]:
    """The units that both environments have; where namespaces differ by environment, those of one kind and name."""
    by_ref = {unit.ref: unit for unit in source}
    used = {unit.ref for unit in target if unit.ref in by_ref}
    found: list[Pair] = []
    for unit in target:
        others = [s for s in source if s.ref not in used and same_name(s.ref, unit.ref)]
        rivals = [t for t in target if t.ref not in by_ref and same_name(t.ref, unit.ref)]
        if unit.ref in by_ref:
            found.append(Pair(by_ref[unit.ref], unit))
        elif len(others) == 1 and len(rivals) == 1:
            found.append(Pair(others[0], unit))
    return sorted(found, key=lambda pair: pair.target.ref)


def same_name(one: ObjectRef, other: ObjectRef) -> bool:
    """Whether two objects have one kind and name."""
    return (one.group, one.kind, one.name) == (other.group, other.kind, other.name)


def differing(pair: Pair) -> Iterator[tuple[Pin, Pin | None]]:
    """The pins of the source that the target has otherwise, with those of the target; None where it could have one."""
    value = pair.target.source.document.value
    here = dict(pins_in(value))
    for key, pin in pins_in(pair.source.source.document.value):
        present = here.get(key)
        if present is None and lookup(value, pin.holder) is not None:
            yield pin, None
        elif present is not None and present.value != pin.value:
            yield pin, present


def kept(pair: Pair, environments: tuple[str, str]) -> Iterator[str]:
    """Remarks about pins that the target alone has, which stay."""
    source, target = environments
    there = dict(pins_in(pair.source.source.document.value))
    for key, pin in pins_in(pair.target.source.document.value):
        if key not in there:
            field = ".".join(map(str, key))
            yield f"{pair.name}: {field} is {pin.value} in {target} and not set in {source}; left as it is"


def promotion(workspace: Workspace, environments: tuple[str, str], pairs: Sequence[Pair]) -> Promotion:
    """The promotion of units from the first environment to the second.

    Raises:
        OSError: a file cannot be read.
        Reject: a pin cannot be promoted; all of those are named.
    """
    target = environments[1]
    left = tuple(remark for pair in pairs for remark in kept(pair, environments))
    wanted = [(pair, pin, present) for pair in pairs for pin, present in differing(pair)]
    if not wanted:
        return Promotion(left=left)
    refused = list(refusals(workspace, environments, wanted))
    if refused:
        raise Reject(*refused)
    overlay, expected = overlay_of(workspace, target), values_of(workspace, target)
    texts, promoted = Texts(overlay), []
    for pair, pin, present in wanted:
        try:
            texts = promoted_in(texts, pair, pin, present)
        except Reject as reject:
            refused += reject.diagnostics
        else:
            document = pair.target.source.document
            called = id_of(document.value)
            assert called is not None
            path, before = (present.path, present.value) if present is not None else (pin.path, "")
            expected[called] = value_with(expected[called], path, text_of(pin, present))
            span = document.span(path)
            promoted.append(Promoted(pair.target.ref, ".".join(map(str, path)), before, pin.value, span))
    if refused:
        raise Reject(*refused)
    return Promotion(promoted=tuple(promoted), overlay=overlay, contents=texts.contents(), expected=expected, left=left)


def text_of(pin: Pin, present: Pin | None) -> str:
    """What the scalar of the target holds after the promotion."""
    return f"{(present or pin).before}{pin.value}"


def promoted_in(texts: Texts, pair: Pair, pin: Pin, present: Pin | None) -> Texts:
    """The files with the pin of the source.

    Raises:
        Reject: it cannot be set.
    """
    document, value = pair.target.source.document, text_of(pin, present)
    path = (present or pin).path
    refuse_changed(document, path)
    made = put(texts, document, path, value) if present is not None else None
    if made is not None:
        return made
    if (present or pin).is_in_list:
        raise Reject(frozen(texts.overlay, pair, document, path))
    ref = pair.target.ref
    return patched(texts, pins_stem(ref), Valued(document, path, value))


def frozen(overlay: Overlay, pair: Pair, document: Document, path: Path) -> Diagnostic:
    """The error about a pin in a list, which a patch can only replace as a whole."""
    message = f"{pair.name}: {'.'.join(map(str, path))} is in a list that the overlay of {overlay.environment} has not"
    hint = (
        f"a patch of it would keep the whole list from following the base; write it into {overlay.folder} by hand, "
        "and it is edited there from then on"
    )
    return Diagnostic(code=REFUSED, message=message, span=document.span(path), help=hint)


def refusals(
    workspace: Workspace, environments: tuple[str, str], wanted: Sequence[tuple[Pair, Pin, Pin | None]]
) -> Iterator[Diagnostic]:
    """Errors about promotions that are out of the question, whatever the files look like."""
    source, target = environments
    for pair, pin, present in wanted:
        document = pair.target.source.document
        span = document.span((present or pin).path)
        if not workspace.environments[target].overlay:
            message = f"{pair.name} has another {pin.path[-1]} in {source}, and {target} has no overlay to set it in"
            yield Diagnostic(code=REFUSED, message=message, span=span, help=f"give {target} an overlay in kservec.yaml")
            continue
        for name, unit in ((source, pair.source), (target, pair.target)):
            if has_canary(unit.source.document.value):
                message = f"a canary of {pair.name} runs in {name}: what is tried is not promoted"
                hint = f"end it first: kservec canary promote {unit.ref.name} --env {name}, or rollback"
                yield Diagnostic(code=REFUSED, message=message, span=unit.source.document.span(), help=hint)
                break
