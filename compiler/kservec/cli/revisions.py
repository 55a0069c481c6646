"""Commits on the command line: which argument is one, and what goes wrong with git as wrong usage."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from kservec.cli.selection import Selection, names_among, selected

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.committed import Base
    from kservec.io.workspace import Workspace

HEAD = "HEAD"


@contextmanager
def git_errors() -> Iterator[None]:
    """Tell what git cannot do as wrong usage.

    Raises:
        click.UsageError: git could not do something.
    """
    from kservec.io.git import GitError  # noqa: PLC0415 - loads what starts programs

    try:
        yield
    except GitError as error:
        hint = f"; {error.hint}" if error.hint else ""
        raise click.UsageError(f"{error}{hint}", click.get_current_context()) from None


def chosen(arguments: Sequence[str]) -> tuple[Selection, str]:
    """The environments that arguments mean, and the ref before them, HEAD if there is none.

    The first argument is the ref, unless it is an environment.

    Raises:
        click.UsageError: there is no project, an argument is neither, or the first one can be both.
    """
    selection = selected(())
    if selection is None:
        raise click.UsageError("there is no kservec.yaml here or above", click.get_current_context())
    workspace = selection.workspace
    if workspace is None or not arguments:
        return selection, HEAD
    first, *others = arguments
    if first in workspace.environments:
        refuse_ambiguous(first, workspace)
        first, others = HEAD, list(arguments)
    return Selection(
        workspace=workspace,
        names=environments_among(others, workspace),
        diagnostics=selection.diagnostics,
        sources=selection.sources,
    ), first


def chosen_environments(names: Sequence[str]) -> Selection:
    """The environments of some names, all without any.

    Raises:
        click.UsageError: there is no project, or a name is none.
    """
    return chosen((HEAD, *names))[0]


def environments_among(arguments: Sequence[str], workspace: Workspace) -> tuple[str, ...]:
    """The environments that arguments name, all without any.

    Raises:
        click.UsageError: one is none.
    """
    names = names_among(arguments, workspace)
    if names is None:
        message = f"{arguments[0]} is a path and no environment; environments are {', '.join(workspace.environments)}"
        raise click.UsageError(message, click.get_current_context())
    return names


def refuse_ambiguous(name: str, workspace: Workspace) -> None:
    """Refuse a lone name that is an environment's and a commit's.

    Raises:
        click.UsageError: it is.
    """
    from kservec.io.git import repository_of  # noqa: PLC0415 - as above

    with git_errors():
        if repository_of(workspace.root).has(name):
            message = f"{name} is an environment and a commit; write HEAD {name}, or refs/heads/{name}"
            raise click.UsageError(message, click.get_current_context())


def base_for(workspace: Workspace, ref: str, *, exact: bool) -> Base:
    """The commit that a project is compared with.

    Raises:
        click.UsageError: there is none.
    """
    from kservec.committed import base_of  # noqa: PLC0415 - as above

    with git_errors():
        return base_of(workspace, ref, exact=exact)
