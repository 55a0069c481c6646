"""Canaries of a service in Standard mode (`spec.canary`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import canaries_of, storage_uri
from kservec.admission.validation.framework import check_framework
from kservec.admission.validation.implementation import check_implementation
from kservec.admission.validation.logger import check_logger
from kservec.admission.validation.replicas import check_part_counts
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.names import DEPLOYMENT_MODE
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.admission.subject import Part, Subject

NOT_STANDARD = Code(
    "canary/not-standard",
    Severity.ERROR,
    "canaries outside Standard mode",
    "spec.canary is for Standard mode. In Knative mode a canary is a share of traffic: predictor.canaryTrafficPercent.",
)
NO_MODEL = Code(
    "canary/no-stable-model",
    Severity.ERROR,
    "canaries of a predictor without a model",
    "A canary is another version of the predictor's model, so the predictor needs a `model` or a storage URI.",
)
NAME = Code(
    "canary/name",
    Severity.ERROR,
    "a canary without a name of its own",
    "predictor.name of a canary is required, and differs from that of all others and of the stable predictor: it "
    "becomes part of the names of its objects.",
)
TRAFFIC = Code(
    "canary/traffic",
    Severity.ERROR,
    "canaries that take more traffic than there is",
    "All canaries together take at most 100 percent of the traffic.",
)
FIELD = Code(
    "canary/field",
    Severity.ERROR,
    "a field that canaries cannot have",
    "A canary has a fixed number of replicas, which follows from its traffic or its minReplicas, and one node.",
)
MIN_REPLICAS = Code(
    "canary/min-replicas",
    Severity.ERROR,
    "a canary with more replicas than the stable predictor",
    "minReplicas of a canary is at most that of the stable predictor (1 if that has none).",
)
FIELDS = {
    "workerSpec": "canaries run on one node",
    "maxReplicas": "canaries have a fixed number of replicas",
    "scaleTarget": "canaries have a fixed number of replicas",
    "scaleMetric": "canaries have a fixed number of replicas",
    "autoScaling": "canaries have a fixed number of replicas",
}


def check_canaries(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateCanarySpecs."""
    canaries = canaries_of(subject.value.get("spec") or {})
    if not canaries:
        return
    if subject.mode is not None and subject.annotations.get(DEPLOYMENT_MODE) != Mode.STANDARD:
        message = "spec.canary is for Standard mode only"
        help_text = f"set the annotation {DEPLOYMENT_MODE} to Standard, or use predictor.canaryTrafficPercent"
        yield subject.finding(NOT_STANDARD, message, ("spec", "canary"), help_text)
    stable = subject.predictor
    if len(stable.implementations) == 1 and stable.spec.get("model") is None and storage_uri(stable) is None:
        message = "the stable predictor has no model that a canary could be a version of"
        yield subject.finding(
            NO_MODEL, message, ("spec", "canary"), "give the predictor a model, or remove the canaries"
        )
    yield from _check_names(subject, canaries)
    yield from _check_traffic(subject)
    for canary in canaries:
        yield from _check_canary(subject, canary)


def _check_names(subject: Subject, canaries: Sequence[Part]) -> Iterator[Diagnostic]:
    stable = subject.predictor.spec.get("name") or ""
    seen: set[str] = set()
    for canary in canaries:
        name = canary.spec.get("name") or ""
        if not name:
            problem = "this canary has no name"
        elif name in seen:
            problem = f"another canary is called {name!r} too"
        elif name == stable:
            problem = f"the stable predictor is called {name!r} too"
        else:
            seen.add(name)
            continue
        yield subject.finding(NAME, problem, (*canary.path, "name"), "give it a predictor.name of its own")


def _check_traffic(subject: Subject) -> Iterator[Diagnostic]:
    total = sum(entry["trafficPercent"] for entry in subject.value["spec"]["canary"])
    if total > 100:
        message = f"the canaries together take {total} percent of the traffic"
        help_text = "lower trafficPercent so that they take at most 100 together"
        yield subject.finding(TRAFFIC, message, ("spec", "canary"), help_text)


def _check_canary(subject: Subject, canary: Part) -> Iterator[Diagnostic]:
    yield from check_implementation(subject, canary)
    yield from check_framework(subject, canary)
    yield from check_part_counts(subject, canary)
    yield from check_logger(subject, canary)
    for field, reason in FIELDS.items():
        value = canary.spec.get(field)
        if value is not None and (field != "maxReplicas" or value > 0):
            remedy = "remove it" if field == "workerSpec" else "remove it; minReplicas is a canary's number of replicas"
            yield subject.finding(FIELD, f"a canary cannot have {field}: {reason}", (*canary.path, field), remedy)
    low, stable = canary.spec.get("minReplicas"), subject.predictor.spec.get("minReplicas")
    most = 1 if stable is None else stable
    if low is not None and low > most:
        message = f"minReplicas of the canary ({low}) is greater than that of the stable predictor ({most})"
        yield subject.finding(
            MIN_REPLICAS, message, (*canary.path, "minReplicas"), "lower it, or raise the stable predictor's"
        )
