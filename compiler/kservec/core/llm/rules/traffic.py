"""Traffic: a service's share of the requests to a group of services.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateTrafficFields
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject

ROUTE: Final = ("spec", "router", "route")

INGRESS = Code(
    "llm/traffic-ingress",
    Severity.ERROR,
    "a share of a group's requests without the Gateway API",
    "Requests are shared out by the weights of an HTTPRoute; an Ingress has none.",
)
HALF = Code(
    "llm/traffic-half",
    Severity.ERROR,
    "a group without a weight, or a weight without a group",
    "`group` names the services that share requests, `weight` is this one's share. The one means nothing without the "
    "other.",
)
OWN_ROUTES = Code(
    "llm/traffic-own-routes",
    Severity.ERROR,
    "a share of a group's requests over routes of your own",
    "The weights are written into the routes that are made for a service. Routes of your own (route.http.refs) are not "
    "touched.",
)


def check_traffic(subject: Subject) -> Iterator[Diagnostic]:
    """Group and weight of the route."""
    route = subject.at(*ROUTE) or {}
    group, weight = route.get("group"), route.get("weight")
    if group is None and weight is None:
        return
    if subject.at("spec", "router", "ingress") is not None:
        message = "an Ingress cannot share requests out among the services of a group"
        yield subject.finding(INGRESS, message, ("spec", "router", "ingress"), "remove `ingress`, or group and weight")
    elif group is None:
        yield subject.finding(HALF, "the route has a weight, but is in no group", (*ROUTE, "weight"), "set `group`")
    elif weight is None:
        message = f"the route is in group {group}, but has no weight"
        yield subject.finding(HALF, message, (*ROUTE, "group"), "set `weight`")
    elif (route.get("http") or {}).get("refs"):
        message = f"group {group} cannot share requests out over routes of your own"
        yield subject.finding(OWN_ROUTES, message, (*ROUTE, "http", "refs"), "use route.http.spec, or `http: {}`")
