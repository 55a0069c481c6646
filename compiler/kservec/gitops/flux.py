"""The objects for Flux: the source of the tree, a Kustomization for each shard, and the root of them all. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.gitops.health import CEL
from kservec.gitops.rendered import CLUSTER_FOLDER, GITOPS_FOLDER, SHARED_FOLDER
from kservec.gitops.shards import Shard, folder_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from kservec.core.tree import Json
    from kservec.project.settings import Settings

SOURCE_VERSION = "source.toolkit.fluxcd.io/v1"
KUSTOMIZE_VERSION = "kustomize.toolkit.fluxcd.io/v1"
ROOT = "gitops"
ROOT_TIMEOUT = "5m"
SOURCE_TIMEOUT = "60s"
_is_commit = re.compile(r"[0-9a-f]{40}").fullmatch


def flux_objects(settings: Settings, shards: Sequence[Shard], pending: Collection[Shard]) -> Iterator[Json]:
    """Everything for Flux but the root.

    Args:
        settings: those of the environment.
        shards: its shards.
        pending: shards that may be ready only after others are, so that nothing must wait for them.
    """
    if not settings.gitops.flux.source:
        yield source(settings)
    awaited = {shard.steps: shard.name for shard in shards if shard not in pending}
    for shard in shards:
        yield kustomization(settings, shard, [awaited[steps] for steps in needed(shard) if steps in awaited])


def needed(shard: Shard) -> tuple[tuple[str, ...], ...]:
    """The shards that one needs: the one with the cluster's volumes, and the one that units of a namespace share."""
    before = ((CLUSTER_FOLDER,), (shard.namespace, SHARED_FOLDER))
    return before[: before.index(shard.steps)] if shard.steps in before else before


def source(settings: Settings) -> Json:
    """The GitRepository or OCIRepository that holds the tree."""
    gitops, flux = settings.gitops, settings.gitops.flux
    kind = source_kind(settings)
    spec: Json = {
        "interval": flux.interval,
        "timeout": SOURCE_TIMEOUT,
        "url": gitops.repo_url,
        "ref": reference(gitops.revision, kind),
    }
    if gitops.is_artifact:
        spec["provider"] = "generic"
    if flux.secret:
        spec["secretRef"] = {"name": flux.secret}
    if flux.signers:
        signers = [{"issuer": issuer, "subject": subject} for issuer, subject in flux.signers]
        spec["verify"] = {"provider": "cosign", "matchOIDCIdentity": signers}
    return {
        "apiVersion": SOURCE_VERSION,
        "kind": kind,
        "metadata": {"name": settings.name, "namespace": flux.namespace},
        "spec": spec,
    }


def source_kind(settings: Settings) -> str:
    """The kind of the source."""
    return "OCIRepository" if settings.gitops.is_artifact else "GitRepository"


def reference(revision: str, kind: str) -> Json:
    """A revision as the source has it: a digest or tag of an artifact; a commit, name or branch of a repository."""
    if kind == "OCIRepository":
        return {"digest" if revision.startswith("sha256:") else "tag": revision}
    if _is_commit(revision):
        return {"commit": revision}
    return {"name" if revision.startswith("refs/") else "branch": revision}


def kustomization(settings: Settings, shard: Shard, before: Sequence[str]) -> Json:
    """The Kustomization of a shard, which waits until those before it are ready."""
    gitops, flux = settings.gitops, settings.gitops.flux
    spec: Json = {
        **fetched(settings, folder_of(settings, *shard.steps)),
        "interval": flux.interval,
        "retryInterval": flux.retry_interval,
        "timeout": flux.timeout,
        "prune": gitops.prune,
        "wait": flux.wait,
    }
    if flux.wait:
        spec["healthCheckExprs"] = [expressions.json for expressions in CEL]
    if before:
        spec["dependsOn"] = [{"name": name} for name in before]
    if flux.service_account:
        spec["serviceAccountName"] = flux.service_account
    if flux.substitute:
        spec["postBuild"] = {"substitute": dict(flux.substitute)}
    return applied(settings, shard.name, spec)


def fetched(settings: Settings, folder: str) -> Json:
    """What a Kustomization applies: a folder of the source."""
    name = settings.gitops.flux.source or settings.name
    path = "./" if folder == "." else f"./{folder}"
    return {"sourceRef": {"kind": source_kind(settings), "name": name}, "path": path}


def applied(settings: Settings, name: str, spec: Json) -> Json:
    """A Kustomization of Flux."""
    return {
        "apiVersion": KUSTOMIZE_VERSION,
        "kind": "Kustomization",
        "metadata": {"name": name, "namespace": settings.gitops.flux.namespace},
        "spec": {**spec, "force": False},
    }


def flux_root(settings: Settings) -> Json:
    """The Kustomization that applies all others; it is applied by hand, once. It does not wait for what they apply."""
    flux = settings.gitops.flux
    spec = {
        **fetched(settings, folder_of(settings, GITOPS_FOLDER, "flux")),
        "interval": flux.interval,
        "retryInterval": flux.retry_interval,
        "timeout": ROOT_TIMEOUT,
        "prune": settings.gitops.prune,
    }
    return applied(settings, f"{ROOT}.{settings.name}", spec)
