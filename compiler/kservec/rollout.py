"""Rollouts: the service of a project that is meant, the steps of its canary, and the files that a step changes.

What this makes is written by whoever asked for it. A rollout is in git: each step is an edit of a spec.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.text.source import Limits
from kservec.core.unit import Mode
from kservec.edits import knative_canary, standard_canary
from kservec.edits.changes import Add, changed
from kservec.edits.nodes import NotEditableError
from kservec.edits.pins import refusal, refuse_same
from kservec.edits.service import BYTE_ORDER_MARK, Service, service_in
from kservec.io.reading import File, read_file
from kservec.overlay_edits import units_of
from kservec.overlays.tracing import OverlaidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.text.source import Document
    from kservec.core.unit import Unit
    from kservec.edits.changes import Change
    from kservec.io.workspace import Workspace

SERVICE = "InferenceService"


class Rollout(NamedTuple):
    """A service to be rolled out: where it is written, its mode, and what it is in each environment that has it."""

    file: File
    service: Service
    mode: Mode
    units: Mapping[str, Unit]

    @property
    def environments(self) -> tuple[str, ...]:
        """The environments that have the service."""
        return tuple(self.units)

    @property
    def refs(self) -> dict[str, ObjectRef]:
        """What the service is called in each environment."""
        return {name: unit.ref for name, unit in self.units.items()}


class Wanted(NamedTuple):
    """What a new version changes, by the names of the options, and how the canary is called and begins."""

    pins: Mapping[str, str]
    percent: int = 0
    name: str = ""


def rollouts(workspace: Workspace, names: Iterable[str]) -> list[Rollout]:
    """Every service of the given environments that can be rolled out. Overlays of one spec are one service.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
        Reject: a file cannot be edited.
    """
    found: dict[tuple[str, int, str], dict[str, Unit]] = {}
    for environment in names:
        for unit in units_of(workspace, environment):
            if unit.ref.kind == SERVICE:
                base = base_of(unit.source.document)
                key = (base.file, base.start, str(base.value["metadata"]["name"]))
                found.setdefault(key, {})[environment] = unit
    return [rollout_of(units) for units in found.values()]


def rollout_of(units: Mapping[str, Unit]) -> Rollout:
    """A service that is the same in several environments, but for their overlays.

    Raises:
        OSError: its file cannot be read.
        Reject: its file cannot be edited.
    """
    first = next(iter(units.values()))
    document = base_of(first.source.document)
    file = File(document.file, read_file(Path(document.file), Limits().max_bytes))
    return Rollout(file, service_in(text_in(file), document, first.ref), first.mode, units)


def base_of(document: Document) -> Document:
    """The document of a file that an overlaid one comes from."""
    return document.base if isinstance(document, OverlaidDocument) else document


def overlaid(rollout: Rollout, environment: str) -> Rollout:
    """A service as one environment compiles it."""
    unit = rollout.units[environment]
    document = unit.source.document
    service = Service(unit.ref, document, document.value, rollout.service.target)
    return Rollout(rollout.file, service, unit.mode, {environment: unit})


def text_in(file: File) -> str:
    """The text of a file as it is, its byte order mark included."""
    return file.content.decode()


def start(rollout: Rollout, wanted: Wanted, stable: str) -> list[Change]:
    """The changes that start a canary.

    Raises:
        Reject: it cannot be started.
    """
    refuse_same(rollout.service, wanted.pins)
    if rollout.mode is Mode.KNATIVE:
        return knative_canary.started(rollout.service, wanted.percent, wanted.pins, stable)
    return standard_canary.started(rollout.service, wanted.percent, wanted.pins, wanted.name)


def step(rollout: Rollout, percent: int, canary: str) -> list[Change]:
    """The changes that give a canary another share of the traffic.

    Raises:
        Reject: no such canary runs.
    """
    if rollout.mode is Mode.KNATIVE:
        return knative_canary.stepped(rollout.service, percent)
    return standard_canary.stepped(rollout.service, percent, canary)


def promote(rollout: Rollout, canary: str) -> list[Change]:
    """The changes that make a canary the stable version.

    Raises:
        Reject: no such canary runs, or it overrides what cannot be moved.
    """
    if rollout.mode is Mode.KNATIVE:
        return knative_canary.promoted(rollout.service)
    return standard_canary.promoted(rollout.service, canary)


def roll_back(rollout: Rollout, canary: str) -> list[Change]:
    """The changes that take a canary back.

    Raises:
        Reject: no such canary runs, or it cannot be taken back.
    """
    if rollout.mode is Mode.KNATIVE:
        return knative_canary.rolled_back(rollout.service)
    return standard_canary.rolled_back(rollout.service, canary)


def shares(rollout: Rollout) -> dict[str, int]:
    """The canaries of a service with their shares of the traffic; that of a Knative service has no name."""
    if rollout.mode is Mode.KNATIVE:
        percent = rollout.service.value["spec"]["predictor"].get("canaryTrafficPercent")
        return {} if percent is None else {"": percent}
    return standard_canary.running_in(rollout.service)


def edited(rollout: Rollout, changes: Sequence[Change]) -> bytes:
    """The content of the service's file after changes.

    Raises:
        Reject: a change cannot be made without touching anything else.
    """
    text = text_in(rollout.file)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) else ""
    try:
        return (mark + changed(text.removeprefix(mark), rollout.service.target, changes)).encode()
    except NotEditableError as error:
        message = f"{rollout.file.name} cannot be edited: {error.reason}"
        raise refusal(message, rollout.service.span(), "edit it by hand") from None


def refuse_overridden(rollout: Rollout, changes: Iterable[Change], command: str) -> None:
    """Refuse an edit of a spec that would have no effect, or another one, in an environment with an overlay.

    Raises:
        Reject: an overlay sets what is to be changed.
    """
    for environment, unit in rollout.units.items():
        document = unit.source.document
        if not isinstance(document, OverlaidDocument):
            continue
        for change in changes:
            written = document.written(change.path)
            if written is None if isinstance(change, Add) else written is not None and written.layer is None:
                continue
            field = ".".join(map(str, change.path))
            place = document.span(change.path)
            message = f"the overlay of {environment} sets {field} of {unit.ref.name}, so an edit of the base is in vain"
            hint = (
                f"kservec canary {command} {unit.ref.name} --env {environment} ... edits that overlay alone; or take "
            )
            raise refusal(message, place, f"{hint}the value out of it: kservec canary {command} {unit.ref.name} ...")
