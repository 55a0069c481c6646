"""Heirs: what stands for a user's object once it is compiled, for documents that refer to it. Pure.

An InferenceService that is compiled is not in the cluster any more. Whoever scales it has to scale its workload;
whoever selects pods, or calls Services, has to know which there are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import ObjectRef
from kservec.core.names import GROUP, INFERENCEGRAPH_LABEL, INFERENCESERVICE_LABEL
from kservec.core.paths import lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.text.source import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.tree import Json, Path
    from kservec.gitops.rendered import Rendered

COMPILED = frozenset({"InferenceGraph", "InferenceService", "LLMInferenceService"})
REFERENCES = ("scaleTargetRef", "targetRef")
SCALABLE = ("Deployment", "LeaderWorkerSet")
SCALERS = frozenset({"HorizontalPodAutoscaler", "ScaledObject"})
LABELS = (INFERENCESERVICE_LABEL, INFERENCEGRAPH_LABEL)
SELECTORS: Mapping[str, tuple[Path, bool]] = {
    "NetworkPolicy": (("spec", "podSelector"), True),
    "PodDisruptionBudget": (("spec", "selector"), True),
    "PodMonitor": (("spec", "selector"), True),
    "ServiceMonitor": (("spec", "selector"), False),
}
"""Kinds that select by labels: where, and whether they select pods; else Services."""
OLD_SUFFIXES = ("-predictor-default", "-transformer-default", "-explainer-default")
"""What earlier versions of KServe called the workloads and Services of a service."""


class Reference(NamedTuple):
    """A reference of a document to an object that is compiled: where it stands, and the object's kind and name."""

    path: Path
    kind: str
    name: str


def references(value: Json) -> Iterator[Reference]:
    """The references of a document to objects that are compiled."""
    spec = value.get("spec")
    for field in REFERENCES if isinstance(spec, dict) else ():
        target = spec.get(field)
        if isinstance(target, dict) and str(target.get("kind")) in COMPILED and is_kserve(target):
            yield Reference(("spec", field), target["kind"], str(target.get("name", "")))


def is_kserve(target: Json) -> bool:
    """Whether a reference means a kind of KServe's; without a version its name says so."""
    version = target.get("apiVersion")
    return version is None or str(version).startswith(f"{GROUP}/")


def heir(reference: Reference, namespace: str, objects: Iterable[Rendered]) -> ObjectRef | None:
    """The workload of a compiled object that can be scaled: of several the predictor's, or the main one's, first."""
    owned = [o.ref for o in objects if (o.owner.kind, o.owner[2:]) == (reference.kind, (namespace, reference.name))]
    return min((ref for ref in owned if ref.kind in SCALABLE), key=place_of, default=None)


def place_of(ref: ObjectRef) -> tuple[bool, int, str]:
    """How near to the service itself a workload is: predictors come first, of several the one without a canary."""
    return not ref.name.endswith("-predictor"), len(ref.name), ref.name


def scalers_of(workload: tuple[str, str, str], objects: Iterable[Rendered]) -> list[ObjectRef]:
    """The autoscalers that scale a workload already; it is known by its namespace, kind and name."""
    mine = [o for o in objects if o.ref.kind in SCALERS and o.ref.namespace == workload[0]]
    return [o.ref for o in mine if target_of(read(o)) == workload[1:]]


def target_of(value: Json) -> tuple[str, str]:
    """The kind and name of what an autoscaler scales."""
    target = lookup(value, ("spec", "scaleTargetRef"))
    target = target if isinstance(target, dict) else {}
    return str(target.get("kind", "Deployment")), str(target.get("name", ""))


def read(rendered: Rendered) -> Json:
    """An object, read from its text."""
    (document,), _ = parse(rendered.text.encode(), rendered.path)
    return document.value


def lost_selector(value: Json, namespace: str, objects: Iterable[Rendered]) -> tuple[Path, list[str]] | None:
    """Where a document selects by KServe's labels and finds nothing, and what there is to be selected instead.

    The labels that there are belong to the service that the selector names; without one nothing is said.
    """
    path, of_pods = SELECTORS.get(value.get("kind", ""), ((), True))
    selector = lookup(value, path) if path else None
    wanted: Json = (selector.get("matchLabels") if isinstance(selector, dict) else None) or {}
    named = [(k, v) for k, v in wanted.items() if k in LABELS] if isinstance(wanted, dict) else []
    if not named:
        return None
    owned = [o for o in objects if o.ref.namespace == namespace and o.owner.name == named[0][1]]
    there = [labels for o in owned for labels in labels_of(read(o), of_pods=of_pods)]
    if not there or any(wanted.items() <= labels.items() for labels in there):
        return None
    return (*path, "matchLabels"), sorted({shown(labels) for labels in there})


def items_of(value: Json) -> Iterator[tuple[int, Json]]:
    """The items of a list with their places; none of what is no list."""
    yield from enumerate(value if isinstance(value, list) else ())


def labels_of(value: Json, *, of_pods: bool) -> Iterator[Json]:
    """The labels of the pods that an object runs, or of a Service."""
    if not of_pods:
        yield from [value["metadata"].get("labels") or {}] if value["kind"] == "Service" else []
        return
    group = str(value.get("apiVersion")).rpartition("/")[0]
    for path in TEMPLATES.get((group, value["kind"]), ()):
        if isinstance(lookup(value, (*path, "metadata")), dict):
            yield lookup(value, (*path, "metadata", "labels")) or {}


def shown(labels: Json) -> str:
    """Labels as they are written in one line."""
    return ", ".join(f"{key}: {value}" for key, value in sorted(labels.items()))


def lost_hosts(value: Json, namespace: str, objects: Iterable[Rendered]) -> Iterator[tuple[Path, str, list[str]]]:
    """The hosts that a VirtualService leads to and that are Services no more: where, which, and what there is."""
    if value.get("kind") != "VirtualService" or not str(value.get("apiVersion")).startswith("networking.istio.io/"):
        return
    objects = tuple(objects)
    services = {(o.ref.namespace, o.ref.name): o.owner.name for o in objects if o.ref.kind == "Service"}
    for path, host in destinations(value):
        labels = host.split(".")
        name, where = labels[0], labels[1] if len(labels) > 1 else namespace
        unit = next((name.removesuffix(suffix) for suffix in OLD_SUFFIXES if name.endswith(suffix)), name)
        there = sorted(n for (space, n), owner in services.items() if space == where and owner == unit)
        if there and name not in there:
            yield path, host, there


def destinations(value: Json) -> Iterator[tuple[Path, str]]:
    """The hosts that the HTTP routes of a VirtualService lead to, and where they stand."""
    for i, http in items_of(lookup(value, ("spec", "http"))):
        for j, route in items_of(lookup(http, ("route",))):
            host = lookup(route, ("destination", "host"))
            if isinstance(host, str):
                yield ("spec", "http", i, "route", j, "destination", "host"), host
