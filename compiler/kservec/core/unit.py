"""Unit, Component and Step: what every pass takes and returns.

A Unit is one user object on its way to manifests. A pass is a function `(Unit, Env) -> Step`; it never changes
what it was handed and returns a new Unit instead.
"""

from __future__ import annotations

from enum import StrEnum
from operator import is_
from typing import TYPE_CHECKING, TypeVar

from kservec.core.bundle import Bundle
from kservec.core.diagnostics import Diagnostic, Span
from kservec.core.records import evolve, fresh, record
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.catalog import Runtime
    from kservec.core.diagnostics import Code, ObjectRef
    from kservec.core.intents import Intent
    from kservec.core.llm.part import Part
    from kservec.core.text.source import Document
    from kservec.core.tree import Json, Path, Tree
    from kservec.spec.base import Resource
    from kservec.spec.inferenceservice import ComponentExtension

SPEC = Layer.SPEC
new_tuple = tuple.__new__
"""Makes a named tuple in half of the time that its class takes; origins are made for every part of every object."""
Wish = TypeVar("Wish", bound="Intent")
Kind = TypeVar("Kind", bound="Resource")


class Role(StrEnum):
    """What a component is for; of an InferenceService's the value of KServe's `component` label."""

    PREDICTOR = "predictor"
    TRANSFORMER = "transformer"
    EXPLAINER = "explainer"
    ROUTER = "router"


class Mode(StrEnum):
    """KServe's deployment modes. KServe: pkg/constants/constants.go, DeploymentModeType."""

    STANDARD = "Standard"
    KNATIVE = "Knative"
    MODELMESH = "ModelMesh"


@record
class Source:
    """The user's document, and where its values stand after defaulting has moved some of them.

    `moved` maps a path of the defaulted value to the path the user wrote (`spec.predictor.model` to
    `spec.predictor.sklearn`).
    """

    document: Document
    moved: Mapping[Path, Path] = fresh(factory=dict)

    def written(self, path: Path) -> Path:
        """The path in the user's file of a path in the defaulted value."""
        for new, old in self.moved.items() if self.moved else ():
            if path[: len(new)] == new:
                return old + path[len(new) :]
        return path

    def span(self, *path: str | int) -> Span:
        """Where the value at a path of the defaulted spec was written; the nearest ancestor if it was not."""
        return self.document.span(self.written(path))

    def origin(self, *path: str | int) -> Origin:
        """The origin of the value at a path of the defaulted spec."""
        return new_tuple(Origin, (SPEC, "user", self.document, self.written(path) if self.moved else path))


@record
class Port:
    """A port of a component's Service."""

    name: str
    port: int
    target_port: int | str
    protocol: str = "TCP"
    app_protocol: str = ""


@record
class Workers:
    """The nodes beside the head of a predictor that is spread over several: their metadata and how many there are.

    `pod_annotations` are those that only their pod template carries. Their pod is the component's `worker_pod`.
    """

    labels: Tree
    annotations: Tree
    replicas: int = 0
    pod_annotations: Mapping[str, str] = fresh(factory=dict)


@record
class Component:
    """One workload of a unit: its pod, its metadata, and what is still to be done to it.

    `labels` and `annotations` are KServe's component metadata: every object of the component carries them.
    `pod_annotations` are those that only the pod template carries, as KServe's pod webhook would add them.
    `path` is where the component stands in the spec, `implementation` where a predictor's model or container stands.
    `agent` says that requests reach the pod through the agent (a logger or batcher); `headless` that its Service has no
    address of its own. `canary` is the name of the canary that a predictor is, empty for all other components.
    `server_labels` are labels of the service that hold for this component alone: those of a canary's own runtime.
    `pod_labels` are the labels of the pods where those are not `labels`: KServe gives Knative revisions others then.
    """

    role: Role
    name: str
    path: Path
    extension: ComponentExtension
    labels: Tree
    annotations: Tree
    pod: Tree
    pod_annotations: Mapping[str, str] = fresh(factory=dict)
    implementation: Path = ()
    worker_pod: Tree | None = None
    workers: Workers | None = None
    intents: tuple[Intent, ...] = ()
    runtime: Runtime | None = None
    protocol: str = ""
    replicas: int | None = None
    ports: tuple[Port, ...] = ()
    headless: bool = False
    agent: bool = False
    canary: str = ""
    server_labels: Mapping[str, str] = fresh(factory=dict)
    pod_labels: Tree | None = None

    def take(self, kind: type[Wish]) -> tuple[tuple[Wish, ...], Component]:
        """The intents of one kind, and the component without them."""
        taken = self.peek(kind)
        if not taken:
            return (), self
        return taken, evolve(self, intents=tuple([i for i in self.intents if not isinstance(i, kind)]))

    def peek(self, kind: type[Wish]) -> tuple[Wish, ...]:
        """The intents of one kind, left where they are for the pass that honours them."""
        found: tuple[Wish, ...] = ()
        for intent in self.intents:
            if isinstance(intent, kind):
                found = (*found, intent)
        return found

    def annotation(self, key: str) -> str | None:
        """One annotation of the component, or None."""
        value: str | None = self.annotations.value.get(key)
        return value


