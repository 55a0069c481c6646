"""name_generation: the nodes of one version of a predictor find each other by a name that follows from their content.

Decides what stands for metadata.generation, which an API server counts and no file has, where versions are to be named
by what is in them. Must not know what else is named so.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from kservec.core.names import GENERATION_LABEL, WORKER_CONTAINER, head_service_name, workers_service_name
from kservec.core.pods.containers import set_variable
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit, Workers

MADE = Origin(Layer.PASS, "name_generation")
HASH_LENGTH = 10


def name_generation(unit: Unit, env: Env) -> Step:
    """Name the version of predictors with workers after their pods, so that workers never join another version's head.

    Comes after all that changes pods. A generation that the file states stays.

    Takes:   nothing
    Writes:  the label isvc.generation of head and workers; HEAD_SVC and WORKER_SVC of workers
    Reports: nothing
    """
    if not env.names_revisions or unit.spec.metadata.generation is not None:
        return Step(unit)
    return Step(unit.with_components(tuple(map(named, unit.components))))


def named(component: Component) -> Component:
    """The component whose nodes know the name of their version; one on a single node stays as it is."""
    workers, pod = component.workers, component.worker_pod
    if workers is None or pod is None:
        return component
    version = digest(component, workers)
    for variable, made in (("HEAD_SVC", head_service_name), ("WORKER_SVC", workers_service_name)):
        pod = set_variable(pod, WORKER_CONTAINER, variable, made(component.name, version), MADE)
    return evolve(
        component,
        labels=component.labels.put((GENERATION_LABEL,), version, MADE),
        workers=evolve(workers, labels=workers.labels.put((GENERATION_LABEL,), version, MADE)),
        worker_pod=pod,
    )


def digest(component: Component, workers: Workers) -> str:
    """A short text that changes whenever anything in the pods of the head or of the workers does."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    trees = (component.pod, component.labels, component.annotations, workers.labels, workers.annotations)
    content = [tree.value for tree in trees]
    content += [component.worker_pod.value if component.worker_pod is not None else None]
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:HASH_LENGTH]
