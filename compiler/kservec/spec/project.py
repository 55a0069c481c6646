"""kservec's own document `Project`: what a repository compiles, for which environments, and what GitOps adds to it.

Unknown fields are refused: a misspelt one would be a wish silently lost. What an environment leaves out, it takes from
the project.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from kservec.spec.checked import Json
from kservec.spec.cluster import Part
from kservec.spec.gitops import GitOps

Path = Annotated[str, Field(min_length=1)]
"""A path below the folder of the project file, with slashes."""


class Knative(Part):
    """Revisions of Knative services: named by a hash of what is in them, or numbered by the server."""

    revision_names: Literal["hash", "server"] | None = None


class Images(Part):
    """Where images come from: beginnings of image names, and what stands there instead. The longest one that fits."""

    rewrite: Mapping[str, str] = Field(default_factory=dict)


class Security(Part):
    """The level of the Pod Security Standards that kservec writes settings for where a spec leaves them out."""

    pod_security: Literal["restricted", "baseline", "privileged"] | None = None


class Options(Part):
    """What a project says for all its environments, and each environment for itself."""

    platform: Sequence[Path] = ()
    catalog: Literal["builtin", "none"] | None = None
    absent: Sequence[str] = ()
    include: Sequence[Path] = ()
    knative: Knative = Field(default_factory=Knative)
    images: Images = Field(default_factory=Images)
    security: Security = Field(default_factory=Security)
    gitops: GitOps = Field(default_factory=GitOps, alias="gitops")


class Environment(Options):
    """One environment. `overlay` is a kustomization over the sources, `patches` one over the rendered objects."""

    overlay: Path | None = None
    patches: Path | None = None
    output: Path | None = None
    namespaces: Sequence[str] = ()


class Project(Options):
    """The whole document. `{env}` in `output` is the name of the environment."""

    api_version: Literal["kservec.dev/v1alpha1"]
    kind: Literal["Project"]
    metadata: Json = None
    kserve: Literal["0.21"] = "0.21"
    sources: Sequence[Path] = Field(min_length=1)
    output: Path = "rendered/{env}"
    layout: Literal["tree", "single"] = "tree"
    environments: Mapping[str, Environment | None] = Field(default_factory=dict)
