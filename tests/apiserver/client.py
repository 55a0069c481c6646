"""A Kubernetes client of few verbs over plain HTTPS. No kubeconfig, no discovery cache."""

from __future__ import annotations

import json
import ssl
from functools import cached_property
from http.client import HTTPSConnection
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

if TYPE_CHECKING:
    from pathlib import Path

Object = dict[str, Any]

OWNER = "kservec"
SECONDS = 30
APPLY, MERGE, JSON = "application/apply-patch+yaml", "application/merge-patch+json", "application/json"
"""What a request carries."""


class RefusedError(Exception):
    """The API server did not accept a request. `reason` is the message of its Status."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(f"{status}: {reason}")
        self.status = status
        self.reason = reason


class ApiServer:
    """One keep-alive connection to an API server on this machine."""

    def __init__(self, folder: Path, port: int) -> None:
        """Trust the certificate and send the token that the server put into its folder."""
        self.port = port
        self._token = (folder / "token").read_text()
        self._trust = ssl.create_default_context(cafile=folder / "certs" / "apiserver.crt")
        self._collections: dict[str, dict[str, tuple[str, bool]]] = {}

    @cached_property
    def _connection(self) -> HTTPSConnection:
        return HTTPSConnection("127.0.0.1", self.port, timeout=SECONDS, context=self._trust)

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def get(self, path: str) -> Object:
        """What lies at a path.

        Raises:
            RefusedError: the answer is no success.
        """
        found: Object = json.loads(self._answer("GET", path))
        return found

    def text(self, path: str) -> str:
        """What lies at a path that does not speak JSON.

        Raises:
            RefusedError: the answer is no success.
        """
        return self._answer("GET", path).decode()

    def apply(self, manifest: Object) -> Object:
        """Apply a manifest server-side, without taking fields from other owners; the object as it is stored then.

        Raises:
            RefusedError: unknown fields, wrong types, duplicate keys, whatever validation finds, or a conflict.
        """
        return self._apply(manifest)

    def tried(self, manifest: Object) -> Object:
        """The object as it would be stored if the manifest was applied now.

        Raises:
            RefusedError: as for `apply`.
        """
        return self._apply(manifest, dryRun="All")

    def take_over(self, manifest: Object) -> Object:
        """Apply a manifest server-side and take its fields from whoever owns them.

        Raises:
            RefusedError: as for `apply`, but for conflicts.
        """
        return self._apply(manifest, force="true")

    def create(self, manifest: Object, manager: str) -> Object:
        """Make an object as a controller does.

        Raises:
            RefusedError: the server does not accept it.
        """
        folder = self._path(manifest).rpartition("/")[0]
        query = urlencode({"fieldManager": manager})
        made: Object = json.loads(self._answer("POST", f"{folder}?{query}", json.dumps(manifest).encode(), JSON))
        return made

    def merge(self, manifest: Object, change: Object) -> Object:
        """Change some fields of the object of a manifest, as `kubectl patch --type=merge` does.

        Raises:
            RefusedError: the server does not accept the change.
        """
        body = json.dumps(change).encode()
        changed: Object = json.loads(self._answer("PATCH", self._path(manifest), body, MERGE))
        return changed

    def read(self, manifest: Object) -> Object:
        """The stored object of a manifest.

        Raises:
            RefusedError: it is not there, or the server does not know its kind.
        """
        return self.get(self._path(manifest))

    def _apply(self, manifest: Object, **more: str) -> Object:
        query = urlencode({"fieldManager": OWNER, "fieldValidation": "Strict", **more})
        body = json.dumps(manifest).encode()
        stored: Object = json.loads(self._answer("PATCH", f"{self._path(manifest)}?{query}", body))
        return stored

    def _path(self, manifest: Object) -> str:
        root = root_of(manifest["apiVersion"])
        plural, namespaced = self._kinds(root).get(manifest["kind"], ("", False))
        if not plural:
            raise RefusedError(404, f"no kind {manifest['kind']} in {manifest['apiVersion']}")
        metadata = manifest["metadata"]
        folder = f"/namespaces/{quote(metadata['namespace'])}" if namespaced else ""
        return f"{root}{folder}/{plural}/{quote(metadata['name'])}"

    def is_namespaced(self, manifest: Object) -> bool:
        """Whether objects of this kind live in a namespace; so do those of a kind that the server does not know."""
        return self._kinds(root_of(manifest["apiVersion"])).get(manifest["kind"], ("", True))[1]

    def _kinds(self, root: str) -> dict[str, tuple[str, bool]]:
        if root not in self._collections:
            try:
                listed = self.get(root)["resources"]
            except RefusedError as refused:
                if refused.status != 404:
                    raise
                return {}
            own = (r for r in listed if "/" not in r["name"])
            self._collections[root] = {r["kind"]: (r["name"], r["namespaced"]) for r in own}
        return self._collections[root]

    def _answer(self, method: str, path: str, body: bytes | None = None, kind: str = APPLY) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        if body is not None:
            headers["Content-Type"] = kind
        self._connection.request(method, path, body, headers)
        response = self._connection.getresponse()
        content = response.read()
        if response.status // 100 != 2:  # unknown fields come as 500, bad values as 422: only a success is one
            raise RefusedError(response.status, message_of(content))
        return content


def root_of(api_version: str) -> str:
    """The path of an API group's version: the core group has a place of its own."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


def message_of(content: bytes) -> str:
    """What a Status object says, or the plain text that came instead of one."""
    try:
        return str(json.loads(content)["message"])
    except (ValueError, KeyError, TypeError):
        return content.decode(errors="replace")
