"""Names of images: what one is, what a short one stands for, and the same image in another registry."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

DOCKER_HUB, OFFICIAL = "docker.io", "library"
ENDS = ("", "/", ":", "@")
"""What may follow the part of a name that a rule replaces."""

_HOST = "[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
_PART = r"[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*"
_is_reference = re.compile(
    rf"(?:(?:{_HOST}(?:\.{_HOST})*|\[[A-Fa-f0-9:]+\])(?::[0-9]+)?/)?{_PART}(?:/{_PART})*"
    r"(?::\w[\w.-]{0,127})?(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9A-Fa-f]{32,})?",
    re.ASCII,
).fullmatch
_is_identifier = re.compile("[a-f0-9]{64}").fullmatch
LONGEST = 800
"""No reference is longer: 255 characters each for the host and the name, 128 for the tag, the rest for the digest."""


@lru_cache(maxsize=1024)
def is_reference(image: str) -> bool:
    """Whether a node can tell what image is meant, and would ask a registry for it.

    Kubernetes: pkg/util/parsers/parsers.go, ParseImageName, which reads names as Docker does.
    """
    return len(image) <= LONGEST and _is_reference(image) is not None and _is_identifier(image) is None


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
