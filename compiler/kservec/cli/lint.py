"""kservec lint: compile, and report the findings alone."""

from __future__ import annotations

import click

from kservec.cli.options import compiled, report_options, show, target_of, target_options


@click.command()
@click.argument("paths", nargs=-1, required=True)
@target_options
@report_options
def lint(  # noqa: PLR0913 - click hands over one argument an option
    paths: tuple[str, ...], platform: tuple[str, ...], catalog: str, absent: tuple[str, ...], max_file_size: int, layout: str
) -> int:
    """Report what is wrong with InferenceServices, and write nothing.

    PATHS are files, folders, or - for standard input.
    """
    compilation = compiled(paths, target_of(platform, catalog, absent, max_file_size))
    show(compilation, layout)
    if compilation.ok and layout == "text":
        click.echo(f"{len(compilation.result.objects)} objects, no errors", err=True)
    return 0 if compilation.ok else 1
