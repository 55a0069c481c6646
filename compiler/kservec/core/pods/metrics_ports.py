"""Where pods offer metrics: the container, its port, the path. As their annotations, port names and labels say it.

Must not know how Prometheus is told.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.digits import natural
from kservec.core.llm.names import COMPONENT_LABEL, PART_OF, PART_OF_LABEL
from kservec.core.names import INFERENCEGRAPH_LABEL, PROMETHEUS_PATH, PROMETHEUS_PORT
from kservec.core.pods.containers import first_port, serving_container
from kservec.core.sidecars.queue_proxy import METRICS_PATH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.tree import Json

NAMED = "metrics"
"""What containers call a port for metrics alone."""
MODEL_SERVER = "main"
"""The container of LLM pods that serves the model."""
WORKLOAD = "llminferenceservice-workload"
"""What the component label of LLM pods that serve a model begins with."""


class MetricsPort(NamedTuple):
    """One place where pods offer metrics. `name` is that of the port, `guarded`: only who has a token is answered."""

    container: Json
    number: int
    name: str = ""
    path: str = METRICS_PATH
    scheme: str = "http"
    guarded: bool = False

    @property
    def is_declared(self) -> bool:
        """Whether the container lists the port."""
        return any(port["containerPort"] == self.number for port in self.container.get("ports") or ())


def metrics_ports(pods: PodSet) -> Iterator[MetricsPort]:
    """Every place where pods offer metrics, as far as it is known; workers of a group answer nobody."""
    if pods.follows:
        return
    yield from announced(pods)
    yield from named(pods)
    yield from of_llm_servers(pods)
    if INFERENCEGRAPH_LABEL in pods.labels:
        router = serving_container(pods.pod)
        yield MetricsPort(router, first_port(router))


def announced(pods: PodSet) -> Iterator[MetricsPort]:
    """What the annotations of KServe's runtimes say: of the container with that port, else of the one that serves."""
    number = natural(pods.annotations.get(PROMETHEUS_PORT, ""))
    if number is not None:
        path = pods.annotations.get(PROMETHEUS_PATH, METRICS_PATH)
        yield MetricsPort(holder(pods.pod, number) or serving_container(pods.pod), number, path=path)


def holder(pod: Json, number: int) -> Json | None:
    """The container that lists a port."""
    for container in pod["containers"]:
        if any(port["containerPort"] == number for port in container.get("ports") or ()):
            return container
    return None


def named(pods: PodSet) -> Iterator[MetricsPort]:
    """Ports that are called so, unless an annotation says more of them. A scheduler's answers those with a token."""
    known = pods.annotations.get(PROMETHEUS_PORT, "")
    for container in pods.pod["containers"]:
        for port in container.get("ports") or ():
            if port.get("name") == NAMED and str(port["containerPort"]) != known:
                guarded = PART_OF_LABEL in pods.labels and "--metrics-endpoint-auth=false" not in words(container)
                yield MetricsPort(container, port["containerPort"], NAMED, guarded=guarded)


def words(container: Json) -> tuple[str, ...]:
    """The command line of a container."""
    return (*(container.get("command") or ()), *(container.get("args") or ()))


def of_llm_servers(pods: PodSet) -> Iterator[MetricsPort]:
    """The port of vLLM, which offers its metrics beside its API; with TLS if it is probed so."""
    labels = pods.labels
    if labels.get(PART_OF_LABEL) != PART_OF or not labels.get(COMPONENT_LABEL, "").startswith(WORKLOAD):
        return
    for container in pods.pod["containers"]:
        if container["name"] == MODEL_SERVER:
            probe = (container.get("readinessProbe") or container.get("livenessProbe") or {}).get("httpGet") or {}
            yield MetricsPort(container, first_port(container), scheme=probe.get("scheme", "HTTP").lower())
