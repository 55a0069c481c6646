"""Which texts Go takes for URLs. It takes nearly all, so that what is said here is why it does not take one.

Go: net/url, Parse
"""

from __future__ import annotations

import re

_find_control = re.compile(r"[\x00-\x1f\x7f]").search
_match_scheme = re.compile(r"([A-Za-z][-A-Za-z0-9+.]*):").match
_find_bad_escape = re.compile(r"%(?![0-9A-Fa-f]{2})").search
_is_port = re.compile(r"(:[0-9]*)?").fullmatch
_is_user = re.compile(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*").fullmatch
_find_in_host = re.compile(r"""[^-A-Za-z0-9._~!$&'()*+,;=:\[\]<>"%\x80-\U0010ffff]""").search
_find_ascii_escape = re.compile(r"%(?!25)[0-7]").search


def url_fault(text: str) -> str | None:
    """Why Go cannot read a text as a URL; None where it can. The empty text is a URL."""
    if _find_control(text):
        return "there are line breaks, tabs or the like in it"
    whole, _, fragment = text.partition("#")
    if whole.startswith(":"):
        return "nothing stands before the first colon"
    scheme = _match_scheme(whole)
    rest = whole[scheme.end() :] if scheme else whole
    rest = rest.partition("?")[0]
    if not rest.startswith("/"):
        if scheme is None and ":" in rest.partition("/")[0]:
            return "what stands before the first colon is no scheme"
        return _escape_fault(fragment) if scheme else _escape_fault(rest) or _escape_fault(fragment)
    path = rest
    if rest.startswith("//") and (scheme is not None or not rest.startswith("///")):
        authority, slash, path = rest[2:].partition("/")
        fault = _authority_fault(authority)
        if fault is not None:
            return fault
        path = slash + path
    return _escape_fault(path) or _escape_fault(fragment)


def _authority_fault(authority: str) -> str | None:
    """Go: net/url, parseAuthority and parseHost."""
    user, at, host = authority.rpartition("@")
    if at and not _is_user(user):
        return "what stands before the @ has characters that must be escaped"
    end = host.rfind("]")
    if host.startswith("[") and end < 0:
        return "a bracket in the host is not closed"
    start = end + 1 if host.startswith("[") else host.rfind(":")
    port = host[start:] if start >= 0 else ""
    if not _is_port(port):
        return f"{port[1:]!r}, after the colon, is no port"
    odd = _find_in_host(host)
    if odd:
        return f"the host {host!r} cannot have {odd[0]!r} in it"
    if _find_ascii_escape(host):
        return f"the host {host!r} has an escape that no host can have"
    return _escape_fault(host) or (_escape_fault(user) if at else None)


def _escape_fault(text: str) -> str | None:
    found = _find_bad_escape(text)
    return f"{text[found.start() : found.start() + 3]!r} is no escape; write %25 for a percent sign" if found else None
