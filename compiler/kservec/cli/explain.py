"""kservec explain: where a value of an object comes from, and why a service got its runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.api import compiled_front, text_of
from kservec.cli.findings import TEXT, Findings, entries, refused
from kservec.cli.inputs import inputs_of
from kservec.cli.labour import crew, few_collections
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.compilation import in_order, step_of, steps_of
from kservec.core.diagnostics import has_errors
from kservec.core.listing import listed
from kservec.core.spelling import closest
from kservec.core.text.source import parse
from kservec.explain.choice import choices, runtimes_of
from kservec.explain.naming import Meant, candidates, field_steps, resolved
from kservec.explain.reasons import Asked, concerning, is_service, reasons
from kservec.explain.suggestions import meant_field, object_of, suggestion, what_there_is
from kservec.explain.text import choices_json, choices_text, values_json, values_text
from kservec.explain.values import Beside, Patched, explained, explained_beside
from kservec.io.bounds import ExceededError, bounded
from kservec.report.json import identity
from kservec.report.words import json_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.api import Target
    from kservec.cli.inputs import Inputs
    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.paths import Json, Path
    from kservec.core.registry import Env
    from kservec.core.unit import Step, Unit
    from kservec.environments import Rendering
    from kservec.explain.values import Explained
    from kservec.frontend import Front
    from kservec.io.reading import File

JSON = "json"
OWNED = "spec.replicas"
REPLICAS = "; its autoscaler owns the number"


class Survey(NamedTuple):
    """A whole run: what its passes started from, what was found, and the texts that is about, as they are shown.

    `unread` are the texts of the files in which something could not be read, as they are. `rendering`: the environment,
    if it is one.
    """

    front: Front
    found: tuple[Diagnostic, ...]
    sources: Mapping[str, str]
    unread: Mapping[str, str]
    rendering: Rendering | None = None


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
    survey = surveyed(inputs, layout)
    found, made = meaning(name, survey.front)
    if (beside := meant_beside(name, found, survey.rendering)) is not None:
        return answer_beside(beside, layout, survey)
    if found is None:
        return nothing(name, survey, made, layout)
    own = (*in_order(found.diagnostics), *spoiled(found.unit, survey.rendering))
    rests_on = runtimes_of(found.unit, found.env)
    found = found._replace(diagnostics=concerning(found.unit, own, survey.found, survey.unread, rests_on))
    errors = tuple(d for d in found.diagnostics if d.is_error)
    if errors and found.made is None and found.meant.field:
        missing = f"{found.meant.ref} has errors, so it leads to no objects that have fields"
        return refused(errors, survey.sources, layout, outcome=missing)
    return told(answer(found, layout, survey), errors, layout, survey)


def told(text: str, found: Sequence[Diagnostic], layout: str, survey: Survey) -> int:
    """Write an answer, and the errors beside it, which JSON has within; give the exit status."""
    write(text)
    errors = tuple(d for d in found if d.is_error)
    if errors and layout == TEXT:
        Findings(layout=TEXT, notes=False).show(errors, survey.sources)
    return FAILED if errors else 0


def spoiled(unit: Unit, rendering: Rendering | None) -> Iterator[Diagnostic]:
    """The errors about what patches make of a unit's objects; one may name another object that is spoiled likewise."""
    made = {manifest.ref for manifest in unit.bundle.manifests}
    yield from (error for ref, error in (rendering.spoiled if rendering is not None else ()) if ref in made)


def surveyed(inputs: Inputs, layout: str) -> Survey:
    """The whole run, as `lint` makes it: what is told of an object is what is told there.

    Raises:
        click.UsageError: a path of the project cannot be read.
        click.exceptions.Exit: the run was stopped at a limit; that has been shown.
    """
    files, target, workspace = inputs.files, inputs.target, inputs.workspace
    try:
        with few_collections(), bounded(target.limits):
            if workspace is None or inputs.settings is None:
                front, compilation = compiled_front(files, target=target, crew=crew())
                unread = unread_files(compilation.diagnostics, (*files, *target.platform))
                return Survey(front, compilation.diagnostics, compilation.sources, unread)
            from kservec.environments import render_front  # noqa: PLC0415 - only with a project

            front, rendering = render_front(workspace, inputs.settings, (files, target), crew(workspace=workspace))
            unread = unread_files(rendering.diagnostics, (*files, *target.platform))
            return Survey(front, rendering.diagnostics, rendering.texts, unread, rendering)
    except ExceededError as exceeded:
        click.get_current_context().exit(refused((exceeded.diagnostic,), {}, layout))
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None


def unread_files(found: Iterable[Diagnostic], files: Iterable[File]) -> dict[str, str]:
    """The texts of the files that errors are about which know no object: something in them could not be read."""
    names = {d.span.file for d in found if d.is_error and d.subject is None and d.span is not None}
    return {file.name: text_of(file) for file in files if file.name in names}


