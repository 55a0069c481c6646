"""select_accelerator: pods with NVIDIA GPUs go to nodes with the accelerator that an annotation names.

Also warns of resources that are nearly accelerators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import GKE_ACCELERATOR, GPU_RESOURCE_TYPES
from kservec.core.pods.gpu_types import MISSPELT, gpu_types, misspelt_types
from kservec.core.records import evolve
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Component, Unit

GPU = "nvidia.com/gpu"
NODE_SELECTOR = "cloud.google.com/gke-accelerator"

NO_GPU = Code(
    "annotation/accelerator-without-gpu",
    Severity.WARNING,
    "an accelerator is named and no container asks for a GPU",
    "serving.kserve.io/gke-accelerator counts only for pods with a container whose limits have nvidia.com/gpu; slices "
    "of a GPU do not count.",
)


def select_accelerator(unit: Unit, env: Env) -> Step:
    """Write the accelerator of the annotation `gke-accelerator` into the node selector.

    Takes:   nothing
    Writes:  nodeSelector of pods and worker pods
    Reports: annotation/accelerator-without-gpu, pod/misspelt-accelerator
    KServe:  pkg/webhook/admission/pod/accelerator_injector.go
    """
    components = tuple(map(with_accelerator, unit.components))
    missed = (c for c in components if c.annotation(GKE_ACCELERATOR) is not None and not asks_for_gpu(c.pod))
    message = f"{GKE_ACCELERATOR} has no effect: no container has {GPU} among its limits"
    found = tuple(
        finding(unit, NO_GPU, message, c.annotations.span((GKE_ACCELERATOR,)) or c.path, f"set limits of {GPU}")
        for c in missed
    )
    slips = (d for c in components for d in misspelt(unit, c, env))
    return Step(unit.with_components(components), (*found, *dict.fromkeys(slips)))


def misspelt(unit: Unit, component: Component, env: Env) -> Iterator[Diagnostic]:
    """Warnings about resources that are nearly accelerators."""
    known = gpu_types(env.platform, component.annotation(GPU_RESOURCE_TYPES))
    for container in component.pod.value["containers"]:
        for field, name, meant in misspelt_types(container.get("resources") or {}, known):
            message = f"container {container['name']} asks for {name}, which no node has"
            place = component.pod.span(("containers", container["name"], "resources", field, name))
            yield finding(unit, MISSPELT, message, place, f"did you mean {meant}?")


def with_accelerator(component: Component) -> Component:
    """The component with its pods on the right nodes."""
    accelerator = component.annotation(GKE_ACCELERATOR)
    if accelerator is None:
        return component
    written = component.annotations.sub(GKE_ACCELERATOR)

    def placed(pod: Tree) -> Tree:
        return pod.put(("nodeSelector", NODE_SELECTOR), accelerator, written) if asks_for_gpu(pod) else pod

    worker = placed(component.worker_pod) if component.worker_pod is not None else None
    return evolve(component, pod=placed(component.pod), worker_pod=worker)


def asks_for_gpu(pod: Tree) -> bool:
    """Whether a container of the pod has a whole NVIDIA GPU among its limits."""
    containers = pod.value.get("containers") or ()
    return any(GPU in ((c.get("resources") or {}).get("limits") or {}) for c in containers)
