"""kservec schema: print the JSON Schema of a kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from kservec.cli.streams import write
from kservec.core.spelling import closest
from kservec.io.packaged import packaged_schemas

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kservec.core.tree import Json

OWN = ("kservec.dev/v1alpha1/Project", "kservec.dev/v1alpha1/Cluster")
KUSTOMIZE = "kustomize"


KUSTOMIZE = "kustomize"


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str | CompletionItem]:
    """The kinds that an argument may be completed to."""
    del ctx, parameter
    names = (*packaged_schemas().names(), *OWN)
    kinds = sorted({name.rpartition("/")[2] for name in names})
    return [name for name in (*kinds, KUSTOMIZE, *names) if name.startswith(incomplete)]


def own_schema(name: str) -> Json | None:
    """The schema of one of kservec's own kinds, whichever way it is spelt; None of others."""
    own = next((own for own in OWN if name.lower() in (own.lower(), own.rpartition("/")[2].lower())), None)
    if own is None:
        return None
    from kservec.spec.cluster import Cluster  # noqa: PLC0415 - loads pydantic
    from kservec.spec.project import Project  # noqa: PLC0415 - loads pydantic

    model = Project if own == OWN[0] else Cluster
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **model.model_json_schema()}


@click.command()
@click.argument("kind", required=False, shell_complete=completions)
def schema(kind: str | None) -> int:
    """Print the JSON Schema of KIND, for editors and other checks; without KIND list what there is.

    KIND is a kind, or group/version/Kind where several versions have it. `kustomize` is the OpenAPI document by which
    kustomize merges the lists of KServe's kinds; builds of kservec use it anyway.

    \b
      kservec schema InferenceService > inferenceservice.schema.json
      kservec schema project > kservec.schema.json
      kservec schema kustomize > overlays/prod/kserve.openapi.json
    """  # noqa: D301
    schemas = packaged_schemas()
    if kind == KUSTOMIZE:
        from kservec.overlays.openapi import openapi_text  # noqa: PLC0415 - seldom asked for

        write(openapi_text(schemas))
        return 0
    if kind is None:
        write("".join(f"{name}\n" for name in (*schemas.names(), *OWN)))
        return 0
    found = own_schema(kind) or schemas.bundled(kind)
    if found is None:
        near = closest(kind, {part for name in (*schemas.names(), *OWN) for part in (name, name.rpartition("/")[2])})
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"there is no schema for {kind}{hint}", click.get_current_context())
    write(json.dumps(found, indent=2) + "\n")
    return 0
