"""Parts of an environment: the option that chooses one, writing it, joining all of them, and checking one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from kservec.cli.selection import DESCRIBED
from kservec.core.listing import listed
from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from kservec.cli.selection import Selection
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.share import Share
    from kservec.environments import Rendering
    from kservec.gitops.rendered import Rendered
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace
    from kservec.project.settings import Settings

SHARD = "kservec.shard"
WORK = {"jobs": "--jobs", "cache": "--cache"}
"""Options that say how the work is done."""


def shard_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that chooses a part of the services."""
    return click.option("--shard", metavar="I/N", callback=keep_share, expose_value=False,
                        help="Only part I of N, chosen by namespace, so that N machines share a "
                             "run.")(command)  # fmt: skip


def join_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that names the parts of a tree."""
    kind = click.Path(exists=True, file_okay=False, path_type=Path)
    return click.option("--join", "parts", multiple=True, type=kind, metavar="DIR",
                        help="Make the tree of parts that `build --shard` wrote, and compile nothing. Once for each "
                             "part.")(command)  # fmt: skip


def keep_share(ctx: click.Context, parameter: click.Parameter, value: str | None) -> None:
    """Keep the part for when there is something to compile.

    Raises:
        click.BadParameter: it is none.
    """
    if value is None:
        return
    from kservec.core.share import share_of  # noqa: PLC0415 - only for parts

    share = share_of(value)
    if share is None:
        raise click.BadParameter(f"{value!r} is no part; the second of four is 2/4", ctx, parameter)
    ctx.meta[SHARD] = share


def chosen_share() -> Share | None:
    """The part that is compiled; None for all."""
    share: Share | None = click.get_current_context().meta.get(SHARD)
    return share


def refuse_whole(*, output: Path | None, shape: str, others: Mapping[str, object]) -> None:
    """Refuse what a part cannot be: a tree in the place of the whole one, or one file.

    Raises:
        click.UsageError: that is asked for.
    """
    ctx, share = click.get_current_context(), chosen_share()
    if share is None:
        return
    for option in (option for option, value in others.items() if value):
        raise click.UsageError(f"--shard and {option} exclude each other", ctx)
    if output is None:
        message = "--shard goes with --output: a folder for this part alone, to be joined by kservec build --join"
        raise click.UsageError(message, ctx)
    refuse_tree(output)
    refuse_single(shape)


def refuse_compiling(parts: Sequence[Path], paths: Sequence[str], selection: Selection | None) -> None:
    """Refuse what says what to compile, and how, where parts are joined: it would have no effect.

    Raises:
        click.UsageError: there is something.
    """
    if not parts:
        return
    ctx = click.get_current_context()
    if selection is None and paths:
        message = f"--join compiles nothing, and {paths[0]} is to be compiled; each part takes a --join of its own"
        raise click.UsageError(message, ctx)
    for parameter, option in (DESCRIBED | WORK).items():
        if ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"--join compiles nothing, so {option} has no effect; leave it out", ctx)


def refuse_tree(output: Path) -> None:
    """Refuse to write a part over a whole tree, of which it would leave nothing else.

    Raises:
        click.UsageError: the folder holds one.
    """
    from kservec.gitops.layout import INDEX  # noqa: PLC0415 - only for parts
    from kservec.gitops.parts import MARK  # noqa: PLC0415 - as above

    if (output / INDEX).exists() and not (output / MARK).exists():
        message = (
            f"{output} holds a whole tree, and --shard writes one part of it: name a folder of its own for the part"
        )
        raise click.UsageError(message, click.get_current_context())


def refuse_single(shape: str, name: str = "") -> None:
    """Refuse to share out what lies in a single file.

    Raises:
        click.UsageError: that is asked for.
    """
    from kservec.gitops.layout import TREE  # noqa: PLC0415 - only for parts

    if chosen_share() is not None and shape != TREE:
        whose = f" of {name}" if name else ""
        raise click.UsageError(f"the layout{whose} is a single file, which has no parts", click.get_current_context())


def refuse_patched(selection: Selection) -> None:
    """Refuse parts of environments of which nobody can tell where a patch or a file belongs.

    Raises:
        click.UsageError: one is of that kind.
    """
    if chosen_share() is None or selection.workspace is None:
        return
    for settings in (selection.workspace.environments[name] for name in selection.names):
        refuse_single(settings.layout, settings.name)
        refuse_own_output(selection.workspace.at(settings.output), settings.name)
        if settings.patches:
            message = f"{settings.name} has patches over rendered objects, which need all of them; build it whole"
            raise click.UsageError(message, click.get_current_context())


def refuse_own_output(folder: Path, name: str) -> None:
    """Refuse to write a part where an environment's whole tree belongs, even if there is none yet.

    Raises:
        click.UsageError: the folder of the part is that.
    """
    ctx = click.get_current_context()
    output = ctx.params.get("output")
    if output is not None and Path(output).resolve() == folder.resolve():
        message = f"{output} is where the whole tree of {name} belongs: name a folder of its own for the part"
        raise click.UsageError(message, ctx)


def part_tree(tree: Mapping[str, bytes], files: Iterable[File], environment: str = "") -> dict[str, bytes]:
    """The files of a part, with the mark that says which one it is and what it was made of."""
    from kservec.gitops.parts import mark_text, marked_part  # noqa: PLC0415 - only for parts

    share = chosen_share()
    assert share is not None
    return marked_part(tree, mark_text(environment, share, digest_of(files)))


def digest_of(files: Iterable[File]) -> str:
    """The digest of what parts are made of."""
    from kservec._version import __version__  # noqa: PLC0415 - only for parts
    from kservec.gitops.parts import inputs_digest  # noqa: PLC0415 - as above

    return inputs_digest(__version__, (file.content for file in files))


def environment_part(selection: Selection, rendering: Rendering) -> dict[str, bytes]:
    """The files of a part of an environment."""
    assert selection.workspace is not None
    files = inputs_of(selection.workspace, rendering.settings, rendering.sources)
    return part_tree(rendering.tree, files, rendering.settings.name)


def inputs_of(workspace: Workspace, settings: Settings, sources: Iterable[File]) -> tuple[File, ...]:
    """Everything that an environment is made of, given its sources.

    Raises:
        OSError: a path does not exist or cannot be read.
    """
    from kservec.core.lock import LOCK_FILE  # noqa: PLC0415 - only for parts
    from kservec.core.text.source import Limits  # noqa: PLC0415 - as above
    from kservec.io.workspace import files_at  # noqa: PLC0415 - as above

    coming = settings.upgrade.platform if settings.upgrade is not None else ()
    paths = (*settings.platform, *settings.include, *coming, *([LOCK_FILE] if workspace.lock is not None else []))
    return (workspace.file, *sources, *files_at(workspace, paths, Limits().max_bytes))


def outdated(workspace: Workspace, settings: Settings, folder: Path) -> tuple[Diagnostic, ...]:
    """A warning if a part was made of other files than those that are here.

    Nothing is said where they are not here, or only kustomize could tell what they are.
    """
    from kservec.core.text.source import Limits  # noqa: PLC0415 - only for parts
    from kservec.gitops.parts import other_inputs  # noqa: PLC0415 - as above
    from kservec.io.parts import read_part  # noqa: PLC0415 - as above
    from kservec.io.workspace import source_files  # noqa: PLC0415 - as above

    if settings.overlay:
        return ()
    try:
        files = inputs_of(workspace, settings, source_files(workspace, settings, Limits().max_bytes))
    except OSError:
        return ()
    return other_inputs(read_part(folder), digest_of(files))


def joined_objects(folders: Sequence[Path], environment: str = "") -> tuple[Rendered, ...]:
    """The objects of all parts of an environment, or of files.

    Raises:
        click.UsageError: a part cannot be read, they do not fit together, or the tree would take the place of one.
    """
    from kservec.cli.places import refuse_inputs  # noqa: PLC0415 - only for parts
    from kservec.gitops.parts import UnfitPartError, joined  # noqa: PLC0415 - as above
    from kservec.io.parts import read_part  # noqa: PLC0415 - as above

    output = click.get_current_context().params.get("output")
    if output is not None:
        refuse_inputs(output, [str(folder) for folder in folders])
    try:
        return joined([read_part(folder) for folder in folders], environment)
    except UnfitPartError as error:
        raise click.UsageError(str(error), click.get_current_context()) from None
    except OSError as error:
        message = f"{error.filename}: {error.strerror}; --join takes what kservec build --shard wrote"
        raise click.UsageError(message, click.get_current_context()) from None


def joined_rendering(selection: Selection, folders: Sequence[Path]) -> Rendering:
    """An environment as its parts give it.

    Raises:
        click.UsageError: several environments are meant, a part cannot be read, or they do not fit together.
    """
    from kservec.environments import Rendering, joined  # noqa: PLC0415 - only for parts

    workspace = selection.workspace
    assert workspace is not None
    if len(selection.names) > 1:
        message = f"--join takes one environment; name one of {listed(selection.names)}"
        raise click.UsageError(message, click.get_current_context())
    settings = workspace.environments[selection.names[0]]
    objects = joined_objects(folders, settings.name)
    found = outdated(workspace, settings, folders[0])
    whole = Rendering(settings=settings, output=workspace.at(settings.output), diagnostics=found)
    return joined(whole, objects, workspace)


def with_others(objects: Iterable[Rendered], folder: Path) -> tuple[Rendered, ...]:
    """Objects of a part, and those that a tree has of all other parts, in their total order; all of them without parts.

    Raises:
        click.UsageError: the tree cannot be read.
    """
    share = chosen_share()
    known = {o.ref: o for o in (others_in(folder, share) if share is not None else ())} | {o.ref: o for o in objects}
    return tuple(known[ref] for ref in sorted(known))


def whole_rendering(rendering: Rendering, folder: Path, selection: Selection) -> Rendering:
    """An environment whose other parts are as they stand in a tree; the same without parts.

    Raises:
        click.UsageError: the tree cannot be read.
    """
    if rendering.share is None or selection.workspace is None:
        return rendering
    from kservec.environments import joined  # noqa: PLC0415 - only for parts

    whole = joined(rendering, others_in(folder, rendering.share), selection.workspace)
    return evolve(whole, diagnostics=rendering.diagnostics)


def others_in(folder: Path, share: Share) -> list[Rendered]:
    """The objects that a tree has of other parts.

    Raises:
        click.UsageError: the tree cannot be read.
    """
    from kservec.io.parts import other_objects  # noqa: PLC0415 - only for parts

    try:
        return other_objects(folder, share)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
