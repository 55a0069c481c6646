"""LeaderWorkerSet: the workload of parts of LLMInferenceServices that are spread over several pods.

KServe: pkg/controller/v1alpha2/llmisvc/workload_multi_node.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.part import PartRole
from kservec.core.llm.presets import is_data_parallel, is_pipeline_parallel
from kservec.core.llm.workload_objects import ROLLOUT, of_object, of_pods, replicas
from kservec.core.pods.templates import GROUP, LEADER, WORKER
from kservec.core.registry import PartWorkload
from kservec.core.tree import Layer, Origin, Tree

if TYPE_CHECKING:
    from kservec.core.llm.part import Part
    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Unit

API_VERSION, KIND = "leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"
MADE = Origin(Layer.KSERVE_DEFAULT, "leader_worker_set")


def selects(part: Part) -> bool:
    """Parts with workers."""
    return part.worker is not None


def render(unit: Unit, part: Part) -> Manifest:
    """The LeaderWorkerSet of a part. The labels of the workers are the object's too; leaders have others."""
    assert part.worker is not None
    assert unit.resolved is not None
    body, sources = of_object((API_VERSION, KIND), unit, part)
    group: dict[str, Json] = {**members(unit, part), "restartPolicy": "RecreateGroupOnPodRestart"}
    own: list[tuple[Path, Source]] = []
    if part.pod.value and part.leader_labels is not None:
        group["leaderTemplate"], of_leader = of_pods(LEADER, part.leader_labels, part.pod_annotations, part.pod)
        own += of_leader
    group["workerTemplate"], of_worker = of_pods(WORKER, part.labels, part.pod_annotations, part.worker)
    spec = {
        **groups(unit, part),
        "leaderWorkerTemplate": group,
        "networkConfig": {"subdomainPolicy": "Shared"},
        "rolloutStrategy": rollout(unit, part),
        "startupPolicy": "LeaderCreated",
    }
    parallelism = unit.resolved.sub(*part.path, "parallelism")
    places = (((*GROUP, "size"), parallelism), (("spec", "rolloutStrategy"), unit.resolved.sub(*part.path, ROLLOUT)))
    tree = Tree.built({**body, "spec": spec}, ((), MADE), *sources, *places, *own, *of_worker)
    return Manifest(ObjectRef(API_VERSION, KIND, unit.namespace, part.name), tree)


def groups(unit: Unit, part: Part) -> dict[str, Json]:
    """How many groups there are: one, if neither the spec nor an autoscaler says it.

    That is the default of the kind, and a sync would show it for ever if it were not written.
    """
    assert unit.resolved is not None
    is_scaled = unit.resolved.get(*part.path, "scaling") is not None
    return replicas(part) if part.replicas is not None or is_scaled else {"replicas": 1}


def members(unit: Unit, part: Part) -> dict[str, Json]:
    """How many pods a group has; prefilling ones that are data parallel are kept close together."""
    assert unit.resolved is not None
    parallelism = unit.resolved.get(*part.path, "parallelism") or {}
    size = size_of(parallelism)
    if size is None:
        return {}
    if part.role is PartRole.PREFILL and is_data_parallel(parallelism):
        return {"size": size, "subGroupPolicy": {"subGroupSize": size}}
    return {"size": size}


def size_of(parallelism: Json) -> int | None:
    """The pods of a group: as many as hold all copies of the model, or its stages. KServe: ParallelismSpec.GetSize."""
    if is_data_parallel(parallelism):
        copies, copies_per_pod = max(parallelism.get("data") or 1, 1), max(parallelism.get("dataLocal") or 1, 1)
        return max(copies // copies_per_pod, 1)
    stages: int | None = parallelism["pipeline"] if is_pipeline_parallel(parallelism) else None
    return stages


def rollout(unit: Unit, part: Part) -> Json:
    """How groups are replaced: one after the other, or with the numbers of the spec.

    What the webhook of the kind fills in is written, as are the defaults of its schema.
    """
    assert unit.resolved is not None
    numbers = unit.resolved.get(*part.path, ROLLOUT) or {}
    return {"type": "RollingUpdate", "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": 0, **numbers}}


WORKLOAD = PartWorkload(name="leader worker set", api_version=API_VERSION, kind=KIND, selects=selects, render=render)