def nothing(name: str, survey: Survey, made: Sequence[ObjectRef], layout: str) -> int:
    """Say why there is no object of a name, if errors may be why, and what there is; give the exit status.

    Where a service of the name is in error, nothing else was meant.

    Raises:
        click.UsageError: no error may be why.
    """
    refs = {d.subject for d in survey.found if d.subject is not None and d.is_error}
    refused_refs = {meant.ref for meant in candidates(name, refs)}
    if refused_refs:
        shown = [d for d in survey.found if d.subject in refused_refs]
        return refused(shown, survey.sources, layout, outcome="nothing to explain")
    refused_services = [ref for ref in sorted(refs) if is_service(ref.kind)]
    there = [*(unit.ref for unit in survey.front.units), *made, *refs_beside(survey.rendering), *refused_services]
    if not Asked.of(object_of(name)).name:
        message = f"{name!r} names no object, as KIND/NAME does; {what_there_is(name, there)}"
        raise click.UsageError(message, click.get_current_context())
    missing, errors = f"there is no object {name}", obstacles(name, survey)
    meant = "" if any(d.subject is not None for d in errors) else f"; {suggestion(name, there, refused_services)}"
    if errors:
        return refused(errors, survey.sources, layout, outcome=missing + meant)
    raise click.UsageError(missing + meant, click.get_current_context())


def obstacles(name: str, survey: Survey) -> tuple[Diagnostic, ...]:
    """The errors that may be why there is no object of a name: also those of services that would lead to it.

    Where nothing was included yet and no patch laid, any error may be.
    """
    asked = Asked.of(name)
    rendering = survey.rendering
    if rendering is not None and not is_service(asked.kind) and is_incomplete(rendering):
        return tuple(d for d in survey.found if d.is_error)
    units = survey.front.units
    refs = {unit.ref for unit in units} | {d.subject for d in survey.found if d.is_error and d.subject is not None}
    near = asked.among(refs)
    shown = set(reasons(asked, near, survey.found, survey.unread))
    for unit in units:
        if unit.ref in near and (step := step_of(survey.front, unit.ref)) and has_errors(step.diagnostics):
            own = in_order(step.diagnostics)
            rests_on = runtimes_of(unit, survey.front.env_of(unit.ref))
            shown |= {d for d in concerning(unit, own, survey.found, survey.unread, rests_on) if d.is_error}
    return tuple(d for d in survey.found if d in shown)


def meaning(name: str, front: Front) -> tuple[Found | None, list[ObjectRef]]:
    """The object that a name means; or the objects that were looked at, if it means none of them.

    Raises:
        click.UsageError: several objects are meant.
    """
    own = candidates(name, [unit.ref for unit in front.units])
    if own:
        meant = only(own)
        step = step_of(front, meant.ref)
        assert step is not None
        return Found(meant, step.unit, front.env_of(meant.ref), step.diagnostics), []
    looked_at: list[ObjectRef] = []
    for steps in (likely(name, front), steps_of(front)):
        looked_at, found = [], []
        for step in steps:
            made = {m.ref: m for m in step.unit.bundle.manifests} if not has_errors(step.diagnostics) else {}
            looked_at += made
            about_unit = (step.unit, front.env_of(step.unit.ref), step.diagnostics)
            found += [Found(meant, *about_unit, made[meant.ref]) for meant in candidates(name, made)]
        if found:
            meant = only([f.meant for f in found])
            return next(f for f in found if f.meant == meant), looked_at
    return None, looked_at


def likely(name: str, front: Front) -> Iterator[Step]:
    """The units that are first looked at for an object of a name, since those of theirs are called so."""
    asked = Asked.of(name)
    for unit in front.units:
        if asked.may_be(unit.ref) and (step := step_of(front, unit.ref)) is not None:
            yield step


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


def answer(found: Found, layout: str, survey: Survey) -> str:
    """What is to be told of an object.

    Raises:
        click.UsageError: it has no such field; or it is not rendered, and has none at all.
    """
    if found.made is not None:
        return answer_values(found, found.made, layout, patched(survey, found, found.made.ref, layout))
    made = [manifest.ref for manifest in found.unit.bundle.manifests]
    if found.meant.field:
        raise click.UsageError(fieldless(found.meant, made), click.get_current_context())
    chosen = tuple(choices(found.unit, found.env))
    if layout == JSON:
        told = {"object": identity(found.meant.ref), "mode": found.unit.mode.value, "runtimes": choices_json(chosen),
                "objects": list(map(identity, made)), "diagnostics": entries(found.diagnostics)}  # fmt: skip
        return json_text(told)
    return f"{found.meant.ref}, in {found.unit.mode.value} mode\n{choices_text(chosen)}{objects_text(made)}"


