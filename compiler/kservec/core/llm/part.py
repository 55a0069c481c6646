"""Part: one workload of an LLMInferenceService on its way through the passes."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from kservec.core.records import record

if TYPE_CHECKING:
    from kservec.core.tree import Path, Tree


class PartRole(StrEnum):
    """What a part is for."""

    MAIN = "main"
    PREFILL = "prefill"
    SCHEDULER = "scheduler"
    TOKENIZER = "tokenizer"


@record
class Part:
    """One workload: its pods, and the metadata of the object that runs them.

    `path` is where it stands in the resolved spec: () for the main one. `labels` are those of the object, its selector
    and its pods at once, for KServe lets them share one map; with workers they are the object's and the workers', and
    `leader_labels` those of the leaders. `account` is the ServiceAccount whose credentials its downloads use.
    """

    role: PartRole
    name: str
    path: Path
    labels: Tree
    annotations: Tree
    pod: Tree
    pod_annotations: Tree
    worker: Tree | None = None
    leader_labels: Tree | None = None
    replicas: int | None = None
    account: str = ""
