"""Names of images: what a short one stands for, and the same image in another registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCKER_HUB, OFFICIAL = "docker.io", "library"
ENDS = ("", "/", ":", "@")
"""What may follow the part of a name that a rule replaces."""


def rewritten(image: str, rules: Mapping[str, str]) -> str:
    """An image in the registry that the longest fitting rule names; the image itself if none fits.

    Rules are beginnings of names, up to the end of a part, and what stands there instead. They fit what is written as
    well as the whole name, so that `docker.io/` fits `kserve/agent`. Tags and digests stay.
    """
    names = dict.fromkeys((image, full_name(image)))
    rests = [(old, name[len(old.rstrip("/")) :]) for old in rules for name in names if fits(old, name)]
    if not rests:
        return image
    old, rest = min(rests, key=lambda fitting: (len(fitting[1]), fitting))
    return rules[old].rstrip("/") + rest


def fits(old: str, name: str) -> bool:
    """Whether a rule's beginning is that of a name."""
    start = old.rstrip("/")
    following = name[len(start) : len(start) + 1]
    return name.startswith(start) and following in (ENDS if old == start else ("/",))


def full_name(image: str) -> str:
    """An image's name with its registry: names without one are Docker Hub's, those without an owner its official ones.

    The first part is a registry if it has a dot or a port, or is localhost.
    """
    first, slash, _ = image.partition("/")
    if not slash:
        return f"{DOCKER_HUB}/{OFFICIAL}/{image}" if first != DOCKER_HUB else image
    return image if "." in first or ":" in first or first == "localhost" else f"{DOCKER_HUB}/{image}"
