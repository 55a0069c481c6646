"""kservec runtimes: the catalog as a table, in the order in which runtimes are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from kservec.api import catalog_of
from kservec.cli.options import target_of, target_options
from kservec.core.selection import by_priority, format_labels, priority

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.catalog import Catalog, Runtime

HEADER = ("FORMAT", "PRIORITY", "RUNTIME", "NAMESPACE", "PROTOCOLS", "AUTO", "IMAGE")


@click.command()
@click.argument("format_name", metavar="[FORMAT]", required=False)
@target_options
def runtimes(  # noqa: PLR0913 - click hands over one argument an option
    format_name: str | None, platform: tuple[str, ...], catalog: str, absent: tuple[str, ...], max_file_size: int
) -> int:
    """List runtimes by the model formats they serve, first choice first.

    Of the runtimes with the format (and version) the first that speaks the protocol and selects itself is taken; runtimes
    of the service's namespace come before those of the cluster.
    """
    found = catalog_of(target_of(platform, catalog, absent, max_file_size))
    rows = [HEADER, *sorted_rows(found, format_name)]
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    for row in rows:
        click.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    return 0


def sorted_rows(catalog: Catalog, wanted: str | None) -> Iterator[tuple[str, ...]]:
    """A row for each format and runtime, in the order of selection within a format."""
    names = {f.name for r in catalog.runtimes for f in r.spec.supported_model_formats}
    for name in sorted(names if wanted is None else names & {wanted}):
        for scope in sorted(catalog.by_namespace, reverse=True):
            for runtime in by_priority(catalog.by_namespace[scope], name):
                if any(f.name == name for f in runtime.spec.supported_model_formats):
                    yield row(name, runtime)


def row(name: str, runtime: Runtime) -> tuple[str, ...]:
    """One line of the table."""
    rank = priority(runtime, name)
    selects = name in format_labels(runtime, auto_only=True) and not runtime.spec.disabled
    versions = [f.version for f in runtime.spec.supported_model_formats if f.name == name and f.version]
    container = runtime.spec.containers[0] if runtime.spec.containers else {}
    return (
        f"{name} {','.join(versions)}".rstrip(),
        "-" if rank is None else str(rank),
        runtime.name,
        runtime.namespace or "(cluster)",
        ",".join(runtime.spec.protocol_versions) or "any",
        "yes" if selects else "no",
        str(container.get("image", "")),
    )
