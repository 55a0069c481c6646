"""One output of kservec with all that it was made of, and the ways to look into it that several invariants share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import libyaml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Object = dict[str, Any]

WORKLOADS = ("DaemonSet", "Deployment", "StatefulSet")
GROUP, GROUP_NAME, GROUP_INDEX = "LeaderWorkerSet", "leaderworkerset.sh/name", "leaderworkerset.sh/worker-index"
KNATIVE = "serving.knative.dev"
KNATIVE_NAME = "serving.knative.dev/service"
QUEUE_PROXY_PORTS = {8012, 8013, 8022, 9090, 9091, 8112}
"""Ports of the container that Knative adds to its pods."""


class Pods(NamedTuple):
    """The pods of one template: their labels, those that a controller adds included, and their spec."""

    workload: Object
    labels: dict[str, str]
    spec: Object

    @property
    def namespace(self) -> str:
        """Where they run."""
        return namespace(self.workload)

    @property
    def containers(self) -> list[Object]:
        """All containers, those that run before the others first."""
        return [*(self.spec.get("initContainers") or ()), *self.spec["containers"]]

    @property
    def is_knative(self) -> bool:
        """Whether Knative runs them, which adds a container."""
        return group(self.workload) == KNATIVE

    @property
    def ports(self) -> set[str | int]:
        """The names and the numbers of the ports of the containers."""
        declared = [port for container in self.containers for port in container.get("ports") or ()]
        added = QUEUE_PROXY_PORTS if self.is_knative else set()
        return {p["name"] for p in declared if p.get("name")} | {p["containerPort"] for p in declared} | added

    def may_listen_at(self, port: str | int | None) -> bool:
        """Whether there is a port of that name or number; a container that lists none may listen at any number."""
        return port in self.ports or (
            isinstance(port, int) and not all(c.get("ports") for c in self.spec["containers"])
        )


class Finding(NamedTuple):
    """What was found: its code, and all that it says."""

    code: str
    text: str


@dataclass(eq=False)
class Output:
    """The objects of one run. `inputs` are the documents that were compiled, `cluster` those that describe its target.

    `owners` are the users' objects that the output is said to come from, `urls` where services are said to be reached.
    """

    name: str
    texts: Sequence[str]
    inputs: Sequence[Object] = ()
    cluster: Sequence[Object] = ()
    findings: Sequence[Finding] = ()
    owners: Sequence[tuple[str, str, str]] = ()
    urls: Sequence[str] = ()

    @cached_property
    def objects(self) -> list[Object]:
        """The objects as any YAML reader reads them from the text that is written."""
        return [document for text in self.texts for document in libyaml.load_all(text) if document]

    def of(self, *kinds: str) -> list[Object]:
        """The objects of some kinds, whatever their group."""
        return [o for o in self.objects if o["kind"] in kinds]

    def says(self, code: str, *words: str) -> bool:
        """Whether a finding of a code, with all of some words, tells the user."""
        return any(f.code == code and all(word in f.text for word in words) for f in self.findings)

    @cached_property
    def pods(self) -> list[Pods]:
        """The pods of all workloads."""
        return [pods for o in self.objects for pods in templates(o)]


def templates(body: Object) -> Iterator[Pods]:
    """The pods that an object runs."""
    name = body["metadata"]["name"]
    if body["kind"] in WORKLOADS:
        yield pods_of(body, body["spec"]["template"])
    elif body["kind"] == "Service" and group(body) == KNATIVE:
        yield pods_of(body, body["spec"]["template"], {KNATIVE_NAME: name})
    elif body["kind"] == GROUP:
        held = body["spec"]["leaderWorkerTemplate"]
        leader = held.get("leaderTemplate") or held["workerTemplate"]
        yield pods_of(body, leader, {GROUP_NAME: name, GROUP_INDEX: "0"})
        yield pods_of(body, held["workerTemplate"], {GROUP_NAME: name, GROUP_INDEX: "1"})


def pods_of(workload: Object, template: Object, added: dict[str, str] | None = None) -> Pods:
    """The pods of a template."""
    labels = (template.get("metadata") or {}).get("labels") or {}
    return Pods(workload, labels | (added or {}), template["spec"])


def group(body: Object) -> str:
    """The API group of an object."""
    return str(body["apiVersion"].rpartition("/")[0])


def namespace(body: Object) -> str:
    """The namespace of an object; empty for kinds that have none, `default` is written out by users only."""
    return str((body.get("metadata") or {}).get("namespace") or "")


def name(body: Object) -> str:
    """The name of an object."""
    return str((body.get("metadata") or {}).get("name") or "")


def title(body: Object) -> str:
    """What messages call an object."""
    return f"{body['kind']} {namespace(body)}/{name(body)}"


def maps(value: Any) -> Iterator[Object]:
    """Every map in a value, itself first."""
    if isinstance(value, dict):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from maps(part)


def holds(labels: dict[str, str], selector: Any) -> bool:
    """Whether labels fit a selector, which is labels or has `matchLabels` and `matchExpressions` of values."""
    wanted = selector.get("matchLabels", {}) if {"matchLabels", "matchExpressions"} & selector.keys() else selector
    listed = selector.get("matchExpressions") or []
    return wanted.items() <= labels.items() and all(fits(labels, expression) for expression in listed)


def fits(labels: dict[str, str], expression: Object) -> bool:
    """Whether labels fit one expression of a selector."""
    value, operator = labels.get(expression["key"]), expression["operator"]
    answers = {
        "Exists": value is not None,
        "DoesNotExist": value is None,
        "In": value in expression.get("values", ()),
        "NotIn": value not in expression.get("values", ()),
    }
    return answers[operator]
