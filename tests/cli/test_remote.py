"""What is asked of registries and hubs, what is made of their answers, and where credentials go."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from kservec.io.remote import requests
from kservec.io.remote.hub import Hubs
from kservec.io.remote.registry import Registries, base_of
from kservec.io.remote.requests import RemoteError, UnreachableError, ask, is_safe

from .registry import COMMIT, PASSWORD, TOKEN, USER, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .registry import Server

HUB = "https://huggingface.co/api/models/{repository}/revision/{revision}"


@pytest.fixture(name="server")
def server_fixture(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Server]:
    """A registry on this machine, no credentials, no proxy, and no waiting."""
    monkeypatch.setattr(requests, "PAUSE", 0.0)
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    monkeypatch.delenv("HF_TOKEN", raising=False)
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    with running() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.address)
        yield server


def image(server: Server, name: str = "acme/server:v1") -> str:
    """The name of an image of a server."""
    return f"{server.address.removeprefix('http://')}/{name}"


def log_in(folder: Path, server: Server) -> None:
    """Write credentials for a server as docker login does."""
    pair = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    auths = {"auths": {server.address.removeprefix("http://"): {"auth": pair}}}
    (folder / "config.json").write_text(json.dumps(auths))


def test_a_public_image(server: Server) -> None:
    """A token that everybody gets is asked for once a repository, and the digest comes from a HEAD request."""
    registries = Registries()
    assert {registries.digest(image(server)), registries.digest(image(server, "acme/server:v2"))} == {server.digest}
    asked = [(r.method, r.path.partition("?")[0]) for r in server.requests]
    assert asked == [
        ("HEAD", "/v2/acme/server/manifests/v1"),
        ("GET", "/token"),
        ("HEAD", "/v2/acme/server/manifests/v1"),
        ("HEAD", "/v2/acme/server/manifests/v2"),
    ]
    assert server.requests[1].authorization == ""


def test_a_registry_without_digests_in_its_headers(server: Server) -> None:
    """The manifest itself is fetched then, and its digest worked out."""
    server.mute = True
    assert Registries().digest(image(server)) == server.digest


def test_a_private_image(server: Server, tmp_path: Path) -> None:
    """Credentials of docker login go to the token server, and nowhere else."""
    with pytest.raises(RemoteError, match="gives no token for private/server"):
        Registries().digest(image(server, "private/server:v1"))
    log_in(tmp_path, server)
    server.requests.clear()
    assert Registries().digest(image(server, "private/server:v1")) == server.digest
    assert [r.authorization.partition(" ")[0] for r in server.requests] == ["", "Basic", "Bearer"]


def test_a_registry_that_wants_a_password(server: Server, tmp_path: Path) -> None:
    """Without tokens the credentials themselves are shown; without them the user is told to log in."""
    server.basic = True
    with pytest.raises(RemoteError, match="wants credentials; log in with docker login"):
        Registries().digest(image(server))
    log_in(tmp_path, server)
    assert Registries().digest(image(server)) == server.digest


def test_credentials_of_a_program(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper that Docker's configuration names is asked for them."""
    program = tmp_path / "docker-credential-test"
    program.write_text(f'#!/bin/sh\ncat >/dev/null\necho \'{{"Username":"{USER}","Secret":"{PASSWORD}"}}\'\n')
    program.chmod(0o755)
    (tmp_path / "config.json").write_text('{"credsStore": "test"}')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    assert Registries().digest(image(server, "private/server:v1")) == server.digest


def test_credentials_do_not_follow_redirects(server: Server) -> None:
    """Where a registry redirects to gets no token."""
    with running() as other:
        server.elsewhere = other.address
        with pytest.raises(RemoteError):
            Registries().digest(image(server))
        assert other.requests
        assert {r.authorization for r in other.requests} == {""}
    assert any(TOKEN in r.authorization for r in server.requests)


def test_credentials_never_travel_in_plain_text() -> None:
    """A token server on another machine that speaks plain HTTP gets none."""
    assert [is_safe(f"{start}/x") for start in ("https://a.example", "http://127.0.0.1:5000", "http://a.example")] == [
        True,
        True,
        False,
    ]
    with pytest.raises(RemoteError, match=r"a\.example is not asked, since credentials would travel in plain text"):
        ask("http://a.example/x", secret=f"Basic {TOKEN}")


def test_a_busy_registry_is_asked_again(server: Server) -> None:
    """Two answers that say `later` are followed by a third question."""
    server.busy = 2
    assert Registries().digest(image(server)) == server.digest


def test_what_is_not_there(server: Server) -> None:
    """An image or model that nobody knows is named in the error."""
    with pytest.raises(RemoteError, match=r"does not know .*missing:v1"):
        Registries().digest(image(server, "acme/missing:v1"))
    with pytest.raises(RemoteError, match="answers 404 for model other/model; set HF_TOKEN if it is not public"):
        Hubs().commit(HUB, "other/model", "")


@pytest.mark.usefixtures("server")
def test_a_machine_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked as often as patience goes, and not again for the next image."""
    with running() as gone:
        pass
    registries = Registries()
    with pytest.raises(UnreachableError, match="cannot be reached"):
        registries.digest(image(gone))
    monkeypatch.setattr("kservec.io.remote.registry.ask", None)
    with pytest.raises(UnreachableError, match="cannot be reached"):
        registries.digest(image(gone, "acme/other:v1"))


@pytest.mark.usefixtures("server")
def test_a_machine_that_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for it longer than patience goes."""
    monkeypatch.setattr(requests, "SECONDS", 0.1)
    silent = socket.create_server(("127.0.0.1", 0))
    with silent, pytest.raises(UnreachableError, match="cannot be reached"):
        ask(f"http://127.0.0.1:{silent.getsockname()[1]}/")


@pytest.mark.usefixtures("server")
def test_an_answer_without_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """So much is taken, and no more."""
    monkeypatch.setattr(requests, "LARGEST", 100_000)

    def talk() -> None:
        with talking.accept()[0] as connection, contextlib.suppress(OSError):
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"x" * 4096)

    with socket.create_server(("127.0.0.1", 0)) as talking:
        thread = threading.Thread(target=talk)
        thread.start()
        answer = ask(f"http://127.0.0.1:{talking.getsockname()[1]}/")
        thread.join(20)
    assert not thread.is_alive()
    assert answer.body == b"x" * 100_000


def test_a_model(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """The commit of a branch, with the user's token."""
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    assert Hubs().commit(HUB, "acme/model", "") == COMMIT
    assert Hubs().commit(HUB, "acme/model", "refs/pr/1") == COMMIT
    assert [r.path for r in server.requests] == [
        "/api/models/acme/model/revision/main",
        "/api/models/acme/model/revision/refs%2Fpr%2F1",
    ]
    assert {r.authorization for r in server.requests} == {f"Bearer {TOKEN}"}


@pytest.mark.parametrize(
    ("registry", "address"),
    [
        ("docker.io", "https://registry-1.docker.io"),
        ("ghcr.io", "https://ghcr.io"),
        ("localhost:5000", "http://localhost:5000"),
        ("[::1]:5000", "http://[::1]:5000"),
        ("127.example.com", "https://127.example.com"),
    ],
)
def test_the_address_of_a_registry(registry: str, address: str) -> None:
    """HTTPS, but for this machine."""
    assert base_of(registry) == address
