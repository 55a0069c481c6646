"""KServe's internal annotations, where a user wrote them by hand.

KServe's controller talks to its pod webhook through annotations; the compiler uses intents and emits none of them.
What a user writes there by hand still counts as it does in KServe: below what the spec says when it stands on the
service or the runtime, above it when it stands on the component.
KServe: pkg/constants/constants.go; components/component.go; components/predictor.go, buildObjectMeta
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.digits import natural
from kservec.core.intents import (
    BatcherIntent,
    Intent,
    LoggerIntent,
    ModelIntent,
    ModelSource,
    PullerIntent,
    ScaleIntent,
)
from kservec.core.names import AUTOSCALER_CLASS, INTERNAL, MODEL_PATH, READ_ONLY
from kservec.core.records import evolve
from kservec.spec.inferenceservice import Batcher, Logger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Origin
    from kservec.core.unit import Component

Announced = dict[str, str]
"""Internal annotations by their name without the prefix."""


def settled(component: Component) -> Component:
    """The component with its intents as its final annotations leave them: class of scaler, read-only mounts."""
    annotations = component.annotations.value
    scaler, read_only = annotations.get(AUTOSCALER_CLASS, ""), annotations.get(READ_ONLY) != "false"
    if scaler or not read_only:
        intents = tuple(settled_intent(i, scaler, read_only=read_only) for i in component.intents)
        component = evolve(component, intents=intents)
    for key in annotations:
        if key.startswith(INTERNAL):
            return with_announced(component)
    return component


def settled_intent(intent: Intent, scaler: str, *, read_only: bool) -> Intent:
    """An intent as the annotations of its component leave it."""
    match intent:
        case ScaleIntent() if scaler:
            return evolve(intent, scaler=scaler)
        case ModelIntent() if not read_only:
            return evolve(intent, read_only=False)
        case _:
            return intent


def with_announced(component: Component) -> Component:
    """The component with the intents that its internal annotations, spec and hand together, ask for."""
    written = {k.removeprefix(INTERNAL): v for k, v in component.annotations.value.items() if k.startswith(INTERNAL)}
    own = {k for k in written if INTERNAL + k in component.extension.annotations}
    said = {**written, **announced(component), **{k: written[k] for k in own}}
    found = component.annotations.origin((INTERNAL + min(written),))
    kept = [i for i in component.intents if not isinstance(i, BusIntent) or (isinstance(i, ModelIntent) and i.several)]
    asked = understood(component, said, found[0]) if found is not None else iter(())
    return evolve(component, intents=(*kept, *asked))


BusIntent = (LoggerIntent, BatcherIntent, PullerIntent, ModelIntent)


def announced(component: Component) -> Announced:
    """What KServe's controller would tell the webhook of the component's intents."""
    said: Announced = {}
    for logger in (i.logger for i in component.peek(LoggerIntent)):
        said |= {"logger": "true", "logger-mode": logger.mode}
        said |= {"logger-sink-url": logger.url} if logger.url is not None else {}
    for batcher in (i.batcher for i in component.peek(BatcherIntent)):
        numbers = {"batcher-max-batchsize": batcher.max_batch_size, "batcher-max-latency": batcher.max_latency}
        said |= {"batcher": "true"} | {k: str(v) for k, v in numbers.items() if v is not None}
    for model in component.peek(ModelIntent):
        if not model.several:
            said["storage-initializer-sourceuri"] = model.sources[0].uri
    if component.peek(PullerIntent):
        said["agent"] = "true"
    return said


def understood(component: Component, said: Announced, origin: Origin) -> Iterator[Intent]:
    """The intents that the webhook would take from the annotations."""
    if "logger" in said:
        known = next((i.logger for i in component.peek(LoggerIntent)), Logger())
        told = {"url": said.get("logger-sink-url"), "mode": said.get("logger-mode", "")}
        yield LoggerIntent(origin=origin, logger=known.changed(**told))
    if "batcher" in said:
        told_numbers = {"max_batch_size": "batcher-max-batchsize", "max_latency": "batcher-max-latency"}
        numbers = {f: n for f, k in told_numbers.items() if (n := natural(said.get(k, ""))) is not None}
        yield BatcherIntent(origin=origin, batcher=Batcher(**numbers))
    if "storage-initializer-sourceuri" in said:
        single = next((i for i in component.peek(ModelIntent) if not i.several), None)
        model = single or ModelIntent(origin=origin, sources=())
        uri = said["storage-initializer-sourceuri"]
        yield evolve(model, sources=(ModelSource(uri=uri, mount_path=MODEL_PATH, origin=model.origin),))
    if "agent" in said:
        yield PullerIntent(origin=origin)
