"""kservec lint: compile, and report the findings alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, rendered, today_option
from kservec.cli.labour import cache_option, jobs_option
from kservec.cli.options import compiled, files_of, findings_options, paths_argument, revision_options, target_options
from kservec.cli.selection import selected
from kservec.cli.sharding import shard_option
from kservec.cli.status import FAILED
from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve
from kservec.core.text.source import Limits
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from kservec.api import Target
    from kservec.cli.findings import Findings
    from kservec.cli.selection import Selection
    from kservec.core.diagnostics import Diagnostic
    from kservec.environments import Rendering
    from kservec.gitops.rendered import Rendered
    from kservec.io.reading import File


@click.command()
@paths_argument
@today_option
@jobs_option
@cache_option
@shard_option
@target_options
@revision_options
@findings_options(notes=True)
@click.option("--facts", multiple=True, type=click.Path(), metavar="PATH",
              help="What kubectl prints of the cluster: say what no longer fits. Repeatable.")  # fmt: skip
def lint(*, paths: tuple[str, ...], target: Target, findings: Findings, facts: tuple[str, ...]) -> int:
    """Report what is wrong with InferenceServices, and write nothing.

    PATHS are files, folders, or - for standard input; in a repository with a kservec.yaml also names of its
    environments, all of them if there are none. Text goes to standard error, JSON and GitHub annotations to
    standard output.

    \b
      kservec lint services/ --platform platform/
      kservec lint --format json services/ | jq '.diagnostics[].code'
      kservec lint prod --facts crds.json --facts dump.yaml
    """  # noqa: D301
    selection = selected(paths, target.limits.max_bytes)
    if selection is not None:
        return lint_environments(selection, target, findings, facts)
    compilation = compiled(paths, target)
    if facts and compilation.ok:
        more = unfit(files_of(paths, target.limits), target, compilation.objects, facts)
        compilation = evolve(
            compilation, result=evolve(compilation.result, diagnostics=(*compilation.diagnostics, *more))
        )
    outcome = f"no errors: {plural(len(compilation.objects), 'object')}" if compilation.ok else ""
    findings.show(compilation.diagnostics, compilation.sources, outcome=outcome, alone=True)
    return 0 if compilation.ok else FAILED


def unfit(
    files: Sequence[File], target: Target, objects: Iterable[Rendered], facts: tuple[str, ...]
) -> tuple[Diagnostic, ...]:
    """What no longer fits between specs with their platform and what kubectl printed of the cluster."""
    from kservec.api import front_of  # noqa: PLC0415 - only with facts
    from kservec.importer import fitness_findings  # noqa: PLC0415 - as above

    front, _ = front_of(files, target=target)
    return fitness_findings(front, [rendered.ref for rendered in objects], files_of(facts, target.limits))


def unfit_environment(selection: Selection, rendering: Rendering, facts: tuple[str, ...]) -> tuple[Diagnostic, ...]:
    """What no longer fits of one environment."""
    from kservec.environments import target_of  # noqa: PLC0415 - as above

    assert selection.workspace is not None
    target = target_of(selection.workspace, rendering.settings, Limits())
    return unfit(rendering.sources, target, rendering.objects, facts)


def lint_environments(selection: Selection, target: Target, findings: Findings, facts: tuple[str, ...]) -> int:
    """Render environments, and report what was found in any of them."""
    renderings = [] if selection.broken else rendered(selection, target.limits)
    if facts:
        renderings = [
            evolve(r, diagnostics=(*r.diagnostics, *unfit_environment(selection, r, facts))) if r.ok else r
            for r in renderings
        ]
    found, sources = all_findings(selection, renderings, gate=True), all_sources(selection, renderings)
    fine = not selection.broken and not has_errors(found)
    count = sum(len(rendering.objects) for rendering in renderings)
    outcome = f"no errors: {plural(count, 'object')} in {plural(len(renderings), 'environment')}" if fine else ""
    findings.show(found, sources, outcome=outcome, alone=True)
    return 0 if fine else FAILED
