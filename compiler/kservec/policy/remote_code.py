"""Code of a model's repository that a server is told to run: denied, unless waived and pinned.

The repository can change its code at any time, and it runs with all that the pod may do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.lock import is_commit
from kservec.core.schemas.faults import Fault
from kservec.policy.servers import Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Path
    from kservec.policy.scene import Scene

TRUST_REMOTE_CODE = Code(
    "policy/trust-remote-code",
    Severity.ERROR,
    "a server that runs code of the model's repository",
    "With trust_remote_code a server runs Python of whoever can write to the model's repository. Use a model whose "
    "architecture the server knows. Where that cannot be, review the code at the commits that --revision and "
    "--code-revision name, and write a waiver with a reason.",
)
UNPINNED = Code(
    "policy/trust-remote-code-unpinned",
    Severity.ERROR,
    "a server that runs whatever code the model's repository has on that day",
    "Remote code is denied, and cannot be waived as long as it is not pinned: what was reviewed and what runs would be "
    "two things. Pin both --revision and --code-revision to full commits of 40 hexadecimal digits.",
)
FLAG = "trust-remote-code"
SHORTEST = len("trust")
REVISION, CODE_REVISION = ("--revision",), ("--code-revision",)
_find_flag = re.compile(r"(?<![\w-])--(no[-_])?(trust[-_a-z]*)(?:[=\s]+(\w+))?", re.IGNORECASE).finditer
_find_key = re.compile(r"trust[-_]remote[-_]code[\"']?\s*[:=]\s*[\"']?(?:true|1|yes|on)\b", re.IGNORECASE).search
OFF = ("false", "0", "no", "off")
ON = ("true", "1", "yes", "on")
DENY = "remove it, or waive policy/trust-remote-code with a reason"
PIN = "remove it; or pin --revision and --code-revision to commits of 40 digits, and waive it then"


def check_remote_code(scene: Scene) -> Iterator[Fault]:
    """Flags, settings in JSON and variables that turn remote code on, in any container that serves."""
    for pod in scene.pods:
        for container in pod.servers:
            server = Server(container=container, pod=pod)
            for path in dict.fromkeys(trusting(server)):
                missing = unpinned(server)
                code, hint = (UNPINNED, PIN) if missing else (TRUST_REMOTE_CODE, DENY)
                yield Fault(code, path, f"{container.name} runs code of the model's repository{missing}", help=hint)


def trusting(server: Server) -> Iterator[Path]:
    """Where a server is told to trust."""
    told = server.texts if "trust" in server.text.lower() else ()
    yield from (path for path, text in told if is_trusting(text))
    for entry in server.container.body.get("env") or ():
        name, value = str(entry.get("name", "")), str(entry.get("value") or "")
        if name.upper().endswith("TRUST_REMOTE_CODE") and (value.lower() in ON or "valueFrom" in entry):
            yield (*server.container.path, "env", name)
        elif _find_key(value):
            yield (*server.container.path, "env", name, "value")


def is_trusting(text: str) -> bool:
    """Whether a text has the flag, or the setting in JSON. Python's parser takes any beginning of a flag for it."""
    for found in _find_flag(text):
        name = found[2].lower().replace("_", "-")
        is_flag = len(name) >= SHORTEST and FLAG.startswith(name)
        if is_flag and not found[1] and (found[3] or "").lower() not in OFF:
            return True
    return _find_key(text) is not None


def unpinned(server: Server) -> str:
    """What is missing of the pins, as the end of a sentence; empty if both are there."""
    missing = [flags[0] for flags in (REVISION, CODE_REVISION) if not is_pinned_by(server.values(*flags))]
    return f", and {' and '.join(missing)} {'is' if len(missing) == 1 else 'are'} no full commit" if missing else ""


def is_pinned_by(values: list[str]) -> bool:
    """Whether the last value of a flag is a full commit."""
    return bool(values) and is_commit(values[-1].strip("\"'").lower())
