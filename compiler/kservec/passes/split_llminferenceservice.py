"""split_llminferenceservice: a resolved LLMInferenceService becomes its workloads, each with its pods.

Decides names, labels and ServiceAccounts of the workloads. Must not know how models get into pods.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.llm import names, workload_labels
from kservec.core.llm.accounts import group_account, main_account, named, undeclared_accounts
from kservec.core.llm.devices import with_device_claim
from kservec.core.llm.not_passed_on import not_passed_on
from kservec.core.llm.part import Part, PartRole
from kservec.core.llm.resolved import pool_name
from kservec.core.llm.rules.name import group_findings
from kservec.core.llm.scheduler_parts import scheduler_parts
from kservec.core.llm.settings import require_settings
from kservec.core.llm.workload_labels import (
    APPROVED_ANNOTATIONS,
    LEADER_WORKER_ANNOTATIONS,
    base_labels,
    object_annotations,
    pod_annotations,
    pool_labels,
)
from kservec.core.pods.containers import find
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Unit

MADE = Origin(Layer.KSERVE_DEFAULT, "split_llminferenceservice")
POOL_VARIABLE = "INFERENCE_POOL_NAME"


class Shape(NamedTuple):
    """What tells the main workload and the prefill one apart: names, values of labels, and where each stands."""

    role: PartRole
    path: Path
    deployment: str
    group: str
    component: str
    leader: str
    worker: str


MAIN = Shape(
    PartRole.MAIN, (), names.DEPLOYMENT, names.LEADER_WORKERS,
    workload_labels.COMPONENT, workload_labels.LEADER, workload_labels.WORKER,
)  # fmt: skip
PREFILL = Shape(
    PartRole.PREFILL, ("prefill",), names.PREFILL_DEPLOYMENT, names.PREFILL_LEADER_WORKERS,
    workload_labels.PREFILL, workload_labels.PREFILL_LEADER, workload_labels.PREFILL_WORKER,
)  # fmt: skip


def split_llminferenceservice(unit: Unit, env: Env) -> Step:
    """Make the parts of a service; a stopped one has none.

    Takes:   nothing
    Writes:  parts
    Reports: llm/service-account-not-declared, llm/metadata-not-passed-on, llm/name-of-group, platform/configuration;
             what the parts of the scheduler report
    KServe:  workload_single_node.go and workload_multi_node.go, expected*; managed_dra.go, injectManagedDRAIntoConfig
    """
    if unit.stopped or unit.resolved is None:
        return Step(unit)
    require_settings(env.platform)
    shapes = (MAIN,) if unit.resolved.get("prefill") is None else (MAIN, PREFILL)
    workloads = [part_of(unit, shape) for shape in shapes]
    groups = [(part, shape.group) for part, shape in zip(workloads, shapes, strict=True) if part.worker is not None]
    long = [found for part, suffix in groups for found in group_findings(unit, part, suffix)]
    found = (*undeclared_accounts(unit, env), *not_passed_on(unit, has_workers=bool(groups)), *long)
    return Step(evolve(unit, parts=(*workloads, *scheduler_parts(unit, env))), found)


def part_of(unit: Unit, shape: Shape) -> Part:
    """The main workload or the prefill one: on one node, or on several if it has workers, even empty ones."""
    assert unit.resolved is not None
    return single(unit, shape) if unit.resolved.get(*shape.path, "worker") is None else group(unit, shape)


def single(unit: Unit, shape: Shape) -> Part:
    """A workload whose pods stand alone. KServe: expectedSingleNodeMainDeployment, expectedPrefillMainDeployment."""
    assert unit.resolved is not None
    pod = pod_at(unit, (*shape.path, "template"))
    if shape is MAIN and has_sidecar(pod):
        pod = with_pool_name(pod.put(("serviceAccountName",), main_account(unit), MADE), unit)
    base = {**base_labels(unit.name, shape.component), **pool_labels(request_role(unit, shape))}
    return Part(
        role=shape.role,
        name=names.child_name(unit.name, shape.deployment),
        path=shape.path,
        labels=workload_labels.workload_labels(unit, base, shape.path),
        annotations=object_annotations(unit, APPROVED_ANNOTATIONS),
        pod=pod,
        pod_annotations=pod_annotations(unit, shape.path, APPROVED_ANNOTATIONS),
        replicas=unit.resolved.get(*shape.path, "replicas"),
        account=pod.get("serviceAccountName") or "",
    )


def group(unit: Unit, shape: Shape) -> Part:
    """A workload of leaders and workers. Without a leader's template the workers lead themselves, and take requests.

    KServe: expectedMainMultiNodeLWS, expectedPrefillMultiNodeLWS
    """
    assert unit.resolved is not None
    account = group_account(unit, shape.path, shape.group)
    has_leader = unit.resolved.get(*shape.path, "template") is not None
    leader, worker = (
        with_pool_name(pod, unit) if shape is MAIN and has_sidecar(pod) else pod
        for pod in (member(unit, (*shape.path, name), account) for name in ("template", "worker"))
    )
    alone = workload_labels.DECODE if shape is MAIN else workload_labels.PREFILLING
    of_workers = {**base_labels(unit.name, shape.worker), **({} if has_leader else pool_labels(alone))}
    of_leaders = {**base_labels(unit.name, shape.leader), **pool_labels(request_role(unit, shape))}
    return Part(
        role=shape.role,
        name=names.child_name(unit.name, shape.group),
        path=shape.path,
        labels=workload_labels.workload_labels(unit, of_workers, shape.path),
        leader_labels=workload_labels.workload_labels(unit, of_leaders, shape.path),
        annotations=object_annotations(unit, LEADER_WORKER_ANNOTATIONS),
        pod=leader,
        worker=worker,
        pod_annotations=pod_annotations(unit, shape.path, LEADER_WORKER_ANNOTATIONS),
        replicas=unit.resolved.get(*shape.path, "replicas"),
        account=account,
    )


def request_role(unit: Unit, shape: Shape) -> str:
    """What the pods do with a request: all of it, unless others fill the cache first."""
    assert unit.resolved is not None
    if shape is PREFILL:
        return workload_labels.PREFILLING
    return workload_labels.BOTH if unit.resolved.get("prefill") is None else workload_labels.DECODE


def pod_at(unit: Unit, path: Path) -> Tree:
    """A pod of the resolved spec, with the devices that the service asks for; an empty one if there is none."""
    assert unit.resolved is not None
    found = unit.resolved.sub(*path)
    return with_device_claim(found, unit) if found.value is not None else Tree.of({}, MADE)


def member(unit: Unit, path: Path, account: str) -> Tree:
    """A leader or worker; an empty pod if there is none."""
    pod = pod_at(unit, path)
    if not pod.value or named(unit, path) == account:
        return pod
    return pod.put(("serviceAccountName",), account, MADE)


def has_sidecar(pod: Tree) -> bool:
    """Whether requests reach the pod through the routing sidecar, which is an init container."""
    return find(pod.get("initContainers") or (), names.SIDECAR) is not None


def with_pool_name(pod: Tree, unit: Unit) -> Tree:
    """A pod whose sidecar knows the pool, where there is a router at all."""
    assert unit.resolved is not None
    if unit.resolved.get("router") is None:
        return pod
    entry = {"name": POOL_VARIABLE, "value": pool_name(unit.name, unit.resolved.value)}
    return pod.put(("initContainers", names.SIDECAR, "env", POOL_VARIABLE), entry, MADE)
