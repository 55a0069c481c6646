"""A container that KServe renames is where it was written, with all that is in it, whatever it is called there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kservec.api import front_of
from kservec.compilation import steps_of
from kservec.core.diagnostics import has_errors
from kservec.core.paths import with_keys

from .cases import cases, inputs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec import File, Target
    from kservec.core.paths import Json, Path

NAME, OTHER = b"name: kserve-container", b"name: own-container-xy"


def test_names_change_no_place() -> None:
    """In all golden cases: with another name in the service's document each value points to where it did."""
    looked_at = 0
    for case in cases():
        given, target = inputs(case)
        files = [renamed(file) for file in given]
        if files == list(given):
            continue
        before, after = places(given, target), places(files, target)
        if before.keys() == after.keys():  # others need the name
            assert after == before, case
            looked_at += len(after)
    assert looked_at > 1000


def renamed(file: File) -> File:
    """A file whose services call their containers otherwise, by as many characters."""
    documents = file.content.split(b"\n---\n")
    return file._replace(
        content=b"\n---\n".join(d.replace(NAME, OTHER) if b"kind: InferenceService" in d else d for d in documents)
    )


def places(files: list[File], target: Target) -> dict[Any, Any]:
    """Each value of each object, and where it was written."""
    front, _ = front_of(files, target=target)
    steps = [step for step in steps_of(front) if not has_errors(step.diagnostics)]
    return {
        (made.ref, at): (value, made.body.span(with_keys(made.body.value, at)))
        for step in steps
        for made in step.unit.bundle.manifests
        for at, value in leaves(made.body.value, ())
    }


def leaves(value: Json, at: Path) -> Iterator[tuple[Path, Json]]:
    """The single values below a value, by their paths."""
    if not isinstance(value, dict | list):
        yield at, value
        return
    for step, item in value.items() if isinstance(value, dict) else enumerate(value):
        yield from leaves(item, (*at, step))
