"""Callers: the workloads of a unit, the ports at which they are called, and which of them call each other."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.llm.names import COMPONENT_LABEL as LLM_COMPONENT
from kservec.core.names import COMPONENT_LABEL, GENERATION_LABEL, INFERENCEGRAPH_LABEL, INFERENCESERVICE_LABEL
from kservec.core.network.addresses import labelled
from kservec.core.network.served_ports import Served, served_ports
from kservec.core.pods.metrics_ports import WORKLOAD
from kservec.core.pods.pod_sets import pod_sets
from kservec.core.unit import Role

if TYPE_CHECKING:
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.tree import Json
    from kservec.core.unit import Unit


class Workload(NamedTuple):
    """A workload: its pods, and the ports at which they are called. `team`: its pods talk to each other at any port."""

    sets: tuple[PodSet, ...]
    served: Served
    team: bool

    @property
    def name(self) -> str:
        """Its name."""
        return self.sets[0].name

    @property
    def peer(self) -> Json:
        """Its pods, as a peer of a rule."""
        return labelled(self.sets[0].selector)

    @property
    def ports(self) -> list[Json]:
        """All the ports at which it is called."""
        return [*self.served.outer, *self.served.inner]

    @property
    def labels(self) -> Json:
        """The labels of its first pods."""
        return self.sets[0].labels


def workloads_of(unit: Unit) -> tuple[Workload, ...]:
    """The workloads of a unit."""
    grouped = [tuple(sets) for _, sets in groupby(pod_sets(unit.bundle), key=lambda pods: pods.made.ref)]
    servers = [sets for sets in grouped if is_model_server(sets[0])]
    several = len(servers) > 1 or any(sets[0].is_group for sets in servers)
    return tuple(
        Workload(
            sets=sets,
            served=served_ports(sets, unit.bundle),
            team=GENERATION_LABEL in sets[0].labels or (several and sets in servers),
        )
        for sets in grouped
    )


def is_model_server(pods: PodSet) -> bool:
    """Whether pods of an LLMInferenceService serve the model, rather than schedule requests."""
    component: str = pods.labels.get(LLM_COMPONENT, "")
    return component.startswith(WORKLOAD)


def calls(caller: Workload, callee: Workload) -> bool:
    """Whether a workload calls another one of its unit, at the ports that are served: a predictor calls nobody."""
    if not callee.ports or (caller.team and callee.team):
        return False
    return bool(caller.labels.get(COMPONENT_LABEL) != Role.PREDICTOR)


def is_graph(workload: Workload) -> bool:
    """Whether a workload is the router of a graph."""
    return INFERENCEGRAPH_LABEL in workload.labels


def serves(workload: Workload) -> bool:
    """Whether clients call it: schedulers and tokenizers are none of their business."""
    return LLM_COMPONENT not in workload.labels or is_model_server(workload.sets[0])


def in_graphs(workload: Workload) -> bool:
    """Whether graphs may call it: they call services and each other."""
    return is_graph(workload) or INFERENCESERVICE_LABEL in workload.labels
