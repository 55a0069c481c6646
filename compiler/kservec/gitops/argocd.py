"""The objects for Argo CD: Applications or an ApplicationSet over the shards, AppProjects, and the root of all. Pure.

Sources are folders with a kustomization, so Argo CD takes exactly what that lists. Applications carry the finalizer:
when the last object of a shard goes, so do its folder and its Application, and the finalizer has Argo CD remove what
the Application had applied.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.gitops.rendered import CLUSTER_FOLDER, GITOPS_FOLDER
from kservec.gitops.shards import UNNAMED, base_of, folder_of
from kservec.project.gitops import IN_CLUSTER, UNIT

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.tree import Json
    from kservec.gitops.shards import Shard
    from kservec.project.settings import Settings

API_VERSION = "argoproj.io/v1alpha1"
FINALIZER = "resources-finalizer.argocd.argoproj.io/foreground"
ROOT = "gitops"
RETRY = {"limit": 5, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "10m"}}
GENERATE_PATHS = {"argocd.argoproj.io/manifest-generate-paths": "."}
"""A push that touches nothing in the folder of an Application does not make it render anew."""
SERVER_SIDE_DIFF = {"argocd.argoproj.io/compare-options": "ServerSideDiff=true"}
DEFAULT_PROJECT = "default"
ALL = "*"


def argocd_objects(settings: Settings, shards: Sequence[Shard], cluster_kinds: Sequence[Json]) -> Iterator[Json]:
    """Everything for Argo CD but the root. `cluster_kinds` are the kinds without namespace, by group and kind."""
    yield from projects(settings, cluster_kinds)
    if settings.gitops.argocd.application_set:
        yield from application_sets(settings)
    else:
        for shard in shards:
            yield application(settings, shard)


def application(settings: Settings, shard: Shard) -> Json:
    """The Application of a shard."""
    project = project_of(settings, shard.namespace)
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {"name": shard.name, "namespace": settings.gitops.argocd.namespace, **noted(settings)},
        "spec": application_spec(settings, folder_of(settings, *shard.steps), shard.namespace, project),
    }


def noted(settings: Settings) -> Json:
    """Annotations and finalizers of Applications."""
    compare = SERVER_SIDE_DIFF if settings.gitops.argocd.server_side_diff else {}
    finalizers = {"finalizers": [FINALIZER]} if settings.gitops.prune else {}
    return {"annotations": {**GENERATE_PATHS, **compare}, **finalizers}


def application_spec(settings: Settings, path: str, namespace: str, project: str) -> Json:
    """What an Application syncs, from where and to where."""
    return {
        "project": project,
        "source": source(settings, path),
        "destination": destination(settings, namespace),
        "syncPolicy": sync_policy(settings, makes_namespace=bool(namespace)),
    }


def source(settings: Settings, path: str) -> Json:
    """A folder of what is fetched."""
    return {"repoURL": settings.gitops.repo_url, "targetRevision": settings.gitops.revision, "path": path}


def destination(settings: Settings, namespace: str) -> Json:
    """The cluster, and the namespace that Argo CD may make."""
    argocd = settings.gitops.argocd
    cluster = {"name": argocd.cluster_name} if argocd.cluster_name else {"server": argocd.server}
    return {**cluster, "namespace": namespace} if namespace else cluster


def sync_policy(settings: Settings, *, makes_namespace: bool) -> Json:
    """How an Application is synced; `makes_namespace`: whether it has one that could be made."""
    gitops, argocd = settings.gitops, settings.gitops.argocd
    policy: Json = {"syncOptions": list(argocd.sync_options), "retry": RETRY}
    if argocd.automated:
        policy["automated"] = {"prune": gitops.prune, "selfHeal": True}
    if argocd.create_namespace and makes_namespace:
        policy["syncOptions"].append("CreateNamespace=true")
        if argocd.namespace_labels:
            policy["managedNamespaceMetadata"] = {"labels": dict(argocd.namespace_labels)}
    return policy


def project_of(settings: Settings, namespace: str) -> str:
    """The AppProject of what is in a namespace."""
    argocd = settings.gitops.argocd
    return next((name for name, spaces in argocd.projects.items() if namespace in spaces), argocd.project)


def projects(settings: Settings, cluster_kinds: Sequence[Json]) -> Iterator[Json]:
    """The AppProjects, if they are to be made: those of teams may have nothing outside of their namespaces."""
    argocd = settings.gitops.argocd
    if not argocd.create_projects:
        return
    for name, spaces in sorted(argocd.projects.items()):
        yield app_project(settings, name, [destination(settings, space) for space in sorted(spaces)], [])
    if argocd.project != DEFAULT_PROJECT:
        spaces = sorted(settings.namespaces) or [ALL]
        # The Application of objects without a namespace has none in its destination either.
        anywhere = [destination(settings, ""), *(destination(settings, space) for space in spaces)]
        yield app_project(settings, argocd.project, anywhere, cluster_kinds)


def app_project(settings: Settings, name: str, destinations: Sequence[Json], cluster_kinds: Sequence[Json]) -> Json:
    """An AppProject that allows this repository, these destinations, and these kinds without namespace."""
    made = [{"group": "", "kind": "Namespace"}] if settings.gitops.argocd.create_namespace else []
    kinds = [*made, *(kind for kind in cluster_kinds if kind not in made)]
    return {
        "apiVersion": API_VERSION,
        "kind": "AppProject",
        "metadata": {"name": name, "namespace": settings.gitops.argocd.namespace},
        "spec": {
            "description": f"{settings.name}, rendered by kservec",
            "sourceRepos": [settings.gitops.repo_url],
            "destinations": list(destinations),
            **({"clusterResourceWhitelist": kinds} if kinds else {}),
        },
    }


def application_sets(settings: Settings) -> Iterator[Json]:
    """An ApplicationSet for each AppProject: those of teams, and one for all that no team has."""
    teams = settings.gitops.argocd.projects
    inner = [ALL] if settings.gitops.shard == UNIT else []
    for name, spaces in sorted(teams.items()):
        own = [{"path": folder_of(settings, space, *inner)} for space in sorted(spaces)]
        yield application_set(settings, f"{settings.name}.{name}", name, own)
    passed = [GITOPS_FOLDER, *sorted(space for spaces in teams.values() for space in spaces)]
    found: list[Json] = [{"path": folder_of(settings, ALL, *inner)}]
    found += [{"path": folder_of(settings, CLUSTER_FOLDER)}] if inner else []
    found += [{"path": folder_of(settings, step, *inner), "exclude": True} for step in passed]
    yield application_set(settings, settings.name, settings.gitops.argocd.project, found)


def application_set(settings: Settings, name: str, project: str, directories: Sequence[Json]) -> Json:
    """An ApplicationSet that makes an Application for each folder that it finds, named as the shards are."""
    gitops = settings.gitops
    depth = len(base_of(settings))
    fetched = {"repoURL": gitops.repo_url, "revision": gitops.revision, "directories": list(directories)}
    spec = application_spec(settings, "{{ .path.path }}", namespace_template(depth), project)
    kept = {} if gitops.prune else {"syncPolicy": {"preserveResourcesOnDeletion": True}}
    return {
        "apiVersion": API_VERSION,
        "kind": "ApplicationSet",
        "metadata": {"name": name, "namespace": gitops.argocd.namespace},
        "spec": {
            "goTemplate": True,
            "goTemplateOptions": ["missingkey=error"],
            "generators": [{"git": fetched}],
            "template": {"metadata": {"name": settings.name + name_template(depth), **noted(settings)}, "spec": spec},
            **kept,
        },
    }


def name_template(depth: int) -> str:
    """A Go template for what `Shard.name` says of a folder's steps below the tree, which is `depth` steps deep."""
    unnamed = " ".join(f'"{step}"' for step in UNNAMED)
    step = f'{{{{ if not (has . (list {unnamed})) }}}}.{{{{ trimPrefix "_" . }}}}{{{{ end }}}}'
    return f"{{{{ range slice .path.segments {depth} }}}}{step}{{{{ end }}}}"


def namespace_template(depth: int) -> str:
    """A Go template for the namespace of a shard, or nothing: a folder that begins with `_` is none."""
    space = f"index .path.segments {depth}"
    return f'{{{{ if not (hasPrefix "_" ({space})) }}}}{{{{ {space} }}}}{{{{ end }}}}'


def argocd_root(settings: Settings) -> Json:
    """The Application that syncs all others; it is applied by hand, once."""
    gitops = settings.gitops
    return {
        "apiVersion": API_VERSION,
        "kind": "Application",
        "metadata": {
            "name": f"{ROOT}.{settings.name}",
            "namespace": gitops.argocd.namespace,
            "annotations": GENERATE_PATHS,
        },
        "spec": {
            "project": DEFAULT_PROJECT,
            "source": source(settings, folder_of(settings, GITOPS_FOLDER, "argocd")),
            "destination": {"server": IN_CLUSTER, "namespace": gitops.argocd.namespace},
            "syncPolicy": {
                "automated": {"prune": gitops.prune, "selfHeal": True},
                "syncOptions": ["ServerSideApply=true"],
                "retry": RETRY,
            },
        },
    }
