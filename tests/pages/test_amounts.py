"""Amounts: what workloads take with their fewest and their most replicas."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from kservec.compare.workloads import Bounds
from kservec.core.diagnostics import ObjectRef
from kservec.site.amounts import Range, count_text, cpu_text, memory_text, replicas_of, sized, total

GIBI = 1 << 30


def deployment(name: str, replicas: int | None, **resources: dict[str, str]) -> tuple[ObjectRef, Any]:
    """A Deployment of one container."""
    container = {"name": "main", "image": "a", "resources": resources}
    spec: dict[str, Any] = {"template": {"spec": {"containers": [container]}}}
    if replicas is not None:
        spec["replicas"] = replicas
    return ObjectRef("apps/v1", "Deployment", "ml", name), {"spec": spec}


def scaler(name: str, least: int, most: int) -> tuple[ObjectRef, Any]:
    """An autoscaler of a Deployment."""
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": name}
    body = {"spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": most}}
    return ObjectRef("autoscaling/v2", "HorizontalPodAutoscaler", "ml", name), body


def test_a_scaled_workload_is_counted_from_its_fewest_to_its_most_replicas() -> None:
    """Requests, limits and GPUs are those of one replica times the bounds of the autoscaler."""
    limits = {"cpu": "2", "memory": "4Gi", "nvidia.com/gpu": "2"}
    objects = [deployment("a", None, requests={"cpu": "500m", "memory": "1Gi"}, limits=limits), scaler("a", 2, 6)]
    (found,) = sized(objects)
    assert found.replicas == Bounds(2, 6)
    assert found.amounts.pods == Range(Fraction(2), Fraction(6))
    assert found.amounts.cpu == Range(Fraction(1), Fraction(3))
    assert found.amounts.memory == Range(Fraction(2 * GIBI), Fraction(6 * GIBI))
    assert found.amounts.cpu_limit == Range(Fraction(4), Fraction(12))
    assert found.amounts.memory_limit == Range(Fraction(8 * GIBI), Fraction(24 * GIBI))
    assert found.amounts.gpus == Range(Fraction(4), Fraction(12))


def test_a_group_of_nodes_counts_all_of_its_pods() -> None:
    """A replica of a LeaderWorkerSet is a leader and its workers, with the GPUs of each."""
    pod = {"spec": {"containers": [{"name": "m", "resources": {"limits": {"nvidia.com/gpu": "8"}}}]}}
    body = {"spec": {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "workerTemplate": pod}}}
    (found,) = sized([(ObjectRef("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "ml", "a"), body)])
    assert count_text(found.amounts.pods) == "8"
    assert count_text(found.amounts.gpus) == "64"


def test_no_limit_to_replicas_has_no_limit_to_what_they_take() -> None:
    """A Knative service without max-scale may take any amount, and of what it does not ask for still nothing."""
    container = {"name": "m", "resources": {"requests": {"cpu": "1"}}}
    body = {"spec": {"template": {"metadata": {"annotations": {}}, "spec": {"containers": [container]}}}}
    (found,) = sized([(ObjectRef("serving.knative.dev/v1", "Service", "ml", "a"), body)])
    assert cpu_text(found.amounts.cpu) == "0 or more"
    assert count_text(found.amounts.gpus) == "0"
    assert str(replicas_of([found])) == "0 or more"


def test_totals_add_up() -> None:
    """The amounts of several workloads are those of each together, and replicas are theirs."""
    objects = [deployment("a", 2, requests={"cpu": "1"}), deployment("b", 3, requests={"cpu": "250m"})]
    found = sized(objects)
    assert total(f.amounts for f in found).cpu == Range(Fraction(11, 4), Fraction(11, 4))
    assert replicas_of(found) == Bounds(5, 5)
    assert replicas_of([]) == Bounds(0, 0)


@pytest.mark.parametrize(
    ("found", "shown"),
    [
        (Range(), "0"),
        (Range(Fraction(GIBI), Fraction(4 * GIBI)), "1 to 4 GiB"),
        (Range(Fraction(512 << 20), Fraction(2 * GIBI)), "0.5 to 2 GiB"),
        (Range(Fraction(200 << 20), Fraction(200 << 20)), "200 MiB"),
        (Range(Fraction(3 << 40), None), "3 TiB or more"),
        (Range(Fraction(100), Fraction(100)), "0.1 MiB"),
    ],
)
def test_memory_reads_in_one_unit(found: Range, shown: str) -> None:
    """Both ends of an amount of memory are in the unit of the larger, and little is never nothing."""
    assert memory_text(found) == shown


@pytest.mark.parametrize(
    ("cores", "shown"), [("1/10", "0.1"), ("1/1000", "0.01"), ("2469/2", "1,234.5"), ("16", "16"), ("7/3", "2.33")]
)
def test_processors_are_rounded(cores: str, shown: str) -> None:
    """Few processors have hundredths, many have tenths."""
    assert cpu_text(Range(Fraction(cores), Fraction(cores))) == shown
