"""The git repository around a folder: where it is, where it comes from, and what git does to its files."""

from __future__ import annotations

import subprocess
from pathlib import Path

SECONDS = 10


def repository_top(folder: Path) -> Path:
    """The top of the git repository that an absolute folder is in; the folder itself without one."""
    return next((above for above in (folder, *folder.parents) if (above / ".git").exists()), folder)


def origin_url(folder: Path) -> str:
    """Where a repository comes from, as its remote `origin` says without any credentials; empty if it does not."""
    existing = next((place for place in (folder, *folder.parents) if place.is_dir()), Path())
    said = asked(existing, "config", "--get", "remote.origin.url").strip()
    scheme, mark, rest = said.partition("://")
    if not mark:
        return said
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host.rpartition('@')[2] if scheme.startswith('http') else host}{slash}{path}"


def asked(folder: Path, *arguments: str) -> str:
    """What git answers; nothing where there is no git, no repository or no answer."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=SECONDS, check=False)  # noqa: S603
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def converts_lines(path: Path) -> bool:
    """Whether git may convert the line ends of a file: it is in a repository, and no attribute forbids it."""
    place = next((folder for folder in path.parents if folder.is_dir()), Path())
    answer = asked(place, "check-attr", "text", "eol", "--", str(path.absolute())).splitlines()
    values = {line.rpartition(": ")[2] for line in answer}
    return bool(answer) and not values & {"unset", "lf"}
