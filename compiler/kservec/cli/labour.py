"""How the work of a run is done: by how many processes, with what cache. The result is the same in any way."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from kservec.cli.findings import TOLD
from kservec.cli.folders import Folder
from kservec.cli.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.io.workspace import Workspace
    from kservec.workshop import Crew, Made, Workshop

JOBS, CACHE = "kservec.jobs", "kservec.cache"
OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
WORTHWHILE = 256
"""Units for which a run looks at all whether several processes are worth it."""


def jobs_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that says how many processes compile."""
    return click.option("--jobs", "-j", type=click.IntRange(min=1), metavar="N", callback=keep_jobs, expose_value=False,
                        help="Compile in up to N processes; the output is the same. Default: as many as there are "
                             "processors, 8 at most, where there is enough to do.")(command)  # fmt: skip


def keep_jobs(ctx: click.Context, parameter: click.Parameter, value: int | None) -> None:
    """Keep the number for when there is something to compile."""
    del parameter
    if value is not None:
        ctx.meta[JOBS] = value


def cache_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """The option that names the folder of what earlier runs made."""
    kind = Folder(file_okay=False, path_type=Path)
    return click.option("--cache", type=kind, metavar="DIR", callback=keep_cache, expose_value=False,
                        help="Keep what becomes of each service in this folder, and compile only what changed; the "
                             "output is the same.")(command)  # fmt: skip


def keep_cache(ctx: click.Context, parameter: click.Parameter, value: Path | None) -> None:
    """Keep the folder for when there is something to compile."""
    del parameter
    if value is not None:
        ctx.meta[CACHE] = value


def tell(finding: Diagnostic) -> None:
    """Have something shown among the findings of this command, once, that is about none of its inputs."""
    told: list[Diagnostic] = click.get_current_context().meta.setdefault(TOLD, [])
    if finding not in told:
        told.append(finding)


def make_cache(folder: Path, paths: Sequence[str], workspace: Workspace | None) -> None:
    """Make the folder if it is not there.

    Raises:
        click.UsageError: it is in use for something else, or cannot be made.
    """
    from kservec.cli.places import refuse_cache  # noqa: PLC0415 - only where it is asked for
    from kservec.io.cache import mark_folder, unwritable  # noqa: PLC0415 - as above

    refuse_cache(folder, paths, workspace)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--cache: cannot make {folder}: {error.strerror}") from None
    try:
        mark_folder(folder)
    except OSError as error:
        tell(unwritable(error, folder))


def crew(paths: Sequence[str] = (), workspace: Workspace | None = None) -> Crew:
    """Whoever does the work of this command, which tells how far it is.

    Args:
        paths: what is compiled, if it is not an environment.
        workspace: the project, if it is one.

    Raises:
        click.UsageError: the cache is in use for something else, or cannot be made.
    """
    from kservec.workshop import watched  # noqa: PLC0415 - the library needs it first

    meta = click.get_current_context().meta
    workers: Crew = partial(hired, meta.get(JOBS))
    if CACHE in meta:
        from kservec.io.cache import recalling  # noqa: PLC0415 - only where it is asked for

        make_cache(meta[CACHE], paths, workspace)
        workers = recalling(meta[CACHE], workers, tell)
    return watched(workers, Progress())


def hired(jobs: int | None, workshop: Workshop) -> Iterable[list[Made]]:
    """What becomes of units, whoever is to do it: as many as are asked for, or as are worth it."""
    from kservec.workshop import alone  # noqa: PLC0415 - as above

    if jobs == 1 or (jobs is None and len(workshop.units) < WORTHWHILE):
        return alone(workshop)
    from kservec.io.crew import FORK, MOST, processors, several, start_method  # noqa: PLC0415 - for large runs alone

    if jobs is None:
        jobs = min(MOST, processors()) if start_method() == FORK else 1
    return several(jobs)(workshop)


@contextmanager
def few_collections() -> Iterator[None]:
    """Have the garbage collector look seldom: nearly everything that a run makes lives to its end."""
    before = gc.get_threshold()
    gc.set_threshold(OBJECTS_BETWEEN_COLLECTIONS)
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)
