"""Operations of JSON patches: those that are none, and the one that kustomize could not do.

Decides where such an operation stands and what was meant by it. Must not lay any over an object.

RFC 6902; kustomize: evanphx/json-patch, patch.go
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.digits import natural
from kservec.core.listing import listed_near
from kservec.core.spelling import closest
from kservec.overlays.tracing import pointer

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json
    from kservec.overlays.closure import Patch
    from kservec.overlays.objects import Gathering

OPERATION = Code(
    "overlay/patch-operation",
    Severity.ERROR,
    "an operation of a patch that is none",
    "A patch that is a list holds operations of JSON Patch: `op` is add, remove, replace, test, move or copy, `path` "
    "says where, `value` what, and `from` where from. What is called otherwise counts as missing.",
)

MEMBERS: Mapping[str, tuple[str, ...]] = {
    "add": ("path", "value"),
    "copy": ("path", "from"),
    "move": ("path", "from"),
    "remove": ("path",),
    "replace": ("path", "value"),
    "test": ("path", "value"),
}
"""What each operation has beside its name."""
POINTERS = ("path", "from")
KNOWN = ("op", "path", "from", "value")


class Pointed(NamedTuple):
    """Where an operation points: the patch, its number there, which of the two members it is, and the steps."""

    patch: Patch
    number: int
    member: str
    text: str

    @property
    def steps(self) -> list[str]:
        """The steps of the pointer that must lead somewhere; the last one of what is added need not."""
        steps = pointer(self.text)
        operation = self.patch.document.value[self.number]
        return steps[:-1] if self.member == "path" and operation.get("op") in ("add", "copy", "move") else steps

    @property
    def is_test(self) -> bool:
        """Whether it asks for a value, and changes none."""
        return bool(self.patch.document.value[self.number].get("op") == "test")

    @property
    def span(self) -> Span:
        """Where it is written."""
        return self.patch.document.span((self.number, self.member))

    def is_named_in(self, message: str) -> bool:
        """Whether a message of kustomize is about it. Of what is moved it tells the last step alone."""
        last = f" for path: '{pointer(self.text)[-1]}'" if self.member == "from" and pointer(self.text) else ""
        return bool(last and last in message) or (
            re.search(rf"(?<![\w/]){re.escape(self.text)}(?![\w/~.-])", message) is not None
        )


def operation_findings(patches: Iterable[Patch]) -> Iterator[Diagnostic]:
    """Errors about operations that are none."""
    for patch in patches:
        for i, operation in enumerate(patch.document.value if patch.is_list else ()):
            if isinstance(operation, dict):
                yield from misspelt(patch, i, operation)


def misspelt(patch: Patch, i: int, operation: dict[str, Json]) -> Iterator[Diagnostic]:
    """Errors about one operation: a name that none has, and members that it lacks."""
    op = operation.get("op")
    if isinstance(op, str) and op not in MEMBERS:
        near = closest(op, MEMBERS)
        hint = f"did you mean {near}?" if near else f"one of {', '.join(MEMBERS)}"
        yield mistake(f"no operation of a patch is called {op}", patch.document.span((i, "op")), hint)
        return
    others = [key for key in operation if isinstance(key, str) and key not in KNOWN]
    for member in ("op", *MEMBERS.get(str(op), ())):
        if member in operation:
            continue
        near = next((key for key in others if closest(key, [member])), None)
        if near is not None:
            span = patch.document.key_span((i, near))
            yield mistake(f"an operation of a patch has no {near}", span, f"did you mean {member}?")
        elif member != "value":
            hint = f"write {member}: " + ("one of " + ", ".join(MEMBERS) if member == "op" else "/a/path/of/a/field")
            yield mistake(f"this operation of a patch has no {member}", patch.document.span((i,)), hint)


def mistake(message: str, span: Span, hint: str) -> Diagnostic:
    """The error about an operation that is none."""
    return Diagnostic(code=OPERATION, message=message, span=span, help=hint)


def undone(message: str, gathering: Gathering) -> tuple[Span, str] | None:
    """Where the operation points that kustomize says it could not do, and what was meant; None if it names none.

    Of several that point there it is the first that leads nowhere in an object.
    """
    named = [
        (found, [known.document.value for known in fit if known.document is not None])
        for patch, fit, _ in gathering.laid
        for found in pointers_of(patch)
        if found.is_named_in(message)
    ]
    longest = max((len(found.text) for found, _ in named), default=0)
    named = [(found, values) for found, values in named if len(found.text) == longest]
    for found, values in named:
        for value in values:
            hint = instead(found, value)
            if hint:
                return found.span, hint
    return (named[0][0].span, "") if named else None


def pointers_of(patch: Patch) -> Iterator[Pointed]:
    """Where the operations of a patch point."""
    for i, operation in enumerate(patch.document.value if patch.is_list else ()):
        for member in POINTERS if isinstance(operation, dict) else ():
            text = operation.get(member)
            if isinstance(text, str) and text.startswith("/"):
                yield Pointed(patch, i, member, text)


def instead(found: Pointed, value: Json) -> str:
    """What was meant by a pointer that leads nowhere in an object, or what there is; empty if it leads somewhere."""
    written = pointer(found.text)
    meant: list[str] = []
    for step in found.steps:
        there = spelt(meant) or "the object"
        near = closest(step, value) if isinstance(value, dict) and step not in value else None
        if near is None and not is_there(step, value):
            if meant != written[: len(meant)]:
                break
            return "" if found.is_test else what_there_is(step, value, there)  # a test may be about what was just added
        meant.append(near if near is not None else step)
        value = value[meant[-1]] if isinstance(value, dict) else value[int(step)]
    whole = spelt([*meant, *written[len(meant) :]])
    return f"did you mean {whole}?" if whole != spelt(written) else ""


def is_there(step: str, value: Json) -> bool:
    """Whether a step leads somewhere in a value."""
    return step in value if isinstance(value, dict) else isinstance(value, list) and is_index(step, value)


def what_there_is(step: str, value: Json, there: str) -> str:
    """What is in a value in which a step leads nowhere."""
    if not isinstance(value, dict | list):
        return f"{there} is no map"
    if not value:
        return f"{there} is empty"
    return (
        f"{there} has {listed_near(step, value)}"
        if isinstance(value, dict)
        else f"the last item of {there} is {len(value) - 1}"
    )


def is_index(step: str, items: Sequence[Json]) -> bool:
    """Whether a step leads to an item of a list."""
    number = natural(step)
    return number is not None and number < len(items)


def spelt(steps: Iterable[str]) -> str:
    """Steps as a JSON pointer."""
    return "".join(f"/{step.replace('~', '~0').replace('/', '~1')}" for step in steps)
