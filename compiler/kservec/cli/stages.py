"""Stages of an upgrade on the command line: `kservec build --only` widens what kservec.yaml says, and builds that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.environments import Selection
from kservec.cli.options import LARGEST_FILE
from kservec.cli.previews import selections
from kservec.edits.nodes import NotEditableError
from kservec.edits.upgrade import widened
from kservec.io.workspace import opened_workspace

if TYPE_CHECKING:
    from kservec.io.workspace import Workspace


class Stage(NamedTuple):
    """Environments with an upgrade for more services, and the text of the project file that says so."""

    selection: Selection
    content: bytes


def next_stage(selection: Selection, only: tuple[str, ...], *, elsewhere: bool) -> Stage:
    """The environments of a selection, whose upgrades have more services.

    Args:
        selection: the project and the environments.
        only: the services.
        elsewhere: whether the trees go to other places than their own.

    Raises:
        click.UsageError: they do, an environment has no upgrade, or kservec.yaml cannot be edited.
    """
    if elsewhere:
        message = "--only is written into kservec.yaml, so the trees go to their own folders"
        raise click.UsageError(message, click.get_current_context())
    workspace, wanted = selection.workspace, [chosen.text for chosen in selections(only)]
    assert workspace is not None
    text = workspace.file.content.decode("utf-8-sig")
    for at in dict.fromkeys(place_of(workspace, name) for name in selection.names):
        try:
            text = widened(text, workspace.project.document.value, at, wanted)
        except NotEditableError as error:
            place = f"{'.'.join(map(str, at))}.only of {workspace.file.name}"
            message = f"{place} cannot be edited: {error}; write it by hand, and build without --only"
            raise click.UsageError(message, click.get_current_context()) from None
    content = text.encode()
    opened = opened_workspace(workspace.root, workspace.file._replace(content=content), LARGEST_FILE)
    assert opened.workspace is not None
    return Stage(Selection(workspace=opened.workspace, names=selection.names, diagnostics=opened.diagnostics,
                           sources={**selection.sources, workspace.file.name: text}), content)  # fmt: skip


def place_of(workspace: Workspace, name: str) -> tuple[str | int, ...]:
    """Where the upgrade of an environment stands.

    Raises:
        click.UsageError: it has none.
    """
    upgrade = workspace.environments[name].upgrade
    if upgrade is None:
        message = f"--only widens `upgrade` in {workspace.file.name}, and {name} has none"
        raise click.UsageError(message, click.get_current_context())
    return upgrade.at


def put_project(workspace: Workspace, content: bytes) -> None:
    """Write the project file.

    Raises:
        click.ClickException: it cannot be written.
    """
    from kservec.io.file_writer import replace_file  # noqa: PLC0415 - only where something is written

    path = workspace.root / workspace.file.name.rpartition("/")[2]
    try:
        replace_file(path, content)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
