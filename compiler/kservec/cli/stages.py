"""Stages of an upgrade on the command line: `kservec build --only` widens what kservec.yaml says, and builds that."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.cli.previews import place_of, selections, upgrading
from kservec.cli.selection import LARGEST_FILE, Selection
from kservec.cli.streams import StoppedError
from kservec.cli.writing import begin, put_all
from kservec.edits.nodes import NotEditableError
from kservec.edits.upgrade import widened
from kservec.io.workspace import opened_workspace
from kservec.project.upgrade import unchosen

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace
    from kservec.project.upgrade import UpgradeSettings
    from kservec.spec.selection import Selection as Chosen


class Stage(NamedTuple):
    """A step of an upgrade: it is for more services.

    `before` and `after` are the project and the environments without and with it, `content` is the text of the project
    file that has it, `only` the services, `upgrades` those of the environments that it is for, as they stand.
    """

    before: Selection
    after: Selection
    content: bytes
    only: tuple[Chosen, ...]
    upgrades: Mapping[str, UpgradeSettings]

    def refused(self, renderings: Iterable[Rendering]) -> tuple[Diagnostic, ...]:
        """Errors about selections that choose no service in any of the environments, as they were rendered with it."""
        staged = [rendering.staged for rendering in renderings if rendering.staged is not None]
        return tuple(unchosen(self.only, staged, place_of(self.before, self.upgrades)))

    def put_all(self, trees: Sequence[tuple[Mapping[str, bytes], Path]], *, force: bool) -> list[str]:
        """Write the project file and the trees of the environments; a line about each tree.

        Where a tree cannot be written, and none before it has the step, the project file is again as it was.

        Raises:
            StoppedError: as `writing.put_all`.
            click.ClickException: the project file cannot be written.
        """
        assert self.before.workspace is not None
        put_project(self.before.workspace, self.content)
        try:
            return put_all(trees, force=force)
        except StoppedError as stop:
            if str(stop) and not self.upgrades.keys() & set(self.before.names[: stop.done]):
                put_project(self.before.workspace, self.before.workspace.file.content)
            raise


def next_stage(selection: Selection, only: tuple[str, ...], *, elsewhere: bool) -> Stage:
    """The environments of a selection, whose upgrades have more services.

    Of all environments of a project those without an upgrade stay as they are.

    Args:
        selection: the project and the environments.
        only: the services.
        elsewhere: whether the trees go to other places than their own.

    Raises:
        click.UsageError: they do, an environment has no upgrade, or shares it with one that is not built, or
            kservec.yaml cannot be edited.
    """
    ctx = click.get_current_context()
    if elsewhere:
        raise click.UsageError("--only is written into kservec.yaml, so the trees go to their own folders", ctx)
    workspace, wanted, upgrades = selection.workspace, selections(only), upgrading(selection, "--only widens")
    assert workspace is not None
    refuse_shared(workspace, upgrades)
    text = workspace.file.content.decode("utf-8-sig")
    for at in dict.fromkeys(upgrade.at for upgrade in upgrades.values()):
        try:
            text = widened(text, workspace.project.document.value, at, [chosen.text for chosen in wanted])
        except NotEditableError as error:
            place = f"{'.'.join(map(str, at))}.only of {workspace.file.name}"
            message = f"{place} cannot be edited: {error}; write it by hand, and build without --only"
            raise click.UsageError(message, ctx) from None
    content = text.encode()
    opened = opened_workspace(workspace.root, workspace.file._replace(content=content), LARGEST_FILE)
    assert opened.workspace is not None
    after = Selection(workspace=opened.workspace, names=selection.names, diagnostics=opened.diagnostics,
                      sources={**selection.sources, workspace.file.name: text})  # fmt: skip
    return Stage(selection, after, content, wanted, upgrades)


def refuse_shared(workspace: Workspace, upgrades: Mapping[str, UpgradeSettings]) -> None:
    """Refuse to widen an upgrade of environments that are not built: their trees would be out of date.

    Raises:
        click.UsageError: an upgrade is that of another environment, too.
    """
    for name, upgrade in upgrades.items():
        alike = (n for n, s in workspace.environments.items() if s.upgrade is not None and s.upgrade.at == upgrade.at)
        other = next((n for n in alike if n not in upgrades), None)
        if other is not None:
            message = f"--only widens `upgrade` in {workspace.file.name}, which {name} shares with {other}"
            remedy = "build both, or give each an upgrade of its own"
            raise click.UsageError(f"{message}; {remedy}", click.get_current_context())


def put_project(workspace: Workspace, content: bytes) -> None:
    """Write the project file.

    Raises:
        click.ClickException: it cannot be written.
    """
    from kservec.io.file_writer import replace_file  # noqa: PLC0415 - only where something is written

    path = workspace.root / workspace.file.name.rpartition("/")[2]
    begin(path)
    try:
        replace_file(path, content)
    except OSError as error:
        raise click.ClickException(f"cannot write {path}: {error.strerror}") from None
