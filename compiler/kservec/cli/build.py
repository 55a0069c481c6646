"""kservec build: compile and write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.api import Compilation
from kservec.cli.brake import Allowed, braked, is_tree, refuse_shrinking, restarts, unbraked
from kservec.cli.environments import all_findings, all_sources, rendered, today_option
from kservec.cli.folders import Folder
from kservec.cli.labour import cache_option, jobs_option
from kservec.cli.options import compiled, files_of, findings_options, paths_argument, revision_options, target_options
from kservec.cli.selection import selected
from kservec.cli.sharding import (
    chosen_share,
    environment_part,
    join_option,
    joined_objects,
    joined_rendering,
    part_tree,
    refuse_compiling,
    refuse_whole,
    shard_option,
)
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.compilation import Result
from kservec.core.listing import listed
from kservec.core.records import evolve, fresh, record
from kservec.gitops.layout import INDEX, LAYOUTS, TREE, planned_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.api import Target
    from kservec.cli.findings import Findings
    from kservec.cli.selection import Selection
    from kservec.cli.stages import Stage
    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering
    from kservec.gitops.rendered import Rendered

PART_ALLOWED = Allowed(empty=True, shrink=True, restarts=None)
"""A part has no tree that it takes the place of."""


@click.command()
@paths_argument
@click.option(
    "--output",
    "-o",
    type=Folder(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the rendered tree into this folder, all of it or nothing.",
)
@click.option("--stdout", "to_stdout", is_flag=True, help="Write one stream of documents to standard output.")
@click.option(
    "--layout",
    "shape",
    type=click.Choice(LAYOUTS),
    default=TREE,
    show_default=True,
    help="What --output writes: a file for each object, or a single one.",
)
@click.option("--force", is_flag=True, help="Overwrite files of the tree that were edited by hand.")
@click.option("--allow-empty", is_flag=True, help="Empty a rendered tree when nothing is left to compile.")
@click.option(
    "--allow-shrink",
    is_flag=True,
    help="Let a project's tree lose more than half of its objects, or all of a namespace.",
)
@click.option(
    "--accept-restarts",
    callback=restarts,
    default="0",
    metavar="N|all",
    help="Build although the project's policy allows fewer restarts at once; `all` lets go of the whole brake.",
)
@click.option(
    "--oci",
    type=Folder(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Write the tree of an environment as an OCI artifact into this folder, an image layout.",
)
@click.option(
    "--only",
    multiple=True,
    metavar="SELECTION",
    help="Give the project's upgrade to these services, too: a namespace, a label as tier=dev, or namespace/Kind/name. "
    "It is added to upgrade.only in kservec.yaml. Repeatable.",
)
@click.option("--hydrator", is_flag=True, help="Add hydrator.metadata to --output, which goes to a branch of its own.")
@click.option(
    "--commit",
    metavar="SHA",
    help="The commit of the specs. --hydrator takes what git says without it; --oci names one only with it, and then "
    "the digest changes with each commit.",
)
@today_option
@jobs_option
@cache_option
@shard_option
@join_option
@target_options
@revision_options
@findings_options(notes=False)
def build(  # noqa: PLR0913 - click hands over one argument an option
    *, paths: tuple[str, ...], output: Path | None, to_stdout: bool, shape: str, force: bool, allow_empty: bool,
    allow_shrink: bool, accept_restarts: int | None, oci: Path | None, hydrator: bool, commit: str | None,
    parts: tuple[Path, ...], only: tuple[str, ...], target: Target, findings: Findings,
) -> int:  # fmt: skip
    """Compile InferenceServices to plain Kubernetes YAML.

    PATHS are files, folders, or - for standard input. Without --output the documents go to standard output.
    Findings go to standard error. After an error nothing is written.

    In a repository with a project file (kservec.yaml) PATHS may be names of its environments instead, all of them if
    there are none; each is written into its own output folder.

    \b
      kservec build
      kservec build prod
      kservec build prod --only team-a
      kservec build isvc.yaml
      kservec build services/ --platform platform/ --output rendered/
      helm template chart | kservec build - | kubectl apply -f -
    """  # noqa: D301
    selection = selected(paths, target.limits.max_bytes)
    refuse_whole(output=output, shape=shape, others={"--stdout": to_stdout, "--oci": oci, "--hydrator": hydrator,
                                                     "--join": parts})  # fmt: skip
    refuse_compiling(parts, paths, selection)
    if selection is not None:
        allowed = Allowed(empty=allow_empty, shrink=allow_empty or allow_shrink, restarts=accept_restarts)
        allowed = allowed if chosen_share() is None else PART_ALLOWED
        wanted = Wanted(
            output=output,
            to_stdout=to_stdout,
            force=force,
            allowed=allowed,
            oci=oci,
            hydrator=hydrator,
            commit=commit,
            parts=parts,
        )
        if only and not selection.broken:
            from kservec.cli.stages import next_stage  # noqa: PLC0415 - seldom wanted

            is_part = bool(parts) or chosen_share() is not None
            stage = next_stage(selection, only, elsewhere=bool(output or to_stdout or oci) or is_part)
            selection, wanted = stage.after, evolve(wanted, stage=stage)
        return build_environments(selection, target, wanted, findings)
    refuse_project_options(oci=oci, only=only, hydrator=hydrator, commit=commit)
    refuse_contradictions(output, paths, to_stdout=to_stdout, shape=shape, force=force)
    if parts:
        return join_files(parts, output, shape, findings, force=force)
    compilation = compiled(paths, target)
    if not compilation.ok:
        findings.show(compilation.diagnostics, compilation.sources, outcome="nothing was written")
        return FAILED
    if output is not None:
        if chosen_share() is None:
            refuse_empty(compilation.objects, output, allow_empty=allow_empty)
            files = planned_files(compilation.objects, shape)
        else:
            files = part_tree(compilation.tree, (*files_of(paths, target.limits), *target.platform))
        return written(compilation, files, output, findings, force=force)
    findings.show(compilation.diagnostics, compilation.sources)
    write(compilation.yaml)
    return 0


@record
class Wanted:
    """Where environments are to be written and how, and what the user allows."""

    output: Path | None = None
    to_stdout: bool = False
    force: bool = False
    allowed: Allowed = fresh(factory=Allowed)
    oci: Path | None = None
    hydrator: bool = False
    commit: str | None = None
    parts: tuple[Path, ...] = ()
    stage: Stage | None = None


def build_environments(selection: Selection, target: Target, wanted: Wanted, findings: Findings) -> int:
    """Render environments, and write them once all of them compile and nothing is in the way.

    Raises:
        click.UsageError: the options do not fit, or a path of the project cannot be read.
    """
    if selection.broken:
        findings.show(selection.diagnostics, selection.sources, outcome="nothing was written")
        return FAILED
    refuse_several(selection, wanted)
    if wanted.parts:
        renderings = [joined_rendering(selection, wanted.parts)]
    else:
        renderings = rendered(selection, target.limits)
    found, sources = all_findings(selection, renderings), all_sources(selection, renderings)
    if not all(rendering.ok for rendering in renderings):
        findings.show(found, sources, outcome="nothing was written")
        return FAILED
    if wanted.stage is not None and (refused := wanted.stage.refused(renderings)):
        findings.show(refused, wanted.stage.before.sources, outcome="nothing was written")
        return FAILED
    if wanted.to_stdout or wanted.oci is not None:
        refuse_nothing(renderings[0].objects, allow_empty=wanted.allowed.empty)
    if wanted.to_stdout:
        findings.show(found, sources)
        write(renderings[0].yaml)
        return 0
    if wanted.oci is not None:
        findings.show(found, sources, outcome=packed(selection, renderings[0], wanted))
        return 0
    trees = [(tree_of(selection, r, wanted), wanted.output or r.output) for r in renderings]
    obstacles = in_the_way(selection, renderings, trees, wanted)
    if obstacles:
        findings.show((*found, *obstacles), sources, outcome="nothing was written")
        return FAILED
    first = [r for r in renderings if wanted.output is None and not is_tree(r.output)]
    from kservec.cli.writing import put_all  # noqa: PLC0415 - not needed without a folder to write

    put = put_all if wanted.stage is None else wanted.stage.put_all
    lines = put(trees, force=wanted.force)
    findings.show(found, sources, outcome="\n".join([*lines, *unbraked(selection, first), *attributes_hint(first)]))
    return 0


def in_the_way(
    selection: Selection,
    renderings: Sequence[Rendering],
    trees: Sequence[tuple[Mapping[str, bytes], Path]],
    wanted: Wanted,
) -> list[Diagnostic]:
    """What keeps trees from being written: files that are not to be overwritten, and what the project does not allow.

    Raises:
        click.UsageError: a folder is not to be written, or its tree would be left without most of what it has.
        click.ClickException: something cannot be read.
    """
    from kservec.cli.places import may_be_written, obstacles_of  # noqa: PLC0415 - not needed without a folder to write

    obstacles: list[Diagnostic] = []
    for (planned, folder), rendering in zip(trees, renderings, strict=True):
        may_be_written(selection.workspace, rendering, planned, wanted.output)
        refuse_empty(rendering.objects, folder, allow_empty=wanted.allowed.empty)
        if not (rendering.sources or rendering.objects) and not wanted.allowed.empty and not is_tree(folder):
            places = ", ".join(rendering.settings.sources)
            message = f"no YAML or JSON file in {places}; --allow-empty writes an empty tree"
            raise click.UsageError(message, click.get_current_context())
        if not wanted.allowed.shrink:
            refuse_shrinking(rendering, folder)
        obstacles += obstacles_of(planned, folder, force=wanted.force)
    for (_, folder), rendering in zip(trees, renderings, strict=True):
        obstacles += braked(selection, rendering, folder, wanted.allowed.restarts)
    return obstacles


def attributes_hint(renderings: Sequence[Rendering]) -> list[str]:
    """What git should know about trees that were just written for the first time, unless it does already."""
    if not renderings:
        return []
    from kservec.io.repository import converts_lines  # noqa: PLC0415 - asks git, and a tree is new only once
    from kservec.project.paths import generated_folder  # noqa: PLC0415 - as above
    from kservec.project.reading import PROJECT_FILE  # noqa: PLC0415 - as above

    converted = (r for r in renderings if converts_lines(r.output / INDEX))
    folders = dict.fromkeys(generated_folder(r.settings) for r in converted)
    where = f"put this into .gitattributes beside {PROJECT_FILE}"
    return [f"hint: git may convert line ends; {where}: {f}/** -text linguist-generated" for f in folders]


def tree_of(selection: Selection, rendering: Rendering, wanted: Wanted) -> Mapping[str, bytes]:
    """The files of an environment, with the metadata for hydrators or the mark of a part if that is wanted."""
    if rendering.share is not None:
        return environment_part(selection, rendering)
    if not wanted.hydrator:
        return rendering.tree
    from kservec.cli.publishing import hydrated_tree  # noqa: PLC0415 - seldom wanted

    return hydrated_tree(selection, rendering, wanted.commit)


def packed(selection: Selection, rendering: Rendering, wanted: Wanted) -> str:
    """Write an environment as an OCI artifact, and say what was written."""
    from kservec.cli.publishing import write_artifact  # noqa: PLC0415 - seldom wanted

    assert wanted.oci is not None
    return write_artifact(selection, rendering, wanted.oci, wanted.commit)


def refuse_several(selection: Selection, wanted: Wanted) -> None:
    """Refuse to write several environments to one place.

    Raises:
        click.UsageError: that is asked for.
    """
    ctx = click.get_current_context()
    places = {"--oci": wanted.oci, "--output": wanted.output, "--stdout": wanted.to_stdout or None}
    chosen = [option for option, place in places.items() if place is not None]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)} exclude each other", ctx)
    if wanted.hydrator and wanted.output is None:
        raise click.UsageError("--hydrator goes with --output: the tree of a branch of its own", ctx)
    if wanted.commit is not None and not (wanted.hydrator or wanted.oci):
        raise click.UsageError("--commit goes with --hydrator or --oci", ctx)
    if len(selection.names) > 1 and chosen:
        option = chosen[0]
        raise click.UsageError(f"{option} takes one environment; name one of {listed(selection.names)}", ctx)


def refuse_contradictions(
    output: Path | None, paths: Sequence[str], *, to_stdout: bool, shape: str, force: bool
) -> None:
    """Refuse options that exclude each other or have no effect, and folders that are not to be written.

    Raises:
        click.UsageError: there are some.
    """
    ctx = click.get_current_context()
    if output is not None and to_stdout:
        raise click.UsageError("--output and --stdout exclude each other", ctx)
    if output is None and (force or shape != TREE):
        raise click.UsageError(f"{'--force' if force else '--layout'} goes with --output", ctx)
    if output is not None:
        from kservec.cli.places import refuse_inputs, refuse_place  # noqa: PLC0415 - not needed without a folder to write

        refuse_place(output)
        refuse_inputs(output, paths)


def refuse_project_options(*, oci: Path | None, only: tuple[str, ...], hydrator: bool, commit: str | None) -> None:
    """Refuse options that only environments have.

    Raises:
        click.UsageError: there is one.
    """
    given = {"--oci": oci is not None, "--only": bool(only), "--hydrator": hydrator, "--commit": commit is not None}
    for option in (option for option, is_given in given.items() if is_given):
        raise click.UsageError(f"{option} is for environments of a project", click.get_current_context())


def refuse_nothing(objects: Sequence[Rendered], *, allow_empty: bool) -> None:
    """Refuse to hand on nothing: whoever applies it and prunes would remove all there is.

    Raises:
        click.UsageError: nothing was compiled.
    """
    if not objects and not allow_empty:
        message = "nothing was compiled, and whoever prunes would remove everything; --allow-empty hands it on"
        raise click.UsageError(message, click.get_current_context())


def refuse_empty(objects: Sequence[Rendered], output: Path, *, allow_empty: bool) -> None:
    """Refuse to empty a rendered tree by mistake.

    Raises:
        click.UsageError: nothing was compiled, and there is a tree, or there was nothing to compile.
    """
    if not objects and not allow_empty and is_tree(output):
        message = f"nothing was compiled, so all of {output} would be removed; --allow-empty does it"
        raise click.UsageError(message, click.get_current_context())


def join_files(parts: Sequence[Path], output: Path | None, shape: str, findings: Findings, *, force: bool) -> int:
    """Write the tree that parts of it make up.

    Raises:
        click.UsageError: the parts do not fit together, or no folder is named.
        click.ClickException: the folder cannot be written.
    """
    if output is None:
        raise click.UsageError("--join goes with --output, or an environment", click.get_current_context())
    files = planned_files(joined_objects(parts), shape)
    return written(Compilation(result=Result(), sources={}), files, output, findings, force=force)


def written(
    compilation: Compilation, files: Mapping[str, bytes], output: Path, findings: Findings, *, force: bool
) -> int:
    """Write the tree, and say what changed.

    Raises:
        click.ClickException: the folder cannot be written.
    """
    from kservec.cli.writing import outcome_of, put  # noqa: PLC0415 - not needed without a folder to write

    done = put(files, output, force=force)
    if done.obstacles:
        found = (*compilation.diagnostics, *done.obstacles)
        findings.show(found, compilation.sources, outcome="nothing was written")
        return FAILED
    findings.show(compilation.diagnostics, compilation.sources, outcome=outcome_of(done, output))
    return 0
