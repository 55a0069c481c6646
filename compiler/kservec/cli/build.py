"""kservec build: compile and write."""

from __future__ import annotations

import gc
from pathlib import Path

import click

from kservec.api import Compilation
from kservec.cli.options import compiled, report_options, show, target_of, target_options
from kservec.gitops.layout import planned_tree
from kservec.io.tree_writer import Obstacle, write_tree

FAILED = 1


@click.command()
@click.argument("paths", nargs=-1, required=True)
@click.option("--output", "-o", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
              help="Write the rendered tree into this folder, all of it or nothing.")
@click.option("--stdout", "to_stdout", is_flag=True, help="Write one stream of documents to standard output.")
@click.option("--previous", type=click.Path(exists=True, file_okay=False), metavar="DIR",
              help="The tree of the last build; a canary by percentage takes its stable revision from it.")
@click.option("--force", is_flag=True, help="Overwrite files of the tree that were edited by hand.")
@target_options
@report_options
def build(  # noqa: PLR0913 - click hands over one argument an option
    paths: tuple[str, ...], output: Path | None, to_stdout: bool, previous: str | None, force: bool,
    platform: tuple[str, ...], catalog: str, absent: tuple[str, ...], max_file_size: int, layout: str,
) -> int:  # fmt: skip
    """Compile InferenceServices to plain Kubernetes YAML.

    PATHS are files, folders, or - for standard input. Without --output and --stdout the documents go to standard output.

    \b
      kservec build isvc.yaml
      kservec build services/ --platform platform/ --output rendered/
    """  # noqa: D301
    del previous
    if output is not None and to_stdout:
        raise click.UsageError("--output and --stdout exclude each other")
    gc.freeze()
    gc.set_threshold(50_000)
    compilation = compiled(paths, target_of(platform, catalog, absent, max_file_size))
    show(compilation, layout)
    if not compilation.ok:
        return FAILED
    if output is None:
        click.echo(compilation.yaml, nl=False)
        return 0
    return written(compilation, output, force=force)


def written(compilation: Compilation, output: Path, *, force: bool) -> int:
    """Write the tree, and say what changed."""
    refuse_unsafe(output)
    try:
        done = write_tree(output, planned_tree(compilation.result.objects), force=force)
    except Obstacle as obstacle:
        for path in obstacle.edited:
            click.echo(f"error[output/edited-by-hand]: {output / path} was changed after kservec wrote it", err=True)
        for path in obstacle.foreign:
            click.echo(f"error[output/foreign-file]: {output / path} is in the way and was not written by kservec", err=True)
        click.echo("nothing was written; --force overwrites these files", err=True)
        return FAILED
    if done.changed or done.removed:
        click.echo(f"{output}: {len(done.changed)} files written, {len(done.removed)} removed", err=True)
    else:
        click.echo(f"{output}: up to date", err=True)
    return 0


def refuse_unsafe(output: Path) -> None:
    """Refuse a folder that cannot be replaced as a whole.

    Raises:
        click.UsageError: it holds the current folder, or a git repository.
    """
    resolved = output.resolve()
    if Path.cwd().is_relative_to(resolved) or (resolved / ".git").exists():
        raise click.UsageError(f"--output {output}: choose a folder of its own, such as rendered/")
