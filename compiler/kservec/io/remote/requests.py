"""One request over HTTP with patience: a time limit, several tries, the system's proxies; and why it failed.

Credentials never follow a redirect, and never leave over plain HTTP but to this machine.
"""

from __future__ import annotations

import contextlib
import http.client
import ipaddress
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec._version import __version__

if TYPE_CHECKING:
    from email.message import Message

SECONDS = 20
TRIES = 3
PAUSE = 0.5
LARGEST = 16 << 20
BUSY = (408, 425, 429, 500, 502, 503, 504)
AGENT = f"kservec/{__version__}"


class RemoteError(Exception):
    """Something that another machine was asked for could not be had. The text says what, and why."""


class UnreachableError(RemoteError):
    """Another machine does not answer at all, so that there is no use in asking it again."""


class Silence:
    """Hosts that did not answer, so that nobody waits for one of them twice."""

    def __init__(self) -> None:
        self.hosts: dict[str, UnreachableError] = {}

    @contextlib.contextmanager
    def asking(self, host: str) -> Iterator[None]:
        """Ask a host.

        Raises:
            UnreachableError: it has not answered before, or does not now.
        """
        if host in self.hosts:
            raise self.hosts[host]
        try:
            yield
        except UnreachableError as error:
            self.hosts[host] = error
            raise


class Answer(NamedTuple):
    """What came back: the status, the headers by their lower-case names, and the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def ask(url: str, *, method: str = "GET", headers: Mapping[str, str] | None = None, secret: str = "") -> Answer:
    """Make a request, again where the other side is busy or cannot be reached for the moment.

    Args:
        url: the address.
        method: GET or HEAD.
        headers: those that are no secret.
        secret: the value of the header Authorization; it is not sent on to where a redirect leads.

    Raises:
        UnreachableError: nobody answers.
        RemoteError: the address is no place to send a secret to.
    """
    if secret and not is_safe(url):
        raise RemoteError(f"{place(url)} is not asked, since credentials would travel in plain text")
    request = urllib.request.Request(url, method=method, headers={"User-Agent": AGENT, **(headers or {})})  # noqa: S310
    if secret:
        request.add_unredirected_header("Authorization", secret)
    for attempt in range(1, TRIES + 1):
        try:
            answer = once(request)
        except OSError as error:
            if attempt == TRIES:
                raise UnreachableError(f"{place(url)} cannot be reached: {reason(error)}") from None
        except http.client.HTTPException as error:
            if attempt == TRIES:
                raise UnreachableError(f"{place(url)} answers in no HTTP: {type(error).__name__}") from None
        else:
            if answer.status not in BUSY or attempt == TRIES:
                return answer
        time.sleep(PAUSE * attempt)
    raise AssertionError


def once(request: urllib.request.Request) -> Answer:
    """The answer to one request, whatever its status."""
    try:
        with urllib.request.urlopen(request, timeout=SECONDS) as response:  # noqa: S310 - http and https only
            return Answer(response.status, lower(response.headers), response.read(LARGEST))
    except urllib.error.HTTPError as error:
        with error:
            return Answer(error.code, lower(error.headers), error.read(LARGEST))


def lower(headers: Message) -> dict[str, str]:
    """Headers by their names in lower case."""
    return {name.lower(): value for name, value in headers.items()}


def is_safe(url: str) -> bool:
    """Whether nobody on the way can read what is sent to an address."""
    parts = urllib.parse.urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and is_here(parts.hostname or ""))


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def place(url: str) -> str:
    """The host that an address leads to, for messages: paths and queries may hold secrets."""
    return urllib.parse.urlsplit(url).netloc.rpartition("@")[2]


def reason(error: OSError) -> str:
    """Why a host cannot be reached, in a few words."""
    inner = error.reason if isinstance(error, urllib.error.URLError) else error
    if isinstance(inner, TimeoutError):
        return f"no answer within {SECONDS} seconds"
    return str(getattr(inner, "strerror", None) or inner)
