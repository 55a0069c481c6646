"""kservec schema: print the JSON Schema of a kind."""

from __future__ import annotations

import json

import click

from kservec.io.packaged import packaged_schemas


@click.command()
@click.argument("kind", required=False)
def schema(kind: str | None) -> int:
    """Print the JSON Schema of KIND, for editors and other checks; without KIND list what there is.

    KIND is a kind, or group/version/Kind where several versions have it.
    """
    schemas = packaged_schemas()
    if kind is None:
        click.echo("\n".join(schemas.names()))
        return 0
    found = schemas.bundled(kind)
    if found is None:
        raise click.UsageError(f"no schema for {kind}; kservec schema lists what there is")
    click.echo(json.dumps(found, indent=2))
    return 0
