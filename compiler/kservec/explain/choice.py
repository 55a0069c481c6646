"""Why a service got what it has: its mode, its runtime and why none of the others, its configs, and its objects."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import ObjectRef
from kservec.core.names import GROUP
from kservec.core.serving.selection import consider, format_label
from kservec.core.unit import Role

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.catalog import Runtime
    from kservec.core.registry import Env
    from kservec.core.unit import Component, Unit
    from kservec.spec.inferenceservice import ModelSpec

AS_GOOD = "fits, too; it stands behind the chosen one"
NOT_ASKED = "is not looked at, for the model names its runtime"


class Judged(NamedTuple):
    """One runtime of the catalog: how it fits a model. `chosen` is the one that serves it."""

    name: str
    scope: str
    chosen: bool
    reason: str


class Choice(NamedTuple):
    """The runtime of one predictor: what was asked for, and all runtimes in the order in which they are tried."""

    component: str
    wanted: str
    runtimes: tuple[Judged, ...]


def choices(unit: Unit, env: Env) -> Iterator[Choice]:
    """The choice of a runtime for each predictor of a service that has a model."""
    for component, model in with_models(unit):
        yield choice(unit, component, model, env)


def with_models(unit: Unit) -> Iterator[tuple[Component, ModelSpec]]:
    """The predictors of a service that have a runtime for a model."""
    for component in unit.components:
        if component.role is Role.PREDICTOR and component.runtime is not None:
            model = getattr(component.extension, "model", None)
            if model is not None:
                yield component, model


def choice(unit: Unit, component: Component, model: ModelSpec, env: Env) -> Choice:
    """The choice of a runtime for one predictor."""
    chosen = component.runtime
    multi_node = component.workers is not None
    judged = [
        judgement(candidate.runtime, candidate.refusal, chosen, named=bool(model.runtime))
        for candidate in consider(model, unit.namespace, env.catalog, multi_node=multi_node)
    ]
    return Choice(component.name, wanted(model), tuple(judged))


def runtimes_of(unit: Unit, env: Env) -> frozenset[ObjectRef]:
    """The runtimes that a service rests on: the chosen ones, and those that fit a model which names none as well.

    What is wrong with one of these decides which of them serves.
    """
    found = [component.runtime for component in unit.components if component.runtime is not None]
    for component, model in with_models(unit):
        if not model.runtime:
            several = component.workers is not None
            tried = consider(model, unit.namespace, env.catalog, multi_node=several)
            found += [candidate.runtime for candidate in tried if not candidate.refusal]
    return frozenset(ObjectRef(f"{GROUP}/v1alpha1", r.kind, r.namespace, r.name) for r in found)


def judgement(runtime: Runtime, refusal: str, chosen: Runtime | None, *, named: bool) -> Judged:
    """How one runtime fits."""
    scope = f"ServingRuntime of {runtime.namespace}" if runtime.namespace else "ClusterServingRuntime"
    if chosen is not None and (runtime.name, runtime.namespace) == (chosen.name, chosen.namespace):
        return Judged(runtime.name, scope, True, "named by the model" if named else "first that fits")
    return Judged(runtime.name, scope, False, refusal or (NOT_ASKED if named else AS_GOOD))


def wanted(model: ModelSpec) -> str:
    """What a model asks for, in words."""
    protocol = f", protocol {model.protocol_version}" if model.protocol_version else ""
    named = f", runtime {model.runtime}" if model.runtime else ""
    return f"format {format_label(model)}{protocol}{named}"
