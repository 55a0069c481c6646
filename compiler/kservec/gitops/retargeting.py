"""Retargeting: documents that refer to objects which exist no more once they are compiled. Pure.

What is rendered is corrected, and a note says so. Of what somebody else applies a warning says what to write instead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import with_value
from kservec.gitops.heirs import (
    SCALERS,
    heir,
    lost_hosts,
    lost_selector,
    references,
    scalers_of,
    target_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.text.document import Document
    from kservec.core.tree import Json
    from kservec.gitops.heirs import Reference
    from kservec.gitops.rendered import Rendered

KINDS = frozenset({
    "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget", "PodMonitor", "ScaledObject", "ServiceMonitor",
    "VerticalPodAutoscaler", "VirtualService",
})  # fmt: skip
"""Kinds that refer to others in one of the ways that are known here."""

RETARGETED = Code(
    "include/retargeted",
    Severity.NOTE,
    "an included document now refers to a compiled object",
    "The document refers to a service that is compiled, and so is not in the cluster. What is rendered refers to the "
    "workload instead. Write it so yourself, and the file says what is there.",
)
LOST = Code(
    "input/refers-to-compiled",
    Severity.WARNING,
    "a document refers to something that is not there after compiling",
    "The document refers to a service, to labels or to a host that existed while KServe ran in the cluster. A compiled "
    "service is not in the cluster, but its workloads are; name those. Documents that `include` of kservec.yaml names "
    "are corrected where it is clear how.",
)
SCALED_TWICE = Code(
    "include/scaled-twice",
    Severity.ERROR,
    "two autoscalers of one workload",
    "The document scales a workload that the service's own autoscaler scales as well. The two would overrule each "
    "other for ever. Set the annotation serving.kserve.io/autoscalerClass: external on the service, or leave the "
    "document out.",
)


class Retargeted(NamedTuple):
    """A document's value with references that lead somewhere, and what was found."""

    value: Json
    diagnostics: tuple[Diagnostic, ...] = ()


def retargeted(document: Document, ref: ObjectRef, objects: Sequence[Rendered], *, is_included: bool) -> Retargeted:
    """A document whose references lead to what is there, as far as they can; with what was found.

    Args:
        document: what refers to something.
        ref: its identity.
        objects: what was compiled.
        is_included: whether it is rendered; otherwise its value stays, and a warning says what it should be.
    """
    value: Json = document.value
    found: list[Diagnostic] = []
    for reference in references(value):
        workload = heir(reference, ref.namespace, objects)
        if workload is None:
            found += unscalable(document, ref, reference, objects)
            continue
        if is_included:
            target = {"apiVersion": workload.api_version, "kind": workload.kind, "name": workload.name}
            value = with_value(value, reference.path, {**value["spec"][reference.path[-1]], **target})
        found.append(led_elsewhere(document, ref, reference, workload, is_included=is_included))
    found += twice(value, document, ref, objects) if is_included and ref.kind in SCALERS else ()
    value, hosts = with_hosts(value, document, ref, objects, is_included=is_included)
    return Retargeted(value, (*found, *hosts, *lost_selectors(document, ref, objects)))


def led_elsewhere(
    document: Document, ref: ObjectRef, reference: Reference, workload: ObjectRef, *, is_included: bool
) -> Diagnostic:
    """The finding about a reference to a compiled object that has a workload."""
    name = f"{reference.kind} {reference.name}"
    instead = f"apiVersion: {workload.api_version}, kind: {workload.kind}, name: {workload.name}"
    verb = f"now refers to {workload.kind} {workload.name}" if is_included else f"refers to {name}, which is compiled"
    return Diagnostic(
        code=RETARGETED if is_included else LOST,
        message=f"{ref} {verb}{f' instead of {name}' if is_included else ''}",
        span=document.span(reference.path),
        help=f"write {instead}",
        subject=ref,
    )


def unscalable(
    document: Document, ref: ObjectRef, reference: Reference, objects: Sequence[Rendered]
) -> Iterator[Diagnostic]:
    """The warning about a reference to a compiled object whose workload nothing can scale; not about other objects."""
    if any((o.owner.kind, o.owner[2:]) == (reference.kind, (ref.namespace, reference.name)) for o in objects):
        name = f"{reference.kind} {reference.name}"
        yield Diagnostic(
            code=LOST,
            message=f"{ref} refers to {name}, which is compiled to nothing that it could scale",
            span=document.span(reference.path),
            help="Knative scales its services itself: set minReplicas, maxReplicas and scaleTarget, and remove this",
            subject=ref,
        )


def twice(value: Json, document: Document, ref: ObjectRef, objects: Sequence[Rendered]) -> Iterator[Diagnostic]:
    """The error about a workload with an autoscaler of its own."""
    kind, name = target_of(value)
    scalers = scalers_of((ref.namespace, kind, name), objects)
    if scalers:
        yield Diagnostic(
            code=SCALED_TWICE,
            message=f"{ref} scales what {scalers[0]} scales already",
            span=document.span(("spec", "scaleTargetRef")),
            help="set serving.kserve.io/autoscalerClass: external on the service",
            subject=ref,
        )


def with_hosts(
    value: Json, document: Document, ref: ObjectRef, objects: Sequence[Rendered], *, is_included: bool
) -> tuple[Json, tuple[Diagnostic, ...]]:
    """A VirtualService that leads to Services that are there, where one alone can be meant; with what was found."""
    found: list[Diagnostic] = []
    for path, host, there in lost_hosts(document.value, ref.namespace, objects):
        is_clear = is_included and len(there) == 1
        new = ".".join((there[0], *host.split(".")[1:]))
        value = with_value(value, path, new) if is_clear else value
        said = f"now leads to {new} instead of {host}" if is_clear else f"leads to {host}, and there is no such Service"
        found.append(
            Diagnostic(
                code=RETARGETED if is_clear else LOST,
                message=f"{ref} {said}",
                span=document.span(path),
                help=f"lead to {' or '.join(there)}",
                subject=ref,
            )
        )
    return value, tuple(found)


def lost_selectors(document: Document, ref: ObjectRef, objects: Sequence[Rendered]) -> Iterator[Diagnostic]:
    """The warning about a selector that finds nothing."""
    selector = lost_selector(document.value, ref.namespace, objects)
    if selector is not None:
        path, there = selector
        yield Diagnostic(
            code=LOST,
            message=f"{ref} selects nothing of what is compiled",
            span=document.span(path),
            help=f"select some of: {'; '.join(there)}",
            subject=ref,
        )
