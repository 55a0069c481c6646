"""Hubs of models: the commit that a revision of a model stands for."""

from __future__ import annotations

import os
import urllib.parse
from typing import TYPE_CHECKING

from kservec.core.golang.decoding import decode
from kservec.core.lock import is_commit
from kservec.io.remote.requests import RemoteError, Silence, ask, place

if TYPE_CHECKING:
    from kservec.core.paths import Json

ENDPOINT, TOKEN = "HF_ENDPOINT", "HF_TOKEN"
DEFAULT_REVISION = "main"
FOUND = 200


class Hubs:
    """Hubs as they are asked; one that does not answer is not asked again."""

    def __init__(self) -> None:
        self.silent = Silence()

    def commit(self, hub: str, name: str, revision: str) -> str:
        """The commit of a revision.

        Args:
            hub: the address that is asked, with `{repository}` and `{revision}` in it.
            name: the model, `owner/name`.
            revision: a branch or tag; empty for the default one.

        Raises:
            RemoteError: the hub does not answer, does not know the model, or does not let us see it.
        """
        address = address_of(hub, name, revision)
        commit = str(field_in(self.answer(address, name), "sha"))
        if not is_commit(commit):
            raise RemoteError(f"{place(address)} names no commit of model {name}")
        return commit

    def described(self, hub: str, config: str, name: str, commit: str) -> tuple[Json, Json]:
        """What the file that describes a model says, and how many elements of each type its weights have.

        Args:
            hub: as for a commit.
            config: the address of the file, with the same marks in it.
            name: the model, `owner/name`.
            commit: the revision.

        Raises:
            RemoteError: the hub does not answer, does not have the file, or does not let us see it.
        """
        weights = field_in(self.answer(address_of(hub, name, commit), name), "safetensors")
        counts = weights.get("parameters") if isinstance(weights, dict) else None
        return value_of(self.answer(address_of(config, name, commit), name)), counts

    def answer(self, address: str, name: str) -> bytes:
        """What is at an address.

        Raises:
            RemoteError: it cannot be had.
        """
        token = os.environ.get(TOKEN, "")
        with self.silent.asking(host := place(address)):
            answer = ask(address, secret=f"Bearer {token}" if token else "")
        if answer.status != FOUND:
            hint = f"; set {TOKEN} if it is not public" if answer.status in (401, 403, 404) else ""
            raise RemoteError(f"{host} answers {answer.status} for model {name}{hint}")
        return answer.body


def address_of(template: str, name: str, revision: str) -> str:
    """An address with a model and its revision in it."""
    quoted = urllib.parse.quote(revision or DEFAULT_REVISION, safe="")
    return with_endpoint(template).format(repository=urllib.parse.quote(name), revision=quoted)


def value_of(body: bytes) -> Json:
    """The JSON of an answer; None if it is none."""
    try:
        return decode(body.decode())
    except ValueError:
        return None


def field_in(body: bytes, name: str) -> Json:
    """A field of the JSON object in an answer; empty if there is none."""
    value = value_of(body)
    return value.get(name, "") if isinstance(value, dict) else ""


def with_endpoint(hub: str) -> str:
    """The address of the hub, or of the mirror that the environment names."""
    mirror = os.environ.get(ENDPOINT, "").rstrip("/")
    parts = urllib.parse.urlsplit(hub)
    return f"{mirror}{parts.path}" if mirror else hub
