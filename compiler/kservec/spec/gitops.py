"""What a project says about Argo CD and Flux: the part `gitops` of kservec.yaml.

Must not know what is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from kservec.spec.cluster import Part

Named = Annotated[str, Field(min_length=1)]
Duration = Annotated[str, Field(pattern=r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$")]
"""A duration as Go writes it, such as 10m or 1h30m."""


class ArgoCD(Part):
    """The objects for Argo CD.

    `namespace` is where Argo CD runs. `generate`: an Application for each shard, or one ApplicationSet that finds the
    shards' folders. `project` is the AppProject of Applications; `projects` gives AppProjects namespaces of their own,
    one for each team; `createProjects` makes these AppProjects; `{env}` in their names is the environment.
    `destination` is the cluster to deploy to: the URL of its API server, or the name that Argo CD knows it by.
    `automated`: syncs without being asked, and undoes changes by hand. `createNamespace`: Argo CD makes namespaces,
    with `namespaceLabels`. `waves` orders the objects of a shard. `serverSideDiff` compares by a dry run of the API
    server. `syncOptions` replace the default ones.
    """

    namespace: Named | None = None
    generate: Literal["Application", "ApplicationSet"] | None = None
    project: Named | None = None
    projects: Mapping[str, Sequence[str]] = Field(default_factory=dict)
    create_projects: bool | None = None
    destination: Named | None = None
    automated: bool | None = None
    create_namespace: bool | None = None
    namespace_labels: Mapping[str, str] = Field(default_factory=dict)
    waves: bool | None = None
    server_side_diff: bool | None = None
    sync_options: Sequence[str] | None = None


class Signer(Part):
    """Who may have signed an OCI artifact, as regular expressions over what cosign's certificate says."""

    issuer: Named
    subject: Named


class Flux(Part):
    """The objects for Flux.

    `namespace` is where Flux runs. `source` is a GitRepository or OCIRepository that is there already; without it one
    is made, which reads the credentials in the Secret `secret`. `timeout` bounds how long pods may take to be ready.
    `wait`: a Kustomization is ready when its objects are. `serviceAccount` applies the objects. `substitute` are
    variables that Flux puts in the place of `${name}`. `verify`: who must have signed an OCI artifact.
    """

    namespace: Named | None = None
    source: Named | None = None
    secret: Named | None = None
    interval: Duration | None = None
    retry_interval: Duration | None = None
    timeout: Duration | None = None
    wait: bool | None = None
    service_account: Named | None = None
    substitute: Mapping[str, str] = Field(default_factory=dict)
    verify: Sequence[Signer] = ()


class GitOps(Part):
    """The objects for Argo CD or Flux: whether there are any, and what they refer to.

    `repoURL` is the repository that holds the rendered tree, or an OCI repository (oci://...) with one artifact an
    environment; `revision` its branch, tag or commit, or the artifact's tag or digest. `path` is the folder of
    the tree in there: the environment's `output` unless this says otherwise, the root of an artifact. `{env}` in both
    is the environment. `shard` is what one Application or Kustomization holds. `cluster` names the cluster:
    environments on the same one must not share objects. `prune`: objects that are no longer rendered are removed, but
    those of the kinds in `protect` only after somebody has agreed.
    """

    tool: Literal["argocd", "flux", "both", "none"] | None = None
    repo_url: Named | None = Field(default=None, alias="repoURL")
    revision: Named | None = None
    path: Named | None = None
    shard: Literal["namespace", "environment", "unit"] | None = None
    cluster: Named | None = None
    prune: bool | None = None
    protect: Sequence[str] | None = None
    argocd: ArgoCD = Field(default_factory=ArgoCD)
    flux: Flux = Field(default_factory=Flux)
