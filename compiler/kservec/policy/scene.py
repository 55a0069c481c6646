"""The scene of a judgement: one rendered object, its pods, and what is known about where it will run.

Decides where pods are in an object of any kind. Must not know a rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.paths import lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.records import entity, fresh

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.lock import Lock
    from kservec.core.nodes import NodePool
    from kservec.core.policy import Policy, Waiver
    from kservec.core.registry import Plugs
    from kservec.core.schemas.faults import Fault
    from kservec.core.tree import Json, Path

LISTS = ("initContainers", "containers")
KNATIVE_GROUP = "serving.knative.dev"


class Container(NamedTuple):
    """A container and where it is in its object. `starts`: it runs before the others, and ends."""

    path: Path
    body: Json
    starts: bool = False

    @property
    def name(self) -> str:
        """The name of the container."""
        return str(self.body.get("name", ""))


class Pod(NamedTuple):
    """A template of pods, where it is in its object, and its containers, those that run first at the front."""

    path: Path
    template: Json
    containers: tuple[Container, ...]

    @property
    def spec(self) -> Json:
        """The spec of the pods."""
        return self.template.get("spec") or {}

    @property
    def spec_path(self) -> Path:
        """Where the spec is in the object."""
        return (*self.path, "spec")

    @property
    def servers(self) -> Iterator[Container]:
        """The containers that run as long as the pod."""
        return (container for container in self.containers if not container.starts)


@entity
class Site:
    """Where objects will run, and what is demanded of them: the same for all objects of an environment.

    `enforced` are the levels of the Pod Security Standards that namespaces enforce by their labels, `expects_levels`:
    the project expects some of its pods. `gpus` are the names of resources that are GPUs, `bounded` the namespaces with
    quotas. `lock` is what the project has pinned, None without a lock file; `node_pools` are the nodes, none where
    nobody says which there are, and `queue_proxy` is what Knative adds to each of its pods.
    """

    policy: Policy
    plugs: Plugs
    kubernetes_version: str = "1.35"
    enforced: Mapping[str, str] = fresh(factory=dict)
    expects_levels: bool = True
    gpus: tuple[str, ...] = ()
    bounded: frozenset[str] = frozenset()
    lock: Lock | None = None
    node_pools: tuple[NodePool, ...] = ()
    queue_proxy: Mapping[str, int] = fresh(factory=dict)


@entity
class Scene:
    """One object on its site, which is made of `owner`.

    `exposed`: a route from outside the cluster leads to its pods. `waivers` are those that the owner states, and
    `model_facts` what it says about its model.
    """

    ref: ObjectRef
    owner: ObjectRef
    body: Json
    pods: tuple[Pod, ...]
    site: Site
    exposed: bool = False
    waivers: tuple[Waiver, ...] = ()
    model_facts: Json = None


Check: TypeAlias = Callable[[Scene], "Iterator[Fault]"]


def pods_of(ref: ObjectRef, body: Json) -> tuple[Pod, ...]:
    """The templates of pods in an object."""
    found = ((path, lookup(body, path)) for path in TEMPLATES.get((ref.group, ref.kind), ()))
    return tuple(Pod(path, template, containers_of(path, template)) for path, template in found if template)


def containers_of(path: Path, template: Json) -> tuple[Container, ...]:
    """The containers of a template."""
    spec = template.get("spec") or {}
    return tuple(
        Container((*path, "spec", field, container.get("name", i)), container, is_first(field, container))
        for field in LISTS
        for i, container in enumerate(spec.get(field) or ())
    )


def is_first(field: str, container: Json) -> bool:
    """Whether a container ends before the pod serves; one that restarts for ever is a sidecar."""
    return field == LISTS[0] and container.get("restartPolicy") != "Always"
