"""The kinds that hold pods: their templates, how many pods there are, how they are replaced, and GPUs. Pure.

One table, by group and kind. An object of a kind that is not in it makes no pods.
LeaderWorkerSet: pkg/utils/revision/revision_utils.go; Knative: pkg/reconciler/service/resources/configuration.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.compare.canonical import canonical_template
from kservec.compare.shapes import map_at, maps_at, number_at
from kservec.core.digits import natural
from kservec.core.paths import lookup, with_value
from kservec.core.pods.gpu_types import BUILTIN
from kservec.core.pods.templates import GROUP, LEADER, SIZE, TEMPLATE, WORKER

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json, Path

NETWORK: Path = ("spec", "networkConfig")
SELECTOR: Path = ("spec", "selector")
SCALE = "autoscaling.knative.dev/"
MIN_SCALE, MAX_SCALE = f"{SCALE}min-scale", f"{SCALE}max-scale"
REPLICAS: Path = ("spec", "replicas")

OTHER_ACCELERATORS = frozenset({"aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "google.com/tpu"})
ACCELERATORS = frozenset(BUILTIN) | OTHER_ACCELERATORS
PARTITIONS = "nvidia.com/mig-"
ENDINGS = ("/gpu", "/gaudi", "/i915", "/xe")


class Bounds(NamedTuple):
    """How many replicas there are, at least and at most; the same twice without an autoscaler. None: no limit."""

    least: int
    most: int | None

    def __str__(self) -> str:
        if self.most == self.least:
            return str(self.least)
        return f"{self.least} or more" if self.most is None else f"{self.least} to {self.most}"

    def times(self, count: int) -> Bounds:
        """So many of each."""
        return Bounds(self.least * count, None if self.most is None else self.most * count)


NOTHING = Bounds(0, 0)


class Group(NamedTuple):
    """A pod template of a workload, and how many of its pods a replica has."""

    template: Json
    members: int = 1


class Workload(NamedTuple):
    """What a kind says about its pods.

    `parts`: what new pods follow from, by path. `groups`: the templates of a replica. `bounds`: how many replicas, if
    the object itself says so. `immutable`: what no update may change. `verb`: what a new template leads to.
    """

    parts: tuple[Path, ...]
    groups: Callable[[Json], tuple[Group, ...]]
    bounds: Callable[[Json], Bounds | None]
    immutable: tuple[Path, ...] = ()
    verb: str = "restart"


Kind: TypeAlias = tuple[str, str]
"""The group and the kind."""


def own_template(body: Json) -> tuple[Group, ...]:
    """The template of a kind with one."""
    return (Group(lookup(body, TEMPLATE)),)


def leader_and_workers(body: Json) -> tuple[Group, ...]:
    """The templates of a LeaderWorkerSet; the leader has that of the workers if it has none of its own."""
    workers = max((number_at(body, SIZE) or 1) - 1, 0)
    worker, leader = lookup(body, WORKER), lookup(body, LEADER)
    return (Group(worker if leader is None else leader), Group(worker, workers))


def own_replicas(body: Json) -> Bounds | None:
    """The replicas that an object states; None if it leaves them to an autoscaler."""
    count = number_at(body, REPLICAS)
    return None if count is None else Bounds(count, count)


def revision_bounds(body: Json) -> Bounds:
    """The replicas of a Knative revision by its annotations; without them from none to any number."""
    annotations = map_at(body, "spec", "template", "metadata", "annotations")
    least, most = (whole(annotations.get(key)) for key in (MIN_SCALE, MAX_SCALE))
    return Bounds(least, most or None)


def whole(text: Json) -> int:
    """The number in an annotation; 0 if there is none."""
    return natural(text) or 0 if isinstance(text, str) else 0


def one_a_node(body: Json) -> Bounds:
    """The pods of a DaemonSet: as many as there are nodes."""
    del body
    return Bounds(1, None)


def one_at_all(body: Json) -> Bounds:
    """The pod of a Job."""
    del body
    return Bounds(1, 1)


KINDS: Mapping[Kind, Workload] = {
    ("apps", "Deployment"): Workload((TEMPLATE,), own_template, own_replicas, (SELECTOR,)),
    ("apps", "StatefulSet"): Workload(
        (TEMPLATE,), own_template, own_replicas, (SELECTOR, ("spec", "serviceName"), ("spec", "volumeClaimTemplates"))
    ),
    ("apps", "DaemonSet"): Workload((TEMPLATE,), own_template, one_a_node, (SELECTOR,)),
    ("batch", "Job"): Workload((TEMPLATE,), own_template, one_at_all, (TEMPLATE, SELECTOR)),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): Workload((GROUP, NETWORK), leader_and_workers, own_replicas),
    ("serving.knative.dev", "Service"): Workload((TEMPLATE,), own_template, revision_bounds, verb="revision"),
}


def workload_of(ref: ObjectRef) -> Workload | None:
    """What a kind says about its pods; None if it has none."""
    return KINDS.get((ref.group, ref.kind))


def canonical_pods(workload: Workload, body: Json) -> Json:
    """All that new pods follow from, in the form in which only differences that count are left."""
    pods: Json = {}
    for part in workload.parts:
        pods = with_value(pods, part, canonical_part(lookup(body, part)))
    return pods


def canonical_part(part: Json) -> Json:
    """A template, or the templates of a group beside what else it says."""
    if not isinstance(part, dict):
        return part
    if "spec" in part:
        return canonical_template(part)
    return {key: canonical_template(value) if key.endswith("Template") else value for key, value in part.items()}


def strategy(body: Json) -> str:
    """How a Deployment replaces its pods; empty for other kinds or if it does not say."""
    value = lookup(body, ("spec", "strategy", "type"))
    return value if isinstance(value, str) else ""


def accelerators(template: Json, claims: Mapping[str, int]) -> int:
    """The GPUs of a pod: what its containers ask for, or what an init container does if that is more.

    Args:
        template: a pod template.
        claims: how many devices a ResourceClaimTemplate of this name asks for.
    """
    running = sum(map(container_accelerators, maps_at(template, "spec", "containers")))
    starting = max(map(container_accelerators, maps_at(template, "spec", "initContainers")), default=0)
    names = (claim.get("resourceClaimTemplateName") for claim in maps_at(template, "spec", "resourceClaims"))
    return max(running, starting) + sum(claims.get(str(name), 0) for name in names)


def container_accelerators(container: Mapping[str, Json]) -> int:
    """The GPUs of a container, whole ones and partitions alike."""
    asked = {**map_at(container, "resources", "requests"), **map_at(container, "resources", "limits")}
    return sum(natural(str(n)) or 0 for name, n in asked.items() if is_accelerator(name))


def is_accelerator(name: str) -> bool:
    """Whether a resource is a GPU, a part of one, or the like."""
    return name in ACCELERATORS or name.startswith(PARTITIONS) or name.endswith(ENDINGS)
