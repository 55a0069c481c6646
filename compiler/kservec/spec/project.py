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
from kservec.spec.described import option

Path = Annotated[str, Field(min_length=1)]
"""A path below the folder of the project file, with slashes."""


class Knative(Part):
    """Revisions of Knative services: named by a hash of what is in them, or numbered by the server."""

    revision_names: Literal["hash", "server"] | None = option(
        "hash",
        "How revisions are named: by a hash of what is in them, so that git can refer to them, or by the server.",
    )


class Images(Part):
    """Where images come from: beginnings of image names, and what stands there instead. The longest one that fits."""

    rewrite: Mapping[str, str] = Field(
        default_factory=dict,
        description="Beginnings of image names, and what stands in their place. The longest one that fits counts.",
        examples=[{"docker.io/": "registry.example.com/docker/"}],
    )


class Security(Part):
    """The level of the Pod Security Standards that kservec writes settings for where a spec leaves them out."""

    pod_security: Literal["restricted", "baseline", "privileged"] | None = option(
        "restricted", "The level whose settings are written into pods where specs and runtimes say nothing."
    )


class GitOps(Part):
    """The objects for Argo CD or Flux: whether there are any, and what they refer to."""

    tool: Literal["argocd", "flux", "both", "none"] | None = option("none", "For which tool objects are rendered.")
    repo_url: str | None = Field(
        default=None,
        alias="repoURL",
        description="Where the tool finds this repository.",
        examples=["https://git.example.com/ml.git"],
    )
    revision: str | None = option("main", "The branch, tag or commit that the tool follows.")
    shard: Literal["namespace", "environment", "unit"] | None = option(
        "namespace", "What one object of the tool syncs: a namespace, the whole environment, or a single service."
    )


class Options(Part):
    """What a project says for all its environments, and each environment for itself."""

    platform: Sequence[Path] = Field(
        default=(),
        description="Files or folders that describe the cluster; later ones override.",
        examples=[["platform"]],
    )
    catalog: Literal["builtin", "none"] | None = option("builtin", "The runtimes that come with kservec, or none.")
    absent: Sequence[str] = Field(
        default=(),
        description="Kinds that the cluster lacks: Kind, Kind.group or group/version/Kind.",
        examples=[["VirtualService.networking.istio.io"]],
    )
    include: Sequence[Path] = Field(
        default=(),
        description="Files or folders of plain manifests that are rendered as they are; never Secrets.",
        examples=[["extra"]],
    )
    knative: Knative = Field(default_factory=Knative, description="Revisions of Knative services.")
    images: Images = Field(default_factory=Images, description="Where images come from.")
    security: Security = Field(default_factory=Security, description="Settings of the Pod Security Standards.")
    gitops: GitOps = Field(default_factory=GitOps, alias="gitops", description="Objects for Argo CD or Flux.")


class Environment(Options):
    """One environment. `overlay` is a kustomization over the sources, `patches` one over the rendered objects."""

    overlay: Path | None = Field(
        default=None,
        description="A kustomization over the sources, which is compiled in their place.",
        examples=["overlays/prod"],
    )
    patches: Path | None = Field(
        default=None, description="A kustomization over the rendered objects.", examples=["patches/prod"]
    )
    output: Path | None = Field(
        default=None, description="The folder of the rendered tree, instead of the project's.", examples=["deploy/prod"]
    )
    namespaces: Sequence[str] = Field(
        default=(), description="The namespaces that objects may be in; any, if there are none.", examples=[["ml"]]
    )


class Project(Options):
    """The whole document. `{env}` in `output` is the name of the environment."""

    api_version: Literal["kservec.dev/v1alpha1"] = Field(description="The version of this document.")
    kind: Literal["Project"] = Field(description="The kind of this document.")
    metadata: Json = Field(default=None, description="Names and labels of your own; kservec does not look at them.")
    kserve: Literal["0.21"] = Field(default="0.21", description="The version of KServe whose behaviour is compiled.")
    sources: Sequence[Path] = Field(
        min_length=1, description="Files or folders with the services to compile.", examples=[["services"]]
    )
    output: Path = Field(
        default="rendered/{env}",
        description="The folder of each rendered tree; {env} is the name of the environment. It holds nothing else.",
    )
    layout: Literal["tree", "single"] = Field(
        default="tree", description="What is written: a file for each object, or a single one for all."
    )
    environments: Mapping[str, Environment | None] = Field(
        default_factory=dict,
        description="The environments by name. What one leaves out it takes from the project.",
        examples=[{"dev": {}, "prod": {"platform": ["platform/prod"]}}],
    )
