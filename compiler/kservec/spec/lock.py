"""kservec's own document `Lock`: what a project has pinned. `kservec lock --update` writes it; nobody else has to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from kservec.spec.checked import Json
from kservec.spec.cluster import Part

Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Commit = Annotated[str, Field(pattern=r"^[0-9a-f]{40}$")]


class Versions(Part):
    """What the lock was made with: the version of KServe, and digests of the built-in catalog and of the schemas."""

    kserve: str
    catalog: Digest
    schemas: Digest


class Lock(Part):
    """The whole document: digests by the images as they are rendered, commits by the URIs of models.

    `model_facts` are written by hand: for the URI of a model what its config.json says, and its number of parameters.
    """

    api_version: Literal["kservec.dev/v1alpha1"]
    kind: Literal["Lock"]
    versions: Versions | None = None
    images: Mapping[str, Digest] = Field(default_factory=dict)
    models: Mapping[str, Commit] = Field(default_factory=dict)
    model_facts: Mapping[str, Json] = Field(default_factory=dict)
