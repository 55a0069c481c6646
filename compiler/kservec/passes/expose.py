"""expose: a Service for every component, and the routes of the exposure style that the platform asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Reject, Severity
from kservec.core.effects import without_effect
from kservec.core.intents import CanaryIntent, ExposeIntent
from kservec.core.records import evolve
from kservec.core.registry import Exposed, StyleTrait
from kservec.core.routing.domains import checked_ingress, is_cluster_local, service_host
from kservec.core.routing.services import render_node_services, render_service, service_ports, with_predictor_port
from kservec.core.serving.stopping import is_stopped, stop_findings
from kservec.core.unit import Mode, Step, finding
from kservec.core.validity.port_findings import port_findings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env, Style
    from kservec.core.tree import Path
    from kservec.core.unit import Component, Unit

NO_STYLE = Code(
    "exposure/no-style",
    Severity.ERROR,
    "no exposure style fits",
    "Each service is exposed in exactly one way. No style claims this one, which is a mistake in one of them.",
)
STYLE_AMBIGUOUS = Code(
    "exposure/style-ambiguous",
    Severity.ERROR,
    "several exposure styles fit",
    "Each service is exposed in exactly one way. Two styles claim this one, which is a mistake in one of them.",
)


def expose(unit: Unit, env: Env) -> Step:
    """Give every component a Service and the unit its routes; what is stopped gets neither.

    Takes:   ExposeIntent, CanaryIntent
    Writes:  component.ports, component.headless; Services, and the objects of the chosen style; the port of a predictor
             without an address in the arguments of those that call it
    Reports: exposure/invalid-domain, platform/configuration, exposure/no-style, exposure/style-ambiguous, pod/port-*,
             spec/without-effect, exposure/component-stopped; what the style reports
    KServe:  reconcilers/raw/raw_kube_reconciler.go, NewRawKubeReconciler; reconcilers/ingress
    """
    checked_ingress(env.platform)
    standard = unit.mode is Mode.STANDARD
    if standard:
        check_component_hosts(unit, env)
    others = tuple([intent for intent in unit.intents if not isinstance(intent, ExposeIntent)])
    if len(others) == len(unit.intents) or (unit.stopped and not running(unit)):
        return Step(evolve(unit, intents=others, components=without_canaries(unit)))
    style = choose_style(unit, env)
    if standard:
        unit = with_predictor_port(with_ports(unit, env))
    runs = running(unit)
    services: list[Manifest] = []
    for component in runs if standard else ():
        services += (render_service(unit, component), *render_node_services(unit, component))
    manifests, found = style.render(unit, env) if not unit.stopped else Exposed()
    bundle = unit.bundle.add(*services, *manifests)
    exposed = evolve(unit, intents=others, components=without_canaries(unit), bundle=bundle)
    ports = dict.fromkeys([d for c in runs for d in port_findings(unit, c)])
    return Step(exposed, (*stop_findings(unit, style), *found, *ports, *unmet(unit, style, env)))


def running(unit: Unit) -> list[Component]:
    """The components that have pods."""
    return [component for component in unit.components if not is_stopped(unit, component)]


def check_component_hosts(unit: Unit, env: Env) -> None:
    """Render each component's host name from the component's own metadata, as KServe does.

    KServe does so even where there are no routes, and so refuses services for host names that nothing has. The longest
    name comes first, so that what fits it fits all.

    Raises:
        Reject: one of them is no domain name.
    """
    if is_cluster_local(unit, env.platform):
        return
    for component in sorted(unit.components, key=lambda c: -len(c.name)):
        service_host(unit, env.platform, component.name, component)


def choose_style(unit: Unit, env: Env) -> Style:
    """The style that selects itself.

    Raises:
        Reject: none does, or several do.
    """
    fitting = [s for s in env.plugs.styles if s.selects(unit, env)]
    if len(fitting) == 1:
        return fitting[0]
    if fitting:
        names = ", ".join(s.name for s in fitting)
        raise Reject(finding(unit, STYLE_AMBIGUOUS, f"several exposure styles fit {unit.ref}: {names}", ("metadata",)))
    raise Reject(finding(unit, NO_STYLE, f"nothing exposes {unit.ref}: no style fits mode {unit.mode}", ("metadata",)))


def with_ports(unit: Unit, env: Env) -> Unit:
    """The unit whose components know the ports of their Services."""
    headless = env.platform.service.service_cluster_ip_none
    ported = [evolve(c, ports=service_ports(c), headless=headless) for c in unit.components]
    return evolve(unit, components=tuple(ported))


def without_canaries(unit: Unit) -> tuple[Component, ...]:
    """The components without the shares of traffic, which the routes have taken into account.

    In Knative mode the workload shares traffic between its own revisions, and needs them still.
    """
    if unit.mode is Mode.KNATIVE:
        return unit.components
    return tuple([c.take(CanaryIntent)[1] if c.intents else c for c in unit.components])


def unmet(unit: Unit, style: Style, env: Env) -> list[Diagnostic]:
    """Warnings about what the user asked of the routes and the style cannot do."""
    found: list[Diagnostic] = []
    for component in unit.components:
        if component.extension.timeout is not None and StyleTrait.TIMEOUTS not in style.traits:
            path = (*component.path, "timeout")
            found.append(without_effect(unit, path, "routes on this platform have no time limit"))
        for share in component.peek(CanaryIntent) if component.intents else ():
            if component.canary and share.percent and not env.profile.splits_canaries:
                found.append(unsplit(unit, component, env))
            else:
                found += unmet_share(unit, component, share, style)
    return found


def unsplit(unit: Unit, component: Component, env: Env) -> Diagnostic:
    """The warning about a canary in a version of KServe whose routes know no shares."""
    reason = f"the canary {component.canary} gets no traffic, for KServe {env.profile.version} makes no routes to it"
    return without_effect(unit, share_path(component), reason, "compile for a later version of KServe (kserve)")


def unmet_share(unit: Unit, component: Component, share: CanaryIntent, style: Style) -> Iterator[Diagnostic]:
    """The warning about a share of traffic that a canary does not get."""
    if unit.mode is Mode.STANDARD and not component.canary:
        path, hint = (*component.path, "canaryTrafficPercent"), "write spec.canary, or use the Knative mode"
        yield without_effect(unit, path, "Standard mode does not split traffic by it", hint)
    elif share.percent and StyleTrait.WEIGHTS not in style.traits:
        hint = "route by the Gateway API (enableGatewayApi)"
        reason = f"the canary {component.canary} gets no traffic, for nothing on this platform splits it"
        yield without_effect(unit, share_path(component), reason, hint)
    elif share.percent and component.replicas == 0:
        reason = f"the canary {component.canary} has no replicas"
        yield without_effect(unit, share_path(component), reason, "leave out its minReplicas, or set 1 or more")


def share_path(component: Component) -> Path:
    """Where a canary's share of traffic stands in the spec."""
    return (*component.path[:-1], "trafficPercent")
