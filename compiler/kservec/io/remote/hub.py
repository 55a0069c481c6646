"""Hubs of models: the commit that a revision of a model stands for."""

from __future__ import annotations

import json
import os
import urllib.parse

from kservec.core.lock import is_commit
from kservec.io.remote.requests import RemoteError, Silence, ask, place

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
        quoted = urllib.parse.quote(revision or DEFAULT_REVISION, safe="")
        address = with_endpoint(hub).format(repository=urllib.parse.quote(name), revision=quoted)
        token = os.environ.get(TOKEN, "")
        with self.silent.asking(host := place(address)):
            answer = ask(address, secret=f"Bearer {token}" if token else "")
        if answer.status != FOUND:
            hint = f"; set {TOKEN} if it is not public" if answer.status in (401, 403, 404) else ""
            raise RemoteError(f"{host} answers {answer.status} for model {name}{hint}")
        if not is_commit(commit := commit_in(answer.body)):
            raise RemoteError(f"{host} names no commit of model {name}")
        return commit


def commit_in(body: bytes) -> str:
    """The commit in the answer of a hub; empty if there is none."""
    try:
        return str(json.loads(body)["sha"])
    except (ValueError, KeyError, TypeError):
        return ""


def with_endpoint(hub: str) -> str:
    """The address of the hub, or of the mirror that the environment names."""
    mirror = os.environ.get(ENDPOINT, "").rstrip("/")
    parts = urllib.parse.urlsplit(hub)
    return f"{mirror}{parts.path}" if mirror else hub
