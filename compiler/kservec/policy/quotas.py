"""Quotas: what all workloads of a namespace need together, against its ResourceQuotas and LimitRanges.

Kubernetes: pkg/quota/v1/evaluator/core/pods.go; plugin/pkg/admission/limitranger/admission.go
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, ObjectRef, Severity
from kservec.core.quantity import canonical, parse_quantity
from kservec.core.schemas.faults import Fault
from kservec.policy.demands import LIMITS, PODS, REQUESTS, Defaults, container_amounts, replica_amounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import Span
    from kservec.core.text.document import Document
    from kservec.core.tree import Json
    from kservec.policy.demands import Demand, Need

QUOTA_EXCEEDED = Code(
    "policy/quota-exceeded",
    Severity.ERROR,
    "workloads that do not fit into the quota of their namespace",
    "The ResourceQuota is smaller than what the workloads of the namespace need with their fewest replicas: some of "
    "their pods would never be made. Raise the quota, or ask for less.",
)
QUOTA_AT_MAX = Code(
    "policy/quota-at-max",
    Severity.WARNING,
    "autoscalers that can ask for more than the quota of their namespace",
    "With all workloads of the namespace at their most replicas, the ResourceQuota is exceeded: the autoscaler of "
    "whichever comes last has no effect. Raise the quota, or lower maxReplicas.",
)
QUOTA_UNSTATED = Code(
    "policy/quota-unstated",
    Severity.ERROR,
    "pods that a quota refuses because they do not say what they need",
    "Where a ResourceQuota counts a resource, a pod that says nothing about it is refused, unless a LimitRange of the "
    "namespace has a default for it. Set requests and limits.",
)
LIMIT_RANGE = Code(
    "policy/limit-range",
    Severity.ERROR,
    "a container outside the bounds that its namespace sets",
    "A LimitRange of the namespace has a minimum or maximum for containers, and pods outside are refused. Change the "
    "requests and limits, or the LimitRange.",
)
BARE = ("cpu", "memory", "ephemeral-storage")
"""Resources that a quota may name without `requests.` before them, and that every pod has to state then."""
LARGEST_SHOWN = 3


class Bounds(NamedTuple):
    """The ResourceQuotas and LimitRanges of one namespace."""

    quotas: Sequence[Document] = ()
    ranges: Sequence[Document] = ()

    @property
    def spans(self) -> Iterator[Span]:
        """Where they are."""
        return (document.span() for document in (*self.quotas, *self.ranges))


class Misfit(NamedTuple):
    """A fault in a workload, or without one in all of them together. `bound` is what it breaks, `span` where."""

    ref: ObjectRef | None
    fault: Fault
    bound: ObjectRef
    span: Span


def quota_misfits(demands: Sequence[Demand], bounds: Bounds) -> Iterator[Misfit]:
    """What of the workloads of one namespace does not fit into its bounds."""
    defaults = defaults_of(bounds.ranges)
    for document in bounds.ranges:
        for demand in demands:
            yield from range_misfits(demand, document, defaults)
    for document in bounds.quotas:
        if not is_scoped(document.value):
            yield from exceeded(demands, document, defaults)
            for demand in demands:
                yield from unstated(demand, document, defaults)


def ref_of(document: Document) -> ObjectRef:
    """The identity of a bound."""
    metadata = document.value["metadata"]
    return ObjectRef("v1", document.value["kind"], metadata.get("namespace", "default"), metadata["name"])


def defaults_of(ranges: Sequence[Document]) -> Defaults:
    """What containers get that say nothing. Kubernetes: pkg/apis/core/v1/defaults.go, SetDefaults_LimitRangeItem."""
    requests: dict[str, Json] = {}
    limits: dict[str, Json] = {}
    for document in ranges:
        for item in items_of(document):
            given = {**(item.get("max") or {}), **(item.get("default") or {})}
            limits |= given
            requests |= {**(item.get("min") or {}), **given, **(item.get("defaultRequest") or {})}
    return Defaults(requests, limits)


def items_of(document: Document) -> list[Json]:
    """The bounds of a LimitRange for containers."""
    return [item for item in (document.value.get("spec") or {}).get("limits") or () if item.get("type") == "Container"]


def range_misfits(demand: Demand, document: Document, defaults: Defaults) -> Iterator[Misfit]:
    """Containers outside the bounds of a LimitRange."""
    name = document.value["metadata"]["name"]
    containers = [need for pod in demand.pods for need in pod.containers]
    for need in dict.fromkeys(n.path for n in containers):
        container = next(n for n in containers if n.path == need)
        amounts = container_amounts(container.resources, defaults)
        for item in items_of(document):
            for what in outside(amounts, item):
                message = f"container {container.name} of {demand.ref} {what}, as LimitRange {name} wants it"
                path = (*container.path, "resources")
                hint = "change what the container asks for, or the LimitRange"
                yield Misfit(
                    demand.ref, Fault(LIMIT_RANGE, path, message, help=hint), ref_of(document), document.span(("spec",))
                )


def outside(amounts: Mapping[str, Fraction], item: Json) -> Iterator[str]:
    """In which ways amounts are outside a minimum and a maximum."""
    for resource, least in (item.get("min") or {}).items():
        amount = amounts.get(f"{REQUESTS}.{resource}")
        if amount is None or amount < parse_quantity(least):
            has = "nothing" if amount is None else shown(amount, resource)
            yield f"requests {has} of {resource}, less than {least}"
    for resource, most in (item.get("max") or {}).items():
        amount = amounts.get(f"{LIMITS}.{resource}")
        if amount is None or amount > parse_quantity(most):
            has = "has no limit" if amount is None else f"may use {shown(amount, resource)}"
            yield f"{has} of {resource}, more than {most}"


def exceeded(demands: Sequence[Demand], document: Document, defaults: Defaults) -> Iterator[Misfit]:
    """Resources of which the workloads together need more than a quota has."""
    replicas = [(demand, replica_amounts(demand, defaults)) for demand in demands]
    for counted, name, hard in hard_limits(document.value):
        each = [(demand, amounts.get(counted, Fraction(0))) for demand, amounts in replicas]
        fewest = sum((amount * demand.replicas.fewest for demand, amount in each), Fraction(0))
        most = sum((amount * demand.replicas.most for demand, amount in each), Fraction(0))
        if most > hard:
            code = QUOTA_EXCEEDED if fewest > hard else QUOTA_AT_MAX
            needs, amount = ("fewest", fewest) if code is QUOTA_EXCEEDED else ("most", most)
            what = f"{shown(amount, name)} with their {needs} replicas"
            message = (
                f"ResourceQuota {document.value['metadata']['name']} has {shown(hard, name)} of {name}, and the "
                f"workloads of {document.value['metadata'].get('namespace', 'default')} need {what}"
            )
            hint = f"raise the quota, or lower the largest: {largest(each, name, most=code is QUOTA_AT_MAX)}"
            fault = Fault(code, (), message, help=hint)
            yield Misfit(None, fault, ref_of(document), document.span(("spec", "hard", name)))


def largest(each: Sequence[tuple[Demand, Fraction]], name: str, *, most: bool) -> str:
    """The workloads that need most of something, with their numbers."""
    count: Callable[[Demand], int] = (lambda d: d.replicas.most) if most else (lambda d: d.replicas.fewest)
    ranked = sorted(each, key=lambda pair: (-pair[1] * count(pair[0]), pair[0].ref))[:LARGEST_SHOWN]
    return ", ".join(f"{d.ref.name} ({count(d)} x {shown(amount, name)})" for d, amount in ranked if amount)


def unstated(demand: Demand, document: Document, defaults: Defaults) -> Iterator[Misfit]:
    """Containers that say nothing about a resource that a quota counts, for which each pod has to say it."""
    name = document.value["metadata"]["name"]
    for counted, _, _ in hard_limits(document.value):
        field, _, resource = counted.partition(".")
        if resource in BARE:
            silent = next(
                (n for n in needs_of(demand) if counted not in container_amounts(n.resources, defaults)), None
            )
            if silent is not None and demand.replicas.most:
                message = f"container {silent.name} of {demand.ref} has no {resource} in {field}"
                fault = Fault(
                    QUOTA_UNSTATED,
                    (*silent.path, "resources"),
                    f"{message}, and ResourceQuota {name} refuses pods without",
                    help=f"set resources.{field}.{resource}",
                )
                yield Misfit(demand.ref, fault, ref_of(document), document.span(("spec", "hard")))


def needs_of(demand: Demand) -> Iterator[Need]:
    """The containers of a workload."""
    return (need for pod in demand.pods for need in pod.containers)


def hard_limits(quota: Json) -> Iterator[tuple[str, str, Fraction]]:
    """What a quota counts, the name that it uses for it, and how much it has; what is no resource of pods is not."""
    for name, amount in ((quota.get("spec") or {}).get("hard") or {}).items():
        counted = f"{REQUESTS}.{name}" if name in BARE else PODS if name == "count/pods" else name
        is_asked = counted.startswith((f"{REQUESTS}.", f"{LIMITS}.")) and counted != f"{REQUESTS}.storage"
        if counted == PODS or is_asked:
            yield counted, name, parse_quantity(amount)


def is_scoped(quota: Json) -> bool:
    """Whether a quota counts only some pods of its namespace, which is not looked at here."""
    spec = quota.get("spec") or {}
    return bool(spec.get("scopes") or spec.get("scopeSelector"))


def shown(amount: Fraction, resource: str) -> str:
    """An amount as a quantity, in the style of the resource."""
    if resource.endswith(("memory", "storage")) and amount.denominator == 1 and amount >= 1024:
        return canonical(f"{amount.numerator // 1024}Ki")
    return canonical(f"{-(-amount * 1000 // 1)}m")
