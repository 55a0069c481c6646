"""Secrets in plain text: tokens and keys in the arguments and variables of containers, and Secrets as manifests.

Looks at the shape of values alone, and says which kind of credential it is; never the value.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.schemas.faults import Fault
from kservec.core.text.confidential import names_credential, token_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Json, Path
    from kservec.policy.scene import Container, Scene

INLINE_SECRET = Code(
    "policy/inline-secret",
    Severity.ERROR,
    "a credential in plain text",
    "What is in the tree is in git, for everybody who can read the repository, and for ever. Whoever committed it has "
    "to replace the credential. Put it into a Secret that something else brings into the cluster, and refer to it by "
    "valueFrom.secretKeyRef.",
)
WORDS = frozenset({
    "", "true", "false", "yes", "no", "on", "off", "none", "null", "empty", "dummy", "unused", "not-needed", "changeme",
    "token-abc123", "auto", "default", "disabled", "enabled", "optional", "required",
})  # fmt: skip
"""Values under the name of a credential that are none."""
SHORTEST = 4
SHORTEST_NUMBER = 8
"""Shorter numbers count something, tokens for example, unless the name says password."""
_says_password = re.compile("pass|pwd", re.IGNORECASE).search
LONG_LISTS = ("command", "args")
REMEDY = "take it out, replace the credential, and refer to a Secret by valueFrom.secretKeyRef"


def check_inline_secrets(scene: Scene) -> Iterator[Fault]:
    """Credentials in the containers of an object, and in the data of a ConfigMap."""
    for pod in scene.pods:
        for container in pod.containers:
            yield from in_variables(container)
            yield from in_arguments(container)
    if scene.ref.kind == "ConfigMap":
        for key, text in (scene.body.get("data") or {}).items():
            if kind := token_in(str(text)):
                yield fault(("data", key), f"{key} of ConfigMap {scene.ref.name}", kind)


def in_variables(container: Container) -> Iterator[Fault]:
    """Variables whose value looks like a credential, or that are named like one."""
    for entry in container.body.get("env") or ():
        name, value = str(entry.get("name", "")), entry.get("value")
        if isinstance(value, str) and (kind := token_in(value) or named_credential(name, value)):
            yield fault((*container.path, "env", name, "value"), f"variable {name} of {container.name}", kind)


def named_credential(name: str, value: str) -> str:
    """The kind of a value that only its name gives away; empty for paths, numbers, placeholders and the like."""
    shortest = SHORTEST_NUMBER if value.isdecimal() and not _says_password(name) else SHORTEST
    is_word = len(value) < shortest or value.lower() in WORDS or not value.isascii()
    if is_word or not names_credential(name) or any(mark in value for mark in ("/", " ", "$", "{", "<")):
        return ""
    return "a credential by its name"


def in_arguments(container: Container) -> Iterator[Fault]:
    """Arguments that hold a credential."""
    for field in LONG_LISTS:
        arguments: list[Json] = container.body.get(field) or []
        for i, argument in enumerate(arguments):
            if kind := token_in(str(argument)) or passed_key(arguments, i):
                yield fault((*container.path, field, i), f"argument {i + 1} in {field} of {container.name}", kind)


def passed_key(arguments: list[Json], i: int) -> str:
    """The kind of an argument that a flag gives away: the key that callers of vLLM have to know."""
    flag, assigned, value = str(arguments[i]).partition("=")
    if not assigned:
        flag, value = str(arguments[i - 1]) if i else "", str(arguments[i])
    is_key = flag.replace("_", "-") in ("--api-key", "--hf-token") and not value.startswith(("$", "-"))
    return "a key" if is_key and value else ""


def fault(path: Path, what: str, kind: str) -> Fault:
    """The error about a credential in plain text."""
    return Fault(INLINE_SECRET, path, f"{what} holds {kind} in plain text", help=REMEDY)
