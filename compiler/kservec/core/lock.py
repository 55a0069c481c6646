"""Lock: the digests of images and the revisions of models that a project has pinned. Values; no file, no network."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import entity, fresh

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.paths import Json

LOCK_FILE = "kservec.lock.json"
DIGEST = "@sha256:"
COMMIT_LENGTH, HEXADECIMAL = 40, "0123456789abcdef"
DEFAULT_REGISTRY, DEFAULT_FOLDER, DEFAULT_TAG = "docker.io", "library", "latest"


@entity
class Lock:
    """What is pinned: digests (`sha256:...`) by the images as they are written, commits by the URIs of models.

    `facts` are what is written down of the config.json of models, by their URIs too. `versions` are those of KServe,
    the catalog and the schemas that it was made with.
    """

    images: Mapping[str, str] = fresh(factory=dict)
    models: Mapping[str, str] = fresh(factory=dict)
    versions: Mapping[str, str] = fresh(factory=dict)
    facts: Mapping[str, Json] = fresh(factory=dict)

    def image(self, image: str) -> str:
        """An image with its digest; as it is where it has one, or none is known."""
        digest = self.images.get(image)
        return image if digest is None or DIGEST in image else f"{image}@{digest}"


def is_commit(revision: str) -> bool:
    """Whether a revision is a full commit, which is the same for ever."""
    return len(revision) == COMMIT_LENGTH and all(c in HEXADECIMAL for c in revision)


class Image(NamedTuple):
    """The name of an image, taken apart as container runtimes do. `tag` and `digest` are empty where not written."""

    registry: str
    repository: str
    tag: str = ""
    digest: str = ""


@lru_cache(maxsize=1024)
def read_image(text: str) -> Image:
    """An image by its parts.

    What comes before the first slash is a registry if it has a dot or a port, or is localhost; other names are on
    docker.io, and those without a slash in its folder `library`.
    """
    name, _, digest = text.partition("@")
    first, slash, rest = name.partition("/")
    if not slash or not ("." in first or ":" in first or first == "localhost"):
        first, rest = DEFAULT_REGISTRY, name
    repository, _, tag = rest.partition(":")
    if first == DEFAULT_REGISTRY and "/" not in repository:
        repository = f"{DEFAULT_FOLDER}/{repository}"
    return Image(first, repository, tag, digest)
