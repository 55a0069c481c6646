"""Pod sets: the pods that a unit runs, by the labels that select them, whatever kind of object runs them.

Decides where each kind of workload keeps its pods and how they are told from all others. Must not know what is done
with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Bundle
from kservec.core.names import APP_LABEL, app_label, worker_name
from kservec.core.pods.templates import LEADER, TEMPLATE, WORKER
from kservec.core.records import evolve
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from kservec.core.bundle import Manifest
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Component, Unit

SELECTING = frozenset({"DaemonSet", "Deployment", "StatefulSet"})
"""Kinds with a selector of their own."""
EVERYWHERE = "DaemonSet"
GROUP_KIND, GROUP_LABEL, INDEX_LABEL = "LeaderWorkerSet", "leaderworkerset.sh/name", "leaderworkerset.sh/worker-index"
KNATIVE_GROUP, KNATIVE_LABEL = "serving.knative.dev", "serving.knative.dev/service"
LEADER_INDEX = "0"


class PodSet(NamedTuple):
    """The pods of one template. `at` is where that stands in the manifest.

    `selector` are labels that select the pods of the whole workload. `chooses` are further ones that choose those of
    this template among them: leaders, where the workload has leaders and workers. `follows` tells workers.
    """

    made: Manifest
    at: Path
    selector: Mapping[str, str]
    chooses: Mapping[str, str]
    follows: bool = False

    @property
    def template(self) -> Json:
        """The template: metadata and spec of the pods."""
        return self.made.body.get(*self.at)

    @property
    def pod(self) -> Json:
        """The spec of the pods."""
        return self.template["spec"]

    @property
    def labels(self) -> Mapping[str, str]:
        """The labels of the pods, without those that a controller adds."""
        labels: Mapping[str, str] = (self.template.get("metadata") or {}).get("labels") or {}
        return labels

    @property
    def annotations(self) -> Mapping[str, str]:
        """The annotations of the pods."""
        annotations: Mapping[str, str] = (self.template.get("metadata") or {}).get("annotations") or {}
        return annotations

    @property
    def name(self) -> str:
        """The name of the workload."""
        return self.made.ref.name

    @property
    def is_knative(self) -> bool:
        """Whether Knative runs the pods."""
        return self.made.ref.group == KNATIVE_GROUP

    @property
    def is_group(self) -> bool:
        """Whether the workload is made of groups of pods that only work together."""
        return self.made.ref.kind == GROUP_KIND


class Pods(NamedTuple):
    """Pods that an edit is asked about: their spec, and the labels that select them.

    `follows`: they are workers, which another pod leads. `everywhere`: every node has one.
    """

    pod: Tree
    selector: Mapping[str, str]
    follows: bool = False
    everywhere: bool = False


def pod_sets(bundle: Bundle) -> Iterator[PodSet]:
    """The pods of every workload of a bundle."""
    for made in bundle.manifests:
        yield from sets_of(made)


def sets_of(made: Manifest) -> Iterator[PodSet]:
    """The pods of one object; none if it runs none."""
    ref, body = made.ref, made.body
    if ref.kind in SELECTING:
        yield PodSet(made, TEMPLATE, body.get("spec", "selector", "matchLabels"), {})
    elif ref.group == KNATIVE_GROUP:
        yield PodSet(made, TEMPLATE, {KNATIVE_LABEL: ref.name}, {})
    elif ref.kind == GROUP_KIND:
        whole = {GROUP_LABEL: ref.name}
        led = body.get(*LEADER) is not None
        if led:
            yield PodSet(made, LEADER, whole, {INDEX_LABEL: LEADER_INDEX})
        yield PodSet(made, WORKER, whole, {}, follows=led)


def with_pods(unit: Unit, edit: Callable[[Pods], Tree]) -> Unit:
    """A unit whose pods are edited, those that are still in components as well as those of its manifests."""
    unit = unit.with_components(tuple(with_component_pods(unit, c, edit) for c in unit.components))
    made = tuple(with_manifest_pods(m, edit) for m in unit.bundle.manifests)
    if all(new is old for new, old in zip(made, unit.bundle.manifests, strict=True)):
        return unit
    return evolve(unit, bundle=Bundle(made))


def with_component_pods(unit: Unit, component: Component, edit: Callable[[Pods], Tree]) -> Component:
    """A component whose pods are edited; the same one if the edit changes nothing."""
    pod = edit(Pods(component.pod, component_selector(unit, component.name)))
    changes: dict[str, Tree] = {"pod": pod} if pod is not component.pod else {}
    if component.worker_pod is not None:
        selector = component_selector(unit, worker_name(component.name))
        worker = edit(Pods(component.worker_pod, selector, follows=True))
        changes |= {"worker_pod": worker} if worker is not component.worker_pod else {}
    return evolve(component, **changes) if changes else component


def component_selector(unit: Unit, app: str) -> Mapping[str, str]:
    """The labels that select the pods of a component, or of its workers."""
    return {KNATIVE_LABEL: app} if unit.mode is Mode.KNATIVE else {APP_LABEL: app_label(app)}


def with_manifest_pods(made: Manifest, edit: Callable[[Pods], Tree]) -> Manifest:
    """A manifest whose pods are edited; the same one if the edit changes nothing."""
    body = made.body
    for pods in sets_of(made):
        at = (*pods.at, "spec")
        old = made.body.sub(*at)
        selector = {**pods.selector, **pods.chooses}
        new = edit(Pods(old, selector, follows=pods.follows, everywhere=made.ref.kind == EVERYWHERE))
        body = body if new is old else body.graft(at, new)
    return made if body is made.body else made._replace(body=body)
