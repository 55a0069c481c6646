"""What kustomize says: its errors without the folders that it was run in, located as far as they name a place.

Kustomize puts the story of how it got somewhere around what is wrong there. The last part of it is what counts.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.overlays.closure import patch_entries
from kservec.overlays.operations import undone
from kservec.overlays.wrapper import TREE, WRAPPER

if TYPE_CHECKING:
    from kservec.overlays.closure import Closure
    from kservec.overlays.objects import Gathering

REFUSED = Code(
    "overlay/refused",
    Severity.ERROR,
    "a kustomization that kustomize refuses",
    "The message is kustomize's own. The place is that of the file, or the patch, that it names, as far as it names "
    "one; else that of the overlay.",
)

OLDEST = "4.5"
"""The first version of kustomize that says where objects come from."""
_LOGGED = re.compile(r'\berr="((?:[^"\\]|\\.)*)"\s*\Z')
_LEAD = re.compile(r"\A(?:[Ee]rror:|kustomize build failed:)\s*")
_STORY = re.compile(
    r"accumulat(?:ing|e) (?:resources|components)(?: from '[^']*')?:\s*"
    r"|accumulation err='.*?must resolve to a file':\s*|accumulation err='"
    r"|recursed (?:accumulation|merging) (?:of|from) path '[^']*':\s*|must build at directory: ",
    re.DOTALL,
)
_INNER = re.compile(r'\AaccumulateDirectory: "((?:[^"\\]|\\.)*)"\Z')
_find_pattern = re.compile(r"error parsing regexp: .*`\^\(\?:(.*)\)\$`").search
_find_line = re.compile(r"\byaml: line (\d+):").search
_TOO_OLD = ("buildMetadata", "openapi", "originAnnotations")


def cleaned(message: str, folder: str) -> str:
    """A message of kustomize as a sentence: without marks of logs, without the folder that it was run in.

    Args:
        message: what it wrote.
        folder: the folder that holds the wrapper and the copy of the overlay.
    """
    logged = _LOGGED.search(message.strip())
    text = unescaped(logged[1]) if logged else message
    text = _LEAD.sub("", " ".join(text.split()))
    for name in sorted({folder, f"/private{folder}"}, key=len, reverse=True):
        text = text.replace(f"{name}/{TREE}/", "").replace(f"{name}/{TREE}", ".").replace(f"{name}/{WRAPPER}", ".")
        text = text.replace(name, ".")
    text = _STORY.sub("", text.replace(f"../{TREE}/", "")).strip(" :'")
    inner = _INNER.match(text)
    return unescaped(inner[1]) if inner else text


def unescaped(text: str) -> str:
    """What stands in quotes in a log; as it is where an escape is Go's alone."""
    try:
        return str(json.loads(f'"{text}"'))
    except ValueError:
        return text


def refusal(message: str, closure: Closure, gathering: Gathering) -> Diagnostic:
    """The error that kustomize found, given its cleaned message."""
    hint = "this is kustomize's own message"
    if "unknown field" in message and any(field in message for field in _TOO_OLD):
        hint = f"kustomize {OLDEST} or newer is needed, or kubectl 1.25"
    shown = f"kustomize refuses this overlay: {message}"
    found = undone(message, gathering)
    if found is not None:
        span, meant = found
        return Diagnostic(code=REFUSED, message=shown, span=span, help=f"{meant}; {hint}" if meant else hint)
    return Diagnostic(code=REFUSED, message=shown, span=place_of(message, closure), help=hint)


def place_of(message: str, closure: Closure) -> Span:
    """Where what is wrong stands: the patch or the file that a message names; else the overlay."""
    pattern = _find_pattern(message)
    target = target_with(pattern[1], closure) if pattern else None
    if target is not None:
        return target
    line = _find_line(message)
    documents = [d for found in closure.objects.values() for d in found]
    documents += [k.document for k in closure.kustomizations.values()]
    named = sorted((d.file for d in documents if d.file and d.file in message), key=len)
    named = named or sorted({d.file for d in documents if re.search(rf"\bFile: {re.escape(last(d.file))}\b", message)})
    if named:
        number = int(line[1]) if line else 0
        return Span(named[-1], number, 1 if number else 0, number, 1 if number else 0)
    return closure.first.document.span()


def last(path: str) -> str:
    """The last step of a path."""
    return path.rpartition("/")[2]


def target_with(pattern: str, closure: Closure) -> Span | None:
    """Where the target of a patch has a pattern."""
    for kustomization in closure.kustomizations.values():
        for at, _, _, target in patch_entries(kustomization):
            field = (
                next((key for key, text in target.items() if text == pattern), None)
                if isinstance(target, dict)
                else None
            )
            if field is not None:
                return kustomization.span(*at[:2], "target", field)
    return None
