"""Upgrades on the command line: `kservec diff --profile`, `--platform` and `--only`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, rendered
from kservec.cli.findings import TEXT, Findings
from kservec.cli.options import LARGEST_FILE, few_collections, files_of
from kservec.cli.revisions import git_errors
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import write
from kservec.compare.upgrade_report import json_of_upgrade, markdown_of_upgrade, text_of_upgrade
from kservec.core.diagnostics import Reject
from kservec.core.text.source import Limits
from kservec.environments import Rendering
from kservec.io.bounds import ExceededError, bounded
from kservec.previewing import Wanted, preview
from kservec.spec.selection import selection_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.cli.environments import Selection
    from kservec.committed import Base
    from kservec.compare.upgrade import Preview
    from kservec.spec.selection import Selection as Chosen

REPORTS = {"text": text_of_upgrade, "json": json_of_upgrade, "markdown": markdown_of_upgrade}


def wanted_of(profile: str | None, platform: tuple[str, ...], only: tuple[Chosen, ...]) -> Wanted:
    """The upgrade that options ask for.

    Raises:
        click.UsageError: a path cannot be read.
    """
    files = files_of(platform, Limits(max_bytes=LARGEST_FILE)) if platform else ()
    return Wanted(profile=profile or "", platform=files, paths=platform, only=only)


def selections(texts: tuple[str, ...]) -> tuple[Chosen, ...]:
    """The selections that an option names.

    Raises:
        click.UsageError: one of them is none.
    """
    found = [(text, selection_of(text)) for text in texts]
    wrong = next((text for text, selection in found if selection is None), None)
    if wrong is not None:
        hint = "name a namespace, a label as tier=dev, or a service as payments/InferenceService/fraud"
        raise click.UsageError(f"--only {wrong!r} selects no services; {hint}", click.get_current_context())
    return tuple(selection for _, selection in found if selection is not None)


def show_upgrade(selection: Selection, base: Base | None, wanted: Wanted, layout: str, *, exit_code: bool) -> int:
    """Show what an upgrade would do to environments; the exit status.

    Raises:
        click.UsageError: git or the file system refuses something, or there is no upgrade to show more of.
    """
    refuse_nothing(selection, wanted)
    findings, renderings = Findings(layout=TEXT, notes=False), rendered(selection)
    if not all(rendering.ok for rendering in renderings):
        findings.show(all_findings(selection, renderings), all_sources(selection, renderings))
        return FAILED
    made = previews_of(selection, renderings, wanted, base)
    if made is None:
        return FAILED
    against = "what is on disk" if base is None else f"{base.shown} ({base.short})"
    write(REPORTS[layout](made, against))
    return DIFFERENT if exit_code and any(each.differs for each in made) else 0


def refuse_nothing(selection: Selection, wanted: Wanted) -> None:
    """Refuse to show more of an upgrade where there is none.

    Raises:
        click.UsageError: neither the options nor an environment says what comes next.
    """
    workspace = selection.workspace
    assert workspace is not None
    without = [name for name in selection.names if workspace.environments[name].upgrade is None]
    if not wanted.is_new and without:
        place = f"`upgrade` in {workspace.file.name}; {without[0]} has none"
        message = f"--only goes with --profile, --platform, or {place}"
        raise click.UsageError(message, click.get_current_context())


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
        Findings(layout=TEXT, notes=False).show(reject.diagnostics, {})
        return None
    except ExceededError as exceeded:
        Findings(layout=TEXT, notes=False).show((exceeded.diagnostic,), {})
        return None
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    return made
