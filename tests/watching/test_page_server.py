"""The server of pages, over real sockets."""

from __future__ import annotations

import json
import socket
from http.client import HTTPConnection
from typing import TYPE_CHECKING

import pytest

from kservec.io.page_server import ADDRESS, PageServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from http.client import HTTPResponse

SECONDS = 10
PAGES = {
    "index.html": b"<!doctype html><html><head><title>a</title></head><body>overview</body></html>",
    "units/ml/a/index.html": b"<html><head></head><body>unit</body></html>",
    "style.css": b"body {}",
    "picture.svg": b"<svg/>",
    "odd name/é.html": b"<html><head></head></html>",
}


@pytest.fixture(name="server")
def server_fixture() -> Iterator[PageServer]:
    """A server with pages."""
    with PageServer() as server:
        server.publish(PAGES)
        yield server


def ask(server: PageServer, path: str, method: str = "GET", **headers: str) -> HTTPResponse:
    """The answer to a request; of a header `Sec_Fetch_Site` is written with dashes."""
    connection = HTTPConnection(ADDRESS, server.port, timeout=SECONDS)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    return connection.getresponse()


@pytest.mark.parametrize(
    ("path", "status", "kind", "text"),
    [
        ("/", 200, "text/html; charset=utf-8", b"overview"),
        ("/index.html", 200, "text/html; charset=utf-8", b"overview"),
        ("/units/ml/a/", 200, "text/html; charset=utf-8", b"unit"),
        ("/style.css", 200, "text/css; charset=utf-8", b"body {}"),
        ("/picture.svg", 200, "image/svg+xml", b"<svg/>"),
        ("/odd%20name/%C3%A9.html", 200, "text/html; charset=utf-8", b"<html>"),
        ("/units/ml/a", 404, "text/html; charset=utf-8", b"no such page"),
        ("/nothing", 404, "text/html; charset=utf-8", b"no such page"),
        ("/_watch/reload.js", 200, "text/javascript; charset=utf-8", b"EventSource"),
    ],
)
def test_pages(server: PageServer, path: str, status: int, kind: str, text: bytes) -> None:
    """Pages are found by their paths, folders by their index."""
    answer = ask(server, path)
    assert (answer.status, answer.headers["Content-Type"]) == (status, kind)
    assert text in answer.read()


@pytest.mark.parametrize(
    "path",
    [
        "/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
        "/units/../../../../etc/passwd", "/etc/passwd%00.html", "/\\..\\..\\etc\\passwd", "/file:///etc/passwd",
        "/%ff%fe/..", "/?/../../etc/passwd/",
    ],
)  # fmt: skip
def test_no_path_leads_to_a_file(server: PageServer, path: str) -> None:
    """Whatever is asked for, nothing but the pages is ever sent."""
    with socket.create_connection((ADDRESS, server.port), timeout=SECONDS) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {ADDRESS}:{server.port}\r\nConnection: close\r\n\r\n".encode()
        )
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith((b"HTTP/1.0 404", b"HTTP/1.0 200 OK"))
    assert b"root:" not in answer


@pytest.mark.parametrize(
    "host",
    [
        "evil.example.com", "evil.example.com:PORT", "127.0.0.1", "localhost:1", "", "[::1]:PORT",
        "127.0.0.1.evil.example.com:PORT", "evil@127.0.0.1:PORT",
    ],
)  # fmt: skip
def test_another_name_for_the_machine_is_refused(server: PageServer, host: str) -> None:
    """A site whose name leads to 127.0.0.1 all of a sudden gets nothing."""
    answer = ask(server, "/", Host=host.replace("PORT", str(server.port)))
    assert answer.status == 421
    assert b"overview" not in answer.read()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_its_own_names(server: PageServer, host: str) -> None:
    """Both names that people use for their machine will do."""
    assert ask(server, "/", Host=f"{host}:{server.port}").status == 200


