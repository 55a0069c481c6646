"""Deployment: the workload of parts of LLMInferenceServices whose pods stand alone, schedulers and tokenizers included.

KServe: pkg/controller/v1alpha2/llmisvc/workload_single_node.go; scheduler.go; tokenizer.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.part import PartRole
from kservec.core.llm.workload_objects import ROLLOUT, of_object, of_pods, replicas
from kservec.core.registry import PartWorkload
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from kservec.core.llm.part import Part
    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Unit

API_VERSION, KIND = "apps/v1", "Deployment"
MADE = Origin(Layer.KSERVE_DEFAULT, "deployment")
TEMPLATE: Path = ("spec", "template")
DEADLINE = 600
"""Seconds without progress after which a Deployment counts as failed. Kubernetes: DeploymentSpec"""
LONGEST = 2**31 - 1


def selects(part: Part) -> bool:
    """Parts without workers."""
    return part.worker is None


def render(unit: Unit, part: Part) -> Manifest:
    """The Deployment of a part. Its selector has all labels of the pods, those of the spec included."""
    spec: dict[str, Json] = {**replicas(part), "selector": {"matchLabels": part.labels.value}, **strategy(unit, part)}
    spec |= patience(part.pod.value)
    body, sources = of_object((API_VERSION, KIND), unit, part)
    template, of_template = of_pods(TEMPLATE, part.labels, part.pod_annotations, part.pod)
    own: list[tuple[Path, Source]] = [(("spec", "selector", "matchLabels"), part.labels)]
    if "strategy" in spec and unit.resolved is not None:
        own.append((("spec", "strategy"), unit.resolved.sub(*part.path, ROLLOUT)))
    made = {**body, "spec": {**spec, "template": template}}
    tree = Tree.built(made, ((), MADE), *sources, *own, *of_template)
    return Manifest(ObjectRef(API_VERSION, KIND, unit.namespace, part.name), tree)


def strategy(unit: Unit, part: Part) -> dict[str, Json]:
    """How pods are replaced: schedulers all at once, for only one may lead; workloads as they say, if they do."""
    if part.role is PartRole.SCHEDULER:
        return {"strategy": {"type": "Recreate"}}
    assert unit.resolved is not None
    numbers = unit.resolved.get(*part.path, ROLLOUT)
    return {"strategy": {"type": "RollingUpdate", "rollingUpdate": numbers}} if numbers else {}


def patience(pod: Json) -> dict[str, Json]:
    """How long a rollout may make no progress, where containers may take longer to start than it has by default."""
    probes = [container["startupProbe"] for container in pod.get("containers") or () if container.get("startupProbe")]
    longest = max(map(starting, probes), default=0)
    return {"progressDeadlineSeconds": min(longest + DEADLINE, LONGEST)} if longest > DEADLINE else {}


def starting(probe: Json) -> int:
    """The seconds that a startup probe gives a container, with Kubernetes' defaults for what is not said."""
    delay: int = probe.get("initialDelaySeconds") or 0
    period: int = probe.get("periodSeconds") or 10
    failures: int = probe.get("failureThreshold") or 3
    return delay + period * failures


WORKLOAD = PartWorkload(name="llm deployment", api_version=API_VERSION, kind=KIND, selects=selects, render=render)
