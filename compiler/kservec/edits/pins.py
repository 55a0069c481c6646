"""Pins: the fields of a predictor that say which version of a model it serves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.paths import lookup
from kservec.spec.inferenceservice import FRAMEWORKS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.edits.service import Service

REFUSED = Code(
    "edit/refused",
    Severity.ERROR,
    "a step of a canary or a promotion that cannot be made",
    "kservec edits specs only where the edit is sure to do what was meant and can be undone: it changes single values, "
    "adds entries and takes them away. What it cannot do this way is left to you.",
)

FIELDS: Mapping[str, Path] = {
    "model": ("storageUri",),
    "runtime": ("runtime",),
    "runtime_version": ("runtimeVersion",),
    "image": ("image",),
}
"""What a user may ask to change, and where it stands below the model."""
STORED: Path = ("storage", "path")
MODEL = "model"


def refusal(message: str, span: Span | None, remedy: str) -> Reject:
    """What to raise where a step cannot be made."""
    return Reject(Diagnostic(code=REFUSED, message=message, span=span, help=remedy))


def model_path(predictor: Json) -> Path:
    """Where the model of a predictor stands: `model`, or the name of a framework; empty if it has none."""
    for name in (MODEL, *FRAMEWORKS):
        if isinstance(predictor.get(name), dict):
            return (name,)
    return ()


def format_of(predictor: Json, at: Path) -> Json:
    """The format of a predictor's model, which a framework's own field says by its name."""
    model = predictor[at[0]]
    return model.get("modelFormat") if at == (MODEL,) else {"name": at[0]}


def pin_changes(predictor: Json, wanted: Mapping[str, str]) -> Iterator[tuple[Path, str]]:
    """The fields of a predictor that are to be changed, by their paths below it, with their new values.

    A model that is named by a key of the storage Secret and a path keeps being named so.
    """
    at = model_path(predictor)
    for name, value in wanted.items():
        path = FIELDS[name]
        if name == MODEL and lookup(predictor, (*at, *STORED)) is not None and "://" not in value:
            path = STORED
        yield (*at, *path), value


def refuse_same(service: Service, wanted: Mapping[str, str]) -> None:
    """Refuse a new version that is the one that runs.

    Raises:
        Reject: the predictor has all wanted values already.
    """
    predictor = service.value["spec"]["predictor"]
    pins = list(pin_changes(predictor, wanted))
    if all(lookup(predictor, path) == value for path, value in pins):
        message = f"nothing differs: {service.name} has {', '.join(wanted.values())} already"
        raise refusal(message, service.span("spec", "predictor", *pins[0][0]), "name another version")
