"""Upgrades: what comes next in an environment, and which services have it already.

It stands in kservec.yaml, so that a build, a check and a reviewer know the same, and nothing else has to be kept.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.records import record
from kservec.report.words import plural
from kservec.spec.selection import selection_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Span
    from kservec.core.staging import Staged
    from kservec.core.text.source import Document
    from kservec.core.tree import Path
    from kservec.spec.project import Environment, Project
    from kservec.spec.selection import Selection

SELECTION = "a namespace, a label as tier=dev, or a service as payments/InferenceService/fraud"
"""What a selection is, for whoever wrote something else."""

SELECTS_NOTHING = Code(
    "upgrade/selects-nothing",
    Severity.WARNING,
    "a part of an upgrade that chooses no service",
    "An entry of upgrade.only names a namespace, labels or a service that none of the environment's services has. Most "
    "often it is misspelt, or the services have moved. In --only it is an error: nothing is shown or written.",
)
COMPLETE = Code(
    "upgrade/complete",
    Severity.NOTE,
    "an upgrade that every service has",
    "All services of the environment are compiled for what comes next. Make that what holds: set kserve to the version "
    "of the upgrade, put its platform files behind those of the environment, and take `upgrade` out. The rendered tree "
    "stays as it is.",
)


@record
class UpgradeSettings:
    """What comes next: a version of KServe, platform files that are laid over the environment's, and who has it.

    `at` is where it stands in the project's document.
    """

    kserve: str
    platform: Sequence[str] = ()
    only: Sequence[Selection] = ()
    at: Path = ()


def upgrade_of(project: Project, name: str, own: Environment, kserve: str) -> UpgradeSettings | None:
    """The upgrade of an environment: its own, else the project's; None without one.

    Args:
        project: the project.
        name: the name of the environment.
        own: what it says itself.
        kserve: the version of KServe that it is compiled for else.
    """
    given = own.upgrade or project.upgrade
    if given is None or not (given.kserve or given.platform):
        return None
    return UpgradeSettings(
        kserve=given.kserve or kserve,
        platform=tuple(given.platform),
        only=tuple(found for text in given.only if (found := selection_of(text)) is not None),
        at=("environments", name, "upgrade") if own.upgrade is not None else ("upgrade",),
    )


def upgrade_findings(upgrade: UpgradeSettings, staged: Staged, document: Document) -> Iterator[Diagnostic]:
    """What there is to say about how far an upgrade has come."""
    for i, selection in enumerate(upgrade.only):
        if selection.text in staged.idle:
            yield Diagnostic(
                code=SELECTS_NOTHING,
                message=f"{selection.text} chooses none of {plural(staged.total, 'service')}",
                span=document.span((*upgrade.at, "only", i)),
                help=remedy(staged.idle[selection.text]),
            )
    if staged.total and len(staged.moved) == staged.total:
        at = (*upgrade.at, "only")
        yield Diagnostic(
            code=COMPLETE,
            message=f"all of {plural(staged.total, 'service')} have the upgrade",
            span=document.span(at if lookup(document.value, at) is not None else upgrade.at),
            help="make it what holds for the environment, and take upgrade out; the tree stays as it is",
        )


def remedy(meant: str) -> str:
    """What to do about a selection that chooses no service."""
    return f"did you mean {meant}?" if meant else f"a selection is {SELECTION}"


def unchosen(only: Iterable[Selection], staged: Sequence[Staged], span: Span | None) -> Iterator[Diagnostic]:
    """Errors about selections for which somebody asked, and which choose no service in any environment.

    Args:
        only: the selections.
        staged: what is chosen in each environment.
        span: the upgrade that is meant, if it stands in the project's file.
    """
    for selection in only:
        meant = [each.idle[selection.text] for each in staged if selection.text in each.idle]
        if staged and len(meant) == len(staged):
            yield Diagnostic(
                code=SELECTS_NOTHING._replace(severity=Severity.ERROR),
                message=f"--only {selection.text} chooses no service",
                span=span,
                help=remedy(max(meant)),
            )
