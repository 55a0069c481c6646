"""What there is to say of a model's URI as a text, while something can still bring it in.

Decides which URIs need no second look, for nearly all are sound. Must not know any scheme by name, nor who asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.model_uri import ANY_SCHEME, lack_of
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
    "less, and nothing is said of what one takes whose image is not called storage-initializer. The agent that pulls a "
    "TrainedModel names the file that it writes as the URI ends, and can do without a name for archives alone.",
)

UNFILLED = Code(
    "storage/unfilled-placeholder",
    Severity.WARNING,
    "a storage URI with a placeholder that nothing fills in",
    "The text looks like one that a template engine, or whoever copied an example, should have replaced: `${BUCKET}`, "
    "`{{bucket}}`, `<bucket>`. KServe fills nothing in here, so the download asks for just these characters. `$(NAME)` "
    "is filled in where the download container has a variable of that name, `${name}` where `gitops.flux.substitute` "
    "has one.",
)

_placeholders = re.compile(
    r"\$\{(?P<flux>\w*)[^{}]*\}|\$\((?P<variable>[^()]*)\)|\$[A-Z_][A-Z0-9_]*"
    r"|\{\{[^{}]*\}\}|\{[\w .-]+\}|<[^<>]+>|%\(\w+\)s",
    re.ASCII,
).finditer
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
    placeholder = unfilled(uri, container, env)
    if placeholder:
        message = f"nothing fills in {placeholder!r} in the URI of the model"
        yield said(UNFILLED, message, "fill it in before the file is compiled, or write what it stands for", place)


def unfilled(uri: str, container: Json | None, env: Env) -> str:
    """The first placeholder of a URI that stays as it is; empty if there is none.

    Kubernetes replaces `$(NAME)` in the arguments of a container that has the variable. Which those are that come from
    elsewhere as a whole (`envFrom`), nobody sees.
    """
    known = {entry["name"] for entry in (container or {}).get("env") or ()}
    later = env.additions.filled_later if env.additions is not None else ()
    for found in _placeholders(uri.removeprefix(ANY_SCHEME)):
        variable, flux = found["variable"], found["flux"]
        is_replaced = variable is not None and (variable in known or "envFrom" in (container or ()))
        if not is_replaced and flux not in later:
            return found[0]
    return ""


def said(code: Code, message: str, remedy: str, place: Place) -> Diagnostic:
    """A finding about a URI."""
    return Diagnostic(code=code, message=message, span=place.span(), help=remedy, subject=place.subject)


def downloader(uri: str, pod: Json) -> Json | None:
    """The container of a pod that is told to download a URI, or None."""
    container = find(pod.get("initContainers") or (), STORAGE_INITIALIZER)
    return container if container is not None and uri in (container.get("args") or ()) else None
