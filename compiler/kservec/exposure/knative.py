"""Exposure by Knative alone: each Knative service has a host name, and nothing is made besides.

KServe: pkg/controller/v1alpha1/inferencegraph/controller.go, Reconcile (the URL is that of the Knative service)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.knative.domains import component_host, undeclared_domain
from kservec.core.registry import Exposed, Style, StyleTrait
from kservec.core.routing.domains import DEFAULT_SCHEME
from kservec.core.routing.services import entry_address, entry_component
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Unit


def selects(unit: Unit, env: Env) -> bool:
    """Every unit in Knative mode that has no routes of its own."""
    del env
    return unit.mode is Mode.KNATIVE and not unit.routed


def render(unit: Unit, env: Env) -> Exposed:
    """Nothing, but the host name must be one.

    Raises:
        Reject: Knative's configuration cannot be used, or gives no domain name.
    """
    component_host(unit, entry_component(unit), env.platform)
    return Exposed((), undeclared_domain(env.platform))


def url(unit: Unit, env: Env) -> str:
    """The URL that Knative gives to the service."""
    return f"{DEFAULT_SCHEME}://{component_host(unit, entry_component(unit), env.platform)}"


STYLE = Style(
    name="knative",
    selects=selects,
    render=render,
    url=url,
    address=entry_address,
    traits=frozenset({StyleTrait.TIMEOUTS}),
)
"""The workload limits the time of a request: a Knative service has a timeout."""
