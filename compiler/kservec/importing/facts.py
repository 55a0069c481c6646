"""Facts of a cluster, from what kubectl prints: versions, the kinds that are there, namespaces, Secrets by shape."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.names import GROUP
from kservec.documents.entries import OWN_VERSION
from kservec.importing.cleaning import mapping

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.cluster import Cluster, Secret, ServiceAccount
    from kservec.core.paths import Json

CUSTOM = "CustomResourceDefinition"
LISTED = "APIResourceList"
OWN_LABEL = "kubernetes.io/metadata.name"
SYSTEM = re.compile(r"kube-.*|default|knative-.*|istio-.*|cert-manager|kserve").fullmatch
_find_domain = re.compile(r"^\s*kubernetes\s+(\S+)", re.MULTILINE).search
_match_version = re.compile(r"v?(\d+\.\d+(?:\.\d+)?)").match


def facts_of(values: Iterable[Json], cluster: Cluster, known: Iterable[tuple[str, str]]) -> Json:
    """The Cluster document of a dump.

    Args:
        values: all objects of the dump, and the output of `kubectl version -o json`.
        cluster: the Secrets, ServiceAccounts and namespaces in it, by shape.
        known: apiVersion and kind of everything that kservec knows.
    """
    values = list(values)
    parts: dict[str, Json] = {
        "clusterDomain": cluster_domain(values),
        "kubernetesVersion": kubernetes_version(values),
        "absent": absent_kinds(values, known),
        "namespaces": namespaces(cluster),
        "secrets": [secret_shape(s) for _, s in sorted(cluster.secrets.items())],
        "serviceAccounts": [account_shape(a) for _, a in sorted(cluster.service_accounts.items())],
    }
    return {"apiVersion": OWN_VERSION, "kind": "Cluster", **{k: v for k, v in parts.items() if v}}


def kubernetes_version(values: Iterable[Json]) -> str | None:
    """The version of the API server, without what a vendor adds."""
    for value in values:
        server = value.get("serverVersion")
        found = _match_version(str(server.get("gitVersion", ""))) if isinstance(server, dict) else None
        if found is not None:
            return found[1]
    return None


def cluster_domain(values: Iterable[Json]) -> str | None:
    """The domain of the cluster, as CoreDNS is told; None where it is the usual one, or nothing says it."""
    for value in values:
        corefile = mapping(value.get("data")).get("Corefile") if value.get("kind") == "ConfigMap" else None
        found = _find_domain(corefile) if isinstance(corefile, str) else None
        if found is not None and found[1] != "cluster.local":
            return found[1]
    return None


def absent_kinds(values: Iterable[Json], known: Iterable[tuple[str, str]]) -> list[str]:
    """The kinds that the cluster lacks, of those that kservec knows; none if the dump does not list what is there."""
    served = set(served_kinds(values))
    if not served:
        return []
    custom = [(version, kind) for version, kind in known if "." in version.rpartition("/")[0]]
    builtin = ("k8s.io", "serving.kserve.io", "kservec.dev")
    wanted = [(v, k) for v, k in custom if not v.rpartition("/")[0].endswith(builtin) or is_gateway(v)]
    return sorted(f"{version}/{kind}" for version, kind in wanted if (version, kind) not in served)


def is_gateway(api_version: str) -> bool:
    """Whether a group of Kubernetes' own is one that has to be installed."""
    return api_version.rpartition("/")[0].endswith((".networking.k8s.io", ".x-k8s.io"))


def served_kinds(values: Iterable[Json]) -> Iterator[tuple[str, str]]:
    """The kinds, by version, of what the cluster has beyond what every cluster has."""
    for value in values:
        if value.get("kind") == CUSTOM:
            spec = mapping(value.get("spec"))
            for version in filter(mapping, entries(spec.get("versions"))):
                if version.get("served"):
                    yield f"{spec.get('group')}/{version.get('name')}", str(mapping(spec.get("names")).get("kind"))
        if value.get("kind") == LISTED:
            listed = filter(mapping, entries(value.get("resources")))
            yield from ((str(value.get("groupVersion")), str(entry.get("kind"))) for entry in listed)


def entries(value: Json) -> Json:
    """A list; an empty one in the place of anything else."""
    return value if isinstance(value, list) else []


def namespaces(cluster: Cluster) -> dict[str, Json]:
    """The namespaces of users with their labels."""
    shown: dict[str, Json] = {}
    for name, labels in sorted(cluster.namespaces.items()):
        kept = {k: v for k, v in labels.items() if k != OWN_LABEL}
        if not SYSTEM(name):
            shown[name] = {"labels": kept} if kept else None
    return shown


def settings_in(annotations: Mapping[str, str]) -> dict[str, str]:
    """The annotations that are settings of KServe. Others are somebody's notes, of which kubectl's hold the data."""
    return {key: text for key, text in annotations.items() if key.partition("/")[0] == GROUP}


def secret_shape(secret: Secret) -> Json:
    """A Secret by its keys, with those values only that KServe itself copies in plain text."""
    plain: Mapping[str, Json] = {
        "annotations": settings_in(secret.annotations),
        "settings": dict(secret.settings),
        "entries": {key: dict(entry) for key, entry in secret.entries.items() if entry},
    }
    keys = sorted(secret.keys - plain["settings"].keys() - plain["entries"].keys())
    shape = {"name": secret.name, "namespace": secret.namespace, "keys": keys, **plain}
    return {k: v for k, v in shape.items() if v}


def account_shape(account: ServiceAccount) -> Json:
    """A ServiceAccount by its annotations and the names of its Secrets."""
    shape = {
        "name": account.name,
        "namespace": account.namespace,
        "annotations": settings_in(account.annotations),
        "secrets": list(account.secrets),
        "imagePullSecrets": list(account.image_pull_secrets),
    }
    return {k: v for k, v in shape.items() if v}
