"""split_inferencegraph: an InferenceGraph becomes one component, the router that is told the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.graphs.argument import graph_json
from kservec.core.graphs.resolution import resolve
from kservec.core.graphs.rings import ring_findings
from kservec.core.graphs.router_pod import AS_FILE, HASH, header_findings, router_pod, router_settings, told
from kservec.core.intents import ExposeIntent, ScaleIntent
from kservec.core.names import (
    AUTOSCALER_CLASS,
    INFERENCEGRAPH_LABEL,
    KNATIVE_CONTAINER,
    KNATIVE_VISIBILITY_LABEL,
    LAST_APPLIED,
    WORKLOAD_KIND_LABEL,
)
from kservec.core.records import evolve
from kservec.core.serving.metadata import OWN_PREFIX
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Component, Mode, Role, Step, finding
from kservec.spec.graph import InferenceGraph
from kservec.spec.inferenceservice import ComponentExtension

if TYPE_CHECKING:
    from kservec.core.graphs.router_pod import Told
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

MADE = Origin(Layer.KSERVE_DEFAULT, "split_inferencegraph")
EXTENSION = ("minReplicas", "maxReplicas", "scaleTarget", "scaleMetric")
"""Fields that a graph has in common with the components of services."""


def split_inferencegraph(unit: Unit, env: Env) -> Step:
    """Make the router of an InferenceGraph; one that is stopped has nothing resolved.

    Takes:   nothing
    Writes:  components: the router, with a ScaleIntent; the whole unit's ExposeIntent; the ConfigMap of a long graph
    Reports: graph/service-*, graph/predictions-absent, graph/calls-itself, graph/called-back, graph/all-headers,
             graph/as-file, graph/too-large, platform/section-missing, platform/configuration
    KServe:  pkg/controller/v1alpha1/inferencegraph/controller.go, Reconcile
    """
    router_settings(env)
    if unit.stopped:
        return Step(unit)
    resolved = resolve(unit, env)
    graph = told(unit, graph_json(unit.spec_as(InferenceGraph).spec, resolved.urls))
    found = [*resolved.diagnostics, *ring_findings(unit, env), *header_findings(env)]
    bundle = unit.bundle
    if graph.config_map is not None:
        bundle = bundle.add(graph.config_map)
        message = "the graph is too long for an argument: the router reads it from a ConfigMap, which KServe's cannot"
        hint = "use the image of kservec-router (section router of inferenceservice-config)"
        found.append(finding(unit, AS_FILE, message, ("spec", "nodes"), hint))
    exposed = ExposeIntent(origin=unit.source.origin("metadata", "name"))
    component = router(unit, graph, env)
    return Step(evolve(unit, components=(component,), intents=(*unit.intents, exposed), bundle=bundle), tuple(found))


def router(unit: Unit, graph: Told, env: Env) -> Component:
    """The one component of a graph. In Knative mode a timeout is the revision's; elsewhere only the router has it.

    Its annotations are the graph's, whatever the platform keeps back from services. What `kubectl apply` noted about
    the graph is no note about its objects, and is left out.
    """
    spec = unit.spec_as(InferenceGraph).spec
    in_knative = unit.mode is Mode.KNATIVE
    fields = EXTENSION if not in_knative else (*EXTENSION, "timeout")
    kept = {k: v for k, v in unit.annotations.items() if k != LAST_APPLIED and not k.startswith(OWN_PREFIX)}
    labels, pod_labels = router_labels(unit)
    return Component(
        role=Role.ROUTER,
        name=unit.name,
        path=("spec",),
        extension=ComponentExtension.read({name: spec.json[name] for name in fields if name in spec.json}),
        labels=labels,
        annotations=Tree.of(kept, unit.source.origin("metadata", "annotations")),
        pod=router_pod(unit, graph, env, KNATIVE_CONTAINER if in_knative else unit.name),
        pod_annotations={HASH: graph.digest} if graph.digest else {},
        pod_labels=pod_labels,
        intents=(scale_intent(unit),),
    )


def router_labels(unit: Unit) -> tuple[Tree, Tree | None]:
    """The labels of a graph's objects, and those of its pods where they are others.

    KServe: knative_reconciler.go, createKnativeService; raw_ig.go, constructForRawDeployment
    """
    own = (unit.labels, unit.source.origin("metadata", "labels"))
    named = {INFERENCEGRAPH_LABEL: unit.name}
    if unit.mode is not Mode.KNATIVE:
        return Tree.union(own, (named, MADE)), None
    kept = {k: v for k, v in unit.labels.items() if k != KNATIVE_VISIBILITY_LABEL}
    made = {**named, WORKLOAD_KIND_LABEL: unit.ref.kind}
    return Tree.union(own), Tree.union((kept, own[1]), (made, MADE))


def scale_intent(unit: Unit) -> ScaleIntent:
    """What the graph says about the number of its pods."""
    spec = unit.spec_as(InferenceGraph).spec
    return ScaleIntent(
        origin=unit.source.origin("spec"),
        scaler=unit.annotations.get(AUTOSCALER_CLASS, ""),
        min_replicas=spec.min_replicas,
        max_replicas=spec.max_replicas,
        target=spec.scale_target,
        metric=spec.scale_metric,
    )
