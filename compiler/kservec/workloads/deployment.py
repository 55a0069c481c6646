"""Deployment: the workload of Standard mode.

KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.digits import natural
from kservec.core.names import APP_LABEL, app_label, worker_name, worker_workload_name
from kservec.core.registry import Deployed, Workload
from kservec.core.serving.tracking import of_pods
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Source
    from kservec.core.unit import Component, Unit
    from kservec.spec.configuration import DefaultRollout

DEFAULTED = Origin(Layer.KSERVE_DEFAULT, "deployment")
ROLLING_UPDATE = "RollingUpdate"
LABELS: Path = ("metadata", "labels")
ANNOTATIONS: Path = ("metadata", "annotations")
POD: Path = ("spec", "template", "spec")
POD_LABELS: Path = ("spec", "template", *LABELS)
POD_ANNOTATIONS: Path = ("spec", "template", *ANNOTATIONS)
APP: Path = (*LABELS, APP_LABEL)
POD_APP: Path = (*POD_LABELS, APP_LABEL)

STRATEGY = "deploymentStrategy"


def selects(unit: Unit, component: Component) -> bool:
    """Every component of a Standard unit."""
    del component
    return unit.mode is Mode.STANDARD


def render(unit: Unit, component: Component, env: Env) -> Deployed:
    """The Deployment of a component, and that of its workers if it has any.

    `replicas` is left out unless a scaler says who sets it.
    """
    pods = Pods(component.name, component.labels, component.annotations, component.pod_annotations, component.pod)
    spec = rollout(component, env)
    if component.replicas is not None:
        spec = {**spec, "replicas": component.replicas}
    head = deployment(unit, component, (component.name, spec), pods)
    workers, pod = component.workers, component.worker_pod
    if workers is None or pod is None:
        return Deployed((head,))
    pods = Pods(worker_name(component.name), workers.labels, workers.annotations, workers.pod_annotations, pod)
    spec = {**worker_rollout(rollout(component, env)), "replicas": workers.replicas}
    return Deployed((head, deployment(unit, component, (worker_workload_name(unit.name), spec), pods)))


class Pods(NamedTuple):
    """The pods of a Deployment: what their `app` label names, their metadata, and what only they carry of it."""

    app: str
    labels: Tree
    annotations: Tree
    own_annotations: Mapping[str, str]
    pod: Tree


def deployment(unit: Unit, component: Component, named: tuple[str, Json], pods: Pods) -> Manifest:
    """A Deployment of a name and with the spec given, which runs the pods."""
    name, fields = named
    app = app_label(pods.app)
    ref = ObjectRef("apps/v1", "Deployment", unit.namespace, name)
    labels = {**pods.labels.value, APP_LABEL: app}
    passed_on = {**of_pods(pods.annotations).value, **pods.own_annotations}
    body = {
        "apiVersion": ref.api_version,
        "kind": ref.kind,
        "metadata": {"name": name, "namespace": unit.namespace, **metadata(labels, pods.annotations.value)},
        "spec": {
            "selector": {"matchLabels": {APP_LABEL: app}},
            **fields,
            "template": {"metadata": metadata(labels, passed_on), "spec": pods.pod.value},
        },
    }
    at = unit.source.origin
    parts = [((), at(*component.path)), *sources(pods)]
    if component.extension.deployment_strategy is not None:
        parts.append((("spec", "strategy"), at(*component.path, STRATEGY)))
    return Manifest(ref, Tree.built(body, *parts))


def metadata(labels: Json, annotations: Json) -> dict[str, Json]:
    """Labels and annotations of an object, which has no empty map."""
    return {"labels": labels, "annotations": annotations} if annotations else {"labels": labels}


def sources(pods: Pods) -> list[tuple[Path, Source]]:
    """Where the parts of a Deployment that runs the pods come from, by their paths; of two the later counts."""
    labels, annotations = pods.labels, pods.annotations
    return [
        (LABELS, labels), (APP, DEFAULTED), (ANNOTATIONS, annotations),
        (POD_LABELS, labels), (POD_APP, DEFAULTED), (POD_ANNOTATIONS, annotations),
        *[((*POD_ANNOTATIONS, key), DEFAULTED) for key in pods.own_annotations],
        (POD, pods.pod),
    ]  # fmt: skip


def rollout(component: Component, env: Env) -> dict[str, Json]:
    """How pods are replaced: as the component says, or KServe's default with the platform's numbers.

    A strategy of the component's own comes without the two limits, which then are the API server's.
    """
    own = component.extension.deployment_strategy
    return default_rollout(env.platform) if own is None else {"strategy": dict(own)}


@lru_cache(maxsize=8)
def default_rollout(platform: PlatformConfig) -> dict[str, Json]:
    """How pods are replaced where nobody says: KServe's default with the platform's numbers."""
    numbers: dict[str, Json] = {"maxSurge": "25%", "maxUnavailable": "25%"}
    deploy = platform.deploy
    strategy = deploy.deployment_rollout_strategy
    if deploy.default_deployment_mode in ("Standard", "RawDeployment") and strategy and strategy.default_rollout:
        numbers |= platform_numbers(strategy.default_rollout)
    return {
        "strategy": {"type": ROLLING_UPDATE, "rollingUpdate": numbers},
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
    }


def platform_numbers(configured: DefaultRollout) -> dict[str, Json]:
    """The platform's rollout numbers. Plain digits become numbers: KServe leaves them text, which is refused."""
    given = {"maxSurge": configured.max_surge, "maxUnavailable": configured.max_unavailable}
    numbers = {k: natural(v) for k, v in given.items()}
    return {k: v if numbers[k] is None else numbers[k] for k, v in given.items() if v}


def worker_rollout(fields: dict[str, Json]) -> dict[str, Json]:
    """The rollout of workers: all new ones are there before an old one goes, unless the pods are to be recreated.

    KServe: createRawWorkerDeployment
    """
    if fields["strategy"].get("type") != ROLLING_UPDATE:
        return fields
    numbers = {"maxSurge": "100%", "maxUnavailable": "0%"}
    return {**fields, "strategy": {"type": ROLLING_UPDATE, "rollingUpdate": numbers}}


WORKLOAD = Workload(name="deployment", rank=10, selects=selects, render=render)
