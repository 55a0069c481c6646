"""Rules of an HTTPRoute that a service describes: what the Gateway API's own CRD checks and no schema states.

Gateway API: apis/v1/httproute_types.go. A service's CRD has the same checks, a config's has not: what a config brings
is checked where it is merged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Final

from jsonschema_rs import Draft202012Validator, RegexOptions

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.duration import seconds_of
from kservec.core.llm.rules.http_filters import check_backend, check_filters, prefix_rewrites
from kservec.core.llm.rules.http_paths import check_path
from kservec.core.llm.rules.routes import SPEC

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

RULES: Final = (*SPEC, "rules")
MOST_MATCHES: Final = 128

TOO_MANY = Code(
    "llm/route-too-many-matches",
    Severity.ERROR,
    "a route with more matches than the Gateway API takes",
    "An HTTPRoute has at most 16 rules, 64 matches in each and 128 in all. Where models are chosen by a header, each "
    "LoRA adapter adds a match for every one that names the model.",
)
REDIRECT = Code(
    "llm/route-redirect",
    Severity.ERROR,
    "a rule that both answers and passes on",
    "A RequestRedirect answers the request itself, so its rule has no backendRefs.",
)
PREFIX = Code(
    "llm/route-prefix-match",
    Severity.ERROR,
    "a prefix that is replaced, of which it is not known what it is",
    "replacePrefixMatch replaces what the rule's match has found, so the rule has exactly one match, by PathPrefix. "
    "Write a rule for each prefix.",
)
TIMEOUTS = Code(
    "llm/route-timeouts",
    Severity.ERROR,
    "a backend that may take longer than its request",
    "timeouts.backendRequest is part of timeouts.request, so it is not longer, unless that is 0s.",
)
SESSION = Code(
    "llm/route-session",
    Severity.ERROR,
    "session persistence that contradicts itself",
    "cookieConfig is for sessions of type Cookie. A Permanent cookie needs absoluteTimeout.",
)


_PATH = {"type": "string", "pattern": "^(/[-A-Za-z0-9_~!$&'()*+,;=:@]+)*/?$"}
_NAMED = {
    "type": "object",
    "required": ["type", "value"],
    "properties": {"type": {"const": "PathPrefix"}, "value": _PATH},
}
_MATCH = {"properties": {"path": {"properties": {"type": {"enum": ["Exact", "PathPrefix"]}, "value": _PATH}}}}
_PREFIX_MATCH = {"required": ["path"], "properties": {"path": _NAMED}}
_REWRITE = {
    "required": ["type", "urlRewrite"],
    "additionalProperties": False,
    "properties": {
        "type": {"const": "URLRewrite"},
        "urlRewrite": {
            "required": ["path"],
            "properties": {
                "path": {
                    "required": ["type", "replacePrefixMatch"],
                    "additionalProperties": False,
                    "properties": {"type": {"const": "ReplacePrefixMatch"}, "replacePrefixMatch": {"type": "string"}},
                }
            },
        },
    },
}
_RULE = {
    "properties": {
        "matches": {"items": _MATCH, "maxItems": 8},
        "filters": {"maxItems": 1, "items": _REWRITE},
        "backendRefs": {"items": {"required": ["port"], "properties": {"filters": False}}},
        "timeouts": {"properties": {"request": {"const": "0s"}, "backendRequest": {"const": "0s"}}},
        "sessionPersistence": False,
    },
    "dependentSchemas": {
        "filters": {"required": ["matches"], "properties": {"matches": {"maxItems": 1, "items": _PREFIX_MATCH}}}
    },
}
PLAIN: Final = {"maxItems": MOST_MATCHES // 8, "items": _RULE}
"""The JSON Schema of rules that surely have nothing wrong, as those of KServe's preset: one look tells it."""


@cache
def _plain() -> Draft202012Validator:
    return Draft202012Validator(PLAIN, pattern_options=RegexOptions())


def check_rules(subject: Subject) -> Iterator[Diagnostic]:
    """The rules of the route."""
    rules = subject.at(*RULES) or ()
    if not rules or _plain().is_valid(rules):
        return
    for i, rule in enumerate(rules):
        yield from check_rule(subject, rule, (*RULES, i))
    count = sum(len(rule.get("matches") or ()) for rule in rules)
    if count > MOST_MATCHES:
        message = f"the route has {count} matches, {MOST_MATCHES} are allowed"
        yield subject.finding(TOO_MANY, message, RULES, "make do with fewer matches or LoRA adapters")


def check_rule(subject: Subject, rule: Json, path: Path) -> Iterator[Diagnostic]:
    """One rule."""
    filters, backends = rule.get("filters") or (), rule.get("backendRefs") or ()
    for i, match in enumerate(rule.get("matches") or ()):
        yield from check_path(subject, match.get("path"), (*path, "matches", i, "path"))
    if filters:
        yield from check_filters(subject, filters, (*path, "filters"))
    for i, backend in enumerate(backends):
        yield from check_backend(subject, backend, (*path, "backendRefs", i))
    if backends and any(entry.get("requestRedirect") is not None for entry in filters):
        message = "a rule with a RequestRedirect cannot have backendRefs"
        yield subject.finding(REDIRECT, message, (*path, "backendRefs"), "remove one of them")
    yield from check_prefix(subject, rule, path)
    yield from check_timeouts(subject, rule.get("timeouts") or {}, (*path, "timeouts"))
    yield from check_session(subject, rule.get("sessionPersistence") or {}, (*path, "sessionPersistence"))


def check_prefix(subject: Subject, rule: Json, path: Path) -> Iterator[Diagnostic]:
    """A prefix is replaced only where one is matched."""
    matches: Sequence[Json] = rule.get("matches") or ()
    if len(matches) == 1 and (matches[0].get("path") or {}).get("type") == "PathPrefix":
        return
    lists = [rule.get("filters"), *(backend.get("filters") for backend in rule.get("backendRefs") or ())]
    if any(prefix_rewrites(filters or ()) for filters in lists):
        message = f"replacePrefixMatch needs one match by PathPrefix; the rule has {len(matches)} matches"
        if len(matches) == 1:
            message = "replacePrefixMatch needs a match by PathPrefix"
        yield subject.finding(PREFIX, message, path, "write a rule for each prefix")


def check_timeouts(subject: Subject, timeouts: Json, path: Path) -> Iterator[Diagnostic]:
    """The backend's part of the time for a request."""
    request, backend = timeouts.get("request") or "", timeouts.get("backendRequest") or ""
    if request == backend:
        return
    whole, part = seconds_of(request), seconds_of(backend)
    if whole and part and part > whole:
        message = f"backendRequest, {backend}, is longer than request, {request}"
        yield subject.finding(TIMEOUTS, message, (*path, "backendRequest"), "lower it, or raise request")


def check_session(subject: Subject, session: Json, path: Path) -> Iterator[Diagnostic]:
    """Cookies of sessions."""
    cookie = session.get("cookieConfig")
    if cookie is None:
        return
    if session.get("type", "Cookie") != "Cookie":
        message = f"a session of type {session['type']} has no cookieConfig"
        yield subject.finding(SESSION, message, (*path, "cookieConfig"), "remove it")
    if cookie.get("lifetimeType") == "Permanent" and session.get("absoluteTimeout") is None:
        message = "a Permanent cookie needs absoluteTimeout"
        yield subject.finding(SESSION, message, (*path, "cookieConfig", "lifetimeType"), "set absoluteTimeout")
