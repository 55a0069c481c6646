"""The check itself: manifests applied as Argo CD, Flux and kubectl do, and what a clean sync would not show.

No operator runs beside the server. So the webhooks of Knative, LeaderWorkerSet, KEDA, Istio and the OpenTelemetry
operator neither refuse nor default anything here; the definitions of their kinds do, with their schemas and CEL rules.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .client import RefusedError
from .comparison import added, content, not_kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .client import ApiServer, Object

SCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
BUILT_IN = frozenset(
    {"apps", "autoscaling", "batch", "networking.k8s.io", "policy", "rbac.authorization.k8s.io", "resource.k8s.io"}
)


def findings(server: ApiServer, manifests: Iterable[Object], prefix: str) -> list[str]:
    """What stands against a clean sync of the manifests, in namespaces of their own: the given ones with a prefix."""
    manifests = [placed(server, manifest, prefix) for manifest in manifests]
    scaled = set(scale_targets(manifests))
    found = []
    for namespace in sorted({m["metadata"]["namespace"] for m in manifests if "namespace" in m["metadata"]}):
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}})
    for manifest in manifests:
        name = f"{manifest['kind']} {manifest['metadata']['name']}"
        try:
            found += [f"{name}: {finding}" for finding in findings_of(server, manifest, scaled)]
        except RefusedError as refused:
            found.append(f"{name}: refused: {refused.reason}")
    return found


def findings_of(server: ApiServer, manifest: Object, scaled: set[tuple[str, str, str]]) -> Iterator[str]:
    """What stands against a clean sync of one manifest.

    Raises:
        RefusedError: the server does not accept it.
    """
    server.apply(manifest)
    read = server.read(manifest)
    yield from not_kept(manifest, read)
    now, then = content(read), content(server.tried(manifest))
    yield from (f"a server-side diff shows {line}" for line in (*not_kept(now, then), *added(now, then)))
    settled = server.apply(manifest)  # the second write of some kinds stores defaults of their status
    if server.apply(manifest)["metadata"]["resourceVersion"] != settled["metadata"]["resourceVersion"]:
        yield "applying it again changes it"
    if is_custom(manifest):  # Argo CD knows no defaults of custom kinds: what the server adds would show, for ever
        ours = {"spec.replicas"} if identity(manifest) in scaled else set()
        yield from (f"{path} is added by the server" for path in added(manifest, content(read)) if path not in ours)


def placed(server: ApiServer, manifest: Object, prefix: str) -> Object:
    """The manifest in a namespace of its test; with a name of its test if it is in none.

    Nothing is deleted, since nothing that would finish a deletion runs here.
    """
    metadata = dict(manifest["metadata"])
    own = "namespace" if server.is_namespaced(manifest) else "name"
    metadata[own] = f"{prefix}-{metadata[own]}"
    return {**manifest, "metadata": metadata}


def is_custom(manifest: Object) -> bool:
    """Whether a definition brings this kind to a cluster, rather than Kubernetes itself."""
    group = manifest["apiVersion"].rpartition("/")[0]
    return bool(group) and group not in BUILT_IN


def scale_targets(manifests: Iterable[Object]) -> Iterator[tuple[str, str, str]]:
    """The identities of what autoscalers own the replicas of."""
    for manifest in manifests:
        if manifest["kind"] in SCALERS:
            target = manifest["spec"]["scaleTargetRef"]
            yield target.get("kind", "Deployment"), manifest["metadata"]["namespace"], target["name"]


def identity(manifest: Object) -> tuple[str, str, str]:
    """Kind, namespace and name."""
    metadata = manifest["metadata"]
    return manifest["kind"], metadata.get("namespace", ""), metadata["name"]
