"""A server of pages that are in memory, for the browser of whoever started it.

It listens on 127.0.0.1 alone, and knows no file: what is not among the pages is not there, whatever a path looks like.
Other web sites cannot read it by a name of theirs that leads here (DNS rebinding), for the header Host has to be its
own, nor have a browser ask for a part of it.
"""

from __future__ import annotations

import json
import re
import secrets
import threading
from html import escape
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlunsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from kservec.core.records import fresh, record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from types import TracebackType
    from wsgiref.types import StartResponse, WSGIEnvironment

ADDRESS = "127.0.0.1"
NAMES = (ADDRESS, "localhost")
INDEX, ICON = "index.html", "favicon.ico"
"""What is asked for as a folder, and what browsers ask every server for."""
OWN = "_watch/"
SCRIPT, EVENTS = f"{OWN}reload.js", f"{OWN}events"
BEAT_SECONDS = 10.0
"""How long nothing is said before a browser is told that the server is still there."""
WITHIN = ("same-origin", "none")
"""What browsers say of requests of the pages themselves, and of their users (Fetch Metadata)."""
HTML = "text/html; charset=utf-8"
TYPES: Mapping[str, str] = {
    "html": HTML,
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "json": "application/json",
    "svg": "image/svg+xml",
    "png": "image/png",
    "txt": "text/plain; charset=utf-8",
}
HEADERS = (
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
)
_find_policy = re.compile(rb'<meta http-equiv="Content-Security-Policy"[^>]*>').sub
RELOADING = b"""\
// Loads the page again when there is a new build, and says so when the last one failed.
const built = new URL(document.currentScript.src).search.slice(1);
const note = document.createElement("p");
note.setAttribute("role", "status");
note.hidden = true;
document.addEventListener("DOMContentLoaded", () => document.body.prepend(note));
new EventSource("/_watch/events").onmessage = (event) => {
  const { build, problem } = JSON.parse(event.data);
  if (build !== built) {
    location.reload();
    return;
  }
  note.textContent = problem;
  note.hidden = !problem;
};
"""


@record
class Site:
    """What is served: pages by their paths, the build that they are of, and what is wrong with the one after it."""

    build: str = ""
    pages: Mapping[str, bytes] = fresh(factory=dict)
    problem: str = ""


class Answer(NamedTuple):
    """An answer: its status, the type of its body, and that."""

    status: str
    kind: str
    body: bytes


class Server(ThreadingMixIn, WSGIServer):
    """A server with a thread for each request, which end with the process."""

    daemon_threads = True


class Quiet(WSGIRequestHandler):
    """Requests that nobody writes a log of, and that have to come in time."""

    timeout = 30

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that is overridden
        """Say nothing."""


