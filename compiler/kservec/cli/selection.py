"""Which environments arguments of the command line mean, and the project that they are of."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from kservec.cli.findings import TEXT, Findings
from kservec.cli.status import FAILED
from kservec.core.listing import listed
from kservec.core.records import fresh, record
from kservec.core.spelling import meant_name
from kservec.core.text.source import Limits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.io.workspace import Workspace

LARGEST_FILE = Limits().max_bytes
"""Bytes of a file where nothing else is said."""
DESCRIBED = {"platform": "--platform", "catalog": "--catalog", "absent": "--absent", "previous": "--previous",
             "profile": "--profile", "revision_names": "--revision-names"}  # fmt: skip
"""Options that describe the cluster; for an environment its project does."""


@record
class Selection:
    """The environments that arguments name. `broken`: the project cannot be used, for what was found in its file."""

    workspace: Workspace | None = None
    names: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    sources: Mapping[str, str] = fresh(factory=dict)

    @property
    def broken(self) -> bool:
        """Whether there is a project that cannot be used."""
        return self.workspace is None


def selected(arguments: Sequence[str], max_bytes: int = LARGEST_FILE) -> Selection | None:
    """The environments that arguments mean; None if they are paths, or there is no project.

    The name of an environment is that environment; `./prod` is a path, whatever is called prod. Without arguments all
    environments are meant.

    Raises:
        click.UsageError: environments and paths are mixed, an argument is neither, or an option describes the cluster.
    """
    path = find(arguments)
    if path is None:
        return None
    from kservec.api import text_of  # noqa: PLC0415 - as below
    from kservec.io.workspace import open_workspace  # noqa: PLC0415 - most runs of single files have no project

    try:
        workspace, file, found = open_workspace(path, max_bytes)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    sources = {file.name: text_of(file)}
    if workspace is None:
        return Selection(diagnostics=found, sources=sources)
    names = names_among(arguments, workspace)
    if names is None:
        return None
    refuse_described()
    return Selection(workspace=workspace, names=names, diagnostics=found, sources=sources)


def selected_one(environment: str) -> Selection:
    """The environment that an argument means, for commands that show one of a project, and no files.

    Raises:
        click.UsageError: it means none.
    """
    selection = selected((environment,))
    if selection is not None:
        return selection
    from kservec.project.reading import PROJECT_FILE  # noqa: PLC0415 - as below

    ctx = click.get_current_context()
    if Path(environment).exists():
        message = (
            f"there is no environment {environment}: it is a path, and {ctx.info_name} shows one of a project. "
            f"Name files under `sources` in a {PROJECT_FILE}, and what describes the cluster under `platform`; "
            "kservec init makes one"
        )
        raise click.UsageError(message, ctx)
    message = f"there is no environment {environment}: no {PROJECT_FILE} here or above names it; kservec init makes one"
    raise click.UsageError(message, ctx)


def opened() -> Workspace:
    """The workspace of the current folder, for commands that work on a project alone.

    Raises:
        click.UsageError: there is no project.
        click.exceptions.Exit: the project cannot be used; what was found has been shown.
    """
    selection = selected(())
    ctx = click.get_current_context()
    if selection is None:
        from kservec.project.reading import PROJECT_FILE  # noqa: PLC0415 - as below

        raise click.UsageError(f"there is no {PROJECT_FILE} here or above; kservec init makes one", ctx)
    if selection.workspace is None:
        Findings(layout=TEXT, notes=False).show(selection.diagnostics, selection.sources)
        ctx.exit(FAILED)
    return selection.workspace


def refuse_unknown(workspace: Workspace, name: str) -> None:
    """Refuse a name that is no environment.

    Raises:
        click.UsageError: it is none.
    """
    if name not in workspace.environments:
        near = meant_name(name, set(workspace.environments))
        known = f"did you mean {near}?" if near else f"environments are {listed(workspace.environments)}"
        message = f"{name} is no environment of {workspace.file.name}; {known}"
        raise click.UsageError(message, click.get_current_context())


def find(arguments: Sequence[str]) -> Path | None:
    """The project file that arguments may need: none if all of them are surely paths."""
    if arguments and all(is_plain_path(argument) for argument in arguments):
        return None
    from kservec.io.workspace import find_project  # noqa: PLC0415 - as above

    return find_project(Path())


def environment_names() -> tuple[str, ...]:
    """The environments of the project around, for shells that complete; none where it cannot be used."""
    from kservec.io.workspace import find_project, open_workspace  # noqa: PLC0415 - as above

    try:
        path = find_project(Path())
        workspace = None if path is None else open_workspace(path, LARGEST_FILE).workspace
    except OSError:
        return ()
    return () if workspace is None else tuple(workspace.environments)


def is_plain_path(argument: str) -> bool:
    """Whether an argument cannot be the name of an environment."""
    return argument == "-" or "/" in argument or "." in argument


def names_among(arguments: Sequence[str], workspace: Workspace) -> tuple[str, ...] | None:
    """The environments among arguments, all without any; None if all arguments are paths.

    Raises:
        click.UsageError: some are environments and some are not, or one is neither.
    """
    if not arguments:
        return tuple(workspace.environments)
    names = tuple(dict.fromkeys(a for a in arguments if a in workspace.environments))
    others = [a for a in arguments if a not in workspace.environments]
    ctx = click.get_current_context()
    if not names and all(a == "-" or Path(a).exists() for a in others):
        return None
    if not others:
        return names
    odd = next((a for a in others if not Path(a).exists()), others[0])
    if Path(odd).exists():
        raise click.UsageError(f"{odd} is a path and {names[0]} an environment; build one or the other", ctx)
    near = meant_name(odd, set(workspace.environments))
    known = f"; did you mean {near}?" if near else f"; environments are {listed(workspace.environments)}"
    raise click.UsageError(f"{odd} is neither an environment of {workspace.file.name} nor a path{known}", ctx)


def refuse_described() -> None:
    """Refuse options that describe the cluster, which the project does.

    Raises:
        click.UsageError: there is one.
    """
    from kservec.project.reading import PROJECT_FILE  # noqa: PLC0415 - as above

    ctx = click.get_current_context()
    for parameter, option in DESCRIBED.items():
        if ctx.get_parameter_source(parameter) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option} is for files; of an environment {PROJECT_FILE} says it", ctx)
