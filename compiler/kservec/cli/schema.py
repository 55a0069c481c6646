"""kservec schema: print the JSON Schema of a kind."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from kservec.cli.streams import write
from kservec.core.spelling import closest
from kservec.io.packaged import packaged_own_schema, packaged_schemas

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from kservec.core.tree import Json

OWN = {"cluster": "kservec.dev/v1alpha1/Cluster", "project": "kservec.dev/v1alpha1/Project"}
"""Our own documents: the words for them, and their full names."""
KUSTOMIZE = "kustomize"


def completions(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str | CompletionItem]:
    """The kinds that an argument may be completed to."""
    del ctx, parameter
    names = packaged_schemas().names()
    kinds = sorted({name.rpartition("/")[2] for name in names})
    return [name for name in (*OWN, *kinds, KUSTOMIZE, *names) if name.startswith(incomplete)]


@click.command()
@click.argument("kind", required=False, shell_complete=completions)
def schema(kind: str | None) -> int:
    """Print the JSON Schema of KIND, for editors and other checks; without KIND list what there is.

    KIND is a kind, or group/version/Kind where several versions have it; project and cluster are documents of
    kservec's own. `kustomize` is the OpenAPI document by which kustomize merges the lists of KServe's kinds; builds of
    kservec use it anyway.

    \b
      kservec schema project > .schemas/project.json
      kservec schema InferenceService > .schemas/inferenceservice.json
      kservec schema kustomize > overlays/prod/kserve.openapi.json
    """  # noqa: D301
    schemas = packaged_schemas()
    if kind == KUSTOMIZE:
        from kservec.overlays.openapi import openapi_text  # noqa: PLC0415 - seldom asked for

        write(openapi_text(schemas))
        return 0
    if kind is None:
        write("".join(f"{name}\n" for name in (*OWN.values(), *schemas.names())))
        return 0
    if (text := own_text(kind)) is not None:
        write(text)
        return 0
    found = schemas.bundled(kind)
    if found is None:
        known = {part for name in schemas.names() for part in (name, name.rpartition("/")[2])}
        near = closest(kind, {*known, *OWN, *OWN.values()})
        hint = f"; did you mean {near}?" if near else ""
        raise click.UsageError(f"there is no schema for {kind}{hint}", click.get_current_context())
    write(json.dumps(found, indent=2) + "\n")
    return 0


def own_schema(kind: str) -> Json | None:
    """The schema of one of our own documents, by its word, kind or full name, in any case; None of others."""
    text = own_text(kind)
    return None if text is None else json.loads(text)


def own_text(kind: str) -> str | None:
    """The same as text, byte for byte what `kservec init` writes."""
    asked = kind.lower()
    word = next((word for word, name in OWN.items() if asked in (word, name.lower())), None)
    return None if word is None else packaged_own_schema(word).decode()