class PageServer:
    """Serves the last site that was published. It is used as a context, at whose end it has stopped."""

    def __init__(self, port: int = 0) -> None:
        """Listen on a port, any free one if it is 0.

        Raises:
            OSError: the port is not to be had.
        """
        self.site = Site()
        self.news = threading.Condition()
        self.ended = False
        self.server = make_server(ADDRESS, port, self.answer, server_class=Server, handler_class=Quiet)
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.server.server_port

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        return urlunsplit(("http", f"{ADDRESS}:{self.port}", "/", "", ""))

    def __enter__(self) -> PageServer:
        """Begin to answer."""
        self.thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of all who wait, and of the port."""
        with self.news:
            self.ended = True
            self.news.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def publish(self, pages: Mapping[str, bytes]) -> None:
        """Serve other pages, and have browsers load theirs again."""
        self.tell(Site(build=secrets.token_hex(8), pages=pages))

    def complain(self, problem: str) -> None:
        """Serve what is there, with a note about what is wrong with the build after it."""
        self.tell(Site(build=self.site.build, pages=self.site.pages, problem=problem))

    def tell(self, site: Site) -> None:
        """Serve a site, and wake all who wait for news."""
        with self.news:
            self.site = site
            self.news.notify_all()

    def answer(self, environ: WSGIEnvironment, start: StartResponse) -> Iterable[bytes]:
        """Answer a request (WSGI)."""
        refusal = refused(environ, self.port)
        path = path_of(environ)
        if not refusal and path == EVENTS:
            start("200 OK", [("Content-Type", "text/event-stream"), *HEADERS])
            return self.events()
        status, kind, body = refusal or page(self.site, path)
        start(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *HEADERS])
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    def events(self) -> Iterator[bytes]:
        """The state of the site, and again whenever it changes (server-sent events)."""
        told: Site | None = None
        while not self.ended:
            site = self.site
            yield b": still here\n\n" if site is told else event(site)
            told = site
            with self.news:
                self.news.wait_for(lambda: self.ended or self.site is not told, BEAT_SECONDS)  # noqa: B023 - at once


def refused(environ: WSGIEnvironment, port: int) -> Answer | None:
    """The answer to a request that is not for this server, of another site, or no question; None for all others."""
    host, mark, asked = environ.get("HTTP_HOST", "").rpartition(":")
    if not mark or host not in NAMES or asked != str(port):
        return plain("421 Misdirected Request", "this server answers to 127.0.0.1 and localhost alone")
    if environ.get("HTTP_SEC_FETCH_SITE", "none") not in WITHIN and not is_visit(environ):
        return plain("403 Forbidden", "another site asks for this")
    if environ["REQUEST_METHOD"] not in ("GET", "HEAD"):
        return plain("405 Method Not Allowed", "pages can only be read")
    return None


def is_visit(environ: WSGIEnvironment) -> bool:
    """Whether a browser goes to a page, as by a link of another site; what it then shows, that site cannot read."""
    return environ.get("HTTP_SEC_FETCH_MODE") == "navigate" and environ.get("HTTP_SEC_FETCH_DEST") == "document"


def path_of(environ: WSGIEnvironment) -> str:
    """The path that is asked for, without its first slash; what cannot be a text leads nowhere."""
    path: str = environ.get("PATH_INFO", "/")
    return path.encode("latin-1").decode("utf-8", "replace").removeprefix("/")


def page(site: Site, path: str) -> Answer:
    """The page at a path, with the script that loads it again."""
    if path == SCRIPT:
        return Answer("200 OK", TYPES["js"], RELOADING)
    if path == ICON and path not in site.pages:
        return Answer("204 No Content", TYPES["txt"], b"")
    name = f"{path}{INDEX}" if not path or path.endswith("/") else path
    body = site.pages.get(name)
    if body is None:
        text = "there is no such page" if site.pages else site.problem or "the first build is not done yet"
        return Answer("404 Not Found", HTML, reloading(stand_in(text), site))
    kind = TYPES.get(name.rpartition(".")[2], "application/octet-stream")
    return Answer("200 OK", kind, reloading(body, site) if kind == HTML else body)


def plain(status: str, text: str) -> Answer:
    """An answer of one line."""
    return Answer(status, TYPES["txt"], f"{text}\n".encode())


def stand_in(text: str) -> bytes:
    """A page in the place of one that is not there."""
    head = '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kservec watch</title></head>'
    return f'{head}<body><main><pre>{escape(text)}</pre><p><a href="/">Overview</a></p></main></body></html>'.encode()


def reloading(body: bytes, site: Site) -> bytes:
    """A page with the script that loads it again.

    A policy that stands in the page itself gives way to that of the server, which lets the script ask for news.
    """
    body = _find_policy(b"", body, count=1)
    return body.replace(b"</head>", f'<script src="/{SCRIPT}?{site.build}"></script></head>'.encode(), 1)


def event(site: Site) -> bytes:
    """The state of a site as an event."""
    return f"data: {json.dumps({'build': site.build, 'problem': site.problem})}\n\n".encode()
