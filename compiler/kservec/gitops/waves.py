"""Waves: which objects Argo CD applies before which others, and waits for. Pure.

A wave begins when all objects of the one before it are healthy, so whatever an object needs in order to become healthy
must not be in a later one. From that follows what may be apart:

- first what pods cannot start without and another operator makes (a Secret by cert-manager, say);
- then workloads, and with them what is healthy only together with them: a claim is bound when a pod uses it, an
  InferencePool is accepted when a route names it, and its scheduler is ready when it sees the pool;
- last what should only take effect on workloads that run: routes, autoscalers, disruption budgets. A claim that nobody
  uses here comes last as well, for it may stay pending for ever.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.gitops.annotations import annotations_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.gitops.rendered import Rendered

WAVE = "argocd.argoproj.io/sync-wave"
HOOK = "argocd.argoproj.io/hook"
FIRST, MIDDLE, LAST = -1, 0, 1
BEFORE_PODS = frozenset(
    {"Certificate", "ExternalSecret", "Issuer", "OpenTelemetryCollector", "ResourceClaimTemplate",
     "TriggerAuthentication"}
)  # fmt: skip
AFTER_PODS = frozenset(
    {"DestinationRule", "GRPCRoute", "HorizontalPodAutoscaler", "HTTPRoute", "Ingress", "PodDisruptionBudget",
     "PodMonitor", "ScaledObject", "ServiceMonitor", "VirtualService"}
)  # fmt: skip
CLAIM = "PersistentVolumeClaim"
POOL = "kind: InferencePool\n"
_claim_names = re.compile(r"(?m)\bclaimName: (\S+)$").findall


def claimed(objects: Iterable[Rendered]) -> frozenset[tuple[str, str]]:
    """Namespace and name of every claim that some object mounts."""
    return frozenset(
        (o.ref.namespace, name.strip('"')) for o in objects if "claimName: " in o.text for name in _claim_names(o.text)
    )


def wave_of(rendered: Rendered, mounted: frozenset[tuple[str, str]]) -> int:
    """The wave of an object; `mounted` are the claims that some object mounts."""
    kind = rendered.ref.kind
    if kind == CLAIM:
        return MIDDLE if (rendered.ref.namespace, rendered.ref.name) in mounted else LAST
    if kind in BEFORE_PODS:
        return FIRST
    return LAST if kind in AFTER_PODS and POOL not in rendered.text else MIDDLE


def wave_annotation(rendered: Rendered, mounted: frozenset[tuple[str, str]]) -> dict[str, str]:
    """The annotation for an object's wave: none for the middle one, for hooks, and where the user says it."""
    wave = wave_of(rendered, mounted)
    if wave == MIDDLE or annotations_of(rendered.text).keys() & {WAVE, HOOK}:
        return {}
    return {WAVE: str(wave)}
