"""What a lock has to cover: the images and models that rendered objects refer to, and what of them it has."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.lock import DIGEST, is_commit
from kservec.core.text.source import parse
from kservec.policy.images import images_in
from kservec.policy.models import uris_in
from kservec.policy.scene import pods_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.lock import Lock
    from kservec.core.registry import Plugs
    from kservec.gitops.rendered import Rendered


class References(NamedTuple):
    """Images and models that are not pinned where they are written, each with the first object that refers to it."""

    images: Mapping[str, ObjectRef]
    models: Mapping[str, ObjectRef]


class Coverage(NamedTuple):
    """What a lock lacks, and what of it nothing refers to."""

    missing: tuple[tuple[str, ObjectRef], ...]
    stale: tuple[str, ...]


def references_of(objects: Iterable[Rendered], plugs: Plugs) -> References:
    """What rendered objects refer to by names that may mean something else tomorrow."""
    images: dict[str, ObjectRef] = {}
    models: dict[str, ObjectRef] = {}
    for rendered in objects:
        documents, _ = parse(rendered.text.encode(), rendered.path)
        for pod in pods_of(rendered.ref, documents[0].value):
            for _, image in images_in(pod):
                if image and DIGEST not in image:
                    images.setdefault(image, rendered.ref)
            for _, uri in uris_in(pod, plugs):
                scheme = plugs.scheme(uri)
                if scheme is not None and not is_commit(scheme.revision_of(uri)[1]):
                    models.setdefault(uri, rendered.ref)
    return References(dict(sorted(images.items())), dict(sorted(models.items())))


def coverage(references: References, lock: Lock) -> Coverage:
    """What a lock lacks of what is referred to, and what it has beyond that."""
    wanted = {**references.images, **references.models}
    has = {*lock.images, *lock.models}
    missing = tuple((name, ref) for name, ref in sorted(wanted.items()) if name not in has)
    return Coverage(missing, tuple(sorted(has - wanted.keys())))
