"""Edits of the overlays of a project: what they reach, and what an environment compiles before and after an edit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.api import front_of, parsed
from kservec.core.diagnostics import Diagnostic, Reject, has_errors
from kservec.core.text.source import Limits
from kservec.edits.layered import Overlay
from kservec.edits.pins import REFUSED
from kservec.environments import target_of
from kservec.io.overlay_files import read_closure
from kservec.io.overlaying import named_at
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import read_files, shown_name
from kservec.io.workspace import as_edited, source_files
from kservec.overlays.objects import gathered, id_of
from kservec.overlays.scopes import is_namespaced_by

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from kservec.core.paths import Json
    from kservec.core.unit import Unit
    from kservec.io.workspace import Workspace
    from kservec.overlays.closure import Closure
    from kservec.overlays.objects import Id

ENDING = ".yaml"


def units_of(workspace: Workspace, environment: str) -> tuple[Unit, ...]:
    """What is compiled for an environment.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
        Reject: the specs are not as they should be.
    """
    settings, limits = workspace.environments[environment], Limits()
    files = source_files(workspace, settings, limits.max_bytes)
    front, compilation = front_of(files, target=target_of(workspace, settings, limits))
    if not compilation.ok:
        raise Reject(*(d for d in compilation.diagnostics if d.is_error))
    return front.units


def values_of(workspace: Workspace, environment: str) -> dict[Id, Json]:
    """Every object of an environment's specs as it is compiled.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    limits = Limits()
    documents, _ = parsed(source_files(workspace, workspace.environments[environment], limits.max_bytes), limits)
    return {called: d.value for d in documents if (called := id_of(d.value)) is not None}


def lead_of(workspace: Workspace) -> str:
    """What stands before the paths of the project where they are shown."""
    return shown_name(workspace.root / "x").removesuffix("x")


def closure_of(workspace: Workspace, environment: str) -> Closure:
    """What the overlay of an environment reaches.

    Raises:
        OSError: a file cannot be read.
        Reject: the overlay is not as it should be.
    """
    overlay = workspace.environments[environment].overlay
    named = named_at(workspace, environment, "overlay")
    closure, found = read_closure(workspace.root, overlay, named, Limits(), workspace.pending)
    if has_errors(found):
        raise Reject(*(d for d in found if d.is_error))
    return closure


def reached_by(workspace: Workspace, environment: str) -> frozenset[str]:
    """The paths in the project of the files that an environment compiles.

    Raises:
        OSError: a file cannot be read.
        Reject: its overlay is not as it should be.
    """
    settings = workspace.environments[environment]
    if settings.overlay:
        return frozenset(closure_of(workspace, environment).contents)
    files = read_files(workspace.below(settings.sources), Limits().max_bytes)
    edited = as_edited(workspace, settings.sources, files)
    return frozenset(file.name.removeprefix(lead_of(workspace)) for file in edited)


def overlay_of(workspace: Workspace, environment: str) -> Overlay:
    """The overlay of an environment as it can be edited.

    Raises:
        OSError: a file cannot be read.
        Reject: an overlay is not as it should be.
    """
    closure = closure_of(workspace, environment)
    others = [reached_by(workspace, name) for name in workspace.environments if name != environment]
    return Overlay(
        environment=environment,
        closure=closure,
        objects=gathered(closure, is_namespaced_by(packaged_schemas())).objects,
        own=frozenset(closure.contents).difference(*others),
        lead=lead_of(workspace),
    )


def in_the_way(workspace: Workspace, overlay: Overlay, contents: Iterable[str]) -> Iterator[Diagnostic]:
    """Errors about files that would be made, and are there without being named by the overlay."""
    for path in contents:
        if path not in overlay.closure.contents and workspace.at(path).exists():
            message = f"{overlay.lead}{path} is there, and {overlay.closure.first.path} does not name it"
            span = overlay.closure.first.span("patches")
            yield Diagnostic(code=REFUSED, message=message, span=span, help="name it, or remove it")


def unexpected(
    workspace: Workspace, overlay: Overlay, contents: Iterable[str], expected: Mapping[Id, Json]
) -> Iterator[Diagnostic]:
    """What an edit has changed beyond what was meant.

    Args:
        workspace: the project, edited.
        overlay: the overlay that was edited, as it was before.
        contents: the files that were edited.
        expected: what the environment should compile now.

    Raises:
        OSError: a file cannot be read.
        Reject: an overlay is not as it should be.
    """
    first, files = overlay.closure.first, set(contents)
    now = values_of(workspace, overlay.environment)
    for called in sorted(now.keys() | expected.keys()):
        if now.get(called) != expected.get(called):
            message = f"the edit would not make of {called} in {overlay.environment} what was meant, or change it, too"
            hint = "another patch, replacement or setting of the kustomization is in the way; edit it by hand"
            yield Diagnostic(code=REFUSED, message=message, span=first.span(), help=hint)
    for name in workspace.environments:
        if name != overlay.environment and (shared := sorted(files & reached_by(workspace, name))):
            message = f"environment {name} compiles {', '.join(shared)}, and would change, too"
            hint = "keep the folders of overlays out of what other environments compile"
            yield Diagnostic(code=REFUSED, message=message, span=first.span(), help=hint)
