"""Places to write: every cache that vLLM and its libraries keep must be where this user may write, whoever it is."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from .refusals import Refusal

CANNOT_WRITE: Final = 73
CACHES: Final = (
    "HOME",
    "HF_HOME",
    "HF_HUB_CACHE",
    "VLLM_CACHE_ROOT",
    "VLLM_CONFIG_ROOT",
    "TRITON_CACHE_DIR",
    "TORCHINDUCTOR_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "OUTLINES_CACHE_DIR",
    "FLASHINFER_WORKSPACE_BASE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
)
"""Variables that name a folder to write to."""
NAME: Final = "vllm"
LAST_RESORT: Final = Path("/tmp")  # noqa: S108 - the folder below it carries the user's number


def home_variables(environment: Mapping[str, str]) -> Mapping[str, str]:
    """The variables that have to change for this user: caches that it may not write to go below /tmp.

    A user without an entry among the users gets a name, for libraries ask for one.

    Raises:
        Refusal: there is nowhere to write.
    """
    return dict(changes(environment))


def changes(environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The variables that change."""
    base = LAST_RESORT / f"{NAME}-{os.getuid()}"
    for name in CACHES:
        told = environment.get(name, "")
        if name != "HOME" and not told:
            continue
        if told not in ("", "/") and is_writable(Path(told)):
            continue
        if not is_writable(base):
            message = f"user {os.getuid()} may write neither to {told or 'a home'} ({name}) nor to {LAST_RESORT}"
            raise Refusal(CANNOT_WRITE, message, "mount an emptyDir at /home and one at /tmp")
        yield name, str(base if name == "HOME" else base / name.lower())
    if not environment.get("USER") and not is_known():
        yield "USER", NAME


def is_known() -> bool:
    """Whether this user has an entry among the users."""
    try:
        pwd.getpwuid(os.getuid())
    except KeyError:
        return False
    return True


def is_writable(path: Path) -> bool:
    """Whether a folder may be written to, or made."""
    there = next(place for place in (path, *path.parents) if os.path.exists(place))
    return os.path.isdir(there) and os.access(there, os.W_OK | os.X_OK)