def fieldless(meant: Meant, made: Sequence[ObjectRef]) -> str:
    """Why a field of one of the user's own objects is not told."""
    some = f", such as {made[-1].kind}/{made[-1].name}" if made else ""
    return f"{meant.ref} is not rendered, so no fields of it are told: ask for an object that it leads to{some}"


def objects_text(refs: Sequence[ObjectRef]) -> str:
    """The objects that a service leads to."""
    return "".join(("leads to\n", *(f"  {ref.kind}/{ref.name}\n" for ref in refs))) if refs else "leads to nothing\n"


def patched(survey: Survey, found: Found, ref: ObjectRef, layout: str) -> Patched | None:
    """An object as it is rendered, where an environment has patches over its objects.

    Raises:
        click.UsageError: the patches take the object away.
        click.exceptions.Exit: nobody knows what the patches make of it; the errors that are why have been shown: those
            of its service, or all, for patches are laid over all objects or none.
    """
    rendering = survey.rendering
    if rendering is None or not (patches := rendering.settings.patches):
        return None
    from kservec.environments import is_patched  # noqa: PLC0415 - only with a project

    ctx = click.get_current_context()
    if not is_patched(rendering, ref):
        shown = found.diagnostics if has_errors(found.diagnostics) else rendering.diagnostics
        ctx.exit(refused(shown, rendering.texts, layout))
    text = next((rendered.text for rendered in rendering.objects if rendered.ref == ref), None)
    if text is None:
        raise click.UsageError(f"{patches} takes {ref} away", ctx)
    return Patched(parse(text.encode(), "")[0][0].value, patches, dict(rendering.traced).get(ref))


def is_incomplete(rendering: Rendering) -> bool:
    """Whether nobody knows which objects there are beside those of services, for errors came before."""
    from kservec.environments import is_complete  # noqa: PLC0415 - only with a project

    return bool(rendering.settings.patches or rendering.settings.include) and not is_complete(rendering)


def refs_beside(rendering: Rendering | None) -> list[ObjectRef]:
    """The rendered objects that no service leads to: they are included, or patches add them."""
    if rendering is None:
        return []
    known = {ref for ref, _ in (*rendering.included, *rendering.traced)}
    return [rendered.ref for rendered in rendering.objects if rendered.ref in known and rendered.owner == rendered.ref]


def meant_beside(name: str, found: Found | None, rendering: Rendering | None) -> Meant | None:
    """The object that no service leads to and that a name means, if it means one.

    Raises:
        click.UsageError: it may as well mean one that a service leads to.
    """
    meant = candidates(name, refs_beside(rendering))
    if not meant or (found is not None and found.made is None):
        return None
    return only([*meant, *([found.meant] if found is not None else [])])


def answer_beside(meant: Meant, layout: str, survey: Survey) -> int:
    """Tell where the values of an object come from that no service leads to, and what is wrong with it.

    Raises:
        click.UsageError: it has no such field.
    """
    rendering = survey.rendering
    assert rendering is not None
    text = next(rendered.text for rendered in rendering.objects if rendered.ref == meant.ref)
    traced = dict(rendering.traced).get(meant.ref)
    own = tuple(d for d in survey.found if d.subject == meant.ref)
    patched = Patched(parse(text.encode(), "")[0][0].value, rendering.settings.patches, traced)
    path = path_of(meant, patched.value)
    values = explained_beside(Beside(dict(rendering.included).get(meant.ref), patched), path)
    return told(values_told(meant.ref, values, own, layout), own, layout, survey)


def instead(field: str, value: Json) -> str:
    """What may have been meant by a field that an object does not have, or why that is not there."""
    steps = field_steps(field)
    near = meant_field(value, steps) if steps else ""
    if near:
        return f"; did you mean {near}?"
    if field == OWNED:
        return REPLICAS
    return f"; did you mean {OWNED}? There is none{REPLICAS}" if closest(field, [OWNED]) else ""


def answer_values(found: Found, made: Manifest, layout: str, rendered: Patched | None) -> str:
    """Where the values of an object come from.

    Raises:
        click.UsageError: it has no such field.
    """
    path = path_of(Meant(made.ref, found.meant.field), made.body.value if rendered is None else rendered.value)
    return values_told(made.ref, explained(made.body, path, rendered), found.diagnostics, layout)


def path_of(meant: Meant, value: Json) -> Path:
    """The path of the field of an object that is meant.

    Raises:
        click.UsageError: it has no such field.
    """
    steps = field_steps(meant.field)
    path = resolved(value, steps) if steps is not None else None
    if path is None:
        message = f"{meant.ref} has no {meant.field}{instead(meant.field, value)}"
        raise click.UsageError(message, click.get_current_context())
    return path


def values_told(ref: ObjectRef, values: Sequence[Explained], found: Sequence[Diagnostic], layout: str) -> str:
    """Where values of an object come from, as it is written."""
    if layout == JSON:
        return json_text({**values_json(ref, values), "diagnostics": entries(found)})
    return values_text(ref, values)
