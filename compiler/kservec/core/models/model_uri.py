"""Model URIs: whether anything can bring them in, and what was probably meant if nothing can.

Decides which URIs are supported, from the registered schemes and the ClusterStorageContainers alone. Must not know any
scheme by name.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.listing import SHOWN, listed
from kservec.core.models.storage_scheme import SchemeTrait
from kservec.core.patterns import Pattern
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Callable

    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.models.storage_scheme import Lack, Scheme
    from kservec.core.registry import Env
    from kservec.core.tree import Origin

ANY_SCHEME = "<scheme-placeholder>://"
"""What stands for the scheme in the URI of a storage spec until its Secret tells the type. KServe: pkg/credentials."""

UNKNOWN_SCHEME = Code(
    "storage/unknown-scheme",
    Severity.ERROR,
    "a storage URI that nothing can bring in",
    "The URI is of none of the supported kinds, and no enabled ClusterStorageContainer that runs as an init container "
    "takes it. Correct the URI, or declare a ClusterStorageContainer with a matching supportedUriFormats entry.",
)

NO_MODEL = Code(
    "storage/no-model",
    Severity.ERROR,
    "a storage URI that names no model",
    "Nothing stands behind the scheme, no bucket, claim or host before the first slash, or a host alone, so there is "
    "nothing to bring in. Most often a variable of a template was empty.",
)

MISSPELT = Code(
    "storage/scheme-misspelt",
    Severity.WARNING,
    "a storage URI whose scheme is not written as one",
    "KServe takes what has no `scheme://` in front for a path on the download container's own file system, where "
    "hardly any image has something: the pod never gets past its init container. Most often a colon or a slash was "
    "forgotten, or the variable that held the scheme was empty. KServe knows nothing of references "
    "such as `models:/fraud/1`, which registries of models have. A real path begins with a slash.",
)

PASSWORD = Code(
    "storage/password-in-uri",
    Severity.WARNING,
    "a password in a storage URI",
    "KServe hands the URI to the download container as it is: the password stands in git and in the pod, for "
    "everybody who can read one of them. Replace it, and keep the new one in a Secret that the service account lists: "
    "a web server gets the headers of one with the keys `https-host` and `headers`. A project refuses such a URI "
    "(`policy/inline-secret`).",
)

_has_scheme = re.compile(r"\w://", re.ASCII).search
_match_beginning = Pattern(r"\s*(?P<word>[A-Za-z][\w+-]*)\s*(?P<signs>[:;/\\][:;/\\\s]*)").match
_match_nothing = Pattern(r"\s*([:;][:;/\\]*[/\\])").match
_match_foreign = Pattern(r"[A-Za-z][\w+.-]+:/", re.ASCII).match
"""How registries of models write references: `models:/fraud/1`, `runs:/...`, `dbfs:/...`. `C:/` is none."""


def is_local_path(uri: str) -> bool:
    """Whether a URI is a path on the download container's own file system, for no scheme is written in it."""
    return _has_scheme(uri) is None


def is_supported(uri: str, env: Env) -> bool:
    """Whether a ClusterStorageContainer takes the URI, or a scheme of KServe's own list does.

    KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, ValidateStorageURI
    """
    scheme = env.plugs.scheme(uri)
    if scheme is not None and scheme.supported and (scheme.accepts is None or scheme.accepts(uri)):
        return True
    return env.catalog.storage_container_for(uri) is not None


def no_model(uri: str, env: Env, place: Callable[[], Span | None], subject: ObjectRef) -> Diagnostic | None:
    """The diagnostic for a URI that names nothing, or not what the rest lies in; None for others.

    `place` finds where the URI was written, which takes long, and is asked only where there is something to say.
    """
    scheme = env.plugs.scheme(uri)
    written, has_scheme, rest = uri.partition("://")
    if not has_scheme or scheme is None or uri.startswith(ANY_SCHEME):
        return None
    if rest.strip("/"):
        lack = lack_of(uri, env)
        return lacks(uri, lack, place(), subject) if lack is not None and lack.is_start else None
    return Diagnostic(
        code=NO_MODEL,
        message=f"{uri!r} names no model",
        span=place(),
        help=f"write behind {written}:// where the model lies",
        subject=subject,
    )


