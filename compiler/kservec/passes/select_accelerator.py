"""select_accelerator: pods with NVIDIA GPUs go to nodes with the accelerator that an annotation names.

Also warns of resources that are nearly accelerators.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import GKE_ACCELERATOR, GPU_RESOURCE_TYPES
from kservec.core.pods.gpu_types import MISSPELT, gpu_types, is_basic, misspelt_types
from kservec.core.records import evolve
from kservec.core.unit import Step, finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Tree
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
    slips: list[Diagnostic] = []
    for component in unit.components:
        slips += misspelt(unit, component, env)
    if not [c for c in unit.components if c.annotation(GKE_ACCELERATOR) is not None]:
        return Step(unit, tuple(dict.fromkeys(slips)))
    placed = unit.with_components(tuple(map(with_accelerator, unit.components)))
    return Step(placed, (*missed(placed), *dict.fromkeys(slips)))


def missed(unit: Unit) -> Iterator[Diagnostic]:
    """Warnings about accelerators of components that ask for no GPU."""
    message = f"{GKE_ACCELERATOR} has no effect: no container has {GPU} among its limits"
    for component in unit.components:
        if component.annotation(GKE_ACCELERATOR) is not None and not asks_for_gpu(component.pod):
            place = component.annotations.span((GKE_ACCELERATOR,)) or component.path
            yield finding(unit, NO_GPU, message, place, f"set limits of {GPU}")


def misspelt(unit: Unit, component: Component, env: Env) -> Sequence[Diagnostic]:
    """Warnings about resources that are nearly accelerators."""
    odd = [c for c in component.pod.value["containers"] if "resources" in c and not is_basic(c["resources"] or {})]
    return [d for c in odd for d in slips_of(unit, component, c, env)] if odd else ()


def slips_of(unit: Unit, component: Component, container: Json, env: Env) -> Iterator[Diagnostic]:
    """Those about one container."""
    known = gpu_types(env.platform, component.annotation(GPU_RESOURCE_TYPES))
    for field, name, meant in misspelt_types(container["resources"], known):
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
