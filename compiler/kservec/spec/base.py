"""What all models of the input language share: camelCase on the wire, frozen in memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

Json = Any


class Model(BaseModel):
    """A frozen model, camelCase in YAML. Unknown keys are kept: core Kubernetes fields live among ours."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, populate_by_name=True, extra="allow", defer_build=True, strict=True
    )

    @property
    def rest(self) -> dict[str, Json]:
        """The keys that are no field of the model, as plain JSON: a PodSpec, a Container, or unknown keys."""
        return self.model_extra or {}


class Metadata(Model):
    """Object metadata, as far as the compiler reads it."""

    name: str = ""
    namespace: str = ""
    generation: int | None = None
    labels: Mapping[str, str] = Field(default_factory=dict)
    annotations: Mapping[str, str] = Field(default_factory=dict)


class Resource(Model):
    """A whole object of one of KServe's kinds: what a unit is made from. Each kind adds its `spec`."""

    metadata: Metadata
