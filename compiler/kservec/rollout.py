"""Rollouts: the service of a project that is meant, the steps of its canary, and the files that a step changes.

What this makes is written by whoever asked for it. A rollout is in git: each step is an edit of a spec.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.api import front_of, parsed
from kservec.core.diagnostics import ObjectRef, Reject
from kservec.core.knative.revisions import API_VERSION, KIND, last_stable
from kservec.core.text.source import Limits
from kservec.core.unit import Mode
from kservec.edits import knative_canary, standard_canary
from kservec.edits.changes import changed
from kservec.edits.nodes import NotEditableError
from kservec.edits.pins import refusal
from kservec.edits.service import BYTE_ORDER_MARK, service_in
from kservec.environments import target_of
from kservec.gitops.layout import INDEX
from kservec.io.reading import read_tree
from kservec.io.workspace import source_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.core.unit import Unit
    from kservec.edits.changes import Change
    from kservec.edits.service import Service
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace

SERVICE = "InferenceService"
REVISED = b"serving.knative.dev/v1"


class Rollout(NamedTuple):
    """A service to be rolled out: where it is written, its mode, and the environments that have it."""

    file: File
    service: Service
    mode: Mode
    environments: tuple[str, ...]


class Wanted(NamedTuple):
    """What a new version changes, by the names of the options, and how the canary is called and begins."""

    pins: Mapping[str, str]
    percent: int = 0
    name: str = ""


def units_of(workspace: Workspace, environment: str) -> list[tuple[Unit, File]]:
    """The InferenceServices of an environment, and the files that they are written in.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
        Reject: the specs are not as they should be.
    """
    settings, limits = workspace.environments[environment], Limits()
    files = source_files(workspace, settings, limits.max_bytes)
    front, compilation = front_of(files, target=target_of(workspace, settings, limits))
    if not compilation.ok:
        raise Reject(*(d for d in compilation.diagnostics if d.is_error))
    by_name = {file.name: file for file in files}
    services = [unit for unit in front.units if unit.ref.kind == SERVICE]
    return [(unit, by_name[unit.source.document.file]) for unit in services]


def rollouts(workspace: Workspace, names: Iterable[str]) -> list[Rollout]:
    """Every service of the given environments that can be rolled out.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
        Reject: a file cannot be edited.
    """
    found: dict[tuple[ObjectRef, str], tuple[Unit, File, list[str]]] = {}
    for environment in names:
        for unit, file in units_of(workspace, environment):
            found.setdefault((unit.ref, file.name), (unit, file, []))[2].append(environment)
    return [
        Rollout(file, service_in(text_in(file), unit.source.document, unit.ref), unit.mode, tuple(where))
        for unit, file, where in found.values()
    ]


def text_in(file: File) -> str:
    """The text of a file as it is, its byte order mark included."""
    return file.content.decode()


def start(rollout: Rollout, wanted: Wanted, stable: str) -> list[Change]:
    """The changes that start a canary.

    Raises:
        Reject: it cannot be started.
    """
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


def stable_revision(workspace: Workspace, rollout: Rollout) -> str:
    """The revision that serves all traffic now, by the rendered trees of all environments that have the service.

    Raises:
        OSError: a tree cannot be read.
        Reject: there is no tree, the service is new, or the environments differ.
    """
    service = rollout.service
    place = service.span("metadata", "name")
    names = {name: revision_in(workspace, name, service) for name in rollout.environments}
    for name, revision in names.items():
        if not revision:
            hint = f"build and apply {service.name} as it is first: kservec build {name}"
            raise refusal(f"the tree of {name} has no revision of {service.name} by name", place, hint)
    if len(set(names.values())) > 1:
        shown = ", ".join(f"{name} runs {revision}" for name, revision in names.items())
        hint = "a spec that several environments share can name one revision only; name the environment with --env"
        raise refusal(f"environments differ in the stable revision of {service.name}: {shown}", place, hint)
    return next(iter(names.values()))


def revision_in(workspace: Workspace, environment: str, service: Service) -> str:
    """The stable revision of a service's predictor in the tree of an environment; empty if there is none.

    Raises:
        OSError: the tree cannot be read.
    """
    folder = workspace.at(workspace.environments[environment].output)
    if not (folder / INDEX).is_file():
        return ""
    limits = Limits()
    documents, _ = parsed(read_tree(folder, REVISED, limits.max_bytes), limits)
    wanted = ObjectRef(API_VERSION, KIND, service.ref.namespace, f"{service.name}-predictor")
    for document in documents:
        metadata = document.value.get("metadata") or {}
        made = (
            document.value.get("apiVersion"),
            document.value.get("kind"),
            metadata.get("namespace"),
            metadata.get("name"),
        )
        if made == wanted:
            return last_stable(document.value)
    return ""
