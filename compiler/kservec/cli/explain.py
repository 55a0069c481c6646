"""kservec explain: where a value of an object comes from, and why a service got its runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.api import front_of
from kservec.cli.findings import TEXT, Findings, entries, refused
from kservec.cli.inputs import inputs_of
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.compilation import in_order, step_of
from kservec.core.diagnostics import has_errors
from kservec.core.listing import listed
from kservec.core.spelling import closest
from kservec.core.text.source import parse
from kservec.explain.choice import choices
from kservec.explain.naming import candidates, resolved, steps_of
from kservec.explain.text import choices_json, choices_text, values_json, values_text
from kservec.explain.values import Patched, explained
from kservec.report.json import identity
from kservec.report.words import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.api import Target
    from kservec.cli.inputs import Inputs
    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.registry import Env
    from kservec.core.unit import Unit
    from kservec.explain.naming import Meant
    from kservec.frontend import Front

JSON = "json"
REPLICAS = "; its autoscaler owns the number"


class Found(NamedTuple):
    """What an object's name means: one of the user's objects, or one that is made of it; and what was found in it."""

    meant: Meant
    unit: Unit
    env: Env
    diagnostics: tuple[Diagnostic, ...]
    made: Manifest | None = None


@click.command()
@click.argument("name", metavar="OBJECT[.FIELD]")
@paths_argument
@target_options
@revision_options
@click.option("--format", "layout", type=click.Choice((TEXT, JSON)), default=TEXT, show_default=True,
              help="How it is shown.")  # fmt: skip
def explain(*, name: str, paths: tuple[str, ...], target: Target, layout: str) -> int:
    """Say where a value comes from: the file, line and layer, and the part of the compiler that put it there.

    OBJECT is a rendered object or one of yours: Deployment/fraud-predictor, with the namespace in front where several
    have one. FIELD is a field of it; without one, all values are listed. Of an InferenceService it is told which
    runtimes were looked at, and why the chosen one was taken. PATHS are an environment, or files as for build.

    \b
      kservec explain Deployment/fraud-predictor.spec.template.spec.containers[kserve-container].image
      kservec explain InferenceService/fraud prod
      kservec explain payments/Service/fraud-predictor services/ --platform platform/
    """  # noqa: D301
    inputs = inputs_of(paths, target, layout)
    front, compilation = front_of(inputs.files, target=inputs.target)
    found, errors = meaning(name, front)
    if found is None and (errors or not compilation.ok):
        shown = about(name, tuple(dict.fromkeys((*compilation.diagnostics, *errors))))
        return refused(shown, compilation.sources, layout, outcome="nothing to explain")
    if found is None:
        raise click.UsageError(unknown(name, front), click.get_current_context())
    seen = [d for d in compilation.diagnostics if d.subject == found.unit.ref]
    found = found._replace(diagnostics=in_order((*seen, *found.diagnostics)))
    write(answer(found, layout, inputs))
    errors = tuple(d for d in found.diagnostics if d.is_error)
    if errors and layout == TEXT:
        Findings(layout=TEXT, notes=False).show(errors, compilation.sources)
    return FAILED if errors else 0


def about(name: str, found: tuple[Diagnostic, ...]) -> tuple[Diagnostic, ...]:
    """The findings about the object of a name; all of them if none is."""
    called = {meant.ref for meant in candidates(name, {d.subject for d in found if d.subject is not None})}
    return tuple(d for d in found if d.subject in called) or found


def meaning(name: str, front: Front) -> tuple[Found | None, tuple[Diagnostic, ...]]:
    """The object that a name means, and the errors of the services that could have led to it.

    Raises:
        click.UsageError: several objects are meant.
    """
    own = candidates(name, [unit.ref for unit in front.units])
    if own:
        meant = only(own)
        step = step_of(front, meant.ref)
        assert step is not None
        return Found(meant, step.unit, front.env_of(meant.ref), step.diagnostics), ()
    found: list[Found] = []
    errors: list[Diagnostic] = []
    for unit in likely(name, front):
        step = step_of(front, unit.ref)
        assert step is not None
        errors += [d for d in step.diagnostics if d.is_error]
        made = {m.ref: m for m in step.unit.bundle.manifests} if not has_errors(step.diagnostics) else {}
        about_unit = (step.unit, front.env_of(unit.ref), step.diagnostics)
        found += [Found(meant, *about_unit, made[meant.ref]) for meant in candidates(name, made)]
    if not found:
        return None, tuple(errors)
    meant = only([f.meant for f in found])
    return next(f for f in found if f.meant == meant), ()


def likely(name: str, front: Front) -> Iterator[Unit]:
    """The units that may lead to an object of a name: those whose own name is in it, then all others."""
    named = [unit for unit in front.units if unit.name in name]
    yield from named or front.units


def only(meant: list[Meant]) -> Meant:
    """The one that is meant.

    Raises:
        click.UsageError: there are several.
    """
    refs = sorted({m.ref for m in meant})
    if len(refs) > 1:
        names = listed(f"{ref.namespace}/{ref.kind}/{ref.name}" for ref in refs)
        raise click.UsageError(f"several objects are called so: {names}", click.get_current_context())
    return max(meant, key=lambda m: -len(m.field))


def unknown(name: str, front: Front) -> str:
    """What to say of a name that means nothing."""
    near = closest(name.partition(".")[0], {f"{unit.ref.kind}/{unit.name}" for unit in front.units})
    return f"there is no object {name}" + (f"; did you mean {near}?" if near else "")


def answer(found: Found, layout: str, inputs: Inputs) -> str:
    """What is to be told of an object.

    Raises:
        click.UsageError: it has no such field.
    """
    if found.made is not None:
        return answer_values(found, found.made, layout, patched(inputs, found.made.ref, layout))
    made = [manifest.ref for manifest in found.unit.bundle.manifests]
    chosen = tuple(choices(found.unit, found.env))
    if layout == JSON:
        told = {"object": identity(found.meant.ref), "mode": found.unit.mode.value, "runtimes": choices_json(chosen),
                "objects": list(map(identity, made)), "diagnostics": entries(found.diagnostics)}  # fmt: skip
        return json_text(told)
    return f"{found.meant.ref}, in {found.unit.mode.value} mode\n{choices_text(chosen)}{objects_text(made)}"


def objects_text(refs: Sequence[ObjectRef]) -> str:
    """The objects that a service leads to."""
    return "".join(("leads to\n", *(f"  {ref.kind}/{ref.name}\n" for ref in refs))) if refs else "leads to nothing\n"


def patched(inputs: Inputs, ref: ObjectRef, layout: str) -> Patched | None:
    """An object as it is rendered, where an environment has patches over its objects.

    Raises:
        click.UsageError: the patches take the object away.
        click.exceptions.Exit: the environment does not render; what was found has been shown.
    """
    if inputs.workspace is None or inputs.settings is None or not inputs.settings.patches:
        return None
    from kservec.environments import render  # noqa: PLC0415 - few environments have patches

    rendering = render(inputs.workspace, inputs.environment)
    ctx = click.get_current_context()
    if not rendering.ok:
        ctx.exit(refused(rendering.diagnostics, rendering.texts, layout))
    text = next((rendered.text for rendered in rendering.objects if rendered.ref == ref), None)
    if text is None:
        raise click.UsageError(f"{inputs.settings.patches} takes {ref} away", ctx)
    return Patched(parse(text.encode(), "")[0][0].value, inputs.settings.patches)


def answer_values(found: Found, made: Manifest, layout: str, rendered: Patched | None) -> str:
    """Where the values of an object come from.

    Raises:
        click.UsageError: it has no such field.
    """
    field = found.meant.field
    steps = steps_of(field)
    whole = made.body.value if rendered is None else rendered.value
    path = resolved(whole, steps) if steps is not None else None
    if path is None:
        owner = REPLICAS if field == "spec.replicas" else ""
        raise click.UsageError(f"{made.ref} has no {field}{owner}", click.get_current_context())
    values = explained(made.body, path, rendered)
    if layout == JSON:
        return json_text({**values_json(made.ref, values), "diagnostics": entries(found.diagnostics)})
    return values_text(made.ref, values)
