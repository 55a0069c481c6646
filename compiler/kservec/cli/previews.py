"""Upgrades on the command line: `kservec diff --profile`, `--platform` and `--only`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.api import text_of
from kservec.cli.environments import all_findings, all_sources, rendered
from kservec.cli.findings import TEXT, Findings
from kservec.cli.labour import few_collections
from kservec.cli.options import files_of
from kservec.cli.revisions import git_errors
from kservec.cli.selection import LARGEST_FILE
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import write
from kservec.compare.upgrade_report import json_of_upgrade, markdown_of_upgrade, text_of_upgrade
from kservec.core.diagnostics import Reject
from kservec.core.records import evolve
from kservec.core.text.source import Limits
from kservec.environments import Rendering
from kservec.io.bounds import ExceededError, bounded
from kservec.previewing import Wanted, preview, undescribed
from kservec.project.upgrade import SELECTION, unchosen
from kservec.spec.selection import selection_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.cli.selection import Selection
    from kservec.committed import Base
    from kservec.compare.upgrade import Preview
    from kservec.core.diagnostics import Span
    from kservec.project.upgrade import UpgradeSettings
    from kservec.spec.selection import Selection as Chosen

REPORTS = {"text": text_of_upgrade, "json": json_of_upgrade, "markdown": markdown_of_upgrade}


def wanted_of(profile: str | None, platform: tuple[str, ...], only: tuple[Chosen, ...]) -> Wanted:
    """The upgrade that options ask for.

    Raises:
        click.UsageError: a path cannot be read.
        click.exceptions.Exit: nothing of a path would be read as a platform; that has been shown.
    """
    found = {path: files_of((path,), Limits(max_bytes=LARGEST_FILE)) for path in platform}
    faults = [fault for path, files in found.items() for fault in undescribed(path, files)]
    if faults:
        sources = {file.name: text_of(file) for files in found.values() for file in files}
        Findings(layout=TEXT, notes=False).show(faults, sources)
        click.get_current_context().exit(FAILED)
    files = tuple(file for files in found.values() for file in files)
    return Wanted(profile=profile or "", platform=files, paths=tuple(found), only=only)


def selections(texts: tuple[str, ...]) -> tuple[Chosen, ...]:
    """The selections that an option names.

    Raises:
        click.UsageError: one of them is none.
    """
    found = [(text, selection_of(text)) for text in texts]
    wrong = next((text for text, selection in found if selection is None), None)
    if wrong is not None:
        raise click.UsageError(f"--only {wrong!r} is no selection; it is {SELECTION}", click.get_current_context())
    return tuple(selection for _, selection in found if selection is not None)


def show_upgrade(selection: Selection, base: Base | None, wanted: Wanted, layout: str, *, exit_code: bool) -> int:
    """Show what an upgrade would do to environments; the exit status.

    Raises:
        click.UsageError: git or the file system refuses something, or there is no upgrade to show more of.
    """
    upgrades = {} if wanted.is_new else upgrading(selection, "--only goes with --profile, --platform or")
    selection = evolve(selection, names=tuple(upgrades) or selection.names)
    findings, renderings = Findings(layout=TEXT, notes=False), rendered(selection)
    if not all(rendering.ok for rendering in renderings):
        findings.show(all_findings(selection, renderings), all_sources(selection, renderings))
        return FAILED
    made = previews_of(selection, renderings, wanted, base)
    if made is None:
        return FAILED
    staged = [each.staged for each in made if each.staged is not None]
    if refused := list(unchosen(wanted.only, staged, place_of(selection, upgrades))):
        findings.show(refused, selection.sources)
        return FAILED
    against = "what is on disk" if base is None else f"{base.shown} ({base.short})"
    write(REPORTS[layout](made, against))
    return DIFFERENT if exit_code and any(each.differs for each in made) else 0


def upgrading(selection: Selection, lead: str) -> dict[str, UpgradeSettings]:
    """The upgrades of environments by their names: of all those of a project that have one, or of each that is named.

    Args:
        selection: the project and the environments.
        lead: what an upgrade is needed for, as the start of a sentence.

    Raises:
        click.UsageError: none of them has one, or one that is named has none.
    """
    workspace = selection.workspace
    assert workspace is not None
    upgrades = {name: workspace.environments[name].upgrade for name in selection.names}
    found = {name: upgrade for name, upgrade in upgrades.items() if upgrade is not None}
    without = next((name for name in upgrades if name not in found), None)
    is_every = len(upgrades) == len(workspace.environments)
    if without is not None and not (found and is_every):
        message = f"{lead} `upgrade` in {workspace.file.name}, and {without} has none"
        raise click.UsageError(message, click.get_current_context())
    return found


def place_of(selection: Selection, upgrades: Mapping[str, UpgradeSettings]) -> Span | None:
    """Where the first of some upgrades of a project is written; None without any."""
    assert selection.workspace is not None
    first = next(iter(upgrades.values()), None)
    return selection.workspace.project.document.key_span(first.at) if first is not None else None


def previews_of(
    selection: Selection, renderings: Sequence[Rendering], wanted: Wanted, base: Base | None
) -> list[Preview] | None:
    """What an upgrade would do to each environment; None, once it has been shown why, where that cannot be told.

    Raises:
        click.UsageError: git or the file system refuses something.
    """
    assert selection.workspace is not None
    made: list[Preview] = []
    try:
        with git_errors(), few_collections(), bounded(Limits()):
            for rendering in renderings:
                found = preview(selection.workspace, rendering, wanted, base)
                if isinstance(found, Rendering):
                    Findings(layout=TEXT, notes=False).show(found.diagnostics, found.texts)
                    return None
                made.append(found)
    except Reject as reject:
        Findings(layout=TEXT, notes=False).show(reject.diagnostics, selection.sources)
        return None
    except ExceededError as exceeded:
        Findings(layout=TEXT, notes=False).show((exceeded.diagnostic,), {})
        return None
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    return made
