"""Filters of a rule of a route, or of one of its backends; and what a backend needs.

Gateway API: apis/v1/httproute_types.go, HTTPRouteFilter; apis/v1/object_reference_types.go, BackendObjectReference
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

FIELDS: Final = {
    "CORS": "cors",
    "RequestHeaderModifier": "requestHeaderModifier",
    "ResponseHeaderModifier": "responseHeaderModifier",
    "RequestMirror": "requestMirror",
    "RequestRedirect": "requestRedirect",
    "URLRewrite": "urlRewrite",
    "ExtensionRef": "extensionRef",
}
"""The types of filters, and the field that describes one of each."""
REPEATABLE: Final = ("RequestMirror", "ExtensionRef", "ExternalAuth")
REWRITES: Final = ("requestRedirect", "urlRewrite")
PATH_FIELDS: Final = {"ReplaceFullPath": "replaceFullPath", "ReplacePrefixMatch": "replacePrefixMatch"}
PROTOCOLS: Final = {"GRPC": "grpc", "HTTP": "http"}
STARRED: Final = ("allowHeaders", "allowMethods", "allowOrigins")

FILTER = Code(
    "llm/route-filter",
    Severity.ERROR,
    "a filter that contradicts itself or another",
    "A filter has the field that its type names and no other. Most types occur once in a list, and a redirect and a "
    "rewrite exclude each other.",
)
BACKEND_PORT = Code(
    "llm/route-backend-port",
    Severity.ERROR,
    "a Service without a port",
    "A reference to a Service says at which of its ports.",
)


def check_filters(subject: Subject, filters: Json, path: Path) -> Iterator[Diagnostic]:
    """A list of filters."""
    if len(filters) == 1 and is_plain_rewrite(filters[0]):
        return
    for i, entry in enumerate(filters):
        for at, problem in filter_problems(entry):
            yield subject.finding(FILTER, f"filter {i}: {problem}", (*path, i, *at), "correct it")
        for field in ("requestMirror", "externalAuth"):
            backend = (entry.get(field) or {}).get("backendRef")
            if backend is not None:
                yield from check_port(subject, backend, (*path, i, field, "backendRef"))
    counts = Counter(entry["type"] for entry in filters)
    for kind in sorted(kind for kind, count in counts.items() if count > 1 and kind not in REPEATABLE):
        yield subject.finding(FILTER, f"there are {counts[kind]} filters of type {kind}", path, "keep one of them")
    if counts["RequestRedirect"] and counts["URLRewrite"]:
        message = "a RequestRedirect and a URLRewrite exclude each other"
        yield subject.finding(FILTER, message, path, "keep one of them")


def is_plain_rewrite(entry: Json) -> bool:
    """Whether a filter replaces a prefix and nothing else, as nearly all do: there is nothing to say about it."""
    path = (entry.get("urlRewrite") or {}).get("path") or {}
    return bool(
        entry.keys() == {"type", "urlRewrite"}
        and entry["type"] == "URLRewrite"
        and path.keys() == {"type", "replacePrefixMatch"}
        and path["type"] == "ReplacePrefixMatch"
    )


def filter_problems(entry: Json) -> Iterator[tuple[Path, str]]:
    """What is wrong with one filter, and where below it."""
    kind = entry["type"]
    for name, field in FIELDS.items():
        if (entry.get(field) is not None) != (kind == name):
            yield (
                ((), f"it is of type {kind} and needs {field}")
                if kind == name
                else (
                    (field,),
                    f"{field} is for filters of type {name}, not {kind}",
                )
            )
    for field in REWRITES:
        yield from path_problems((entry.get(field) or {}).get("path") or {}, (field, "path"))
    yield from mirror_problems(entry.get("requestMirror") or {})
    auth = entry.get("externalAuth") or {}
    yield from variant_problems(auth, auth.get("protocol"), PROTOCOLS, ("externalAuth",))
    for field in STARRED:
        allowed = (entry.get("cors") or {}).get(field) or ()
        if "*" in allowed and len(allowed) > 1:
            yield ("cors", field), f"{field} has `*` beside others"


def path_problems(path: Json, at: Path) -> Iterator[tuple[Path, str]]:
    """What is wrong with the path that a redirect or rewrite leads to."""
    yield from variant_problems(path, path.get("type"), PATH_FIELDS, at)


def variant_problems(value: Json, kind: Json, fields: dict[str, str], at: Path) -> Iterator[tuple[Path, str]]:
    """A map that says which variant it is, and has the field of that variant alone."""
    for name, field in fields.items():
        if kind == name and value.get(field) is None:
            yield at, f"{name} needs {field}"
        elif kind != name and value.get(field) is not None:
            yield (*at, field), f"{field} is for {name}, not {kind}"


def mirror_problems(mirror: Json) -> Iterator[tuple[Path, str]]:
    """What is wrong with the share of requests that is mirrored."""
    fraction = mirror.get("fraction")
    if fraction is None:
        return
    if mirror.get("percent") is not None:
        yield ("requestMirror",), "requestMirror has both percent and fraction"
    if fraction["numerator"] > fraction.get("denominator", 100):
        yield ("requestMirror", "fraction"), "a fraction of the requests is 1 at most"


def check_backend(subject: Subject, backend: Json, path: Path) -> Iterator[Diagnostic]:
    """A backend of a rule."""
    yield from check_port(subject, backend, path)
    filters = backend.get("filters")
    if filters:
        yield from check_filters(subject, filters, (*path, "filters"))


def check_port(subject: Subject, backend: Json, path: Path) -> Iterator[Diagnostic]:
    """A Service needs a port."""
    is_service = not backend.get("group") and backend.get("kind", "Service") == "Service"
    if is_service and backend.get("port") is None:
        message = f"the reference to Service {backend.get('name')} has no port"
        yield subject.finding(BACKEND_PORT, message, path, "set `port`")


def prefix_rewrites(filters: Json) -> bool:
    """Whether filters replace the prefix that was matched."""
    paths = [(entry.get(field) or {}).get("path") or {} for entry in filters for field in REWRITES]
    return any(
        path.get("type") == "ReplacePrefixMatch" and path.get("replacePrefixMatch") is not None for path in paths
    )
