"""Pydantic models for documents that no schema has checked: kservec's own, and graphs that the router is handed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Json = Any


class Model(BaseModel):
    """A frozen, strict model, camelCase in YAML. Unknown keys are kept."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="allow", defer_build=True, strict=True
    )


class Metadata(Model):
    """Object metadata, as far as it is read."""

    name: str = ""
    namespace: str = ""
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)


class Resource(Model):
    """A whole object."""

    metadata: Metadata
