"""Bundle: an ordered set of manifests that refuses two bodies for one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Reject, Severity
from kservec.core.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.tree import Json, Origin

OBJECT_TWICE = Code(
    "output/object-twice",
    Severity.ERROR,
    "two objects of one name",
    "Two parts of the input lead to objects of the same kind, namespace and name. Rename one of them.",
)

OBJECT_DECLARED = Code(
    "output/object-declared",
    Severity.WARNING,
    "an object that the input has and a build makes",
    "A document of the input describes an object that is also made of one of the services. Whoever applies both sets "
    "the object back and forth between the two. Remove the document; an autoscaler of your own goes with the "
    "annotation serving.kserve.io/autoscalerClass: external.",
)


class Manifest(NamedTuple):
    """One Kubernetes object to write. `shared` marks objects that several units may produce alike."""

    ref: ObjectRef
    body: Tree
    shared: bool = False


class Bundle(NamedTuple):
    """Manifests by identity, in the order they were added."""

    manifests: tuple[Manifest, ...] = ()

    def add(self, *added: Manifest) -> Bundle:
        """The bundle with more manifests.

        Raises:
            Reject: an object of the same identity is there already.
        """
        if not added:
            return self
        together = (*self.manifests, *added)
        if len({m.ref for m in together}) < len(together):
            raise Reject(first_twice(together))
        return Bundle(together)


def first_twice(manifests: Sequence[Manifest]) -> Diagnostic:
    """The diagnostic about the first of some manifests that has the identity of one before it; there is one."""
    seen: dict[ObjectRef, Manifest] = {}
    later = next(made for made in manifests if seen.setdefault(made.ref, made) is not made)
    return object_twice(later, seen[later.ref])


def object_twice(manifest: Manifest, other: Manifest) -> Diagnostic:
    """The diagnostic that names both places an object comes from."""
    first = other.body.span(())
    return Diagnostic(
        code=OBJECT_TWICE,
        message=f"{manifest.ref} is produced twice",
        span=manifest.body.span(()),
        related=((first, "also produced here"),) if first is not None else (),
        help="rename one of the objects that lead to it",
        subject=manifest.ref,
    )


def manifest(api_version: str, kind: str, metadata: Json, fields: Json, origin: Origin) -> Manifest:
    """An object from its metadata and its remaining top-level fields."""
    ref = ObjectRef(api_version, kind, metadata.get("namespace", ""), metadata["name"])
    body = {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}
    return Manifest(ref, Tree.of(body, origin))
