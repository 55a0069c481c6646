"""The spec of a graph as the router is told it: the JSON that KServe's controller makes of it.

Decides the order of members and what is left out, so that pods which run under KServe need not restart. Must not know
how the text gets to the router.
KServe: pkg/controller/v1alpha1/inferencegraph/knative_reconciler.go, createKnativeService
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.golang.encoding import encode, quote, struct
from kservec.core.pods.strategic import omit_empty
from kservec.core.quantity import canonical

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.core.tree import Json
    from kservec.spec.graph import InferenceGraphSpec, InferenceRouter

STEP = (
    "name", "nodeName", "serviceName", "serviceUrl", "data", "mapPredictionsToInstances", "weight", "condition",
    "dependency",
)  # fmt: skip
TIMEOUTS = ("serverRead", "serverWrite", "serverIdle", "serviceClient")
POINTERS = frozenset({*TIMEOUTS, "weight", "timeout", "minReplicas", "scaleTarget"})
"""Members that are written whatever their value is."""

RESOURCES = ("limits", "requests", "claims")
SCHEDULING = (
    "weight", "preference", "podAffinityTerm", "nodeAffinity", "podAffinity", "podAntiAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms", "labelSelector", "namespaces", "topologyKey", "namespaceSelector", "matchLabelKeys",
    "mismatchLabelKeys", "matchLabels", "matchExpressions", "matchFields", "key", "operator", "value", "values",
    "effect", "tolerationSeconds",
)  # fmt: skip
"""Members of affinities and tolerations in the order of Go's types. Kubernetes: k8s.io/api core/v1/types.go."""

STRING_MAPS = frozenset({"matchLabels"})


def graph_json(spec: InferenceGraphSpec, urls: Mapping[tuple[str, int], str]) -> str:
    """The spec as JSON, with the URLs of the steps that name services.

    Args:
        spec: the spec of the graph.
        urls: URLs by node and number of the step.
    """
    given = spec.json
    nodes = {name: router_json(name, router, urls) for name, router in sorted(spec.routers.items())}
    scalars = ("minReplicas", "maxReplicas", "scaleTarget", "scaleMetric")
    members = {
        "nodes": struct(nodes),
        "resources": resources_json(spec.resources),
        **({"affinity": ordered(omit_empty(spec.affinity))} if spec.affinity is not None else {}),
        **plain_members(given, ("timeout",)),
        **({"routerTimeouts": timeouts_json(spec)} if spec.router_timeouts is not None else {}),
        **plain_members(given, scalars),
        **({"tolerations": ordered(omit_empty(list(spec.tolerations)))} if spec.tolerations else {}),
        **plain_members(given, ("nodeSelector", "nodeName", "serviceAccountName")),
    }
    return struct(members)


def router_json(name: str, router: InferenceRouter, urls: Mapping[tuple[str, int], str]) -> str:
    """One node."""
    steps = []
    for i, step in enumerate(router.steps):
        url = urls.get((name, i))
        steps.append(struct(plain_members(step.json if url is None else {**step.json, "serviceUrl": url}, STEP)))
    members = {"routerType": quote(router.router_type)}
    return struct({**members, "steps": f"[{','.join(steps)}]"} if steps else members)


def timeouts_json(spec: InferenceGraphSpec) -> str:
    """The time limits of the router."""
    return struct(plain_members(spec.json["routerTimeouts"], TIMEOUTS))


def plain_members(given: Mapping[str, Json], names: Sequence[str]) -> dict[str, str]:
    """The members of a map that Go would write, in the order given: empty ones are left out."""
    present = ((name, given.get(name)) for name in names)
    return {name: encode(value) for name, value in present if value or (name in POINTERS and value is not None)}


def resources_json(resources: Mapping[str, Json]) -> str:
    """The resources; they are written even where the user wrote none."""
    members = {}
    for name in RESOURCES:
        value = resources.get(name)
        if value:
            written = value if isinstance(value, list) else {key: canonical(amount) for key, amount in value.items()}
            members[name] = encode(written)
    return struct(members)


def ordered(value: Json, field: str = "") -> str:
    """An affinity or a list of tolerations, its members in the order of Go's types."""
    if isinstance(value, list):
        return f"[{','.join(ordered(item) for item in value)}]"
    if isinstance(value, dict) and field not in STRING_MAPS:
        names = sorted(value, key=lambda name: (SCHEDULING.index(name) if name in SCHEDULING else -1, name))
        return struct({name: ordered(value[name], name) for name in names})
    return encode(value)
