"""Offloading of the KV cache: to memory, and from there to further tiers.

KServe: pkg/apis/serving/v1alpha2/llm_inference_service_validation.go, validateKVCacheOffloadingSpec
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.quantity import parse_quantity
from kservec.core.validity.odd_amounts import MEGA, odd_size
from kservec.core.validity.odd_amounts import MOST_BYTES as ON_ONE_MACHINE

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject
    from kservec.core.tree import Json, Path

CPU = Code(
    "llm/kv-cache-cpu",
    Severity.ERROR,
    "further tiers of a KV cache without memory before them",
    "Blocks of the cache go from the GPU to memory and from there to the secondary tiers. So `cpu` is more than 0 "
    "where there are any.",
)
SIZE = Code(
    "llm/kv-cache-size",
    Severity.ERROR,
    "a cache of a size that no memory has",
    "`cpu` of kvCacheOffloading is the size of the cache in memory: a quantity such as 10Gi, which is not negative and "
    "whose bytes can be counted in 64 bits.",
)
MOST_BYTES = 2**63 - 1
"""The largest quantity. Kubernetes: larger ones become this one."""
TIER = Code(
    "llm/kv-cache-tier",
    Severity.ERROR,
    "a tier of a KV cache that lies nowhere, or in two places",
    "A secondary tier is a fileSystem, that is an emptyDir or a pvc; a pvc is a spec of one to be made, or a ref to "
    "one that exists.",
)


def check_kv_cache(subject: Subject) -> Iterator[Diagnostic]:
    """The tiers of each workload; KServe looks at nothing where there are none."""
    for workload in subject.workloads:
        offloading = workload.spec.get("kvCacheOffloading") or {}
        path = (*workload.path, "kvCacheOffloading")
        tiers = offloading.get("secondary") or ()
        size = parse_quantity(offloading.get("cpu") or "0")
        if not 0 <= size < MOST_BYTES:
            message = f"kvCacheOffloading.cpu is {offloading['cpu']}, which no memory has"
            yield subject.finding(SIZE, message, (*path, "cpu"), "give `cpu` a size, such as 10Gi")
        elif tiers and size == 0:
            message = "secondary tiers need memory before them, but `cpu` is 0"
            yield subject.finding(CPU, message, (*path, "cpu"), "give `cpu` a size, such as 10Gi")
        for wrong in odd_size(offloading.get("cpu") or 0, MEGA, "Gi", most=ON_ONE_MACHINE):
            yield subject.finding(wrong.code, f"kvCacheOffloading.cpu {wrong.message}", (*path, "cpu"), wrong.remedy)
        for i, tier in enumerate(tiers):
            yield from check_tier(subject, tier, (*path, "secondary", i))


def check_tier(subject: Subject, tier: Json, path: Path) -> Iterator[Diagnostic]:
    """Where one tier lies."""
    files = tier.get("fileSystem")
    if files is None:
        yield subject.finding(TIER, "a tier of the KV cache is no fileSystem", path, "set fileSystem")
        return
    path = (*path, "fileSystem")
    wrong = [*one_of(subject, files, ("emptyDir", "pvc"), path)]
    claim = files.get("pvc")
    if not wrong and claim is not None:
        wrong = [*one_of(subject, claim, ("spec", "ref"), (*path, "pvc"))]
        if not wrong and claim.get("ref") is not None and not claim["ref"].get("name"):
            message = "pvc.ref does not say which claim"
            wrong = [subject.finding(TIER, message, (*path, "pvc", "ref"), "set `name`")]
    yield from wrong


def one_of(subject: Subject, value: Json, fields: Sequence[str], path: Path) -> Iterator[Diagnostic]:
    """The finding about a map that has none of its alternatives, or several."""
    count = sum(value.get(field) is not None for field in fields)
    if count != 1:
        message = (
            f"{path[-1]} has both {' and '.join(fields)}" if count else f"{path[-1]} has no {' and no '.join(fields)}"
        )
        yield subject.finding(TIER, message, path, "keep one of them" if count else "set one of them")
