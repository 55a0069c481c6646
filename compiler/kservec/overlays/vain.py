"""Patches in vain: those that are laid over nothing, where that is mistaken, and what was meant.

Decides by what objects are called. Must not know what patches do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest, meant_name
from kservec.overlays.objects import Gathered, Id, id_of, is_selected

if TYPE_CHECKING:
    from kservec.core.paths import Json, Path
    from kservec.overlays.closure import Patch

NO_OBJECT = Code(
    "overlay/patch-without-object",
    Severity.ERROR,
    "a patch of an object that is not there",
    "A patch without a target is laid over the one object with its apiVersion, kind, name and namespace. The namespace "
    "is the one that the object has where the patch is named, not one that is set later.",
)
NO_TARGET = Code(
    "overlay/target-unmatched",
    Severity.WARNING,
    "a patch whose target selects nothing",
    "Kustomize passes over such a patch without a word. Names, kinds and namespaces of a target are regular "
    "expressions that must fit as a whole.",
)

SELECTING = ("kind", "group", "version", "namespace", "name")
"""Fields of a target, each of which selects from what those before it do."""
OBJECT_FIELDS = frozenset({"apiVersion", "kind", "spec", "status", "data", "namespace", "labels", "annotations"})
"""Fields of objects that are no misspelling of the one that holds their name."""


def in_vain(patch: Patch, there: Sequence[Gathered]) -> Diagnostic:
    """The finding about a patch that is laid over nothing."""
    called = [known.last for known in there]
    if isinstance(patch.target, dict):
        wanted = ", ".join(f"{key} {text}" for key, text in patch.target.items())
        message = f"the target of this patch selects nothing: {wanted}"
        field, hint = mistaken(patch.target, [called for known in there for called in known.ids])
        steps = (*patch.at[:2], "target", *((field,) if field else ()))
        return Diagnostic(code=NO_TARGET, message=message, span=patch.kustomization.span(*steps), help=hint)
    wanted_id = id_of(patch.document.value)
    if wanted_id is None:
        slip = misspelt(patch.document.value)
        if slip is not None:
            written, meant = slip
            message = f"this patch does not say what it is laid over: it has {written[-1]}"
            span = patch.document.key_span(written)
            return Diagnostic(code=NO_OBJECT, message=message, span=span, help=f"did you mean {meant}?")
        hint = "write apiVersion, kind and metadata.name of the object, or a target beside the patch"
        message = "this patch does not say what it is laid over"
        return Diagnostic(code=NO_OBJECT, message=message, span=patch.document.span(), help=hint)
    elsewhere = [c for c in called if (c.kind, c.name) == (wanted_id.kind, wanted_id.name)]
    at: Path = ("metadata", "name")
    message = f"there is no {wanted_id} to lay this patch over"
    if elsewhere and elsewhere[0].place != wanted_id.place:
        message = (
            f"there is no {wanted_id.kind} {wanted_id.name} in the namespace {wanted_id.place} to lay this patch over"
        )
        at = ("metadata", "namespace") if wanted_id.namespace else at
        hint = f"write `namespace: {elsewhere[0].place}` into the metadata of the patch"
    elif elsewhere:
        at = ("apiVersion",)
        hint = f"its apiVersion is {elsewhere[0].api_version}"
    else:
        near_kind = meant_kind(wanted_id.kind, called)
        at = ("kind",) if near_kind else at
        hint = nearest(wanted_id.kind, wanted_id.name, called)
    return Diagnostic(code=NO_OBJECT, message=message, span=patch.document.span(at), help=hint)


def misspelt(value: Json) -> tuple[Path, str] | None:
    """The field of an object without identity that is most likely meant to hold it, and what that is called."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    for at, holder, wanted in (((), value, "metadata"), (("metadata",), metadata, "name")):
        if isinstance(holder, dict) and wanted not in holder:
            near = closest(wanted, [key for key in holder if isinstance(key, str) and key not in OBJECT_FIELDS])
            if near is not None:
                return (*at, near), wanted
    return None


def mistaken(target: dict[str, Json], called: Sequence[Id]) -> tuple[str, str]:
    """The field of a target for which nothing is selected that all fields before it select, and what was meant by it.

    The field is empty where no single one is at fault.
    """
    left = list(called)
    for field in SELECTING:
        fit = [one for one in left if is_selected({field: target.get(field)}, one)]
        if not fit:
            if field in ("kind", "name"):
                return field, nearest(str(target.get("kind") or ""), str(target.get("name") or ""), left)
            known = sorted({getattr(one, field) for one in left if getattr(one, field)})
            near = closest(str(target[field]), known)
            return field, f"did you mean {near}?" if near else f"there are: {', '.join(known[:6]) or 'none'}"
        left = fit
    return "", nearest(str(target.get("kind") or ""), str(target.get("name") or ""), called)


def meant_kind(kind: str, called: Iterable[Id]) -> str | None:
    """The kind that was meant by one that no object has; None if none is near."""
    kinds = {c.kind for c in called}
    return closest(kind, kinds) if kind and kind not in kinds else None


def nearest(kind: str, name: str, called: Iterable[Id]) -> str:
    """What may have been meant by a kind and a name."""
    known = list(called)
    near_kind = meant_kind(kind, known)
    if near_kind:
        return f"did you mean {near_kind}?"
    of_kind = sorted({c.name for c in known if kind in ("", c.kind)})
    near = meant_name(name, of_kind)
    if near:
        return f"did you mean {near}?"
    return f"there are: {', '.join(of_kind[:6])}" if of_kind else "there is nothing of this kind"
