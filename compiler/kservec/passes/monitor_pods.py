"""monitor_pods: Prometheus is told where pods offer their metrics.

The ports are found as `core.pods.metrics_ports` says; here they become endpoints of a PodMonitor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import manifest
from kservec.core.pods.metrics_ports import metrics_ports
from kservec.core.pods.pod_sets import EVERYWHERE, pod_sets
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.additions import Monitor
    from kservec.core.bundle import Bundle, Manifest
    from kservec.core.pods.metrics_ports import MetricsPort
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit

MONITORED = Origin(Layer.PASS, "monitor_pods")
API_VERSION, KIND = "monitoring.coreos.com/v1", "PodMonitor"
META = "__meta_kubernetes_pod_container_"


def monitor_pods(unit: Unit, env: Env) -> Step:
    """Make a PodMonitor for every workload whose pods offer metrics.

    Takes:   nothing
    Writes:  PodMonitors
    Reports: nothing
    """
    monitor = env.additions.monitor if env.additions is not None else None
    if monitor is None:
        return Step(unit)
    return Step(evolve(unit, bundle=unit.bundle.add(*monitors(unit.bundle, monitor))))


def monitors(bundle: Bundle, monitor: Monitor) -> Iterator[Manifest]:
    """The PodMonitors of a bundle."""
    for pods in pod_sets(bundle):
        ports = tuple(metrics_ports(pods)) if pods.made.ref.kind != EVERYWHERE else ()
        if ports:
            yield pod_monitor(pods, ports, monitor)


def pod_monitor(pods: PodSet, ports: tuple[MetricsPort, ...], monitor: Monitor) -> Manifest:
    """The PodMonitor of one workload. Its labels are those that Prometheus selects by, beside the workload's."""
    ref = pods.made.ref
    labels = {**(pods.made.body.get("metadata", "labels") or {}), **monitor.labels}
    metadata = {"name": ref.name, "namespace": ref.namespace, **({"labels": labels} if labels else {})}
    spec = {
        "podMetricsEndpoints": [endpoint(port, monitor, pods) for port in ports],
        "selector": {"matchLabels": {**pods.selector, **pods.chooses}},
    }
    return manifest(API_VERSION, KIND, metadata, {"spec": spec}, MONITORED)


def endpoint(port: MetricsPort, monitor: Monitor, pods: PodSet) -> Json:
    """One endpoint. Certificates of LLM servers are of an authority of their own, so they are not checked."""
    made: dict[str, Json] = {"path": port.path, "scheme": port.scheme}
    if monitor.interval:
        made["interval"] = monitor.interval
    if port.scheme == "https":
        made["tlsConfig"] = {"insecureSkipVerify": True}
    if port.guarded and monitor.token is not None:
        made["authorization"] = {"type": "Bearer", "credentials": dict(monitor.token)}
    if port.name and not pods.is_knative:
        return {**made, "port": port.name}
    return {**made, "relabelings": [*chosen(port), *readdressed(port)]}


def chosen(port: MetricsPort) -> Iterator[Json]:
    """The rules that keep one target a pod: that of the port, or of another of the container if it lists others."""
    yield keeping("name", port.container["name"])
    listed = [p["containerPort"] for p in port.container.get("ports") or ()]
    if listed:
        yield keeping("port_number", str(port.number if port.is_declared else listed[0]))


def keeping(what: str, value: str) -> Json:
    """A rule that drops all targets but those whose container has a name, or a port."""
    return {"action": "keep", "regex": value, "sourceLabels": [f"{META}{what}"]}


def readdressed(port: MetricsPort) -> Iterator[Json]:
    """The rule that leads to a port which the container does not list, and of which Prometheus hence knows nothing."""
    if not port.is_declared:
        yield {
            "action": "replace",
            "regex": r"(.+?)(?::\d+)?",
            "replacement": f"$1:{port.number}",
            "sourceLabels": ["__address__"],
            "targetLabel": "__address__",
        }
