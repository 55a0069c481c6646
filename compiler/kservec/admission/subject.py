"""Subject: a defaulted InferenceService as the rules of admission look at it, and the way a rule reports.

Knows where components, implementations and their storage URIs stand in the document. Holds no rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Diagnostic, ObjectRef
from kservec.core.names import KSERVE_CONTAINER
from kservec.core.pods.containers import variable
from kservec.spec.inferenceservice import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Code
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Mode, Source

PREDICTOR = "predictor"
TRANSFORMER = "transformer"
EXPLAINER = "explainer"
ROLES = (PREDICTOR, TRANSFORMER, EXPLAINER)
MODEL_ORDER = (*FRAMEWORKS, "model")
MODEL_FIELDS = frozenset(MODEL_ORDER)
STORAGE_URI = "STORAGE_URI"


class Part(NamedTuple):
    """A component, or a canary's predictor, of a defaulted service.

    `implementations` are the paths, below `path`, of what KServe would take for the component's server: a framework,
    `model`, `art`, or a container. A valid component has exactly one.
    """

    role: str
    path: Path
    spec: Json
    implementations: tuple[Path, ...]

    @property
    def implementation(self) -> Json | None:
        """The value of the implementation where there is exactly one."""
        if len(self.implementations) != 1:
            return None
        value = self.spec
        for step in self.implementations[0]:
            value = value[step]
        return value

    @property
    def model(self) -> Json | None:
        """The model or framework of a predictor that is served by exactly one; None for containers."""
        only = self.implementations[0] if len(self.implementations) == 1 else ()
        return self.spec[only[0]] if len(only) == 1 and only[0] in MODEL_FIELDS else None


class StorageUri(NamedTuple):
    """A single storage URI and where it stands below its part."""

    uri: str
    at: Path


class Site(NamedTuple):
    """What findings about an InferenceService need: its identity, and the way to the text that the user wrote."""

    ref: ObjectRef
    source: Source

    def finding(self, code: Code, message: str, path: Path, help: str = "") -> Diagnostic:  # noqa: A002
        """A finding at a path of the defaulted value."""
        return Diagnostic(code=code, message=message, span=self.source.span(*path), help=help, subject=self.ref)


class Subject(NamedTuple):
    """An InferenceService after defaulting. `original` is its value before; `mode` is None where none can be told."""

    site: Site
    original: Json
    value: Json
    mode: Mode | None
    platform: PlatformConfig
    plugs: Plugs
    annotations: Mapping[str, str]
    parts: tuple[Part, ...]

    @property
    def name(self) -> str:
        """The object's name; empty if it has none."""
        return self.site.ref.name

    @property
    def predictor(self) -> Part:
        """The predictor, even where the document has none."""
        return self.parts[0]

    @property
    def source(self) -> Source:
        """The user's document."""
        return self.site.source

    def finding(self, code: Code, message: str, path: Path, help: str = "") -> Diagnostic:  # noqa: A002
        """A finding at a path of the defaulted value."""
        return self.site.finding(code, message, path, help)


def parts_of(spec: Json) -> tuple[Part, ...]:
    """The components of a service's spec, the predictor first and always there."""
    predictor = spec.get(PREDICTOR) or {}
    parts = [Part(PREDICTOR, ("spec", PREDICTOR), predictor, predictor_implementations(predictor))]
    transformer, explainer = spec.get(TRANSFORMER), spec.get(EXPLAINER)
    if transformer is not None:
        first = (("containers", 0),) if transformer.get("containers") else ()
        parts.append(Part(TRANSFORMER, ("spec", TRANSFORMER), transformer, first))
    if explainer is not None:
        art = (("art",),) if explainer.get("art") is not None else ()
        first = (("containers", 0),) if explainer.get("containers") else ()
        parts.append(Part(EXPLAINER, ("spec", EXPLAINER), explainer, (*art, *first)))
    return tuple(parts)


def canaries_of(spec: Json) -> tuple[Part, ...]:
    """The predictors of a service's canaries, in their order."""
    found = []
    for i, entry in enumerate(spec.get("canary") or ()):
        predictor = entry.get(PREDICTOR) or {}
        path = ("spec", "canary", i, PREDICTOR)
        found.append(Part(PREDICTOR, path, predictor, predictor_implementations(predictor)))
    return tuple(found)


def predictor_implementations(predictor: Json) -> tuple[Path, ...]:
    """What KServe counts as a predictor's implementations.

    Each framework, `model`, and each container named kserve-container; containers without that name stand for one
    implementation where there is nothing else. KServe: pkg/apis/serving/v1beta1/predictor.go, GetImplementations
    """
    fields = [f for f in predictor if f in MODEL_FIELDS and predictor[f] is not None]
    if len(fields) > 1:
        fields.sort(key=MODEL_ORDER.index)
    found: list[Path] = [(f,) for f in fields]
    containers = predictor.get("containers")
    if containers:
        found += [("containers", i) for i, c in enumerate(containers) if c.get("name") == KSERVE_CONTAINER]
        if not found:
            return (("containers", 0),)
    return tuple(found)


def storage_uri(part: Part) -> StorageUri | None:
    """The single storage URI of a part with exactly one implementation.

    It is a field of models and frameworks, and the variable STORAGE_URI of containers: of a custom predictor's
    kserve-container, of a transformer's or explainer's first container. A variable without a plain value counts as
    an empty URI. KServe: GetStorageUri of the implementations
    """
    implementation = part.implementation
    if implementation is None:
        return None
    at = part.implementations[0]
    if at[0] != "containers":
        uri = implementation.get("storageUri")
        if uri is None or (uri == "" and part.role == EXPLAINER):
            return None
        return StorageUri(uri, (*at, "storageUri"))
    if part.role == PREDICTOR and implementation.get("name") != KSERVE_CONTAINER:
        return None
    value = variable(implementation, STORAGE_URI)
    return None if value is None else StorageUri(value, (*at, "env", STORAGE_URI, "value"))
