"""What a project says about Argo CD and Flux: the part `gitops` of kservec.yaml.

Must not know what is made of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field

from kservec.spec.cluster import Part
from kservec.spec.described import option
from kservec.spec.texts import (
    Kind,
    LabelKey,
    LabelValue,
    Line,
    LineWithPlace,
    Namespace,
    ObjectName,
    ObjectNameKey,
    ObjectNameWithPlace,
    PathWithPlace,
    RepositoryUrl,
    Revision,
    SyncOption,
    VariableKey,
)

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

    namespace: Namespace | None = option("argocd", "Where Argo CD runs.")
    generate: Literal["Application", "ApplicationSet"] | None = option(
        "Application", "An Application for each shard, or one ApplicationSet that finds the folders of the shards."
    )
    project: ObjectNameWithPlace | None = option("default", "The AppProject of Applications; {env} is the environment.")
    projects: Mapping[ObjectNameKey, Sequence[Namespace]] = Field(
        default_factory=dict,
        description="AppProjects with namespaces of their own, one for each team.",
        examples=[{"fraud": ["payments"]}],
    )
    create_projects: bool | None = option(False, "Whether these AppProjects are rendered.")
    destination: Line | None = option(
        "https://kubernetes.default.svc",
        "The cluster to deploy to: the URL of its API server, or the name that Argo CD knows it by.",
    )
    automated: bool | None = option(True, "Whether Argo CD syncs without being asked, and undoes changes by hand.")
    create_namespace: bool | None = option(False, "Whether Argo CD makes namespaces.")
    namespace_labels: Mapping[LabelKey, LabelValue] = Field(
        default_factory=dict, description="The labels of namespaces that Argo CD makes."
    )
    waves: bool | None = Field(
        default=None,
        description="Whether the objects of a shard are synced in waves; by default where a shard is a single service.",
    )
    server_side_diff: bool | None = option(True, "Whether Argo CD compares by a dry run of the API server.")
    sync_options: Sequence[SyncOption] | None = option(
        ["ServerSideApply=true", "PruneLast=true", "FailOnSharedResource=true"],
        "The options of syncs; they replace these.",
    )


class Signer(Part):
    """Who may have signed an OCI artifact, as regular expressions over what cosign's certificate says."""

    issuer: Line = Field(description="A regular expression of who issued the certificate.")
    subject: Line = Field(description="A regular expression of whom it was issued to.")


class Flux(Part):
    """The objects for Flux.

    `namespace` is where Flux runs. `source` is a GitRepository or OCIRepository that is there already; without it one
    is made, which reads the credentials in the Secret `secret`. `timeout` bounds how long pods may take to be ready.
    `wait`: a Kustomization is ready when its objects are. `serviceAccount` applies the objects. `substitute` are
    variables that Flux puts in the place of `${name}`. `verify`: who must have signed an OCI artifact.
    """

    namespace: Namespace | None = option("flux-system", "Where Flux runs.")
    source: ObjectName | None = Field(
        default=None, description="A GitRepository or OCIRepository that is there already; without it one is rendered."
    )
    secret: ObjectName | None = Field(
        default=None, description="The Secret with the credentials of the source that is rendered."
    )
    interval: Duration | None = option("10m", "How often the source and the cluster are looked at.")
    retry_interval: Duration | None = option("2m", "How long Flux waits after a failure.")
    timeout: Duration | None = option("30m", "How long pods may take to be ready.")
    wait: bool | None = option(True, "Whether a Kustomization is ready only when its objects are.")
    service_account: ObjectName | None = Field(
        default=None, description="The ServiceAccount that applies the objects; by default Flux's own."
    )
    substitute: Mapping[VariableKey, str] = Field(
        default_factory=dict, description="Variables that Flux puts in the place of ${name}."
    )
    verify: Sequence[Signer] = Field(default=(), description="Who must have signed an OCI artifact.")


class GitOps(Part):
    """The objects for Argo CD or Flux: whether there are any, and what they refer to.

    `repoURL` is the repository that holds the rendered tree, or an OCI repository (oci://...) with one artifact an
    environment; `revision` its branch, tag or commit, or the artifact's tag or digest. `path` is the folder of
    the tree in there: the environment's `output` unless this says otherwise, the root of an artifact. `{env}` in both
    is the environment. `shard` is what one Application or Kustomization holds. `cluster` names the cluster:
    environments on the same one must not share objects. `prune`: objects that are no longer rendered are removed, but
    those of the kinds in `protect` only after somebody has agreed.
    """

    tool: Literal["argocd", "flux", "both", "none"] | None = option("none", "For which tool objects are rendered.")
    repo_url: RepositoryUrl | None = Field(
        default=None,
        alias="repoURL",
        description="The repository with the rendered trees, or an OCI repository with an artifact for each.",
        examples=["https://git.example.com/ml.git"],
    )
    revision: Revision | None = option(
        "main", "The branch, tag or commit that is followed, or an artifact's tag or digest; {env} is the environment."
    )
    path: PathWithPlace | None = Field(
        default=None,
        description="The folder of the tree in there; by default the environment's output, or the root of an artifact.",
    )
    shard: Literal["namespace", "environment", "unit"] | None = option(
        "namespace", "What one object of the tool syncs: a namespace, the whole environment, or a single service."
    )
    cluster: LineWithPlace | None = Field(
        default=None,
        description="The name of the cluster; environments on one must not share objects. {env} is the environment.",
    )
    prune: bool | None = option(True, "Whether objects that are no longer rendered are removed.")
    protect: Sequence[Kind] | None = option(
        ["Namespace", "PersistentVolumeClaim"], "Kinds of objects that are removed only after somebody has agreed."
    )
    argocd: ArgoCD = Field(default_factory=ArgoCD, description="What is said to Argo CD.")
    flux: Flux = Field(default_factory=Flux, description="What is said to Flux.")
