"""The settings for Argo CD and Flux of one environment, and what contradicts itself among them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.records import fresh, record
from kservec.project.paths import leads_into_git, leads_out
from kservec.spec.placeholder import PLACE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Span
    from kservec.core.text.source import Document
    from kservec.core.tree import Path
    from kservec.project.settings import Settings
    from kservec.spec.cluster import Part
    from kservec.spec.gitops import ArgoCD, Flux, GitOps

P = TypeVar("P", bound="Part")
T = TypeVar("T")

SETTING = Code(
    "gitops/setting",
    Severity.ERROR,
    "settings for Argo CD or Flux that do not fit together",
    "What `gitops` in kservec.yaml says cannot be made into objects that Argo CD or Flux would accept, or one of the "
    "settings would have no effect. The message names what to add, to change or to leave out.",
)
NAMESPACE, ENVIRONMENT, UNIT = "namespace", "environment", "unit"
IN_CLUSTER = "https://kubernetes.default.svc"
ARTIFACTS = "oci"
"""The scheme of the URL of an OCI repository."""
SYNC_OPTIONS = ("ServerSideApply=true", "PruneLast=true", "FailOnSharedResource=true")
"""Server-side apply, since large objects do not fit into the annotation that the other way needs; what is no longer
rendered goes last; an object that another Application has is an error."""
PROTECTED = ("Namespace", "PersistentVolumeClaim")
_reaches_flux = re.compile(r"(https?|ssh|oci)://.").match


@record
class ArgoCDSettings:
    """See `kservec.spec.gitops.ArgoCD`. Either `server` or `cluster_name` says where Argo CD deploys to."""

    namespace: str = "argocd"
    application_set: bool = False
    project: str = "default"
    projects: Mapping[str, Sequence[str]] = fresh(factory=dict)
    create_projects: bool = False
    server: str = IN_CLUSTER
    cluster_name: str = ""
    automated: bool = True
    create_namespace: bool = False
    namespace_labels: Mapping[str, str] = fresh(factory=dict)
    waves: bool = False
    server_side_diff: bool = True
    sync_options: Sequence[str] = SYNC_OPTIONS


@record
class FluxSettings:
    """See `kservec.spec.gitops.Flux`. `signers` are pairs of issuer and subject."""

    namespace: str = "flux-system"
    source: str = ""
    secret: str = ""
    interval: str = "10m"
    retry_interval: str = "2m"
    timeout: str = "30m"
    wait: bool = True
    service_account: str = ""
    substitute: Mapping[str, str] = fresh(factory=dict)
    signers: Sequence[tuple[str, str]] = ()


@record
class GitOpsSettings:
    """See `kservec.spec.gitops.GitOps`. `tool` is argocd, flux, both or none."""

    tool: str = "none"
    repo_url: str = ""
    revision: str = "main"
    path: str = "."
    shard: str = NAMESPACE
    cluster: str = ""
    prune: bool = True
    protect: Sequence[str] = PROTECTED
    argocd: ArgoCDSettings = fresh(factory=ArgoCDSettings)
    flux: FluxSettings = fresh(factory=FluxSettings)

    @property
    def for_argocd(self) -> bool:
        """Whether there are objects for Argo CD."""
        return self.tool in ("argocd", "both")

    @property
    def for_flux(self) -> bool:
        """Whether there are objects for Flux."""
        return self.tool in ("flux", "both")

    @property
    def is_artifact(self) -> bool:
        """Whether the tree is fetched as an OCI artifact instead of from git."""
        return names_artifact(self.repo_url)


def names_artifact(url: str) -> bool:
    """Whether a URL is that of an OCI repository."""
    return url.partition("://")[0] == ARTIFACTS


def laid_over(theirs: P, mine: P) -> P:
    """A part of a project with that of an environment laid over it, where it says something.

    Maps are merged by key, everything else is replaced.
    """
    changes: dict[str, object] = {}
    for name in sorted(mine.model_fields_set):
        own, other = getattr(mine, name), getattr(theirs, name)
        if isinstance(own, dict) and isinstance(other, dict):
            changes[name] = {**other, **own}
        elif hasattr(own, "model_fields_set"):
            changes[name] = laid_over(other, own)
        elif own is not None:
            changes[name] = own
    return theirs.model_copy(update=changes)


def gitops_of(theirs: GitOps, mine: GitOps, environment: str, tree: tuple[str, str]) -> GitOpsSettings:
    """The settings of one environment; `tree` is the folder and the layout of its tree."""
    given = laid_over(theirs, mine)
    output, layout = tree
    shard = given.shard or (ENVIRONMENT if layout == "single" else NAMESPACE)
    path = given.path or ("." if names_artifact(given.repo_url or "") else output)
    return GitOpsSettings(
        tool=given.tool or "none",
        repo_url=given.repo_url or "",
        revision=(given.revision or "main").replace(PLACE, environment),
        path=path.replace(PLACE, environment),
        shard=shard,
        cluster=(given.cluster or "").replace(PLACE, environment),
        prune=or_else(given.prune, default=True),
        protect=tuple(or_else(given.protect, default=PROTECTED)),
        argocd=argocd_of(given.argocd, environment, by_unit=shard == UNIT),
        flux=flux_of(given.flux),
    )


def argocd_of(given: ArgoCD, environment: str, *, by_unit: bool) -> ArgoCDSettings:
    """The settings for Argo CD. Waves are on where a shard is a unit, for there nobody waits for the pods of others."""
    destination = given.destination or IN_CLUSTER
    is_server = "://" in destination
    return ArgoCDSettings(
        namespace=given.namespace or "argocd",
        application_set=given.generate == "ApplicationSet",
        project=(given.project or "default").replace(PLACE, environment),
        projects={name.replace(PLACE, environment): tuple(spaces) for name, spaces in given.projects.items()},
        create_projects=or_else(given.create_projects, default=False),
        server=destination if is_server else "",
        cluster_name="" if is_server else destination,
        automated=or_else(given.automated, default=True),
        create_namespace=or_else(given.create_namespace, default=False),
        namespace_labels=dict(given.namespace_labels),
        waves=or_else(given.waves, default=by_unit),
        server_side_diff=or_else(given.server_side_diff, default=True),
        sync_options=tuple(or_else(given.sync_options, default=SYNC_OPTIONS)),
    )


def flux_of(given: Flux) -> FluxSettings:
    """The settings for Flux."""
    return FluxSettings(
        namespace=given.namespace or "flux-system",
        source=given.source or "",
        secret=given.secret or "",
        interval=given.interval or "10m",
        retry_interval=given.retry_interval or "2m",
        timeout=given.timeout or "30m",
        wait=or_else(given.wait, default=True),
        service_account=given.service_account or "",
        substitute=dict(given.substitute),
        signers=tuple((signer.issuer, signer.subject) for signer in given.verify),
    )


def or_else(value: T | None, *, default: T) -> T:
    """A value, or its default if none was given."""
    return default if value is None else value


def gitops_findings(environments: Mapping[str, Settings], document: Document) -> Iterator[Diagnostic]:
    """What does not fit together in the settings for Argo CD and Flux of all environments; what they share once."""
    seen: set[tuple[Span, str]] = set()
    for name, settings in environments.items():
        for path, message, remedy in contradictions(settings):
            span = gitops_span(document, name, *path)
            if (span, message) not in seen:
                seen.add((span, message))
                yield Diagnostic(code=SETTING, message=message, span=span, help=remedy)


def contradictions(settings: Settings) -> Iterator[tuple[Path, str, str]]:
    """Each contradiction: the setting below `gitops`, what is wrong, what to do."""
    gitops = settings.gitops
    if gitops.tool == "none":
        return
    if gitops.path != settings.output and leads_out(gitops.path):
        yield ("path",), f"{gitops.path} leads out of the repository", "name the folder of the tree below its root"
    if gitops.path != settings.output and leads_into_git(gitops.path):
        yield ("path",), f"{gitops.path} leads into .git", "name the folder of the tree, as it is committed"
    sourced = gitops.for_flux and not gitops.for_argocd and gitops.flux.source
    if not gitops.repo_url and not sourced:
        yield (), "gitops names no repository", "add repoURL, the repository that the rendered tree is committed to"
    if gitops.for_flux and gitops.repo_url and not gitops.flux.source and not _reaches_flux(gitops.repo_url):
        remedy = "write https://..., or ssh://git@host/path instead of git@host:path"
        yield ("repoURL",), "Flux cannot fetch from this URL", remedy
    if settings.layout == "single" and gitops.shard != ENVIRONMENT:
        remedy = "leave shard out, or the layout"
        yield ("shard",), f"layout single has no folder for each {gitops.shard}", remedy
    if gitops.for_argocd:
        yield from contradictions_of_argocd(gitops)
    if gitops.flux.signers and not gitops.is_artifact:
        yield ("flux", "verify"), "only OCI artifacts are signed this way", "leave verify out, or use an oci:// repoURL"


def contradictions_of_argocd(gitops: GitOpsSettings) -> Iterator[tuple[Path, str, str]]:
    """Contradictions in what is for Argo CD alone."""
    argocd = gitops.argocd
    whole = gitops.shard == ENVIRONMENT
    if argocd.application_set and (whole or gitops.is_artifact):
        what = "an OCI artifact" if gitops.is_artifact else "a whole environment"
        remedy = "leave generate out, which makes Applications"
        yield ("argocd", "generate"), f"an ApplicationSet finds folders in git, and there are none for {what}", remedy
    if argocd.create_namespace and whole:
        message = "createNamespace makes the one namespace of an Application, and this one has all"
        yield ("argocd", "createNamespace"), message, "shard by namespace or unit, or include Namespaces"
    if argocd.namespace_labels and not argocd.create_namespace:
        message = "namespaceLabels are for namespaces that Argo CD makes"
        yield ("argocd", "namespaceLabels"), message, "add createNamespace: true"
    if argocd.namespace_labels and gitops.shard == UNIT:
        message = "several Applications would label one namespace, each as its own"
        yield ("argocd", "namespaceLabels"), message, "shard by namespace, or include Namespaces"
    if argocd.projects and whole:
        yield ("argocd", "projects"), "one Application has one AppProject", "shard by namespace or unit"
    spaces = [space for several in argocd.projects.values() for space in several]
    for space in sorted({space for space in spaces if spaces.count(space) > 1}):
        yield ("argocd", "projects"), f"namespace {space} is in two AppProjects", "name it in one of them"


def gitops_span(document: Document, environment: str, *path: str | int) -> Span:
    """Where a setting below `gitops` is written: by the environment, else by the project."""
    own = ("environments", environment, "gitops", *path)
    return document.span(own if lookup(document.value, own) is not None else ("gitops", *path))
