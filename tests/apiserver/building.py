"""The API server's executable: built by Go from `server/`, kept in the user's cache folder until its sources change."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SOURCES = Path(__file__).parent / "server"
KUBERNETES = "v1.35.4"
"""What the server calls itself; `go.mod` requires the same version."""

USUAL_PLACE = "/usr/local/go/bin/go"


class NoGoError(Exception):
    """There is no Go to build the server with."""


def go() -> str:
    """The path of the Go command.

    Raises:
        NoGoError: there is none.
    """
    found = shutil.which("go") or shutil.which(USUAL_PLACE)
    if found is None:
        raise NoGoError(f"the API server is built with Go 1.25 or later; there is no `go` in PATH nor at {USUAL_PLACE}")
    return found


def executable(announce: Callable[[str], None]) -> Path:
    """The server's executable, which is built first unless these sources were built before.

    Two runs that want it at the same time make one build: the second waits for the first.

    Args:
        announce: told before a build, since it takes long.

    Raises:
        NoGoError: it must be built, and there is no Go.
        subprocess.CalledProcessError: the build failed; the compiler's messages went to standard error.
    """
    folder = cache_folder() / fingerprint()
    built = folder / "server"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not built.exists():
            announce(f"building the API server into {built}: once, 3 to 8 minutes on two cores")
            unfinished = folder / "unfinished"
            subprocess.run([go(), "build", *flags(), "-o", str(unfinished), "."], cwd=SOURCES, check=True)  # noqa: S603
            unfinished.replace(built)
    return built


def flags() -> list[str]:
    """Flags of `go build`. The version is stamped in as Kubernetes' own builds do, since clients cannot parse none."""
    major, minor, _ = KUBERNETES.removeprefix("v").split(".")
    stamp = {"gitVersion": KUBERNETES, "gitMajor": major, "gitMinor": minor}
    packages = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
    linked = ["-s", "-w", *(f"-X {package}.{name}={value}" for package in packages for name, value in stamp.items())]
    return ["-trimpath", "-buildvcs=false", "-ldflags", " ".join(linked)]


def fingerprint() -> str:
    """Changes with the sources, the versions of what they import, and the way of building."""
    digest = hashlib.sha256(repr(flags()).encode())
    for name in ("go.mod", "go.sum", "main.go"):
        content = (SOURCES / name).read_bytes()
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]


def cache_folder() -> Path:
    """Where executables are kept: outside of the repository, for all checkouts of a user."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "kservec" / "apiserver"
