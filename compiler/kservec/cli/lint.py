"""kservec lint: compile, and report the findings alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.options import compiled, findings_options, paths_argument, revision_options, target_options
from kservec.report.words import plural

if TYPE_CHECKING:
    from kservec.api import Target
    from kservec.cli.findings import Findings

FAILED = 1


@click.command()
@paths_argument
@target_options
@revision_options
@findings_options(notes=True)
def lint(*, paths: tuple[str, ...], target: Target, findings: Findings) -> int:
    """Report what is wrong with InferenceServices, and write nothing.

    PATHS are files, folders, or - for standard input. Text goes to standard error, JSON and GitHub annotations to
    standard output.

    \b
      kservec lint services/ --platform platform/
      kservec lint --format json services/ | jq '.diagnostics[].code'
    """  # noqa: D301
    compilation = compiled(paths, target)
    outcome = f"no errors: {plural(len(compilation.objects), 'object')}" if compilation.ok else ""
    findings.show(compilation.diagnostics, compilation.sources, outcome=outcome, alone=True)
    return 0 if compilation.ok else FAILED
