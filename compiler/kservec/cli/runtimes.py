"""kservec runtimes: the catalog as a table, in the order in which runtimes are chosen."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from kservec.api import catalog_of, env_of
from kservec.cli.findings import JSON, entries
from kservec.cli.options import findings_options, target_options
from kservec.cli.status import FAILED
from kservec.cli.streams import write
from kservec.core.catalog import by_priority
from kservec.core.models.model_uri import supported_forms
from kservec.core.serving.selection import DEFAULT_PROTOCOL, supports_protocol
from kservec.core.spelling import closest, meant_name
from kservec.explain.images import nameable_images
from kservec.io.packaged import packaged_catalog
from kservec.report.words import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.api import Compilation, Target
    from kservec.cli.findings import Findings
    from kservec.core.catalog import Catalog, Runtime

HEADER = ("FORMAT", "PRIORITY", "RUNTIME", "NAMESPACE", "PROTOCOLS", "AUTO", "IMAGE")
EXPORT = "export"


class Choice(NamedTuple):
    """A runtime that serves a model format; `versions` of the format, and whether it is taken without being named."""

    format: str
    versions: list[str]
    priority: int | None
    runtime: str
    namespace: str
    protocols: list[str]
    auto: bool
    image: str


@click.command()
@click.argument("words", metavar="[FORMAT | export NAME]", nargs=-1)
@click.option("--images", is_flag=True, help="List every image that objects can name without a spec naming it.")
@click.option("--uris", is_flag=True, help="List the kinds of URIs that models can be brought in from.")
@target_options
@findings_options(notes=False)
def runtimes(*, words: tuple[str, ...], images: bool, uris: bool, target: Target, findings: Findings) -> int:
    """List runtimes by the model formats they serve, first choice first.

    Of the runtimes that list the format (and version) the first that speaks the protocol and has AUTO is taken. Those
    of the service's namespace come before those of the cluster.

    `export` prints the file of a built-in runtime or preset instead, to be kept among the sources and patched there:
    what the input describes stands for what is built in.

    With --format json the lists are JSON as well: `runtimes`, `images` or `uris`, and `diagnostics` beside them.

    \b
      kservec runtimes
      kservec runtimes sklearn --platform platform/
      kservec runtimes export kserve-vllmserver > services/kserve-vllmserver.yaml
      kservec runtimes --images > mirror.txt
    """  # noqa: D301
    if images and uris:
        raise click.UsageError("--images and --uris exclude each other", click.get_current_context())
    if images or uris:
        return list_texts("images" if images else "uris", words, target, findings)
    if words[:1] == (EXPORT,):
        return export(words[1:], target.profile)
    if len(words) > 1:
        raise click.UsageError("name one format", click.get_current_context())
    format_name = words[0] if words else None
    catalog, compilation = catalog_of(target)
    if not told(compilation, findings):
        return FAILED
    choices = list(sorted_choices(catalog, format_name))
    if not choices and format_name is not None:
        near = closest(format_name, format_names(catalog))
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"no runtime serves {format_name}{hint}", click.get_current_context())
    if findings.layout == JSON:
        write(document("runtimes", [choice._asdict() for choice in choices], compilation))
    else:
        write("".join(f"{line}\n" for line in table([HEADER, *map(cells, choices)])))
    return 0


def list_texts(name: str, words: tuple[str, ...], target: Target, findings: Findings) -> int:
    """Print the images that a target leads to, or the URIs that it takes, one a line or as JSON.

    Raises:
        click.UsageError: a format is named, which has nothing to do with it.
    """
    if words:
        raise click.UsageError(f"--{name} lists all {name}: name no format", click.get_current_context())
    env, compilation = env_of(target)
    if not told(compilation, findings):
        return FAILED
    texts = list(nameable_images(env) if name == "images" else supported_forms(env))
    write(document(name, texts, compilation) if findings.layout == JSON else "".join(f"{text}\n" for text in texts))
    return 0


def told(compilation: Compilation, findings: Findings) -> bool:
    """Show what was found, unless that comes within the document of the list; whether there is a list."""
    if compilation.ok and findings.layout == JSON:
        return True
    findings.show(compilation.diagnostics, compilation.sources, alone=not compilation.ok)
    return compilation.ok


def document(name: str, listed: Sequence[Any], compilation: Compilation) -> str:
    """A list for programs, with what was found."""
    return json_text({name: listed, "diagnostics": entries(compilation.diagnostics)})


def export(names: tuple[str, ...], profile: str) -> int:
    """Print the file of a built-in runtime or preset of a version of KServe.

    Raises:
        click.UsageError: there is none of this name, or not one name is given.
    """
    ctx = click.get_current_context()
    if len(names) != 1:
        raise click.UsageError("name one runtime to export", ctx)
    files = {Path(path).stem: content for path, content in packaged_catalog(profile)}
    if names[0] not in files:
        near = meant_name(names[0], files)
        raise click.UsageError(f"no runtime {names[0]} is built in" + (f"; did you mean {near}?" if near else ""), ctx)
    write(files[names[0]].decode())
    return 0


def table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """Rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def format_names(catalog: Catalog) -> set[str]:
    """Every model format that a runtime serves."""
    return {f.name for r in catalog.runtimes for f in r.spec.supported_model_formats}


def sorted_choices(catalog: Catalog, wanted: str | None) -> Iterator[Choice]:
    """A choice for each format and runtime, in the order of selection within a format."""
    names = format_names(catalog)
    for name in sorted(names if wanted is None else names & {wanted}):
        for scope in sorted(catalog.by_namespace, reverse=True):
            serving = [r for r in catalog.by_namespace[scope] if name in r.labels]
            ranked = sorted(by_priority(serving, name), key=partial(last_choices, name))
            yield from (choice_of(name, runtime) for runtime in ranked)


def last_choices(name: str, runtime: Runtime) -> tuple[bool, bool]:
    """A key that puts what selects itself first, and of that what a model without a protocol gets."""
    return not runtime.labels.get(name), not supports_protocol(runtime, DEFAULT_PROTOCOL)


def choice_of(name: str, runtime: Runtime) -> Choice:
    """What there is to say of a runtime that serves a format."""
    container = runtime.spec.containers[0] if runtime.spec.containers else {}
    return Choice(
        format=name,
        versions=[f.version for f in runtime.spec.supported_model_formats if f.name == name and f.version],
        priority=runtime.priority(name),
        runtime=runtime.name,
        namespace=runtime.namespace,
        protocols=list(runtime.spec.protocol_versions),
        auto=bool(runtime.labels.get(name)) and not runtime.spec.disabled,
        image=str(container.get("image", "")),
    )


def cells(choice: Choice) -> tuple[str, ...]:
    """One line of the table."""
    return (
        f"{choice.format} {','.join(choice.versions)}".rstrip(),
        "-" if choice.priority is None else str(choice.priority),
        choice.runtime,
        choice.namespace or "(cluster)",
        ",".join(choice.protocols) or "any",
        "yes" if choice.auto else "no",
        choice.image,
    )
