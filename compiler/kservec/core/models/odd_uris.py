"""What there is to say of a model's URI as a text, while something can still bring it in.

Decides which URIs need no second look, for nearly all are sound. Must not know any scheme by name, nor who asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.model_uri import lack_of
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.containers import find

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.registry import Env
    from kservec.core.tree import Json

INCOMPLETE = Code(
    "storage/uri-incomplete",
    Severity.WARNING,
    "a storage URI that stops before the model",
    "KServe takes the URI, and its storage initializer does not: it asks for every part of the form that `help` shows, "
    "and the pod never gets past its init container. A ClusterStorageContainer with a program of its own may ask for "
    "less, and nothing is said of what one takes whose image is not called storage-initializer.",
)

_is_plain = re.compile(r"[a-z][a-z0-9+]*://[\w-][\w.:-]*/[\w./:=~+-]*", re.ASCII).fullmatch


def is_odd(uri: str, env: Env) -> bool:
    """Whether there may be something to say of a URI as a text; hardly ever."""
    return _is_plain(uri) is None or lack_of(uri, env) is not None


class Place(NamedTuple):
    """Where a URI is written, which takes long to find and is asked only where there is something to say; whose it is.

    `pod` is the pod with what brings the model in.
    """

    span: Callable[[], Span | None]
    subject: ObjectRef
    pod: Json


def said_of(uri: str, place: Place, env: Env) -> Iterator[Diagnostic]:
    """What there is to say of a URI by what brings the model in."""
    container = downloader(uri, place.pod)
    lack = lack_of(uri, env)
    if lack is not None and container is not None and STORAGE_INITIALIZER in container.get("image", ""):
        message = f"the URI of the model lacks {lack.parts}: it cannot be downloaded"
        yield said(INCOMPLETE, message, f"write it as {lack.form}", place)


def said(code: Code, message: str, remedy: str, place: Place) -> Diagnostic:
    """A finding about a URI."""
    return Diagnostic(code=code, message=message, span=place.span(), help=remedy, subject=place.subject)


def downloader(uri: str, pod: Json) -> Json | None:
    """The container of a pod that is told to download a URI, or None."""
    container = find(pod.get("initContainers") or (), STORAGE_INITIALIZER)
    return container if container is not None and uri in (container.get("args") or ()) else None
