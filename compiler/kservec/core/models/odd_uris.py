"""What there is to say of a model's URI as a text, while something can still bring it in.

Decides which URIs need no second look, for nearly all are sound. Must not know any scheme by name, nor who asks.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.models.model_uri import ANY_SCHEME, is_local_path, lack_of, meant_uri
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.patterns import Pattern
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

SURPLUS = Code(
    "storage/uri-surplus",
    Severity.WARNING,
    "a storage URI that goes on behind the model",
    "KServe takes the URI, and its storage initializer does not: of a hub it asks for an owner and a model, with "
    "nothing behind them but a revision after a colon. A slash at the end is too much as well. A "
    "ClusterStorageContainer with a program of its own may take more, and nothing is said where the image is not a "
    "storage-initializer by its name.",
)

REVISION = Code(
    "storage/uri-revision",
    Severity.WARNING,
    "a revision that is not written as one in a storage URI",
    "KServe's storage initializer takes what stands behind a colon for the revision, and everything before it for the "
    "name. Names on a hub have no `@`, which other tools write before a revision: the download asks for a model that "
    "cannot exist, and the pod never gets past its init container. Nothing is said where the image is not a "
    "storage-initializer by its name.",
)

WHITE_SPACE = Code(
    "storage/uri-white-space",
    Severity.WARNING,
    "white space in a storage URI",
    "KServe hands the URI on as it is, so that the space counts as a part of the name: no bucket, host, claim or hub "
    "has such a name, and hardly a file or folder begins or ends with one on purpose. Most often a line of YAML was "
    "folded into a space, or one was copied along at the end. Nothing is said of a space within the name of a file.",
)

UNFILLED = Code(
    "storage/unfilled-placeholder",
    Severity.WARNING,
    "a storage URI with a placeholder that nothing fills in",
    "The text looks like one that a template engine, or whoever copied an example, should have replaced: `${BUCKET}`, "
    "`{{bucket}}`, `<bucket>`, `%BUCKET%`, `__BUCKET__`, `@bucket@`, `CHANGE_ME`; or like what such an engine leaves "
    "behind for a value that it does not know: `None`, `undefined`. KServe fills nothing in here, so the download asks "
    "for just these characters. `$(NAME)` is filled in where the download container has a variable of that name, "
    "`${name}` where `gitops.flux.substitute` has one.",
)

CODES = frozenset((INCOMPLETE, REVISION, SURPLUS, UNFILLED, WHITE_SPACE))

_placeholders = Pattern(
    # of shells, Flux and Kubernetes: ${a}, $(a), $A; $a only as a whole word, for keys may have the sign in them
    r"\$\{(?!\{)(?P<flux>\w*)[^{}]*\}|\$\((?P<variable>[^()]*)\)|\$[A-Z_][A-Z0-9_]*|(?<![\w$])\$[a-z]\w*(?![\w$])"
    # {{a}}, ${{a}}, {% a %}, {a}, #{a}, <a>, [a], [[a]], ((a))
    r"|\$?\{\{[^{}]*\}\}|\{%[^{}]*%\}|#?\{[\w .-]*\}|<[^<>]+>|\[{1,2} ?[A-Za-z_][\w .-]*\]{1,2}|\(\([^()]+\)\)"
    # %(a)s, %s, %A%, which is no percent encoding, @a@, @@a@@, #A#, __A__
    r"|%\(\w+\)s|%s(?!\w)|%[A-Za-z_]\w*%(?![0-9A-Fa-f]{2})|(?<![^/_-])@{1,2}[A-Za-z_][\w.-]*@{1,2}|#[A-Z_]\w*#"
    r"|(?<![A-Za-z0-9])__[A-Z][A-Z0-9_]*?__(?![A-Za-z0-9])"
    # what people write for others to replace, and what engines write for what they do not know
    r"|(?<![A-Za-z0-9])(?:(?i:change|replace)[_-]?(?i:me)|YOUR[_-][A-Z][A-Z_-]*|FIXME|TODO)(?![A-Za-z0-9])"
    r"|(?<=[/:])(?P<nothing>None|undefined|null|nil)(?=[/:]|\Z)",
    re.ASCII,
).finditer
_is_version = Pattern(r"\[(?:v|ver|version|r|rev|rc)\d[\w.-]*\]", re.ASCII | re.IGNORECASE).fullmatch
"""What is in brackets and surely meant as it is."""
_query = Pattern(r"https?://[^?#]*\?[^#]*", re.ASCII | re.IGNORECASE).match
_may_be_asked = Pattern(r"\{[^{}]*\}|\[[^\[\]]*\]").fullmatch
"""What a query may well have in it: sets and lists of what is asked for."""
_has_word = re.compile(r"__|(?i:e[_-]?me)|YOUR|FIXME|TODO|[/:](?:None|undefined|null|nil)(?:[/:]|\Z)", re.ASCII).search
"""Beginnings of placeholders that are made of letters alone, which a URI that looks plain may have."""
_odd_space = Pattern(r"://[^/]*(?P<begin>\s)|/(?P<after>\s)|(?P<before>\s)/|(?P<other>[^\S ])").search
_any_space = Pattern(r"://.*(?P<any>\s)", re.DOTALL).search
"""White space where names of files have none, and anywhere."""
_is_plain = re.compile(r"[a-z][a-z0-9+]*://[\w-][\w.:-]*/[\w./:=~+-]*", re.ASCII).fullmatch


def is_odd(uri: str, env: Env) -> bool:
    """Whether there may be something to say of a URI as a text; hardly ever."""
    return (
        _is_plain(uri) is None
        or _has_word(uri) is not None
        or lack_of(uri, env) is not None
        or form_of_surplus(uri, env) != ""
    )


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
    if container is not None and STORAGE_INITIALIZER in container.get("image", ""):
        yield from said_by_initializer(uri, place, env)
    placeholder = unfilled(uri, container, env)
    if placeholder:
        message = f"nothing fills in {placeholder!r} in the URI of the model"
        yield said(UNFILLED, message, "fill it in before the file is compiled, or write what it stands for", place)
    elif problem := white_space(uri, env):
        message = f"the URI of the model {problem}, which counts as a part of the name"
        yield said(WHITE_SPACE, message, "take it out", place)


def said_by_initializer(uri: str, place: Place, env: Env) -> Iterator[Diagnostic]:
    """What KServe's own storage initializer would say of the form of a URI."""
    if (lack := lack_of(uri, env)) is not None:
        message = f"the URI of the model lacks {lack.parts}: it cannot be downloaded"
        yield said(INCOMPLETE, message, f"write it as {lack.form}", place)
    elif form := form_of_surplus(uri, env):
        message = "the URI of the model goes on behind the model: it cannot be downloaded"
        yield said(SURPLUS, message, remedy_of_surplus(form, env), place)
    elif meant := with_revision(uri, env):
        message = "the URI of the model has an @ before the revision, where a colon is due: it cannot be downloaded"
        yield said(REVISION, message, f"did you mean {meant}?", place)


