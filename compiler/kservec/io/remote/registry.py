"""Registries of images: the digest that a tag stands for, by the OCI distribution API and its tokens."""

from __future__ import annotations

import hashlib
import re
import urllib.parse
from typing import TYPE_CHECKING

from kservec.core.golang.decoding import decode
from kservec.core.lock import DEFAULT_REGISTRY, DEFAULT_TAG, Image, read_image
from kservec.io.remote.docker_config import credentials_for
from kservec.io.remote.requests import Answer, RemoteError, Silence, ask, is_here, is_safe

if TYPE_CHECKING:
    from collections.abc import Mapping

HUB_HOST = "registry-1.docker.io"
MANIFESTS = ", ".join((
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.docker.distribution.manifest.list.v2+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.docker.distribution.manifest.v2+json",
))  # fmt: skip
"""Indexes first: their digest stands for the image on every architecture."""
DIGEST_HEADER, CHALLENGE = "docker-content-digest", "www-authenticate"
_is_digest = re.compile(r"sha256:[0-9a-f]{64}").fullmatch
_find_fields = re.compile(r'(\w+)="([^"]*)"').findall
SCHEMES = ("http", "https")
FOUND, UNKNOWN, REFUSED = 200, 404, (401, 403)


class Registries:
    """Registries as they are asked: tokens are kept for as long as the run."""

    def __init__(self) -> None:
        self.tokens: dict[tuple[str, str], str] = {}
        self.silent = Silence()

    def digest(self, text: str) -> str:
        """The digest of an image by its name.

        Raises:
            RemoteError: the registry does not answer, does not know the image, or does not let us see it.
        """
        image = read_image(text)
        url = f"{base_of(image.registry)}/v2/{image.repository}/manifests/{image.tag or DEFAULT_TAG}"
        with self.silent.asking(image.registry):
            answer = self.manifest(image, url, "HEAD")
        if answer.status == FOUND and _is_digest(answer.headers.get(DIGEST_HEADER, "")):
            return answer.headers[DIGEST_HEADER]
        answer = self.manifest(image, url, "GET")
        if answer.status != FOUND:
            raise RemoteError(f"{image.registry} {refusal(answer.status)} {text}")
        return f"sha256:{hashlib.sha256(answer.body).hexdigest()}"

    def manifest(self, image: Image, url: str, method: str) -> Answer:
        """The answer to the question for a manifest, with the credentials that the registry asks for."""
        key = (image.registry, image.repository)
        answer = ask(url, method=method, headers={"Accept": MANIFESTS}, secret=self.tokens.get(key, ""))
        challenge = answer.headers.get(CHALLENGE, "")
        if answer.status not in REFUSED or not challenge:
            return answer
        self.tokens[key] = self.authorization(image, challenge)
        return ask(url, method=method, headers={"Accept": MANIFESTS}, secret=self.tokens[key])

    def authorization(self, image: Image, challenge: str) -> str:
        """What a registry wants to be shown: the user's credentials, or a token that its own server gives for them.

        Raises:
            RemoteError: there is none to be had.
        """
        scheme, _, rest = challenge.partition(" ")
        own = credentials_for(image.registry)
        if scheme.lower() == "basic":
            if not own:
                raise RemoteError(f"{image.registry} wants credentials; log in with docker login {image.registry}")
            return own
        fields = dict(_find_fields(rest))
        realm = fields.get("realm", "")
        if urllib.parse.urlsplit(realm).scheme not in SCHEMES:
            raise RemoteError(f"{image.registry} does not say who gives tokens for it")
        scope = fields.get("scope") or f"repository:{image.repository}:pull"
        query = {"scope": scope, **({"service": fields["service"]} if "service" in fields else {})}
        address = f"{realm}{'&' if '?' in realm else '?'}{urllib.parse.urlencode(query)}"
        answer = ask(address, secret=own if own and is_safe(address) else "")
        token = token_in(answer)
        if answer.status != FOUND or not token:
            raise RemoteError(f"{image.registry} gives no token for {image.repository} ({answer.status})")
        return f"Bearer {token}"


def base_of(registry: str) -> str:
    """The address of a registry. On this machine it speaks plain HTTP, as Docker has it."""
    host = HUB_HOST if registry == DEFAULT_REGISTRY else registry
    scheme = "http" if is_here(urllib.parse.urlsplit(f"//{host}").hostname or "") else "https"
    return f"{scheme}://{host}"


def token_in(answer: Answer) -> str:
    """The token in the answer of a token server."""
    try:
        fields: Mapping[str, object] = decode(answer.body.decode())
        return str(fields.get("token") or fields.get("access_token") or "")
    except (ValueError, AttributeError):
        return ""


def refusal(status: int) -> str:
    """Why a registry gives no manifest."""
    if status == UNKNOWN:
        return "does not know"
    return "does not let us see" if status in REFUSED else f"answers {status} to the question for"