def lacks(uri: str, lack: Lack, span: Span | None, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a URI that cannot do without what it lacks; a password in it is not shown."""
    shown = repr(uri) if password_in_uri(uri, lambda: span, subject) is None else "the URI"
    message = f"{shown} names no model: it lacks {lack.parts}"
    return Diagnostic(code=NO_MODEL, message=message, span=span, help=f"write it as {lack.form}", subject=subject)


def misspelt_scheme(uri: str, env: Env, place: Callable[[], Span | None], subject: ObjectRef) -> Diagnostic | None:
    """The warning about a path that was surely meant to be a URI; None for others. `place` as in `no_model`.

    It may hold a password, so that no more is quoted than where it begins.
    """
    if _has_scheme(uri) or uri[:1] in ("", "/") or uri.startswith(ANY_SCHEME):
        return None
    meant = meant_uri(uri, env)
    if meant and (beginning := _match_beginning(uri)):
        problem = f"begins with {beginning[0]!r}, which is no scheme"
        remedy = f"did you mean {meant}?"
    elif nothing := _match_nothing(uri):
        problem, remedy = f"has nothing before {nothing[1]}", "write the scheme, such as s3://, in front"
    elif foreign := _match_foreign(uri):
        problem = f"begins with {foreign[0]!r}, which is a reference that only other tools can follow"
        remedy = "write where the files of the model lie, such as s3://BUCKET/PATH"
    else:
        return None
    if env.catalog.storage_container_for(uri) is not None:
        return None
    return Diagnostic(
        code=MISSPELT,
        message=f"the URI of the model {problem}: it is taken for a path in the download container",
        span=place(),
        help=remedy,
        subject=subject,
    )


def meant_uri(uri: str, env: Env) -> str:
    """The URI that a text without a scheme was meant to be, such as s3://a/b by s3:/a/b and s3//a/b; empty for others.

    What only resembles a scheme counts where a colon follows, for two slashes are in paths, too. Spaces around the
    signs count for nothing.
    """
    beginning = None if _has_scheme(uri) else _match_beginning(uri)
    if beginning is None or beginning["signs"].strip() in ("/", "\\"):
        return ""
    schemes = {p.removesuffix("://"): SchemeTrait.FILES in s.traits for s in env.plugs.schemes for p in s.prefixes}
    for form in supported_forms(env):
        schemes.setdefault(form.partition("://")[0], False)
    word = beginning["word"].lower()
    name = word if word in schemes else closest(word, schemes) if ":" in beginning["signs"] else None
    return "" if name is None else f"{name}://{'/' if schemes[name] else ''}{uri[beginning.end() :]}"


def password_in_uri(uri: str, place: Callable[[], Span | None], subject: ObjectRef) -> Diagnostic | None:
    """The warning about a URI with a password in it, which is not shown; None for others. `place` as in `no_model`."""
    if "@" not in uri:
        return None
    from kservec.core.text.confidential import token_in  # noqa: PLC0415 - hardly any URI has the sign

    if not token_in(uri):
        return None
    message = "the password in the URI of the model can be read by all who can read pods"
    remedy = "take it out, replace it, and keep the new one in a Secret of the service account"
    return Diagnostic(code=PASSWORD, message=message, span=place(), help=remedy, subject=subject)


def lack_of(uri: str, env: Env) -> Lack | None:
    """What a URI leaves out of the form of its scheme; None if nothing, or if nothing knows it."""
    scheme = env.plugs.scheme(uri)
    return None if scheme is None or scheme.lacking is None else scheme.lacking(uri)


def unknown_scheme(uri: str, env: Env, origin: Origin, subject: ObjectRef) -> Diagnostic:
    """The diagnostic for a URI that is not supported. Named are the kinds of URIs that serve in most places."""
    lack, scheme = lack_of(uri, env), env.plugs.scheme(uri)
    if lack is not None:
        return lacks(uri, lack, origin.span(), subject)
    if scheme is not None and scheme.supported:
        message, remedy = f"nothing can bring in {uri!r}", f"write it as {' or '.join(scheme.forms)}"
        return Diagnostic(code=UNKNOWN_SCHEME, message=message, span=origin.span(), help=remedy, subject=subject)
    forms = supported_forms(env)
    known = {f.partition("://")[0] for f in forms}
    written = uri.partition("://")[0].strip()
    meant = written if written in known else (of_another_name(written, env) or closest(written, known))
    hint = f"did you mean {meant}://? " if meant is not None else ""
    uses = {form: len(s.traits) for s in env.plugs.schemes for form in (s.forms or s.prefixes)}
    order = sorted(forms, key=lambda form: (form.partition("://")[0] != meant, -uses.get(form, 0), form))
    more = " (kservec runtimes --uris lists them all)" if len(forms) > SHOWN else ""
    return Diagnostic(
        code=UNKNOWN_SCHEME,
        message=f"nothing can bring in {uri!r}",
        span=origin.span(),
        help=f"{hint}supported are {listed(order)}{more}, and what a ClusterStorageContainer declares",
        subject=subject,
    )


def of_another_name(written: str, env: Env) -> str:
    """The scheme that other tools call by a name; empty if none."""
    names = {alias: scheme.prefixes[0] for scheme in env.plugs.schemes for alias in scheme.aliases}
    return names.get(written.lower(), "").removesuffix("://")


def supported_forms(env: Env) -> tuple[str, ...]:
    """How the URIs of all supported schemes and of the prefixes of storage containers look, in alphabetical order."""
    own = {form for s in env.plugs.schemes if s.supported for form in (s.forms or s.prefixes)}
    containers = (c for c in env.catalog.storage_containers if c.downloads_at_start)
    return tuple(sorted(own | {f.prefix for c in containers for f in c.spec.supported_uri_formats if f.prefix}))


def settled_scheme(uri: str, env: Env) -> tuple[str, Scheme | None]:
    """The URI with its mode settled by the platform's configuration, and its scheme."""
    scheme = env.plugs.scheme(uri)
    if scheme is not None and scheme.resolve is not None:
        resolved = scheme.resolve(uri, env)
        return (uri, scheme) if resolved == uri else (resolved, env.plugs.scheme(resolved))
    return uri, scheme
