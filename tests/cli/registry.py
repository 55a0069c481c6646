"""A registry of images and a hub of models on this machine, as far as `kservec lock --update` asks them."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD, TOKEN = "reader", "the-value-must-not-appear", "the-token-must-not-appear"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
MANIFEST = b'{"schemaVersion":2}'


class Request(NamedTuple):
    """What was asked, and with which credentials."""

    method: str
    path: str
    authorization: str


class Server:
    """A registry that gives tokens to anybody, but for `private/` only to its user; and a hub.

    `busy` is how often it answers 503 before it works; `mute`: HEAD requests have no digest; `basic`: it wants
    credentials instead of tokens; `elsewhere` is where it redirects manifests to. `model` is the config.json of its
    models, `counts` what their files hold.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.busy = 0
        self.mute = False
        self.basic = False
        self.elsewhere = ""
        self.realm = ""
        self.counts = {"BF16": 16, "F8_E4M3": 64}
        self.model: dict[str, object] = {}
        self.address = ""

    @property
    def digest(self) -> str:
        """The digest of every image that it has."""
        return f"sha256:{hashlib.sha256(MANIFEST).hexdigest()}"


class Answering(BaseHTTPRequestHandler):
    """What answers the requests for a registry."""

    registry: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name of the base class
        """Say nothing."""
        del format, args

    def do_HEAD(self) -> None:
        """Answer without a body."""
        self.do_GET()

    def do_GET(self) -> None:
        """Keep the request, and answer it."""
        self.registry.requests.append(Request(self.command, self.path, self.headers.get("Authorization", "")))
        if self.registry.busy:
            self.registry.busy -= 1
            self.reply(503, b"")
        else:
            path = urlsplit(self.path).path
            answer = self.token if path == "/token" else self.model if path.startswith("/api/") else self.manifest
            (self.config if path.endswith("/config.json") else answer)()

    def reply(self, status: int, body: bytes, **headers: str) -> None:
        """Send an answer."""
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def token(self) -> None:
        """Give a token."""
        private = "private/" in parse_qs(urlsplit(self.path).query)["scope"][0]
        own = "Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        if private and self.headers.get("Authorization") != own:
            self.reply(401, b"{}")
        else:
            self.reply(200, json.dumps({"token": TOKEN}).encode())

    def manifest(self) -> None:
        """Give a manifest, or say where a token is to be had."""
        wanted = "Basic" if self.registry.basic else "Bearer"
        if not self.headers.get("Authorization", "").startswith(wanted):
            realm = self.registry.realm or f"{self.registry.address}/token"
            fields = f'{wanted} realm="{realm}",service="test"'
            self.reply(401, b"", WWW_Authenticate=fields)
        elif self.registry.elsewhere:
            self.reply(307, b"", Location=self.registry.elsewhere + self.path)
        elif "/missing" in self.path:
            self.reply(404, b"")
        else:
            self.reply(200, MANIFEST, **({} if self.registry.mute else {"Docker_Content_Digest": self.registry.digest}))

    def model(self) -> None:
        """Give the commit of a model, and how many elements of each type its files have."""
        found = "/acme/" in self.path
        model = {"sha": COMMIT, "safetensors": {"parameters": self.registry.counts}}
        self.reply(200 if found else 404, json.dumps(model).encode() if found else b"")

    def config(self) -> None:
        """Give the config.json of a model."""
        self.reply(200 if self.registry.model else 404, json.dumps(self.registry.model).encode())


@contextlib.contextmanager
def running() -> Iterator[Server]:
    """A server that runs on a free port of this machine."""
    server = Server()
    listening = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Answering,), {"registry": server}))
    server.address = f"http://127.0.0.1:{listening.server_port}"
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join()