@pytest.mark.parametrize(
    ("site", "mode", "destination", "status"),
    [
        ("cross-site", "no-cors", "script", 403),
        ("same-site", "no-cors", "image", 403),
        ("cross-site", "cors", "empty", 403),
        ("cross-site", "navigate", "iframe", 403),
        ("cross-site", "navigate", "document", 200),
        ("same-origin", "no-cors", "style", 200),
        ("none", "navigate", "document", 200),
    ],
)
def test_parts_for_other_sites_are_refused(
    server: PageServer, site: str, mode: str, destination: str, status: int
) -> None:
    """Another site may lead people here, but not take anything into its own pages."""
    headers = {"Sec_Fetch_Site": site, "Sec_Fetch_Mode": mode, "Sec_Fetch_Dest": destination}
    assert ask(server, "/style.css", **headers).status == status


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_can_be_changed(server: PageServer, method: str) -> None:
    """Pages can only be read."""
    assert ask(server, "/", method).status == 405


def test_a_question_without_an_answer(server: PageServer) -> None:
    """HEAD gets what GET does, but for the body."""
    answer = ask(server, "/style.css", "HEAD")
    assert (answer.status, answer.headers["Content-Length"], answer.read()) == (200, "7", b"")


def test_what_browsers_may_do(server: PageServer) -> None:
    """A strict policy comes with everything: no script but ours, nothing from elsewhere, in nobody's frame."""
    for path in ("/", "/style.css", "/nothing", "/_watch/reload.js"):
        headers = ask(server, path).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        assert headers["Cache-Control"] == "no-store"


def test_the_policy_of_a_page_gives_way(server: PageServer) -> None:
    """A page that forbids to ask for news could not be loaded again; the policy of the server holds instead."""
    policy = b"""<meta http-equiv="Content-Security-Policy" content="default-src 'none'">"""
    server.publish({"index.html": b"<head>" + policy + b"<title>a</title></head>"})
    answer = ask(server, "/")
    assert b"Content-Security-Policy" not in answer.read()
    assert "connect-src 'self'" in answer.headers["Content-Security-Policy"]


def test_it_listens_on_the_machine_alone(server: PageServer) -> None:
    """No other address of the machine answers."""
    assert server.server.socket.getsockname()[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.port}/"


def states(answer: HTTPResponse) -> Iterator[dict[str, str]]:
    """The states that are told, one after the other."""
    while line := answer.readline():
        if line.startswith(b"data: "):
            yield json.loads(line[6:])


def test_browsers_are_told_of_a_new_build(server: PageServer) -> None:
    """The state comes at once, and again when there is something new; pages know the build that they are of."""
    told = states(ask(server, "/_watch/events"))
    first = next(told)
    assert f"/_watch/reload.js?{first['build']}".encode() in ask(server, "/").read()
    server.complain("2 errors")
    assert next(told) == {"build": first["build"], "problem": "2 errors"}
    server.publish({"index.html": b"<head></head>new"})
    second = next(told)
    assert second["build"] != first["build"]
    assert second["problem"] == ""
    body = ask(server, "/").read()
    assert b"new" in body
    assert second["build"].encode() in body


def test_no_icon_is_no_mistake(server: PageServer) -> None:
    """What every browser asks for without being told to leads to no error in its console."""
    assert ask(server, "/favicon.ico").status == 204


def test_before_the_first_build() -> None:
    """There is a page that says what is wrong, as text, and that is loaded again like any other."""
    with PageServer() as server:
        server.complain("1 error <b>")
        answer = ask(server, "/")
        body = answer.read()
        assert answer.status == 404
        assert b"1 error &lt;b&gt;" in body
        assert b"/_watch/reload.js" in body


def test_at_the_end_nobody_waits() -> None:
    """Who listens for news is let go, and the port is free again."""
    with PageServer() as server:
        told = states(ask(server, "/_watch/events"))
        next(told)
        port = server.port
    assert list(told) == []
    with PageServer(port) as again:
        assert again.port == port


def test_a_port_that_is_taken(server: PageServer) -> None:
    """A port that somebody has is an error of the system's."""
    with pytest.raises(OSError, match="in use"):
        PageServer(server.port)
