"""kservec check: is the rendered tree what a build would write?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.cli.environments import all_findings, all_sources, rendered, today_option
from kservec.cli.labour import cache_option, jobs_option
from kservec.cli.options import compiled, findings_options, paths_argument, revision_options, target_options
from kservec.cli.selection import selected
from kservec.cli.sharding import chosen_share, refuse_single, shard_option, whole_rendering, with_others
from kservec.cli.status import DIFFERENT, FAILED
from kservec.cli.streams import write
from kservec.core.listing import listed
from kservec.gitops.layout import INDEX, LAYOUTS, TREE, planned_files
from kservec.report.words import plural, printable
from kservec.spec.placeholder import PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.api import Target
    from kservec.cli.findings import Findings
    from kservec.cli.selection import Selection
    from kservec.compare.tree_states import Flaw
    from kservec.core.diagnostics import Diagnostic
    from kservec.io.workspace import Workspace


@click.command()
@paths_argument
@click.option(
    "--output",
    "-o",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="The rendered tree to look at; of an environment it is its own.",
)
@click.option(
    "--layout",
    "shape",
    type=click.Choice(LAYOUTS),
    default=TREE,
    show_default=True,
    help="How files, not environments, were built with --output.",
)
@today_option
@jobs_option
@cache_option
@shard_option
@target_options
@revision_options
@findings_options(notes=False)
def check(
    *, paths: tuple[str, ...], output: Path | None, shape: str, target: Target, findings: Findings
) -> int:  # fmt: skip
    """Say whether rendered trees are what a build would write, and write nothing.

    PATHS are names of environments, all of them if there are none, and trees of no environment are found; or files and
    folders as for build, with the tree that was built from them as --output.

    Exit status: 0 if all is as it should be, 1 for errors in the input, 3 for a difference. The differences go to
    standard output, by object and field (- what is in the tree, + what a build writes); findings about the input to
    standard error.

    \b
      kservec check
      kservec check prod --format github
      kservec check services/ --platform platform/ --output rendered/
    """  # noqa: D301
    selection = selected(paths, target.limits.max_bytes)
    if selection is not None:
        return check_environments(selection, target, findings, output)
    if output is None:
        raise click.UsageError("name the tree with --output, or an environment", click.get_current_context())
    compilation = compiled(paths, target)
    if not compilation.ok:
        findings.show(compilation.diagnostics, compilation.sources, alone=True)
        return FAILED
    refuse_single(shape)
    files = planned_files(with_others(compilation.objects, output), shape)
    return told({output: flaws_in(output, files)}, [], findings, compilation.diagnostics, compilation.sources)


def check_environments(selection: Selection, target: Target, findings: Findings, output: Path | None) -> int:
    """Check environments, once all of them compile.

    Raises:
        click.UsageError: several are to be compared with one folder.
    """
    if output is not None and len(selection.names) > 1:
        message = f"--output takes one environment; name one of {listed(selection.names)}"
        raise click.UsageError(message, click.get_current_context())
    renderings = [] if selection.workspace is None else rendered(selection, target.limits)
    found, sources = all_findings(selection, renderings), all_sources(selection, renderings)
    if selection.workspace is None or not all(rendering.ok for rendering in renderings):
        findings.show(found, sources, alone=True)
        return FAILED
    wholes = [(output or r.output, whole_rendering(r, output or r.output, selection)) for r in renderings]
    trees = {folder: flaws_in(folder, whole.tree) for folder, whole in wholes}
    every = len(selection.names) == len(selection.workspace.environments) and output is None
    orphans = list(orphans_of(selection.workspace)) if every else []
    return told(trees, orphans, findings, found, sources)


def flaws_in(folder: Path, planned: Mapping[str, bytes]) -> list[Flaw]:
    """What is wrong with a tree; of parts, what the chosen one answers for.

    Raises:
        click.UsageError: it cannot be read.
    """
    from kservec.compare.tree_states import flaws  # noqa: PLC0415 - only this command compares
    from kservec.io.tree_reader import present_files  # noqa: PLC0415 - as above

    try:
        present, listed = present_files(folder, planned)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
    share = chosen_share()
    if share is None:
        return list(flaws(present, planned, listed))
    from kservec.gitops.parts import Duty  # noqa: PLC0415 - only for parts

    index = present.get(INDEX)
    duty = Duty.of(share, planned, index.content if index is not None else None)
    return [flaw for flaw in flaws(present, duty.planned, listed) if duty.includes(flaw.path)]


def orphans_of(workspace: Workspace) -> Iterator[Diagnostic]:
    """The trees beside those of the environments that belong to none."""
    from kservec.compare.tree_states import orphan  # noqa: PLC0415 - only this command compares
    from kservec.io.tree_reader import trees_below  # noqa: PLC0415 - as above

    outputs = [workspace.at(settings.output) for settings in workspace.environments.values()]
    lead = workspace.project.model.output.partition(PLACE)[0].rpartition("/")[0]
    places = dict.fromkeys([workspace.at(lead), *(output.parent for output in outputs)])
    for folder in sorted(dict.fromkeys(trees_below(places, outputs))):
        yield orphan(folder, workspace.file.name)


def told(
    trees: Mapping[Path, Sequence[Flaw]], orphans: Sequence[Diagnostic], findings: Findings,
    found: Sequence[Diagnostic], sources: Mapping[str, str],
) -> int:  # fmt: skip
    """Say what is wrong, and give the exit status."""
    wrong = [flaw.diagnostic(folder.as_posix()) for folder, several in trees.items() for flaw in several]
    differences = [*wrong, *orphans]
    if findings.is_text:
        findings.show(found, sources)
        write("".join(f"{printable(line)}\n" for line in lines_of(trees, orphans)))
        write(f"{outcome(len(differences), trees)}\n", err=True)
    else:
        findings.show([*found, *differences], sources, alone=True)
    return DIFFERENT if differences else 0


def lines_of(trees: Mapping[Path, Sequence[Flaw]], orphans: Sequence[Diagnostic]) -> Iterator[str]:
    """The differences as text: what each file is, and the fields that differ in it."""
    from kservec.compare.phrases import difference_lines  # noqa: PLC0415 - only this command compares

    for folder, several in trees.items():
        for flaw in several:
            found = flaw.diagnostic(folder.as_posix())
            yield f"{folder.as_posix()}/{flaw.path}: {found.code.slug}: {found.code.title}; {found.help}"
            for change in flaw.changes:
                yield from (f"    {line}" for d in change.differences for line in difference_lines(d))
    for finding in orphans:
        yield f"{finding.span.file if finding.span else ''}: {finding.code.slug}: {finding.code.title}; {finding.help}"


def outcome(count: int, trees: Mapping[Path, Sequence[Flaw]]) -> str:
    """The last line."""
    names = ", ".join(folder.as_posix() for folder in trees)
    return f"{names}: {plural(count, 'difference')}" if count else f"{names}: up to date"
