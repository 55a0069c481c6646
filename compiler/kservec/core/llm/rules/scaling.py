"""Scaling: what a workload may ask of the Workload Variant Autoscaler or of KEDA.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, ValidateWorkloadScaling and
ValidateActuatorConsistency; the same and more in the CRDs of both kinds
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.llm.rules.keda import check_direct, check_idle, check_under_wva

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject, Workload
    from kservec.core.tree import Json, Path

AND_REPLICAS = Code(
    "llm/scaling-and-replicas",
    Severity.ERROR,
    "both a fixed number of replicas and scaling",
    "`replicas` fixes how many copies there are, `scaling` lets an autoscaler decide. A base config counts as much as "
    "the service itself.",
)
BOUNDS = Code(
    "llm/scaling-bounds",
    Severity.ERROR,
    "bounds that no number of replicas meets",
    "maxReplicas must be said and be at least minReplicas, which is 1 where it is left out.",
)
MECHANISM = Code(
    "llm/scaling-mechanism",
    Severity.ERROR,
    "scaling by nothing, or by two at once",
    "`scaling` has either wva (the Workload Variant Autoscaler computes how many replicas there should be) or keda "
    "(KEDA's own triggers do).",
)
ACTUATOR = Code(
    "llm/scaling-actuator",
    Severity.ERROR,
    "scaling that nothing acts on, or two things do",
    "The Workload Variant Autoscaler computes a number; an autoscaler of Kubernetes (hpa) or KEDA (keda) acts on it.",
)
VARIANT_COST = Code(
    "llm/scaling-variant-cost",
    Severity.ERROR,
    "a cost that is no number",
    "wva.variantCost is a number that is not negative, written as text: `10`, `0.5`.",
)
MIXED = Code(
    "llm/scaling-mixed",
    Severity.ERROR,
    "prefill and decode that are scaled in different ways",
    "Prefill and decode serve the same requests, so both are scaled by the same means. One of them may also have a "
    "fixed number of replicas.",
)
_is_cost = re.compile(r"[0-9]+(\.[0-9]+)?").fullmatch


def check_scaling(subject: Subject) -> Iterator[Diagnostic]:
    """The scaling of each workload, and whether they fit together."""
    yield from check_config_scaling(subject)
    for workload in subject.workloads:
        yield from check_cost(subject, workload)
    yield from check_alike(subject)


def check_config_scaling(subject: Subject) -> Iterator[Diagnostic]:
    """The scaling of each workload, as far as the CRD of configs has rules for it."""
    for workload in subject.workloads:
        scaling = workload.spec.get("scaling")
        if scaling is None:
            continue
        path = (*workload.path, "scaling")
        if workload.spec.get("replicas") is not None:
            message = f"{workload.name} has both replicas and scaling"
            found = subject.finding(AND_REPLICAS, message, path, "remove one of them")
            yield subject.beside(found, (*workload.path, "replicas"), "the replicas are here")
        yield from check_bounds(subject, scaling, path)
        yield from check_mechanism(subject, scaling, path)


def check_bounds(subject: Subject, scaling: Json, path: Path) -> Iterator[Diagnostic]:
    """The least and the most replicas. Of a config the schema does not say that maxReplicas is needed, a rule does."""
    least, most = scaling.get("minReplicas"), scaling.get("maxReplicas")
    if most is None:
        yield subject.finding(BOUNDS, "scaling has no maxReplicas", path, "set maxReplicas")
    elif least is not None and least > most:
        message = f"minReplicas is {least}, more than maxReplicas, {most}"
        yield subject.finding(BOUNDS, message, (*path, "minReplicas"), "lower minReplicas, or raise maxReplicas")


def check_mechanism(subject: Subject, scaling: Json, path: Path) -> Iterator[Diagnostic]:
    """What computes the number of replicas."""
    wva, keda = scaling.get("wva"), scaling.get("keda")
    if wva is not None and keda is not None:
        yield subject.finding(MECHANISM, "scaling has both wva and keda", path, "keep one of them")
    elif wva is not None:
        yield from check_wva(subject, scaling, path)
    elif keda is not None:
        yield from check_direct(subject, keda, (*path, "keda"))
        yield from check_idle(subject, scaling, keda, (*path, "keda"))
    else:
        yield subject.finding(MECHANISM, "scaling has neither wva nor keda", path, "set one of them")


def check_wva(subject: Subject, scaling: Json, path: Path) -> Iterator[Diagnostic]:
    """The Workload Variant Autoscaler, and what acts on its numbers."""
    wva, path = scaling["wva"], (*path, "wva")
    hpa, keda = wva.get("hpa"), wva.get("keda")
    if hpa is not None and keda is not None:
        yield subject.finding(ACTUATOR, "wva has both hpa and keda", path, "keep one of them")
    if hpa is None and keda is None:
        yield subject.finding(ACTUATOR, "wva has neither hpa nor keda", path, "set one of them, such as `hpa: {}`")
    if keda is not None:
        yield from check_under_wva(subject, keda, (*path, "keda"))
        yield from check_idle(subject, scaling, keda, (*path, "keda"))


def check_cost(subject: Subject, workload: Workload) -> Iterator[Diagnostic]:
    """What a replica costs, for the Workload Variant Autoscaler."""
    cost = ((workload.spec.get("scaling") or {}).get("wva") or {}).get("variantCost")
    if cost and not _is_cost(cost):
        path = (*workload.path, "scaling", "wva", "variantCost")
        yield subject.finding(VARIANT_COST, f"variantCost is {cost!r}", path, 'write a number as text, such as "10"')


def check_alike(subject: Subject) -> Iterator[Diagnostic]:
    """Prefill and decode are scaled by the same means, where both are scaled."""
    means = [(workload, means_of(workload)) for workload in subject.workloads]
    if len(means) < 2 or "" in (means[0][1], means[1][1]) or means[0][1] == means[1][1]:
        return
    (main, decode), (workload, prefill) = means
    message = f"decode is scaled by {decode}, prefill by {prefill}"
    found = subject.finding(MIXED, message, (*workload.path, "scaling"), "scale both by the same means")
    yield subject.beside(found, (*main.path, "scaling"), "decode is scaled here")


def means_of(workload: Workload) -> str:
    """What scales a workload; empty where nothing does, or where that is a mistake of its own."""
    scaling = workload.spec.get("scaling") or {}
    if scaling.get("keda") is not None:
        return "" if scaling.get("wva") is not None else "keda"
    actuators = [name for name in ("hpa", "keda") if (scaling.get("wva") or {}).get(name) is not None]
    return f"wva with {actuators[0]}" if len(actuators) == 1 else ""
