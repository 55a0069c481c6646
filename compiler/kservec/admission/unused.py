"""Fields of an InferenceService that are valid and that nothing reads: a table, and the warning for each.

Lists what KServe drops without a word whichever platform the service goes to. What depends on an autoscaler or on the
way a service is exposed is reported by those.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.subject import EXPLAINER, PREDICTOR, ROLES, TRANSFORMER, canaries_of, storage_uri
from kservec.core.effects import NO_EFFECT
from kservec.core.records import evolve
from kservec.core.schemas.faults import field_path
from kservec.core.tree import lookup
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.admission.subject import Part, Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Path

MODEL_PATH: Path = ("spec", PREDICTOR, "model")


class Unused(NamedTuple):
    """A field, below a component of some roles, that nothing reads; `when` narrows it down further."""

    roles: tuple[str, ...]
    field: Path
    reason: str
    help: str
    when: Callable[[Subject, Part], bool] | None = None


def in_standard_mode(subject: Subject, part: Part) -> bool:  # noqa: ARG001 - the signature of a condition
    """Whether the service runs in Standard mode."""
    return subject.mode is Mode.STANDARD


def has_nothing_to_download(subject: Subject, part: Part) -> bool:  # noqa: ARG001 - the signature of a condition
    """Whether a part names no model in storage."""
    stored = part.model is not None and (part.model.get("storage") or {}).get("path") is not None
    return not stored and storage_uri(part) is None and not part.spec.get("storageUris")


_OF_PREDICTOR = "the agent takes it from the predictor's logger, for all components"
_SET_ON_PREDICTOR = "set it in spec.predictor.logger"
_BESIDES = (TRANSFORMER, EXPLAINER)

UNUSED: tuple[Unused, ...] = (
    Unused((EXPLAINER,), ("batcher",), "the pods of explainers have no batcher", "remove it"),
    Unused((PREDICTOR, TRANSFORMER), ("batcher", "timeout"), "batches wait for maxLatency at most", "set maxLatency"),
    Unused(
        ROLES, ("scaleMetricType",), "no autoscaler reads it", "give the metric a target type in autoScaling.metrics"
    ),
    Unused(
        (PREDICTOR,),
        ("containerConcurrency",),
        "in Standard mode nothing limits the requests to a predictor",
        "limit them in the model server, or scale on them",
        in_standard_mode,
    ),
    Unused(
        (PREDICTOR,),
        ("storageContainerName",),
        "there is nothing to download",
        "name a model in storage",
        has_nothing_to_download,
    ),
    Unused((PREDICTOR,), ("model", "storage", "schemaPath"), "only ModelMesh reads schemas of models", "remove it"),
    Unused(
        (EXPLAINER,), ("art", "storage"), "an explainer's model is named by art.storageUri alone", "set art.storageUri"
    ),
    Unused(_BESIDES, ("logger", "storage"), _OF_PREDICTOR, _SET_ON_PREDICTOR),
    Unused(_BESIDES, ("logger", "marshallerUrl"), _OF_PREDICTOR, _SET_ON_PREDICTOR),
    Unused(_BESIDES, ("logger", "batchSize"), _OF_PREDICTOR, _SET_ON_PREDICTOR),
    Unused(_BESIDES, ("logger", "batchInterval"), _OF_PREDICTOR, _SET_ON_PREDICTOR),
)

CANARY_UNUSED: Mapping[str, str] = {
    "batcher": "the Service of a canary leads past the agent, which would batch",
    "canaryTrafficPercent": "the canary's trafficPercent counts",
    "containerConcurrency": "in Standard mode nothing limits the requests to a predictor",
    "deploymentStrategy": "Deployments of canaries roll out by the default strategy",
    "logger": "the Service of a canary leads past the agent, which would log",
    "scaleMetricType": "no autoscaler reads it",
    "timeout": "routes take the stable predictor's",
}
"""Fields of a canary's predictor that nothing honours. KServe: components/predictor.go, reconcileCanaryDeployments."""

BY_FIELD: Mapping[str, tuple[Unused, ...]] = {
    str(name): tuple(u for u in UNUSED if u.field[0] == name) for name in dict.fromkeys(u.field[0] for u in UNUSED)
}


def check_unused(subject: Subject) -> Iterator[Diagnostic]:
    """Warn of what the user wrote and nothing reads."""
    for part in subject.parts:
        for name in part.spec:
            for unused in BY_FIELD.get(name, ()):
                if part.role in unused.roles and is_unused(subject, part, unused):
                    yield _finding(subject, (*part.path, *unused.field), unused.reason, unused.help)
    for canary in canaries_of(subject.value.get("spec") or {}):
        for name in canary.spec:
            if name in CANARY_UNUSED:
                yield _finding(subject, (*canary.path, name), CANARY_UNUSED[name], "remove it")
    if subject.source.moved:
        yield from _check_discarded_model(subject)


def is_unused(subject: Subject, part: Part, unused: Unused) -> bool:
    """Whether a field is written that nothing reads."""
    return lookup(part.spec, unused.field) is not None and (unused.when is None or unused.when(subject, part))


def _finding(subject: Subject, path: Path, reason: str, help_text: str) -> Diagnostic:
    shown = field_path(subject.source.written(path))
    return subject.finding(NO_EFFECT, f"{shown} has no effect: {reason}", path, help_text)


def _check_discarded_model(subject: Subject) -> Iterator[Diagnostic]:
    """A `model` beside a framework: KServe puts the framework in its place."""
    written = subject.source.written(MODEL_PATH)
    if lookup(subject.original, MODEL_PATH) is None or written == MODEL_PATH:
        return
    framework = written[-1]
    finding = subject.finding(
        NO_EFFECT,
        f"{field_path(MODEL_PATH)} has no effect: {framework} takes its place",
        MODEL_PATH,
        f"keep one of model and {framework}",
    )
    yield evolve(finding, span=subject.source.document.span(MODEL_PATH))
