"""Deployment: the workload of Standard mode.

KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/deployment/deployment_reconciler.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest, manifest
from kservec.core.names import app_label
from kservec.core.registry import Workload
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.env import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Component, Unit
    from kservec.spec.configuration import DefaultRollout

DEFAULTED = Origin(Layer.KSERVE_DEFAULT, "deployment")
ROLLING_UPDATE = "RollingUpdate"


def selects(unit: Unit, component: Component) -> bool:
    """Every component of a Standard unit."""
    del component
    return unit.mode is Mode.STANDARD


def render(unit: Unit, component: Component, env: Env) -> tuple[Manifest, ...]:
    """The Deployment of a component. `replicas` is left out unless a scaler says who sets it."""
    app = {"app": app_label(component.name)}
    metadata = {"name": component.name, "namespace": unit.namespace}
    spec: dict[str, Json] = {
        "selector": {"matchLabels": app},
        **rollout(component, env),
        "template": {"metadata": {}, "spec": {}},
    }
    if component.replicas is not None:
        spec["replicas"] = component.replicas
    made = manifest("apps/v1", "Deployment", metadata, {"spec": spec}, unit.source.origin(*component.path))
    return (made._replace(body=with_component(made, component, app)),)


def with_component(made: Manifest, component: Component, app: Mapping[str, str]) -> Json:
    """The Deployment with the component's metadata on it and its pod in it."""
    body = made.body
    template = ("spec", "template")
    for at in (("metadata",), (*template, "metadata")):
        body = body.graft((*at, "labels"), component.labels).put((*at, "labels", "app"), app["app"], DEFAULTED)
        if component.annotations.value:
            body = body.graft((*at, "annotations"), component.annotations)
    for key, value in component.pod_annotations.items():
        body = body.put((*template, "metadata", "annotations", key), value, DEFAULTED)
    return body.graft((*template, "spec"), component.pod)


def rollout(component: Component, env: Env) -> dict[str, Json]:
    """How pods are replaced: as the component says, or KServe's default with the platform's numbers.

    A strategy of the component's own comes without the two limits, which then are the API server's.
    """
    own = component.extension.deployment_strategy
    if own is not None:
        return {"strategy": dict(own)}
    numbers: dict[str, Json] = {"maxSurge": "25%", "maxUnavailable": "25%"}
    deploy = env.platform.deploy
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
    return {k: int(v) if v.isdigit() else v for k, v in given.items() if v}


WORKLOAD = Workload(name="deployment", rank=10, selects=selects, render=render)
