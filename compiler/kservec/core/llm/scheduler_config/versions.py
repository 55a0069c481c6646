"""Versions of the scheduler: which of two is the later one.

KServe: github.com/coreos/go-semver
"""

from __future__ import annotations

import re
from typing import Final

from kservec.core.digits import integer

Version = tuple[int, int, int, bool]
"""Major, minor, patch; and whether it is a release, for what comes before one is older."""

NONE: Final = "0.0.0"
_match = re.compile(r"(\d+)\.(\d+)\.(\d+)(-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?\Z", re.ASCII).match


def parse_version(text: str) -> Version | None:
    """A version; None if the text is none. Without a text it is the oldest of all."""
    found = _match(text or NONE)
    if found is None:
        return None
    major, minor, patch, before = found.groups()
    return integer(major), integer(minor), integer(patch), before is None


def since(major: int, minor: int) -> Version:
    """The first release of a minor version."""
    return major, minor, 0, True
