"""Node pools of a Cluster document: as values, or what of them makes no sense, at its place.

Decides what a pool has for pods. Which pods come to it is not known here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.nodes import CPU, MEMORY, PODS, Device, NodePool, Taint, units_of
from kservec.core.quantity import is_negative, misfit, parse_quantity
from kservec.core.schemas.faults import Fault, field_path
from kservec.core.schemas.object_meta import is_key, is_label_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.tree import Path
    from kservec.documents.facts import Facts
    from kservec.spec import cluster as spec

NODE_POOL = Code(
    "cluster/node-pool",
    Severity.ERROR,
    "a node pool that cannot be",
    "A pool of nodePools says how many nodes it has (`count`, or `min` and `max`), and under `allocatable` what pods "
    "may use of each of them, cpu and memory at least: `kubectl get node NAME -o jsonpath={.status.allocatable}`. "
    "GPUs are under `gpus` and `migProfiles`, nowhere else.",
)
FIELD = "nodePools"
MIG = "nvidia.com/mig-"
MOST_PODS = 110
"""Pods of a node unless its kubelet is told otherwise. Kubernetes: pkg/kubelet/apis/config/v1beta1/defaults.go"""
SMALLEST_GPU = 1 << 30
"""Bytes that every GPU, and every partition of one, has: less is a number whose unit is missing."""
LARGEST_GPU = 1 << 43
"""Bytes that no GPU has, by far: more is a number whose unit is wrong."""
MOST = (1 << 63) - 1
"""The largest number that Kubernetes holds an amount in."""
DEMANDED = (CPU, MEMORY)
HOW_MANY = "write count, or min and max"
LABELS = "at most 63 letters, digits, dashes, underscores and dots; before a key maybe a DNS name and a slash"


def read_node_pools(facts: Facts) -> tuple[list[NodePool], list[Diagnostic]]:
    """The pools of a document that make sense, and what is wrong with the others."""
    pools: list[NodePool] = []
    found: list[Diagnostic] = []
    for i, model in enumerate(facts.model.node_pools):
        faults = list(pool_faults(model, [pool.name for pool in facts.model.node_pools[:i]]))
        found += (located(fault.below(FIELD, i), facts) for fault in faults)
        if not faults:
            pools.append(pool_of(model, (FIELD, i, "name"), facts))
    return pools, found


def located(fault: Fault, facts: Facts) -> Diagnostic:
    """A fault of a document at its place."""
    span = facts.document.span(fault.path)
    return Diagnostic(code=fault.code, message=f"{field_path(fault.path)} {fault.message}", span=span, help=fault.help)


def pool_faults(model: spec.NodePool, others: Sequence[str]) -> Iterator[Fault]:
    """What is wrong with a pool, given the names of those before it."""
    if model.name in others:
        yield Fault(NODE_POOL, ("name",), f"is that of another pool: {model.name}", help="give each a name of its own")
    yield from count_faults(model)
    amounts = [("allocatable", model.allocatable), ("systemPods", model.system_pods)]
    faults = [fault for field, given in amounts for fault in quantity_faults(field, given)]
    faults += device_faults(model)
    yield from faults
    yield from label_faults(model)
    if not faults:
        yield from room_faults(model)


def label_faults(model: spec.NodePool) -> Iterator[Fault]:
    """Labels and taints that no node can have."""
    pairs: list[tuple[Path, str, str]] = [(("labels", key), key, value) for key, value in model.labels.items()]
    pairs += [(("taints", i, "key"), taint.key, taint.value) for i, taint in enumerate(model.taints)]
    for path, key, value in pairs:
        if not (is_key(key) and is_label_value(value)):
            yield Fault(NODE_POOL, path, f"is nothing that a node can have: {key}={value}", help=LABELS)


def count_faults(model: spec.NodePool) -> Iterator[Fault]:
    """What is wrong with the number of nodes."""
    if model.count is not None and (model.min is not None or model.max is not None):
        yield Fault(NODE_POOL, ("count",), "stands beside min or max, which say something else", help=HOW_MANY)
    elif model.count is None and model.max is None:
        yield Fault(NODE_POOL, (), "does not say how many nodes it has", help=HOW_MANY)
    elif model.count is None and model.max is not None and model.max < (model.min or 0):
        yield Fault(NODE_POOL, ("max",), f"is {model.max}, less than min, {model.min}", help="correct one of them")


def quantity_faults(field: str, given: Mapping[str, spec.Quantity]) -> Iterator[Fault]:
    """Amounts that are none, or less than nothing."""
    for name, amount in given.items():
        yield from amount_faults((field, name), amount)


def amount_faults(path: Path, amount: spec.Quantity) -> Iterator[Fault]:
    """What is wrong with one amount."""
    if reason := misfit(str(amount)):
        yield Fault(NODE_POOL, path, reason, help="write a quantity, such as 64 or 512Gi")
    elif is_negative(amount):
        yield Fault(NODE_POOL, path, f"is {amount}, less than nothing", help="write what there is")
    elif parse_quantity(amount) > MOST:
        yield Fault(NODE_POOL, path, "is more than any node has", help="write what there is")
    elif is_piece(str(path[-1])) and parse_quantity(amount).denominator != 1:
        yield Fault(NODE_POOL, path, f"is {amount}, and comes in whole numbers", help="write how many there are")


def is_piece(resource: str) -> bool:
    """Whether a resource comes in whole pieces, as GPUs do."""
    return resource == PODS or "/" in resource


def gpu_memory_faults(path: Path, amount: spec.Quantity) -> Iterator[Fault]:
    """What is wrong with the memory of a GPU."""
    faults = list(amount_faults(path, amount))
    yield from faults
    units = 0 if faults else units_of(MEMORY, amount, up=False)
    if not faults and not SMALLEST_GPU <= units <= LARGEST_GPU:
        what = "less" if units < SMALLEST_GPU else "more"
        yield Fault(
            NODE_POOL, path, f"is {amount}, {what} than any GPU has", help="write it with its unit, such as 80Gi"
        )


def device_faults(model: spec.NodePool) -> Iterator[Fault]:
    """What is wrong with the GPUs of a pool."""
    parts: list[tuple[Path, spec.Gpus | spec.MigProfile]] = [(("gpus",), model.gpus)] if model.gpus else []
    parts += [(("migProfiles", i), profile) for i, profile in enumerate(model.mig_profiles)]
    for path, part in parts:
        if part.memory is not None:
            yield from gpu_memory_faults((*path, "memory"), part.memory)
    seen: set[str] = set()
    for i, profile in enumerate(model.mig_profiles):
        if profile.profile in seen:
            yield Fault(NODE_POOL, ("migProfiles", i, "profile"), f"is there twice: {profile.profile}", help="add up")
        seen.add(profile.profile)
    if model.gpus is not None and any(model.gpus.resource == resource_of(profile) for profile in model.mig_profiles):
        yield Fault(NODE_POOL, ("gpus", "resource"), "is said under migProfiles", help="remove it here, or there")
    for resource in (resource_of(part) for _, part in parts):
        if resource in model.allocatable:
            message = f"is said under {'migProfiles' if resource.startswith(MIG) else 'gpus'}"
            yield Fault(NODE_POOL, ("allocatable", resource), message, help="remove it here", at_key=True)


def room_faults(model: spec.NodePool) -> Iterator[Fault]:
    """Resources that every node has and that are not said, and nodes whose system pods leave nothing."""
    for name in DEMANDED:
        if name not in model.allocatable:
            yield Fault(NODE_POOL, ("allocatable",), f"does not say how much {name} pods may use", help=f"add {name}")
    for name, units in room_of(model).items():
        if units < 0 and name in model.system_pods:
            message = f"is more {name} than a node has"
            yield Fault(NODE_POOL, ("systemPods", name), message, help="correct it, or what is allocatable")


def room_of(model: spec.NodePool) -> dict[str, int]:
    """What the pods of the tree may use of a node."""
    given = {PODS: MOST_PODS, **model.allocatable}
    room = {name: units_of(name, amount, up=False) for name, amount in given.items()}
    room |= {device.resource: device.number for device in devices_of(model)}
    for name, amount in model.system_pods.items():
        room[name] = room.get(name, 0) - units_of(name, amount)
    return room


def devices_of(model: spec.NodePool) -> Iterator[Device]:
    """The GPUs of a node, and the partitions of others."""
    if model.gpus is not None:
        yield Device(model.gpus.resource, model.gpus.count, memory_of(model.gpus), model.gpus.kind)
    for profile in model.mig_profiles:
        yield Device(resource_of(profile), profile.count, memory_of(profile), profile.profile, is_partition=True)


def resource_of(part: spec.Gpus | spec.MigProfile) -> str:
    """The resource that pods ask for."""
    return f"{MIG}{part.profile}" if hasattr(part, "profile") else part.resource


def memory_of(part: spec.Gpus | spec.MigProfile) -> int | None:
    """The memory of a GPU, in bytes."""
    return None if part.memory is None else units_of(MEMORY, part.memory, up=False)


def pool_of(model: spec.NodePool, name: Path, facts: Facts) -> NodePool:
    """A pool as a value; `name` is where its name stands."""
    most = model.count if model.max is None else model.max
    return NodePool(
        name=model.name,
        fewest=model.min or 0 if model.count is None else model.count,
        most=most or 0,
        room=room_of(model),
        devices=tuple(devices_of(model)),
        labels=model.labels,
        taints=tuple(Taint(taint.key, taint.value, taint.effect) for taint in model.taints),
        span=facts.document.span(name),
    )
