"""default_pods: what KServe's workload reconciler defaults in a pod before anything is injected into it."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.names import KSERVE_CONTAINER, TRANSFORMER_CONTAINER
from kservec.core.pods.containers import first_port
from kservec.core.records import evolve
from kservec.core.tree import Fill, Layer, Origin, Tree
from kservec.core.unit import Mode, Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit

DEFAULTED = Origin(Layer.KSERVE_DEFAULT, "default_pods")
PULL_POLICY = "IfNotPresent"
PROBED = (KSERVE_CONTAINER, TRANSFORMER_CONTAINER)


def default_pods(unit: Unit, env: Env) -> Step:
    """Default the pods of a Standard unit: pull policy and readiness probe.

    The other values that KServe writes here are those that the API server gives anyway, and are left to it.

    Takes:   nothing
    Writes:  pod, worker_pod
    Reports: nothing
    KServe:  reconcilers/deployment/deployment_reconciler.go, setDefaultPodSpec
    """
    del env
    if unit.mode is not Mode.STANDARD:
        return Step(unit)
    return Step(unit.with_components(tuple(map(with_defaults, unit.components))))


def with_defaults(component: Component) -> Component:
    """The component with its pods defaulted."""
    pod = defaulted(component.pod)
    if component.worker_pod is None:
        return evolve(component, pod=pod)
    return evolve(component, pod=pod, worker_pod=defaulted(component.worker_pod))


def defaulted(pod: Tree) -> Tree:
    """A pod whose regular containers and volumes have what they lack; init containers are left alone."""
    for volume in pod.value.get("volumes") or ():
        if len(volume) == 1:
            pod = pod.put(("volumes", volume["name"], "emptyDir"), {}, DEFAULTED)
    full: list[Json] = []
    for container in pod.value["containers"]:
        added = missing(container)
        full.append({**container, **added})
        pod = pod.note(("containers", container["name"]), Fill(tuple(added), DEFAULTED))
    return Tree({**pod.value, "containers": full}, pod.journal)


def missing(container: Json) -> dict[str, Json]:
    """What a container lacks. A serving one waits for its first port to accept connections."""
    lacking: dict[str, Json] = {}
    if "imagePullPolicy" not in container:
        lacking["imagePullPolicy"] = PULL_POLICY
    if container["name"] in PROBED and "readinessProbe" not in container:
        lacking["readinessProbe"] = port_probe(first_port(container))
    return lacking


@lru_cache(maxsize=64, typed=True)
def port_probe(port: int) -> Json:
    """The probe that waits for a port to accept connections."""
    return {
        "tcpSocket": {"port": port},
        "timeoutSeconds": 1,
        "periodSeconds": 10,
        "successThreshold": 1,
        "failureThreshold": 3,
    }
