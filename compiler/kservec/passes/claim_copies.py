"""claim_copies: the volumes through which the pods of a service read copies of its model on the nodes.

Decides which node groups' copies the service reads. How pods mount them is `attach_models`' business.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Needed, Severity
from kservec.core.intents import ModelIntent
from kservec.core.models.local_models import claim, volume
from kservec.core.models.node_cache import cache_of, copy_for, is_within_reach
from kservec.core.names import NODE_GROUP
from kservec.core.records import evolve
from kservec.core.unit import Step, finding
from kservec.core.validity.volume_binding import binding_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.models.local_models import LocalCache, NodeGroup
    from kservec.core.models.node_cache import NodeCopy
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit

OUT_OF_REACH = Code(
    "localmodel/out-of-reach",
    Severity.WARNING,
    "pods and the copies of their model are on different nodes",
    "The nodes that the pods ask for (nodeSelector, node affinity) cannot be those of the cache's node groups. Where "
    "the service names no node group its pods download the model instead; where the annotation "
    "serving.kserve.io/nodegroup names one, they can never be scheduled.",
)
GROUP_UNKNOWN = Code(
    "localmodel/group-not-declared",
    Severity.ERROR,
    "a node group that nothing declares",
    "The volumes of a cached model are made as the LocalModelNodeGroup describes them. Declare it among the platform "
    "files or beside the cache, or correct its name.",
)


def claim_copies(unit: Unit, env: Env) -> Step:
    """Give the namespace of a service the volumes that lead to the copies of its model.

    Takes:   nothing
    Writes:  PersistentVolumes and PersistentVolumeClaims, which services of a namespace share
    Reports: localmodel/out-of-reach, localmodel/group-not-declared, localmodel/cannot-bind
    KServe:  pkg/controller/v1alpha1/localmodel/reconcilers/utils.go, ReconcileForIsvcs
    """
    cache = cache_of(unit.labels, env)
    if cache is None:
        return Step(unit)
    groups, found = groups_read(unit, cache, env)
    if env.platform.local_model.disable_volume_management:
        return Step(unit, tuple(found))
    bundle = unit.bundle
    for name in groups:
        group = env.cluster.node_groups.get(name)
        if group is None:
            message = f"{cache.ref} keeps the model on the nodes of LocalModelNodeGroup {name}, which is not declared"
            unknown = finding(unit, GROUP_UNKNOWN, message, None, f"declare LocalModelNodeGroup {name}")
            found.append(evolve(unknown, rests_on=(Needed("LocalModelNodeGroup", "", name),)))
        else:
            found += binding_faults(group)
            bundle = bundle.add(*serving_volume(unit.namespace, cache, group))
    return Step(evolve(unit, bundle=bundle), tuple(found))


def groups_read(unit: Unit, cache: LocalCache, env: Env) -> tuple[list[str], list[Diagnostic]]:
    """The node groups whose copies the service reads, in the cache's order, and what was found.

    A service that has the cache's labels and reads nothing counts for the group that KServe takes by default.
    """
    readers = [component for component in unit.components if reads(component, cache)]
    if not readers:
        asked = unit.annotations.get(NODE_GROUP, cache.spec.node_groups[0])
        return [g for g in cache.spec.node_groups if g == asked], []
    copies = [(component, copy_for(component, unit, env)) for component in readers]
    used = {copy.group for _, copy in copies if copy is not None}
    found = [d for c, copy in copies if copy is not None for d in out_of_reach(unit, c, copy, env)]
    return [g for g in cache.spec.node_groups if g in used], found


def reads(component: Component, cache: LocalCache) -> bool:
    """Whether a component has a model that the cache holds."""
    return any(cache.holds(i.sources[0].uri) for i in component.peek(ModelIntent) if not i.several)


def out_of_reach(unit: Unit, component: Component, copy: NodeCopy, env: Env) -> Iterator[Diagnostic]:
    """The warning about pods that cannot run where the copies are."""
    cache, group = copy
    if group is not None and is_within_reach(component, group, env):
        return
    groups = ", ".join(cache.spec.node_groups) if group is None else group
    outcome = "they download the model" if group is None else "they can never be scheduled"
    message = f"the pods of the {component.role} cannot run on the nodes of {groups}, where {cache.ref} is: {outcome}"
    field = "nodeSelector" if component.pod.value.get("nodeSelector") else "affinity"
    yield finding(unit, OUT_OF_REACH, message, component.pod.span((field,)), "name nodes that have a copy")


def serving_volume(namespace: str, cache: LocalCache, group: NodeGroup) -> tuple[Manifest, ...]:
    """The volume and the claim of a namespace; all its services that read the copy lead to the same ones."""
    name = cache.claim(group.name)
    made = (
        volume(f"{name}-{namespace}", group, cache),
        claim((namespace, name), f"{name}-{namespace}", group, cache),
    )
    return tuple(manifest._replace(shared=True) for manifest in made)
