"""Where trees go: folders that are not to be written, and what may lie in one that is.

A tree is replaced as a whole, so it needs a folder of its own. That of an environment is held against all paths of its
project, whether kservec.yaml or the command line names it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.cli.brake import is_tree
from kservec.gitops.layout import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace

OWN = "choose a folder of its own"


def may_be_written(
    workspace: Workspace | None, rendering: Rendering, planned: Mapping[str, bytes], output: Path | None
) -> None:
    """Refuse a folder that the tree of an environment must not be written into.

    Args:
        workspace: the project.
        rendering: the environment.
        planned: the files of its tree.
        output: the folder that the command line names, None for the one of the project.

    Raises:
        click.UsageError: it is not to be written, or cannot be looked at.
    """
    if output is None or os.path.realpath(output) == os.path.realpath(rendering.output):
        said = (
            f"--output {output}"
            if output is not None
            else f"{rendering.output}, the output of {rendering.settings.name} in kservec.yaml"
        )
        refuse_place(output or rendering.output, said, planned)
        return
    refuse_place(output)
    if workspace is not None:
        refuse_overlap(workspace, rendering, output)


def refuse_overlap(workspace: Workspace, rendering: Rendering | None, output: Path, option: str = "--output") -> None:
    """Refuse a folder that holds something of the project, or lies in a tree.

    Args:
        workspace: the project.
        rendering: the environment whose tree is to go there, None if it is for something else.
        output: the folder.
        option: what names it.

    Raises:
        click.UsageError: it does.
    """
    place = Path(os.path.realpath(output))
    for what, path in project_paths(workspace):
        if path.is_relative_to(place):
            message = f"{option} {output}: it holds {what} of the project; {OWN}"
            raise click.UsageError(message, click.get_current_context())
    for name, settings in workspace.environments.items():
        path = Path(os.path.realpath(workspace.at(settings.output)))
        if verb := overlap(place, path):
            is_other = rendering is not None and name != rendering.settings.name
            own = f"; build {name} instead" if place == path and is_other else ""
            message = f"{option} {output}: it {verb} the output of {name}{own or f'; {OWN}'}"
            raise click.UsageError(message, click.get_current_context())


def overlap(place: Path, other: Path) -> str:
    """How a folder stands to another one that it overlaps, as a verb; empty if they are apart."""
    if place == other:
        return "is"
    return "lies in" if place.is_relative_to(other) else "holds" if other.is_relative_to(place) else ""


def project_paths(workspace: Workspace) -> Iterator[tuple[str, Path]]:
    """The folder of a project and everything that its environments read, in words and where it lies."""
    from kservec.project.paths import inputs_of  # noqa: PLC0415 - files without a project have none

    yield "the folder", Path(os.path.realpath(workspace.root))
    inputs = dict.fromkeys(path for settings in workspace.environments.values() for path in inputs_of(settings))
    yield from ((f"the input {path}", Path(os.path.realpath(workspace.at(path)))) for path in inputs)


def refuse_inputs(output: Path, paths: Sequence[str], option: str = "--output") -> None:
    """Refuse to write a tree over what it is compiled from: the folder would not be read the next time.

    Raises:
        click.UsageError: a path lies in the output folder, or is it.
    """
    place = Path(os.path.realpath(output))
    held = next((path for path in paths if path != "-" and Path(os.path.realpath(path)).is_relative_to(place)), None)
    if held is not None:
        raise click.UsageError(f"{option} {output}: it holds the input {held}; {OWN}", click.get_current_context())


def refuse_cache(folder: Path, paths: Sequence[str], workspace: Workspace | None) -> None:
    """Refuse a folder for a cache that is in use for something else, or is about to be.

    Args:
        folder: the folder, which need not be there.
        paths: what is compiled, if it is not an environment.
        workspace: the project, if it is one.

    Raises:
        click.UsageError: it is in use, or cannot be looked at.
    """
    ctx, place = click.get_current_context(), Path(os.path.realpath(folder))
    outputs = [given for option in ("output", "oci") if (given := ctx.params.get(option)) is not None]
    verbs = [(overlap(place, Path(os.path.realpath(given))), given) for given in outputs]
    written = next((f"it {verb} the output {given}" for verb, given in verbs if verb), "")
    try:
        in_tree = any(map(is_tree, (place, *place.parents)))
        fault = in_use(place) or written or ("it is in a rendered tree" if in_tree else "")
    except OSError as error:
        fault = error.strerror or "it cannot be read"
    if fault:
        raise click.UsageError(f"--cache {folder}: {fault}; {OWN}", ctx)
    if workspace is not None:
        refuse_overlap(workspace, None, folder, "--cache")
    refuse_inputs(folder, paths, "--cache")
    refuse_foreign(folder)


def refuse_foreign(folder: Path) -> None:
    """Refuse a folder for a cache that is neither new, nor empty, nor a cache: files in it would be removed in time.

    Raises:
        click.UsageError: it is one, or cannot be looked at.
    """
    from kservec.io.cache import MARK, is_of_others  # noqa: PLC0415 - only where it is asked for

    try:
        fault = f"it holds files, and no {MARK} of kservec" if folder.is_dir() and is_of_others(folder) else ""
    except OSError as error:
        fault = error.strerror or "it cannot be read"
    if fault:
        raise click.UsageError(f"--cache {folder}: {fault}; {OWN}", click.get_current_context())


def refuse_place(output: Path, said: str = "", planned: Mapping[str, bytes] | None = None) -> None:
    """Refuse a folder that is not to be written, or cannot be looked at.

    Args:
        output: the folder.
        said: who names it, in words; without them it is --output.
        planned: the files of the tree, if the folder is known to be for it: then it may have lost its index.

    Raises:
        click.UsageError: it is one.
    """
    ctx, said = click.get_current_context(), said or f"--output {output}"
    try:
        fault = unsafe(Path(os.path.realpath(output)), planned or {})
    except OSError as error:
        fault = error.strerror or "it cannot be read"
    if fault:
        raise click.UsageError(f"{said}: {fault}", ctx)


def unsafe(folder: Path, planned: Mapping[str, bytes]) -> str:
    """Why a folder cannot, or should not, be replaced as a whole; empty if it can.

    Raises:
        OSError: it cannot be looked at.
    """
    if fault := unreplaceable(folder):
        return fault
    if holds_other_folders(folder) and not has_lost_index(folder, planned):
        return f"it holds other folders and no {INDEX}; choose a folder of its own"
    return ""


def unreplaceable(folder: Path) -> str:
    """Why a folder cannot be replaced as a whole, whatever is in it; empty if it can.

    Raises:
        OSError: it cannot be looked at.
    """
    if os.path.lexists(folder) and not folder.is_dir():
        return "this is no folder"
    if fault := in_use(folder) or ("it is a mount point" if os.path.ismount(folder) else ""):
        return f"{fault}; {OWN}, such as rendered/"
    return ""


def in_use(folder: Path) -> str:
    """Why nothing of ours belongs directly into a folder; empty if nothing speaks against it."""
    if Path.cwd().is_relative_to(folder):
        return "it is or holds the current folder"
    if is_of_git(folder):
        return "it is a repository, or lies in what git keeps for itself"
    return ""


def is_of_git(folder: Path) -> bool:
    """Whether a folder is the top of a repository, or in what git keeps for itself."""
    return (folder / ".git").exists() or ".git" in (part.lower() for part in folder.parts)


def holds_other_folders(folder: Path) -> bool:
    """Whether a folder is in use for something else: it has folders, and no index of a rendered tree."""
    return folder.is_dir() and not is_tree(folder) and any(p.is_dir() for p in folder.iterdir())


def has_lost_index(folder: Path, planned: Mapping[str, bytes]) -> bool:
    """Whether a folder without an index has files of a tree nevertheless."""
    return not is_tree(folder) and any((folder / path).is_file() for path in planned if "/" in path)


def obstacles_of(planned: Mapping[str, bytes], folder: Path, *, force: bool) -> Sequence[Diagnostic]:
    """What is in the way of a tree.

    Raises:
        click.ClickException: something cannot be read.
    """
    from kservec.io.tree_reader import unindexed  # noqa: PLC0415 - not needed without a tree to write
    from kservec.io.tree_writer import obstacles_in  # noqa: PLC0415 - as above

    try:
        if not force and has_lost_index(folder, planned):
            return tuple(unindexed(folder, planned))
        return obstacles_in(folder, planned, force=force)
    except OSError as error:
        raise click.ClickException(f"cannot read {error.filename or folder}: {error.strerror}") from None
