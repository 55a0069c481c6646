"""A whole run: documents in, written objects and diagnostics out. Pure: what it is given is all it knows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Manifest, object_twice
from kservec.core.diagnostics import has_errors
from kservec.emit import dump
from kservec.frontend import Options, read
from kservec.pipeline import run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Plugs
    from kservec.core.schema import Schemas
    from kservec.core.source import Document


class Rendered(NamedTuple):
    """One object as it is written, and the user's object that it comes from. `shared` objects have no single owner."""

    ref: ObjectRef
    text: str
    owner: ObjectRef
    shared: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """The documents of a run by what they are for."""

    specs: Sequence[Document]
    platform: Sequence[Document] = ()
    builtin: Sequence[Document] = ()
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class Result:
    """What a run made: objects in their total order, and findings in the order of the input.

    With an error among the findings there are no objects.
    """

    objects: tuple[Rendered, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether the run made objects, that is, found no error."""
        return not has_errors(self.diagnostics)


def compile_documents(
    inputs: Inputs, schemas: Schemas, plugs: Plugs, each: Callable[[int, int], None] = lambda done, total: None
) -> Result:
    """Compile documents. `each` is told how many of how many units are done."""
    front = read(inputs.specs, inputs.platform, inputs.builtin, inputs.options, schemas, plugs)
    found = list(front.diagnostics)
    objects: dict[ObjectRef, tuple[Rendered, Manifest]] = {}
    for done, unit in enumerate(front.units, 1):
        step = run(unit, front.env)
        found.extend(step.diagnostics)
        if not has_errors(step.diagnostics):
            found.extend(collected(step.unit.bundle.manifests, unit.ref, objects))
        each(done, len(front.units))
    ordered = sorted(set(found), key=lambda d: d.sort_key)
    if has_errors(ordered):
        return Result((), tuple(ordered))
    return Result(tuple(objects[ref][0] for ref in sorted(objects)), tuple(ordered))


def collected(
    manifests: Iterable[Manifest], owner: ObjectRef, objects: dict[ObjectRef, tuple[Rendered, Manifest]]
) -> list[Diagnostic]:
    """Write a unit's manifests out and add them; two objects of one identity must be shared and alike."""
    conflicts: list[Diagnostic] = []
    for made in manifests:
        text = dump(made.body.value)
        known = objects.get(made.ref)
        if known is None:
            objects[made.ref] = Rendered(made.ref, text, owner, made.shared), made
        elif not (made.shared and known[0].text == text):
            conflicts.append(object_twice(made, known[1]))
    return conflicts
