"""Containers beside the server that were surely meant to be laid over it, or over another one of a preset's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MAIN, SIDECAR
from kservec.core.llm.rules.before_gpu.server import PODS
from kservec.core.names import STORAGE_INITIALIZER
from kservec.core.pods.container_names import NEARLY, misnamed

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject

KNOWN: Final = {"containers": (MAIN,), "initContainers": (STORAGE_INITIALIZER, SIDECAR)}


def check_containers(subject: Subject) -> Iterator[Diagnostic]:
    """Warnings about containers of a service's pods, and of its scheduler's, whose names are nearly right."""
    places = [(*workload.path, pod) for workload in subject.workloads for pod in PODS]
    for path in (*places, ("spec", "router", "scheduler", "template")):
        pod = subject.at(*path) or {}
        for field, known in KNOWN.items():
            for i, name, meant in misnamed(pod.get(field) or (), known):
                message = f"container {name!r} is taken for one more beside {meant}"
                yield subject.finding(NEARLY, message, (*path, field, i, "name"), f"did you mean {meant}?")
