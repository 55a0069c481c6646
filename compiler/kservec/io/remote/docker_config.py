"""Credentials of registries, as `docker login` keeps them: in its file, or in a program that it names.

They are read when a registry asks for them, handed to it alone, and never shown.
"""

from __future__ import annotations

import base64
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kservec.core.golang.decoding import decode

HUB = "https://index.docker.io/v1/"
"""What Docker calls its own registry there."""
SECONDS = 20
_is_program = re.compile(r"[A-Za-z0-9._-]+").fullmatch


def credentials_for(registry: str) -> str:
    """The value of an Authorization header for a registry; empty if there are no credentials for it."""
    config = read_config()
    name = HUB if registry == "docker.io" else registry
    helpers = config.get("credHelpers")
    program = (helpers.get(registry) if isinstance(helpers, dict) else None) or config.get("credsStore")
    if isinstance(program, str) and _is_program(program) and (found := from_program(program, name)):
        return found
    stored = config.get("auths")
    for key, entry in stored.items() if isinstance(stored, dict) else ():
        if bare(key) == bare(name) and isinstance(entry, dict) and entry.get("auth"):
            return f"Basic {entry['auth']}"
    return ""


def bare(name: str) -> str:
    """The name of a registry without scheme and path."""
    return name.split("://", 1)[-1].partition("/")[0]


def read_config() -> Mapping[str, Any]:
    """Docker's configuration; empty if there is none, or it cannot be read."""
    folder = os.environ.get("DOCKER_CONFIG") or Path.home() / ".docker"
    try:
        config = decode(Path(folder, "config.json").read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}
    return config if isinstance(config, dict) else {}


def from_program(program: str, name: str) -> str:
    """The credentials that a helper of Docker has for a registry; empty if it has none or does not run."""
    command = [f"docker-credential-{program}", "get"]
    try:
        done = subprocess.run(  # noqa: S603 - the user's own program, named in the user's own file
            command, input=name.encode(), capture_output=True, timeout=SECONDS, check=True
        )
        answer = decode(done.stdout.decode())
        pair = f"{answer['Username']}:{answer['Secret']}"
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, TypeError):
        return ""
    return f"Basic {base64.b64encode(pair.encode()).decode()}"
