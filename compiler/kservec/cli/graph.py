"""kservec graph: a picture of InferenceGraphs and the services that they call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.api import front_of
from kservec.cli.findings import TEXT, Findings
from kservec.cli.options import files_of, paths_argument, target_options
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.drawing.dot import dot
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import svg
from kservec.drawing.topology import topology

if TYPE_CHECKING:
    from kservec.api import Target

LANGUAGES = {"mermaid": mermaid, "dot": dot, "svg": svg}


@click.command()
@paths_argument
@target_options
@click.option("--format", "language", type=click.Choice(tuple(LANGUAGES)), default="mermaid", show_default=True,
              help="The language of the picture.")  # fmt: skip
def graph(*, paths: tuple[str, ...], target: Target, language: str) -> int:
    """Draw InferenceGraphs: their nodes, steps and services.

    PATHS are files, folders, or - for standard input. The picture goes to standard output: Mermaid for Markdown, dot
    for Graphviz, or SVG. What is wrong goes to standard error.

    \b
      kservec graph pipeline.yaml
      kservec graph --format svg graphs/ > graphs.svg
    """  # noqa: D301
    if not paths:
        hint = "nothing to draw: name files or folders, or - for standard input"
        raise click.UsageError(hint, click.get_current_context())
    front, compilation = front_of(files_of(paths, target.limits), target=target)
    sections = topology(front.units, front.env) if compilation.ok else ()
    if compilation.ok and not sections:
        raise click.UsageError("there is no InferenceGraph and no InferenceService", click.get_current_context())
    Findings(layout=TEXT, notes=False).show(compilation.diagnostics, compilation.sources)
    if not compilation.ok:
        return FAILED
    write(LANGUAGES[language](sections))
    return 0
