"""Options and steps that several commands share: what to compile, and for which cluster."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kservec._version import KSERVE_PROFILE
from kservec.api import BUILTIN, NO_CATALOG, Compilation, Target, compile_files
from kservec.cli.findings import FORMATS, Findings
from kservec.cli.labour import crew, few_collections
from kservec.cli.selection import LARGEST_FILE, environment_names
from kservec.cli.sharding import chosen_share
from kservec.compilation import Result
from kservec.core.knative.revisions import REVISED
from kservec.core.records import evolve
from kservec.core.text.source import Limits
from kservec.gitops.layout import INDEX
from kservec.io.bounds import ExceededError, bounded
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import read_files, read_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from click.shell_completion import CompletionItem

    from kservec.io.reading import File

MEBIBYTE = 1 << 20
NUMBERED, HASHED = REVISION_NAMES = ("server", "hash")


def paths_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """The argument PATHS: what to compile. Shells complete it to files, and to the environments of the project."""
    kind = click.Path(allow_dash=True)
    return click.argument("paths", nargs=-1, type=kind, shell_complete=completions)(command)


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """What a shell may offer: environments whose name begins so, and the shell's own files."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    names = [CompletionItem(name, help="environment") for name in environment_names() if name.startswith(incomplete)]
    return names + click.Path().shell_complete(ctx, parameter, incomplete)


