"""kservec lint: compile, and report the findings alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, rendered, selected
from kservec.cli.options import compiled, findings_options, paths_argument, revision_options, target_options
from kservec.report.words import plural

if TYPE_CHECKING:
    from kservec.api import Target
    from kservec.cli.environments import Selection
    from kservec.cli.findings import Findings

FAILED = 1


@click.command()
@paths_argument
@target_options
@revision_options
@findings_options(notes=True)
def lint(*, paths: tuple[str, ...], target: Target, findings: Findings) -> int:
    """Report what is wrong with InferenceServices, and write nothing.

    PATHS are files, folders, or - for standard input; in a repository with a kservec.yaml also names of its
    environments, all of them if there are none. Text goes to standard error, JSON and GitHub annotations to
    standard output.

    \b
      kservec lint services/ --platform platform/
      kservec lint --format json services/ | jq '.diagnostics[].code'
    """  # noqa: D301
    selection = selected(paths, target.limits.max_bytes)
    if selection is not None:
        return lint_environments(selection, target, findings)
    compilation = compiled(paths, target)
    outcome = f"no errors: {plural(len(compilation.objects), 'object')}" if compilation.ok else ""
    findings.show(compilation.diagnostics, compilation.sources, outcome=outcome, alone=True)
    return 0 if compilation.ok else FAILED


def lint_environments(selection: Selection, target: Target, findings: Findings) -> int:
    """Render environments, and report what was found in any of them."""
    renderings = [] if selection.broken else rendered(selection, target.limits)
    fine = not selection.broken and all(rendering.ok for rendering in renderings)
    count = sum(len(rendering.objects) for rendering in renderings)
    outcome = f"no errors: {plural(count, 'object')} in {plural(len(renderings), 'environment')}" if fine else ""
    found, sources = all_findings(selection, renderings), all_sources(selection, renderings)
    findings.show(found, sources, outcome=outcome, alone=True)
    return 0 if fine else FAILED
