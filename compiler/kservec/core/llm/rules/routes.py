"""Whose routes, and at which gateways: what a router's `route` and `gateway` may say together.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateRouterCrossFieldConstraints
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json

HTTP: Final = ("spec", "router", "route", "http")
SPEC: Final = (*HTTP, "spec")
REFS: Final = (*HTTP, "refs")
GATEWAY: Final = ("spec", "router", "gateway")

REFS_AND_SPEC = Code(
    "llm/route-refs-and-spec",
    Severity.ERROR,
    "both routes of your own and a route for KServe to make",
    "route.http.refs names HTTPRoutes that exist already, route.http.spec describes one that is to be made. A service "
    "has the one or the other.",
)
MANAGED_GATEWAY = Code(
    "llm/route-refs-managed-gateway",
    Severity.ERROR,
    "routes of your own at a gateway that you do not name",
    "`gateway: {}` stands for the gateway of the platform, at which KServe makes a route. Routes of your own say "
    "themselves at which gateway they are.",
)
PARENT_REFS = Code(
    "llm/route-parent-refs",
    Severity.ERROR,
    "two different lists of gateways",
    "gateway.refs and the parentRefs of route.http.spec both say at which gateways the route is. Where both are "
    "written they must name the same ones. v1alpha1 never takes both.",
)
REDUNDANT = Code(
    "llm/route-parent-refs-redundant",
    Severity.WARNING,
    "gateways that are written twice",
    "The parentRefs of the route follow from gateway.refs, so they need not be written.",
)


def check_routes(subject: Subject) -> Iterator[Diagnostic]:
    """Routes of the user's own beside what KServe would make."""
    refs = subject.at(*REFS)
    if not refs:
        return
    if subject.at(*SPEC) is not None:
        message = "route.http has both refs and spec"
        found = subject.finding(REFS_AND_SPEC, message, REFS, "remove one of them")
        yield subject.beside(found, SPEC, "the spec is here")
    gateway = subject.at(*GATEWAY)
    if gateway is not None and not gateway.get("refs"):
        message = "routes of your own (route.http.refs) cannot be at the platform's gateway (`gateway: {}`)"
        yield subject.finding(MANAGED_GATEWAY, message, REFS, "remove `gateway`, or name gateways in gateway.refs")


def check_parents(subject: Subject) -> Iterator[Diagnostic]:
    """Gateways that are named twice: by gateway.refs and by the route."""
    parents, gateways = named_gateways(subject)
    if parents and gateways and Counter(map(_key, parents)) != Counter(map(_key, gateways)):
        message = "the parentRefs of route.http.spec name other gateways than gateway.refs"
        found = subject.finding(PARENT_REFS, message, (*SPEC, "parentRefs"), "remove parentRefs, or gateway.refs")
        yield subject.beside(found, (*GATEWAY, "refs"), "gateway.refs is here")


def check_redundant_parents(subject: Subject) -> Iterator[Diagnostic]:
    """The warning about gateways that are named twice alike. It says nothing of merges: there KServe names them."""
    parents, gateways = named_gateways(subject)
    if parents and gateways and Counter(map(_key, parents)) == Counter(map(_key, gateways)):
        message = "parentRefs says what gateway.refs says already"
        yield subject.finding(REDUNDANT, message, (*SPEC, "parentRefs"), "remove parentRefs")


def check_parents_in_v1alpha1(subject: Subject) -> Iterator[Diagnostic]:
    """What v1alpha1 refuses and v1alpha2 takes. KServe: v1alpha1/llm_inference_service_validation.go."""
    if all(named_gateways(subject)):
        message = "in v1alpha1 a route has no parentRefs beside gateway.refs"
        yield subject.finding(PARENT_REFS, message, (*SPEC, "parentRefs"), "remove parentRefs, or use v1alpha2")


def named_gateways(subject: Subject) -> tuple[Json, Json]:
    """The parentRefs of the route, and gateway.refs."""
    return subject.at(*SPEC, "parentRefs"), subject.at(*GATEWAY, "refs")


def _key(reference: Json) -> tuple[str, str, str]:
    return reference.get("namespace") or "", reference.get("name") or "", reference.get("sectionName") or ""