def target_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options that describe the target cluster; the command is handed them as one `target`."""

    @functools.wraps(command)
    def with_target(*args: Any, platform: tuple[str, ...], catalog: str, absent: tuple[str, ...], **rest: Any) -> int:
        limits = Limits(
            max_bytes=rest.pop("max_file_size"),
            max_seconds=rest.pop("max_seconds"),
            max_memory=rest.pop("max_memory") * MEBIBYTE,
        )
        target = Target(
            platform=files_of(platform, limits),
            catalog=catalog,
            absent=absent,
            profile=rest.pop("profile"),
            limits=limits,
        )
        return command(*args, target=target, **rest)

    described = (
        click.option("--platform", multiple=True, metavar="PATH", type=click.Path(),
                     help="File or folder that describes the cluster: KServe's configuration, runtimes, Secrets by "
                          "shape... Repeatable; later ones override."),
        click.option("--catalog", type=click.Choice([BUILTIN, NO_CATALOG]), default=BUILTIN, show_default=True,
                     help="The runtimes that come with kservec, or none."),
        click.option("--absent", multiple=True, metavar="KIND", callback=known_kinds,
                     help="A kind that the cluster lacks: Kind, Kind.group or group/version/Kind. Repeatable."),
        click.option("--profile", default=KSERVE_PROFILE, show_default=True, metavar="VERSION", callback=known_profile,
                     help="The version of KServe that is compiled for."),
        click.option("--max-file-size", type=click.IntRange(min=1), default=LARGEST_FILE, metavar="BYTES",
                     help=f"Refuse larger input files. Default: {LARGEST_FILE // MEBIBYTE} MiB."),
        click.option("--max-seconds", type=click.IntRange(min=0), default=Limits().max_seconds, show_default=True,
                     help="Stop what takes longer; 0 for no limit."),
        click.option("--max-memory", type=click.IntRange(min=0), default=Limits().max_memory // MEBIBYTE,
                     show_default=True, metavar="MIB", help="Stop what holds more memory; 0 for no limit."),
    )  # fmt: skip
    return functools.reduce(lambda done, option: option(done), reversed(described), with_target)


def known_profile(ctx: click.Context, parameter: click.Parameter, version: str | None) -> str | None:
    """A version of KServe that there is a profile of.

    Raises:
        click.BadParameter: there is none.
    """
    if version is None or version == KSERVE_PROFILE:
        return version
    from kservec.io.packaged import packaged_profiles  # noqa: PLC0415 - most runs are for the current version
    from kservec.project.profiles import meant  # noqa: PLC0415 - as above

    known = packaged_profiles()
    if version not in known:
        raise click.BadParameter(f"there is no profile of KServe {version}; {meant(version, known)}", ctx, parameter)
    return version


def known_kinds(ctx: click.Context, parameter: click.Parameter, absent: tuple[str, ...]) -> tuple[str, ...]:
    """The kinds that are said to be absent.

    Raises:
        click.BadParameter: nothing asks for one of them.
    """
    from kservec.documents.absent import misfit  # noqa: PLC0415 - seldom needed

    for name in absent:
        reason, hint = misfit(name, packaged_schemas().kinds())
        if reason:
            raise click.BadParameter(f"{reason}; {hint}", ctx, parameter)
    return absent


def revision_options(command: Callable[..., int]) -> Callable[..., int]:
    """The options for revisions of Knative services; they are added to `target`."""

    @functools.wraps(command)
    def with_revisions(*args: Any, target: Target, previous: Path | None, revision_names: str, **rest: Any) -> int:
        before = () if previous is None else tree_files(previous, target.limits)
        target = evolve(target, previous=before, names_revisions=revision_names == HASHED)
        return command(*args, target=target, **rest)

    tree = click.option("--previous", type=click.Path(exists=True, file_okay=False, path_type=Path), metavar="DIR",
                        help="The tree of the last build; a canary by percentage takes its stable revision from "
                             "it.")  # fmt: skip
    names = click.option("--revision-names", type=click.Choice(REVISION_NAMES), default=NUMBERED, show_default=True,
                         help="Who names revisions of Knative services: the server, by numbers, or a hash of what is "
                              "in them. Canaries by percentage need the latter, and services of several nodes "
                              "find their own version by it.")  # fmt: skip
    return tree(names(with_revisions))


def tree_files(folder: Path, limits: Limits) -> tuple[File, ...]:
    """The Knative services of a tree that kservec wrote.

    Raises:
        click.UsageError: there is no such tree, or it cannot be read.
    """
    if not (folder / INDEX).is_file():
        raise click.UsageError(f"--previous {folder}: no tree that kservec wrote (it has no {INDEX})")
    try:
        return read_tree(folder, REVISED, limits.max_bytes)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None


def findings_options(*, notes: bool) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options that say how findings are shown, handed over as `findings`; `notes`: whether notes are by default."""

    def options(command: Callable[..., int]) -> Callable[..., int]:
        @functools.wraps(command)
        def with_findings(*args: Any, layout: str, notes: bool, **rest: Any) -> int:
            return command(*args, findings=Findings(layout=layout, notes=notes), **rest)

        layout = click.option("--format", "layout", type=click.Choice(FORMATS), default=FORMATS[0], show_default=True,
                              help="How findings are shown.")  # fmt: skip
        shown = click.option("--notes/--no-notes", default=notes, show_default=True,
                             help="Show notes too, besides errors and warnings.")  # fmt: skip
        return layout(shown(with_findings))

    return options


def compiled(paths: Sequence[str], target: Target) -> Compilation:
    """Compile what the paths name.

    Raises:
        click.UsageError: there is nothing to compile, or a path cannot be read.
    """
    if not paths:
        raise click.UsageError(
            "nothing to compile: name files or folders, or - for standard input", click.get_current_context()
        )
    files, target = files_of(paths, target.limits), evolve(target, share=chosen_share())
    try:
        with few_collections(), bounded(target.limits):
            workers = crew((*paths, *(file.name for file in target.platform)))
            return compile_files(files, target=target, crew=workers)
    except ExceededError as exceeded:
        return Compilation(result=Result(diagnostics=(exceeded.diagnostic,)), sources={})


def files_of(paths: Sequence[str], limits: Limits) -> tuple[File, ...]:
    """Read what paths name.

    Raises:
        click.UsageError: a path is empty, or cannot be read.
    """
    if "" in paths:
        raise click.UsageError("a path is empty; the current folder is `.`", click.get_current_context())
    try:
        return read_files(paths, limits.max_bytes)
    except OSError as error:
        raise click.UsageError(f"cannot read {error.filename}: {error.strerror}") from None
