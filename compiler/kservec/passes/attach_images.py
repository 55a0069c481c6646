"""attach_images: models that come as container images.

They come after the sidecars, as in KServe, so the agent does not see what a modelcar changes in its pod.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from kservec.core.intents import ModelIntent
from kservec.core.models.model_request import Changed, ModelRequest, Pods, attached
from kservec.core.models.model_uri import settled_scheme
from kservec.core.models.storage_scheme import Placement
from kservec.core.names import MODEL_PATH
from kservec.core.pods.mounts import model_readers
from kservec.core.records import evolve
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env
    from kservec.core.tree import Tree
    from kservec.core.unit import Component, Unit


def attach_images(unit: Unit, env: Env) -> Step:
    """Bring the single models that come as images into the pods of each component.

    Takes:   ModelIntent
    Writes:  pods: containers, init containers, volumes, mounts, variables
    Reports: storage/*
    KServe:  storage_initializer_injector.go, InjectModelcar
    """
    found: list[Diagnostic] = []
    components: list[Component] = []
    for component in unit.components:
        intents, rest = component.take(ModelIntent)
        if not intents:
            components.append(component)
            continue
        pods = Pods(component.pod, component.worker_pod)
        for intent in intents:
            request = ModelRequest(unit, component, intent, attached(intent.origin), env)
            pods, more = pods.changed(partial(attach_image, request))
            found.extend(more)
        components.append(evolve(rest, pod=pods.pod, worker_pod=pods.worker))
    return Step(unit.with_components(tuple(components)), tuple(found))


def attach_image(request: ModelRequest, pod: Tree) -> Changed:
    """A pod with one model from an image.

    Raises:
        Reject: no container reads it, or its path is taken.
    """
    uri, scheme = settled_scheme(request.intent.sources[0].uri, request.env)
    if scheme is None or scheme.attach is None:
        return Changed(pod)
    placement = Placement(
        uri=uri,
        mount_path=MODEL_PATH,
        origin=request.origin,
        subject=request.unit.ref,
        targets=model_readers(pod, request.origin, request.unit.ref),
        read_only=request.intent.read_only,
    )
    return Changed(*scheme.attach(pod, placement, request.env))
