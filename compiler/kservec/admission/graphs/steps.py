"""Steps: their names, and the one thing that each of them calls."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from kservec.core.diagnostics import Code, Severity
from kservec.core.records import evolve
from kservec.spec.graph import ENSEMBLE
from kservec.spec.graph_texts import url_problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.graphs.graph_subject import GraphSubject, Place
    from kservec.core.diagnostics import Diagnostic

TARGETS = ("nodeName", "serviceName", "serviceUrl")

NAME_TWICE = Code(
    "graph/step-name-twice",
    Severity.ERROR,
    "two steps of one name",
    "The steps of a node have different names; an Ensemble answers under them, and under the number of a step that has "
    "none.",
)
NO_TARGET = Code(
    "graph/no-target",
    Severity.ERROR,
    "a step that calls nothing",
    "A step names one of nodeName, serviceName and serviceUrl.",
)
SEVERAL_TARGETS = Code(
    "graph/several-targets",
    Severity.ERROR,
    "a step that calls several things",
    "A step names one of nodeName, serviceName and serviceUrl. To call several, write several steps.",
)
INVALID_URL = Code(
    "graph/invalid-url",
    Severity.ERROR,
    "a URL that cannot be called",
    "`serviceUrl` is a whole URL with http or https and a host. KServe accepts any text, and its router answers with "
    "status 500 when a request comes to the step.",
)
PASSWORD = Code(
    "graph/password-in-url",
    Severity.WARNING,
    "a password in the URL of a step",
    "The graph stands in the arguments of the router's pod, in plain text and in git. A router cannot take the "
    "password from a Secret: let the network decide who may call the service, or hand on the caller's Authorization "
    "header.",
)


def check_names(subject: GraphSubject) -> Iterator[Diagnostic]:
    """KServe: inference_graph_validation.go, validateInferenceGraphStepNameUniqueness.

    Where names are those of results, a name may not be the number of another step either.
    """
    first: dict[tuple[str, str], Place] = {}
    for place in subject.places(all_nodes=True):
        named = place.step.name
        if not named and not (place.router.router_type == ENSEMBLE and place.node in subject.reached):
            continue
        other = first.setdefault((place.node, named or str(place.number)), place)
        if other is not place:
            yield twice(subject, place, other)


def twice(subject: GraphSubject, place: Place, other: Place) -> Diagnostic:
    """The error that names both steps."""
    name = place.step.name or str(place.number)
    message = f"node {place.node} has two steps with the name {name}"
    found = subject.site.finding(NAME_TWICE, message, (*place.path, "name"), "rename one of them")
    return evolve(found, related=((subject.site.source.span(*other.path, "name"), "the first is here"),))


def check_targets(subject: GraphSubject) -> Iterator[Diagnostic]:
    """KServe: inference_graph_validation.go, validateInferenceGraphSingleStepTargets."""
    for place in subject.places(all_nodes=True):
        given = [name for name in TARGETS if place.step.json.get(name)]
        if not given:
            message = f"{place} calls nothing"
            yield subject.site.finding(NO_TARGET, message, place.path, f"name one of {', '.join(TARGETS)}")
        elif len(given) > 1:
            message, path = f"{place} names {' and '.join(given)}", (*place.path, given[1])
            found = subject.site.finding(SEVERAL_TARGETS, message, path, "leave one of them")
            others = [
                (subject.site.source.span(*place.path, name), f"{name} is here") for name in given if name != given[1]
            ]
            yield evolve(found, related=tuple(others))


def check_urls(subject: GraphSubject) -> Iterator[Diagnostic]:
    """URLs of steps that are taken; passwords in any, for all of them end up in the pod."""
    for place in subject.places(all_nodes=True):
        url, path = place.step.service_url, (*place.path, "serviceUrl")
        problem = url_problem(url) if url else None
        if problem is not None and place.node in subject.reached:
            yield subject.site.finding(INVALID_URL, f"{place}: {problem}", path, "correct the URL")
        elif url and problem is None and urlsplit(url).password:
            message = f"{place}: the password in the URL can be read by all who can read pods"
            yield subject.site.finding(PASSWORD, message, path, "let the service be called without one")
