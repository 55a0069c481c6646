"""kservec import: from a cluster that runs KServe to a project that does without."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from kservec.cli.findings import TEXT, Findings
from kservec.cli.folders import Folder
from kservec.cli.options import files_of
from kservec.cli.status import FAILED
from kservec.cli.streams import complain, write
from kservec.core.diagnostics import has_errors
from kservec.core.text.source import Limits
from kservec.emit import dump
from kservec.importer import RECIPE, facts_in
from kservec.importer import import_dump as imported
from kservec.importing.recipe import summary
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Mapping


@click.command("import")
@click.argument("paths", nargs=-1, required=True, type=click.Path(allow_dash=True))
@click.option("--output", "-o", type=Folder(file_okay=False, path_type=Path), metavar="DIR",
              help="The folder of the new project.")  # fmt: skip
@click.option("--facts", is_flag=True, help="Print a Cluster document with the facts of the dump, and do nothing else.")
def import_dump(*, paths: tuple[str, ...], output: Path | None, facts: bool) -> int:
    """Turn what kubectl prints of a cluster with KServe into specs, platform files and a recipe to hand over.

    PATHS are files with the output of `kubectl get -o yaml` or `-o json`, or - for standard input. Values of Secrets
    are never written; they are only looked at for which keys there are.

    \b
      kubectl get inferenceservices,inferencegraphs,llminferenceservices,llminferenceserviceconfigs,\\
        servingruntimes,clusterservingruntimes,clusterstoragecontainers,deployments,services,configmaps,\\
        serviceaccounts,secrets,namespaces,gateways,httproutes,horizontalpodautoscalers -A -o yaml > dump.yaml
      kubectl get customresourcedefinitions -o json > crds.json; kubectl version -o json > version.json
      kservec import dump.yaml crds.json version.json --output models
      kservec import --facts crds.json version.json dump.yaml > platform/cluster.yaml
    """  # noqa: D301
    ctx = click.get_current_context()
    files = files_of(paths, Limits())
    if facts:
        if output is not None:
            raise click.UsageError("--facts prints, and takes no --output", ctx)
        document, found = facts_in(files)
        Findings(layout=TEXT, notes=False).show(found, {})
        if has_errors(found):
            return FAILED
        write(dump(document))
        return 0
    if output is None:
        raise click.UsageError("name the folder of the new project: --output DIR", ctx)
    if output.exists() and any(output.iterdir()):
        raise click.UsageError(f"--output {output}: it is not empty", ctx)
    result = imported(files)
    Findings(layout=TEXT, notes=False).show(result.diagnostics, result.sources)
    if result.hand_over is None:
        return FAILED
    write_files(output, result.files)
    complain(f"{output}: {plural(len(result.files), 'file')} written; {summary(result.hand_over.taken)} "
             f"(see {output / RECIPE})\n")  # fmt: skip
    return FAILED if has_errors(result.diagnostics) else 0


def write_files(folder: Path, files: Mapping[str, str]) -> None:
    """Write the files of a new project.

    Raises:
        click.ClickException: the folder cannot be written.
    """
    try:
        for path, text in sorted(files.items()):
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename or folder}: {error.strerror}") from None