def remedy_of_surplus(form: str, env: Env) -> str:
    """What to write for a URI that goes on behind the model. Pull requests have revisions that begin with `refs/`."""
    scheme = env.plugs.scheme(form)
    model, revision = scheme.revision_of(form) if scheme is not None else (form, "")
    if scheme is not None and revision == "refs":
        return f"write it as {model}{scheme.revision_mark}COMMIT with the hash of the commit: no slash is taken there"
    return f"write it as {form}, with no slash behind it"


def with_revision(uri: str, env: Env) -> str:
    """The URI that was meant by one with a revision behind an @; empty for others, and where nothing takes revisions.

    What stands between two signs is a placeholder.
    """
    scheme = env.plugs.scheme(uri)
    if scheme is None or not scheme.revision_mark or uri.count("@") != 1:
        return ""
    name, _, revision = uri.partition("@")
    has_more = not revision or scheme.revision_mark in revision or scheme.revision_of(name)[1] != ""
    model = name.partition("://")[2].partition("/")[2]
    return "" if has_more or not model else f"{name}{scheme.revision_mark}{revision}"


def unfilled(uri: str, container: Json | None, env: Env) -> str:
    """The first placeholder of a URI that stays as it is; empty if there is none.

    Kubernetes replaces `$(NAME)` in the arguments of a container that has the variable. Which those are that come from
    elsewhere as a whole (`envFrom`), nobody sees.
    """
    known = {entry["name"] for entry in (container or {}).get("env") or ()}
    later = env.additions.filled_later if env.additions is not None else ()
    text = uri.removeprefix(ANY_SCHEME)
    for found in _placeholders(text):
        if is_meant(found, text):
            continue
        variable, flux = found["variable"], found["flux"]
        is_replaced = variable is not None and (variable in known or "envFrom" in (container or ()))
        if not is_replaced and flux not in later:
            return found[0]
    return ""


def is_meant(found: re.Match[str], uri: str) -> bool:
    """Whether what looks like a placeholder surely is none: a version in brackets, or a part of a query."""
    if _is_version(found[0]):
        return True
    asked = _query(uri)
    return asked is not None and _may_be_asked(found[0]) is not None and uri.find("?") < found.start() < asked.end()


def form_of_surplus(uri: str, env: Env) -> str:
    """The form of a URI that has more parts than its scheme allows; empty for others."""
    scheme = env.plugs.scheme(uri)
    if scheme is None or not scheme.most_parts:
        return ""
    prefix, _, rest = uri.partition("://")
    parts = rest.split("/")
    return f"{prefix}://{'/'.join(parts[: scheme.most_parts])}" if len(parts) > scheme.most_parts else ""


def white_space(uri: str, env: Env) -> str:
    """Where white space is in a URI, in words; empty if nowhere that matters.

    Names of files may well have spaces inside; those of a hub's models have none.
    """
    if uri[-1:].isspace():
        return "" if meant_uri(uri, env) else f"ends with {sign(uri[-1])}"
    if uri[:1].isspace() and not meant_uri(uri, env):
        return f"begins with {sign(uri[0])}" if uri.lstrip().startswith("/") else ""
    if is_local_path(uri):
        return ""
    scheme = env.plugs.scheme(uri)
    found = _any_space(uri) if scheme is not None and scheme.most_parts else _odd_space(uri)
    return f"has {sign(found[found.lastgroup or 0])} in it" if found is not None else ""


def sign(space: str) -> str:
    """White space in words."""
    return {" ": "a space", "\t": "a tab", "\n": "a line break"}.get(space, "white space")


def said(code: Code, message: str, remedy: str, place: Place) -> Diagnostic:
    """A finding about a URI."""
    return Diagnostic(code=code, message=message, span=place.span(), help=remedy, subject=place.subject)


def downloader(uri: str, pod: Json) -> Json | None:
    """The container of a pod that is told to download a URI, or None."""
    container = find(pod.get("initContainers") or (), STORAGE_INITIALIZER)
    return container if container is not None and uri in (container.get("args") or ()) else None
