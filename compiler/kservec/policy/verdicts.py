"""Verdicts: what is reported of all that was found in the objects of one environment.

Decides which findings the project excuses, and how severe the others are; looks at what only all objects together tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup
from kservec.core.schemas.structure import without_nulls
from kservec.core.text.source import parse
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.policy.judging import Located, Places, demands_of, diagnostic_of, judged, severity_of
from kservec.policy.quotas import quota_misfits
from kservec.policy.scene import Scene, pods_of
from kservec.policy.waivers import Excuse, annotated, excused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef, Span
    from kservec.core.policy import Waiver
    from kservec.core.text.document import Document
    from kservec.core.tree import Path
    from kservec.gitops.rendered import Rendered
    from kservec.policy.judging import Judged
    from kservec.policy.units import Judge


NOWHERE = Places(lambda _path: None, lambda _path: None)


NO_DOCUMENTS: Mapping[ObjectRef, Document] = MappingProxyType({})


class Verdicts(NamedTuple):
    """The findings that are reported, and what became of every waiver."""

    diagnostics: tuple[Diagnostic, ...] = ()
    excuses: tuple[Excuse, ...] = ()


class Case(NamedTuple):
    """A finding about an object, which goes by several names, with the waivers that its owner states."""

    located: Located
    refs: tuple[ObjectRef, ...]
    waivers: tuple[Waiver, ...] = ()


def verdicts(
    judge: Judge,
    objects: Sequence[Rendered],
    locate: Callable[[Waiver], Span | None],
    documents: Mapping[ObjectRef, Document] = NO_DOCUMENTS,
    *,
    surges: bool = False,
) -> Verdicts:
    """What is reported about the objects of an environment.

    Args:
        judge: the policy and the cluster.
        objects: the rendered objects, as they will be written.
        locate: where a waiver of the project stands.
        documents: the documents of objects that are rendered as they are.
        surges: whether workloads are counted as while they are rolled out, all at once.
    """
    heard = heard_of(judge, objects, documents)
    cases = [Case(f, (r.ref, r.owner), j.waivers) for r, j in heard for f in j.found]
    cases += bounds_cases(judge, heard)
    cases += pool_cases(judge, heard, surges=surges)
    theirs = dict.fromkeys(w for _, j in heard for w in j.waivers)
    under: dict[Waiver | None, list[Diagnostic]] = {}
    for case in cases:
        waiver = excuse_for(judge, case)
        if waiver is not None or severity_of(case.located.fault.code, judge.policy) is not None:
            under.setdefault(waiver, []).append(diagnostic_of(case.located, case.refs, judge.policy))
    written = [*((w, locate(w)) for w in judge.policy.waivers), *((w, w.span) for w in theirs)]
    excuses = (Excuse(w, span, used=w in under, found=tuple(under.get(w, ()))) for w, span in written)
    return Verdicts(tuple(under.get(None, ())), tuple(excuses))


def heard_of(
    judge: Judge, objects: Sequence[Rendered], documents: Mapping[ObjectRef, Document] = NO_DOCUMENTS
) -> list[tuple[Rendered, Judged]]:
    """What was found in each object, given the documents of those that are rendered as they are."""
    return [(r, hearing(judge, r, documents.get(r.ref))) for r in objects if is_judged(r)]


def is_judged(rendered: Rendered) -> bool:
    """Whether an object is held against the policy: those for Argo CD and Flux themselves are not."""
    return rendered.place.split("/")[0] != GITOPS_FOLDER


def excuse_for(judge: Judge, case: Case) -> Waiver | None:
    """The waiver that excuses a finding, the project's before the object's own."""
    return excused((*judge.policy.waivers, *case.waivers), case.located.fault.code.slug, case.refs)


def hearing(judge: Judge, rendered: Rendered, document: Document | None) -> Judged:
    """What was found in an object; what is written otherwise than it was compiled is judged again, by its text."""
    before = rendered.judged
    if before is not None and before.text == rendered.text:
        return before
    scene = scene_of(judge, rendered, before, document)
    return judged(scene, rendered.text, document_places(document) if before is None else former_places(before))


def scene_of(judge: Judge, rendered: Rendered, before: Judged | None, document: Document | None = None) -> Scene:
    """The scene of an object by its text, with what its owner said of it when it was compiled."""
    documents, _ = parse(rendered.text.encode(), rendered.path)
    body = without_nulls(documents[0].value)
    return Scene(
        ref=rendered.ref,
        owner=rendered.owner,
        body=body,
        pods=pods_of(rendered.ref, body),
        site=judge.site,
        exposed=before is not None and before.exposed,
        waivers=before.waivers if before is not None else stated(rendered.ref, document),
        model_facts=before.model_facts if before is not None else None,
    )


def former_places(before: Judged) -> Places:
    """What is found again is where it was found before; where other findings come from, nobody knows any more."""
    known = {f.fault.path: f.span for f in before.found} | dict(before.places)
    return Places(known.get, known.get)


def document_places(document: Document | None) -> Places:
    """An object that is rendered as it is was written as it is."""
    if document is None:
        return NOWHERE

    def exact(path: Path) -> Span | None:
        return document.span(path) if lookup(document.value, path) is not None else None

    return Places(document.span, exact)


def stated(ref: ObjectRef, document: Document | None) -> tuple[Waiver, ...]:
    """The waivers that an object which is rendered as it is states itself."""
    if document is None:
        return ()
    annotations = (document.value.get("metadata") or {}).get("annotations") or {}
    found = annotated(annotations, ref, lambda key: document.span(("metadata", "annotations", key)))
    return tuple(waiver for waiver, _ in found if waiver is not None)


def bounds_cases(judge: Judge, heard: Sequence[tuple[Rendered, Judged]]) -> Iterator[Case]:
    """What does not fit into the quotas and ranges of each namespace."""
    for namespace, bounds in sorted(judge.bounds.items()):
        inside = [(r, j) for r, j in heard if r.ref.namespace == namespace]
        demands = demands_of(j for _, j in inside)
        by_ref = {r.ref: (r, j) for r, j in inside}
        for misfit in quota_misfits(demands, bounds):
            if misfit.ref is None:
                yield Case(Located(misfit.fault, misfit.span), (misfit.bound,))
            else:
                rendered, known = by_ref[misfit.ref]
                place = dict(known.places).get(misfit.fault.path)
                related = ((misfit.span, "the bound is here"),)
                yield Case(Located(misfit.fault, place, related), (rendered.ref, rendered.owner), known.waivers)


def pool_cases(judge: Judge, heard: Sequence[tuple[Rendered, Judged]], *, surges: bool) -> Iterator[Case]:
    """What of all workloads together does not fit onto the node pools, if any are stated."""
    if not judge.site.node_pools:
        return
    from kservec.policy.pools import shortages_among  # noqa: PLC0415 - most clusters state no node pools

    for located, refs in shortages_among(judge, heard, surges=surges):
        yield Case(located, refs)
