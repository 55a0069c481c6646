"""Service URLs made ready: whom to connect to, and the first lines of every request there."""

from __future__ import annotations

import base64
from urllib.parse import SplitResult, quote, unquote, urlsplit, urlunsplit

from kservec.spec.graph_texts import url_problem
from kservec_router.messages import Origin, Target

_PORTS = {"http": 80, "https": 443}
_SAFE = "%/:@!$&'()*+,;=~?#[]"


def parse_target(url: str) -> Target:
    """The target of a service URL.

    Raises:
        ValueError: The URL cannot be called; the message says why.
    """
    if problem := url_problem(url):
        raise ValueError(problem)
    parts = urlsplit(url)
    host_name = parts.hostname or ""
    port = parts.port or _PORTS[parts.scheme]
    path = quote(parts.path or "/", safe=_SAFE)
    query = "?" + quote(parts.query, safe=_SAFE) if parts.query else ""
    host = parts.netloc.rpartition("@")[2]
    head = f"POST {path}{query} HTTP/1.1\r\nhost: {host}\r\n{_authorization(parts)}"
    shown = urlunsplit((parts.scheme, host, parts.path, parts.query, ""))
    return Target(shown, Origin(host_name, port, parts.scheme == "https"), head.encode("ascii"))


def _authorization(parts: SplitResult) -> str:
    """The credentials of a URL as a header line, as Go's client sends them."""
    if parts.username is None:
        return ""
    pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
    return f"authorization: Basic {base64.b64encode(pair.encode()).decode()}\r\n"
