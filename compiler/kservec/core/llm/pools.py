"""InferencePools: which servers a scheduler chooses from, in the versions that the platform has.

Decides the objects, and in which API group routes refer to them. Must not know routes.
KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, reconcileSchedulerInferencePool; pkg/apis/gie/v1alpha2pool
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, ObjectRef, Reject, Severity
from kservec.core.llm.names import POOL, child_name
from kservec.core.llm.resolved import POOL_KIND, POOL_SPEC
from kservec.core.routing.objects import Metadata, service_object
from kservec.core.tree import Graft, Layer, Origin, Tree
from kservec.core.unit import finding

if TYPE_CHECKING:
    from kservec.core.bundle import Manifest
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MADE: Final = Origin(Layer.KSERVE_DEFAULT, "pools")
POOL_GROUP: Final = "inference.networking.k8s.io"
POOL_GROUP_ALPHA: Final = "inference.networking.x-k8s.io"
POOL_VERSION: Final = f"{POOL_GROUP}/v1"
POOL_VERSION_ALPHA: Final = f"{POOL_GROUP_ALPHA}/v1alpha2"
PICKER_FIELDS: Final = ("group", "kind", "name", "failureMode")

KIND_ABSENT: Final = Code(
    "llm/pool-kind-absent",
    Severity.ERROR,
    "the cluster has no InferencePool",
    "A scheduler chooses among the servers of an InferencePool, and both versions of that kind are declared absent. "
    "Install the Gateway API Inference Extension, or leave out router.scheduler.",
)
NO_POOL: Final = Code(
    "llm/no-pool",
    Severity.ERROR,
    "a scheduler without a pool to choose from",
    "KServe's own preset describes the InferencePool of a scheduler. A config of the same name in the service's "
    "namespace stands in its place, and has to describe one as well: in router.scheduler.pool.spec.",
)


def pool_objects(unit: Unit, labels: Json, env: Env) -> tuple[Manifest, ...]:
    """The pool of a service, once for each version of the kind that the platform has.

    Raises:
        Reject: it has none, or nothing describes the pool.
    """
    assert unit.resolved is not None
    if unit.resolved.get(*POOL_SPEC) is None:
        message = f"{unit.ref} has a scheduler, and no preset or config describes its InferencePool"
        raise Reject(finding(unit, NO_POOL, message, ("spec", "router", "scheduler"), "describe it in pool.spec"))
    versions = pool_versions(env.platform)
    if not versions:
        message = f"{unit.ref} has a scheduler, and the cluster has no InferencePool for it"
        raise Reject(finding(unit, KIND_ABSENT, message, ("spec", "router", "scheduler"), "leave the scheduler out"))
    spec = unit.resolved.sub(*POOL_SPEC)
    name, metadata = child_name(unit.name, POOL), Metadata(Tree.of(labels, MADE), Tree.of({}, MADE))
    return tuple(
        service_object(
            ObjectRef(version, POOL_KIND, unit.namespace, name),
            metadata,
            in_alpha(spec) if version == POOL_VERSION_ALPHA else spec,
        )
        for version in versions
    )


def pool_versions(platform: PlatformConfig) -> tuple[str, ...]:
    """The versions of InferencePool that the platform has."""
    return tuple(version for version in (POOL_VERSION, POOL_VERSION_ALPHA) if platform.has(version, POOL_KIND))


def present_group(platform: PlatformConfig, group: str) -> str:
    """The API group by which routes refer to a pool: the given one, unless the platform has the other one only."""
    groups = [version.partition("/")[0] for version in pool_versions(platform)]
    return groups[0] if groups and group not in groups else group


def in_alpha(spec: Tree) -> Tree:
    """A pool in the form of v1alpha2, which has one port, and no protocol."""
    picker = spec.get("endpointPickerRef") or {}
    reference = {field: picker[field] for field in PICKER_FIELDS if picker.get(field) is not None}
    port = (picker.get("port") or {}).get("number")
    value = {
        "selector": spec.get("selector", "matchLabels") or {},
        "targetPortNumber": spec.get("targetPorts")[0]["number"],
        "extensionRef": reference | ({"portNumber": port} if port is not None else {}),
    }
    return Tree.built(
        value,
        (("selector",), Graft(spec, ("selector", "matchLabels"))),
        (("targetPortNumber",), Graft(spec, ("targetPorts", 0, "number"))),
        (("extensionRef",), Graft(spec, ("endpointPickerRef",))),
    )
