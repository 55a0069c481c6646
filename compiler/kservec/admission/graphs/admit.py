"""Admission of an InferenceGraph: what KServe's webhook makes of it, and the mistakes that it lets through.

KServe defaults nothing in a graph. Mistakes in nodes that no request comes to do no harm, so besides KServe's own rules
only nodes that are reached are looked at.
KServe: pkg/apis/serving/v1alpha1/inference_graph_validation.go, validateInferenceGraph
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeAlias

from kservec.admission.graphs.conditions import check_conditions
from kservec.admission.graphs.graph_mode import choose_graph_mode
from kservec.admission.graphs.graph_subject import GraphSubject
from kservec.admission.graphs.inputs import check_inputs
from kservec.admission.graphs.replicas import check_metric, check_replicas
from kservec.admission.graphs.shape import check_nodes, check_root, check_ways
from kservec.admission.graphs.steps import check_names, check_targets, check_urls
from kservec.admission.graphs.timeouts import check_timeouts
from kservec.admission.graphs.unused_fields import check_unused_fields
from kservec.admission.graphs.weights import check_weights
from kservec.admission.subject import Site
from kservec.admission.validation.name import name_findings
from kservec.core.graphs.nodes import walk_as_meant
from kservec.core.records import record
from kservec.core.unit import Mode
from kservec.spec.graph import InferenceGraphSpec

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json
    from kservec.core.unit import Source

Rule: TypeAlias = Callable[[GraphSubject], Iterator["Diagnostic"]]

RULES: tuple[Rule, ...] = (
    check_root,
    check_names,
    check_targets,
    check_weights,
    check_urls,
    check_nodes,
    check_ways,
    check_conditions,
    check_inputs,
    check_unused_fields,
    check_timeouts,
    check_replicas,
    check_metric,
)


@record
class AdmittedGraph:
    """The mode of a graph, which means nothing where the findings have an error, and everything there is to say."""

    mode: Mode
    diagnostics: tuple[Diagnostic, ...] = ()


def admit_inferencegraph(ref: ObjectRef, source: Source, value: Json, platform: PlatformConfig) -> AdmittedGraph:
    """Validate a graph.

    Args:
        ref: the graph's identity.
        source: the user's document, for the places of findings.
        value: its value, valid by the CRD's schema.
        platform: KServe's configuration.

    Raises:
        Reject: the section `deploy` of the configuration cannot be used.
    """
    site = Site(ref, source)
    chosen = choose_graph_mode(site, value, platform)
    spec = InferenceGraphSpec.read(value.get("spec") or {})
    annotations = value["metadata"].get("annotations") or {}
    subject = GraphSubject(site, spec, chosen.mode, walk_as_meant(spec.routers), annotations)
    found = (finding for rule in RULES for finding in rule(subject))
    return AdmittedGraph(
        mode=chosen.mode or Mode.STANDARD, diagnostics=(*chosen.diagnostics, *name_findings(site), *found)
    )