@record
class Unit:
    """One user object on its way through the passes.

    `spec` is the typed object, of the kind that `ref` names; passes of one kind read it with `spec_as`.
    `labels` and `annotations` are the object's own after defaulting; runtimes may add labels (`modelClass`).
    `mode` means nothing for kinds that run no pods of their own. `routed`: KServe makes routes to it, besides the
    Services of its components. `resolved` is the spec with all configs merged in, of a kind that has configs,
    and `parts` are what such a service is made of, instead of components.
    """

    ref: ObjectRef
    source: Source
    spec: Resource
    mode: Mode = Mode.STANDARD
    labels: Mapping[str, str] = fresh(factory=dict)
    annotations: Mapping[str, str] = fresh(factory=dict)
    stopped: bool = False
    routed: bool = True
    intents: tuple[Intent, ...] = ()
    components: tuple[Component, ...] = ()
    parts: tuple[Part, ...] = ()
    resolved: Tree | None = None
    bundle: Bundle = fresh(factory=Bundle)

    @property
    def name(self) -> str:
        """The object's name."""
        return self.ref.name

    @property
    def namespace(self) -> str:
        """The object's namespace."""
        return self.ref.namespace

    @property
    def metadata(self) -> Json:
        """The object's metadata, as the placeholders of its containers see it."""
        return {"name": self.name, "namespace": self.namespace, "labels": self.labels, "annotations": self.annotations}

    @property
    def generation(self) -> str:
        """How often the spec was changed, counting from 1; 1 unless the file says so. The API server counts it."""
        return str(self.spec.metadata.generation or 1)

    def spec_as(self, kind: type[Kind]) -> Kind:
        """The object as the model of its kind. The table of passes sees to it that they fit."""
        assert isinstance(self.spec, kind)
        return self.spec

    def component(self, role: Role) -> Component | None:
        """The first component of a role, or None; of the predictors that is the stable one."""
        for component in self.components:
            if component.role is role:
                return component
        return None

    def with_components(self, components: tuple[Component, ...]) -> Unit:
        """The unit with other components; the unit itself if they are those that it has."""
        if len(components) == len(self.components) and all(map(is_, components, self.components)):
            return self
        return evolve(self, components=components)

    def take(self, kind: type[Wish]) -> tuple[tuple[Wish, ...], Unit]:
        """The whole-unit intents of one kind, and the unit without them."""
        taken = tuple([i for i in self.intents if isinstance(i, kind)])
        if not taken:
            return (), self
        return taken, evolve(self, intents=tuple([i for i in self.intents if not isinstance(i, kind)]))


class Step:  # noqa: PLW1641 - nothing needs a hash of it
    """What a pass returns: the new unit and what it found. Nothing is made as often, so it is a plain object."""

    __slots__ = ("diagnostics", "unit")

    def __init__(self, unit: Unit, diagnostics: tuple[Diagnostic, ...] = ()) -> None:
        self.unit = unit
        self.diagnostics = diagnostics

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Step) and (self.unit, self.diagnostics) == (other.unit, other.diagnostics)


def finding(unit: Unit, code: Code, message: str, place: Path | Span | None, remedy: str = "") -> Diagnostic:
    """A diagnostic about a unit, at a path of its spec or a span; without either at its name. `remedy`: what to do."""
    span = place if isinstance(place, Span) else unit.source.span(*(place or ("metadata", "name")))
    return Diagnostic(code=code, message=message, span=span, help=remedy, subject=unit.ref)
