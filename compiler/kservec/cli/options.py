"""Options and steps that several commands share: what to compile, for which cluster, and how findings are shown."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kservec.api import BUILTIN, NO_CATALOG, Compilation, Target, compile_files
from kservec.core.source import Limits
from kservec.io.reading import read_files
from kservec.report import Style, github_report, json_report, text_report

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

C = TypeVar("C", bound="Callable[..., Any]")

FORMATS = ("text", "json", "github")
PROGRESS_AFTER_SECONDS = 1.0
PROGRESS_EVERY_SECONDS = 0.2


def target_options(command: C) -> C:
    """The options that describe the target cluster."""
    for option in reversed((
        click.option("--platform", "platform", multiple=True, metavar="PATH", type=click.Path(exists=True),
                     help="File or folder that describes the cluster: KServe's configuration, runtimes, Secrets by "
                          "shape... Repeatable; later ones override."),
        click.option("--catalog", type=click.Choice([BUILTIN, NO_CATALOG]), default=BUILTIN, show_default=True,
                     help="The runtimes that come with kservec, or none."),
        click.option("--absent", multiple=True, metavar="KIND", help="A kind that the cluster does not have. Repeatable."),
        click.option("--max-file-size", type=click.IntRange(min=1), default=Limits().max_bytes, metavar="BYTES",
                     help="Refuse larger input files. Default: 16 MiB."),
    )):  # fmt: skip
        command = option(command)
    return command


def report_options(command: C) -> C:
    """The options that say how findings are shown."""
    option = click.option(
        "--format", "layout", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True, help="How findings are shown."
    )
    return option(command)


def target_of(platform: Sequence[str], catalog: str, absent: Sequence[str], max_file_size: int) -> Target:
    """The target cluster from the options."""
    limits = Limits(max_bytes=max_file_size)
    return Target(platform=read_files(platform, limits.max_bytes), catalog=catalog, absent=absent, limits=limits)


def compiled(paths: Sequence[str], target: Target) -> Compilation:
    """Compile what the paths name.

    Raises:
        click.ClickException: a path cannot be read.
    """
    try:
        files = read_files(paths, target.limits.max_bytes)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename or error}: {error.strerror or 'not a regular file'}") from None
    return compile_files(files, target=target, each=Progress())


class Progress:
    """A line on standard error while a build takes longer than a second; nothing if that is no terminal."""

    def __init__(self) -> None:
        self.shown = sys.stderr.isatty()
        self.next = time.monotonic() + PROGRESS_AFTER_SECONDS
        self.drawn = False

    def __call__(self, done: int, total: int) -> None:
        """Tell how far the build is."""
        if not self.shown:
            return
        now = time.monotonic()
        if done == total and self.drawn:
            sys.stderr.write("\r\x1b[K")
        elif now >= self.next:
            self.next, self.drawn = now + PROGRESS_EVERY_SECONDS, True
            sys.stderr.write(f"\rcompiling {done}/{total}")
        sys.stderr.flush()


def show(compilation: Compilation, layout: str) -> None:
    """Write the findings: text to standard error, machine-readable forms to standard output where nothing else goes."""
    found = compilation.diagnostics
    if layout == "json":
        click.echo(json_report(found), nl=False, err=True)
    elif layout == "github":
        click.echo(github_report(found), nl=False, err=True)
    elif found:
        colour = sys.stderr.isatty() and not os.environ.get("NO_COLOR")
        click.echo(text_report(found, compilation.sources, Style(colour)), nl=False, err=True, color=True)
