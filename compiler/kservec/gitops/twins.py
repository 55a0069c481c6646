"""Twins: one object in the trees of two environments that are on the same cluster. Pure.

Each would be applied over the other for ever, and removing it from one tree would remove it from the cluster.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.records import evolve
from kservec.project.gitops import IN_CLUSTER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.text.source import Document
    from kservec.gitops.rendered import Rendered
    from kservec.project.gitops import GitOpsSettings

TWINS = Code(
    "gitops/object-in-two-environments",
    Severity.ERROR,
    "one object in the trees of two environments on one cluster",
    "Environments with the same `gitops.cluster`, or the same destination of Argo CD, render the same object, and each "
    "would apply its own over the other's. A warning where both only have Argo CD's default destination. Give them "
    "different namespaces, or render the object in one of them.",
)


class Tree(NamedTuple):
    """The objects of an environment, and the cluster that they go to; nothing if that is not known."""

    environment: str
    cluster: str
    objects: Sequence[Rendered]


def cluster_of(gitops: GitOpsSettings) -> str:
    """The cluster of an environment, which is Argo CD's own by default; nothing if only its own Flux knows."""
    if gitops.cluster or not gitops.for_argocd:
        return gitops.cluster
    return gitops.argocd.cluster_name or gitops.argocd.server


def twin_findings(trees: Sequence[Tree], document: Document) -> Iterator[tuple[str, Diagnostic]]:
    """A finding for each two environments that share objects, with the later one's name; `document` is the project.

    It is a warning where neither the cluster nor the destination is written out: each may have its own Argo CD.
    """
    for i, later in enumerate(trees):
        for earlier in trees[:i] if later.cluster else ():
            shared = shared_objects(earlier, later)
            if earlier.cluster == later.cluster and shared:
                finding = twins(earlier.environment, later.environment, shared, document)
                names = (earlier.environment, later.environment)
                is_assumed = later.cluster == IN_CLUSTER and not all(is_written(document, name) for name in names)
                yield later.environment, assumed(finding) if is_assumed else finding


def is_written(document: Document, environment: str) -> bool:
    """Whether the project says where an environment is deployed to."""
    places = (("environments", environment), ())
    settings = (("gitops", "cluster"), ("gitops", "argocd", "destination"))
    return any(lookup(document.value, (*place, *setting)) for place in places for setting in settings)


def assumed(finding: Diagnostic) -> Diagnostic:
    """The finding as a warning: that the environments are on one cluster is only what their defaults say."""
    message = finding.message.replace("are on one cluster", f"both deploy to {IN_CLUSTER} by default")
    hint = "name their clusters by gitops.cluster or argocd.destination, or give them different namespaces"
    return evolve(finding, code=TWINS._replace(severity=Severity.WARNING), message=message, help=hint)


def shared_objects(one: Tree, other: Tree) -> list[ObjectRef]:
    """The objects that two trees have in common, sorted."""
    return sorted({o.ref for o in one.objects} & {o.ref for o in other.objects})


def twins(earlier: str, later: str, shared: Sequence[ObjectRef], document: Document) -> Diagnostic:
    """The error about two environments that share objects."""
    more = f" and {len(shared) - 1:,} more" if len(shared) > 1 else ""
    return Diagnostic(
        code=TWINS,
        message=f"{earlier} and {later} are on one cluster, and both render {shared[0]}{more}",
        span=document.key_span(("environments", later)),
        related=((document.key_span(("environments", earlier)), "and so does this"),),
        help="give them different namespaces, or different values of gitops.cluster",
    )
