"""add_sidecars: what KServe's pod webhook adds beside the model: the agent, and where metrics are found."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from kservec.core.intents import LoggerIntent, PullerIntent, TrainedModelIntent
from kservec.core.records import evolve
from kservec.core.sidecars import agent, payload_logging
from kservec.core.sidecars.agent import add_agent, has_duties, take_duties
from kservec.core.sidecars.injection import check_quantities
from kservec.core.sidecars.metrics import measured, metrics_findings, switches
from kservec.core.sidecars.model_config import render_model_config
from kservec.core.unit import Mode, Role, Step

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Env
    from kservec.core.sidecars.metrics import Switches
    from kservec.core.unit import Component, Unit


def add_sidecars(unit: Unit, env: Env) -> Step:
    """Add the agent to components that log, batch or pull models, and say where metrics are.

    Takes:   LoggerIntent, BatcherIntent, PullerIntent, TrainedModelIntent
    Writes:  pod, pod_annotations, component.agent; ConfigMap modelconfig-{service}-0
    Reports: platform/configuration, platform/section-missing, agent/*, batcher/*, logger/*, metrics/nobody-listens,
             spec/without-effect, secret/*, serviceaccount/not-declared, storage/path-taken
    KServe:  pkg/webhook/admission/pod/{agent_injector,metrics_aggregate_injector}.go;
             reconcilers/modelconfig/modelconfig_reconciler.go
    """
    check_sections(env.platform)
    found: tuple[Diagnostic, ...] = ()
    if unit.mode is not Mode.MODELMESH and any(map(has_duties, unit.components)):
        unit, found = with_agents(with_model_config(unit), env)
    components: list[Component] = []
    for component in unit.components:
        told = switches(component.annotations, env.platform)
        found = (*found, *metrics_findings(unit, component, told, env.platform))
        components.append(with_metrics(component, told, unit.mode, env.platform))
    return Step(unit.with_components(tuple(components)), tuple(dict.fromkeys(found)))


@lru_cache(maxsize=8)
def check_sections(platform: PlatformConfig) -> None:
    """Check the sections that KServe reads for every pod.

    Raises:
        Reject: a quantity in one of them is missing or malformed.
    """
    sections = {payload_logging.SECTION: platform.logger, "batcher": platform.batcher, agent.SECTION: platform.agent}
    for key, section in sections.items():
        check_quantities(platform, key, section)


def with_model_config(unit: Unit) -> Unit:
    """The unit with the list of models to pull, if a component pulls any."""
    if not any(c.peek(PullerIntent) for c in unit.components):
        return unit
    wanted, unit = unit.take(TrainedModelIntent)
    return evolve(unit, bundle=unit.bundle.add(render_model_config(unit, [intent.model for intent in wanted])))


def with_agents(unit: Unit, env: Env) -> tuple[Unit, tuple[Diagnostic, ...]]:
    """The unit with the agents of its components, and what was found. Workers get none, for no request comes to them.

    Raises:
        Reject: an agent cannot be made.
    """
    loggers = tuple(i for c in unit.components for i in c.peek(LoggerIntent))
    logging = payload_logging.settings(unit, env.platform) if loggers else None
    found = list(payload_logging.unused_settings(unit, loggers, logging)) if logging is not None else []
    components: list[Component] = []
    for component in unit.components:
        duties, bare = take_duties(component)
        if duties is not None:
            pod, more = add_agent(unit, bare, duties, logging if duties.logger is not None else None, env)
            bare = evolve(bare, pod=pod, agent=is_fronted(bare))
            found += more
        components.append(bare)
    return unit.with_components(tuple(components)), tuple(found)


def is_fronted(component: Component) -> bool:
    """Whether requests to a component go through its agent. Explainers have no batcher, so for them it does not count.

    KServe: reconcilers/service/service_reconciler.go, createDefaultSvc
    """
    spec = component.extension
    return spec.logger is not None or (spec.batcher is not None and component.role is not Role.EXPLAINER)


def with_metrics(component: Component, told: Switches, mode: Mode, platform: PlatformConfig) -> Component:
    """The component whose pods tell where metrics are; `told` are the switches of its head."""
    pod, annotations = measured(component.pod, component.annotations, told, mode)
    changed = evolve(component, pod=pod, pod_annotations={**component.pod_annotations, **annotations})
    if component.workers is None or component.worker_pod is None:
        return changed
    of_workers = component.workers.annotations
    worker_pod, annotations = measured(component.worker_pod, of_workers, switches(of_workers, platform), mode)
    return evolve(changed, worker_pod=worker_pod, workers=evolve(component.workers, pod_annotations=annotations))
