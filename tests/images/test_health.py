"""The health check of the images."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from .programs import Place


class Answers(BaseHTTPRequestHandler):
    """A server that is well as long as its `status` says so."""

    status = 200

    def do_GET(self) -> None:
        """Answer /health."""
        self.send_response(self.status if self.path == "/health" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[HTTPServer]:
    """A server at a port of its own."""
    with HTTPServer(("127.0.0.1", 0), Answers) as made:
        thread = threading.Thread(target=made.serve_forever)
        thread.start()
        yield made
        made.shutdown()
        thread.join()


@pytest.mark.parametrize(("status", "result"), [(200, 0), (503, 1)])
def test_it_is_what_the_server_says(
    place: Place, server: HTTPServer, monkeypatch: pytest.MonkeyPatch, status: int, result: int
) -> None:
    """Healthy is who answers with 200, and nothing is printed."""
    monkeypatch.setattr(Answers, "status", status)
    done = place.run("health", PORT=str(server.server_port))
    assert (done.status, done.said) == (result, "")


@pytest.mark.parametrize(("told", "status"), [("x", 64), ("0x50", 64), ("-1", 64), ("70000", 78), ("0", 78)])
def test_a_port_that_is_none_is_refused(place: Place, told: str, status: int) -> None:
    """It is told apart from a server that is not well."""
    done = place.run("health", PORT=told)
    assert done.status == status
    assert done.said.startswith("kservec-vllm: error: PORT is ")
    assert "Traceback" not in done.said


def test_the_port_may_be_an_argument(place: Place) -> None:
    """It wins over the variable; nothing else is one."""
    assert place.run("health", "--port=1", PORT="x").status == 1
    assert place.run("health", "--port", "70000").status == 78
    assert place.run("--dry-run", "health", "--port=1").status == 1
    done = place.run("health", "acme/chat")
    assert (done.status, done.records) == (64, [])
    assert "health is told 'acme/chat'" in done.said


def test_nobody_there_is_not_healthy(place: Place) -> None:
    """A port at which nobody listens."""
    assert place.run("health", PORT="1").status == 1
