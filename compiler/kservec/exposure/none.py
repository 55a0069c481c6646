"""No exposure: services that stay inside the cluster get no route.

KServe: reconcilers/ingress/{kube_ingress,httproute}_reconciler.go, Reconcile (isInternal, disableIngressCreation)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.registry import Exposed, Style
from kservec.core.routing.domains import service_host, stays_inside
from kservec.core.routing.services import entry_address, entry_component
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit


def selects(unit: Unit, env: Env) -> bool:
    """Whether kind, label, domain or configuration keep the unit inside."""
    return unit.mode is Mode.STANDARD and stays_inside(unit, env.platform)


def render(unit: Unit, env: Env) -> Exposed:
    """Nothing, but the host name must still be one: KServe writes it into the status."""
    service_host(unit, env.platform, unit.name)
    return Exposed()


def needed(unit: Unit) -> tuple[Component, ...]:
    """The component whose Service others ask; KServe waits for no other. KServe: createAddress."""
    return (entry_component(unit),)


STYLE = Style(name="none", selects=selects, render=render, url=entry_address, address=entry_address, needed=needed)
