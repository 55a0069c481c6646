"""Patches at the edge: a kustomization of the project is laid over what was rendered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.api import shown_sources
from kservec.compilation import in_order
from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve
from kservec.core.text.reading import Limits
from kservec.io.kustomize import KustomizeError, NoKustomizeError, build
from kservec.io.overlay_files import read_closure
from kservec.io.overlaying import failure, files_of, named_at
from kservec.io.packaged import packaged_schemas
from kservec.overlays.breaks import before_findings
from kservec.overlays.objects import gathered
from kservec.overlays.patching import Outcome, given, marked, outcome, patched_objects, subjects_of
from kservec.overlays.scopes import is_namespaced_by
from kservec.overlays.wrapper import staged_over

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.environments import Rendering
    from kservec.gitops.rendered import Rendered
    from kservec.io.workspace import Workspace
    from kservec.overlays.closure import Closure


def patched(rendering: Rendering, workspace: Workspace) -> Rendering:
    """A rendering with the patches of its environment laid over.

    Raises:
        OSError: a file that the patches refer to cannot be read.
    """
    settings = rendering.settings
    named = named_at(workspace, settings.name, "patches")
    closure, found = read_closure(workspace.root, settings.patches, named, Limits(), workspace.pending)
    made = Outcome((), found) if has_errors(found) else laid_over(closure, rendering.objects, named)
    found = (*found, *made.diagnostics) if not has_errors(found) else found
    files = files_of(workspace.root, closure)
    return evolve(
        rendering,
        objects=made.objects,
        spoiled=made.spoiled,
        traced=made.traced,
        diagnostics=in_order((*rendering.diagnostics, *found)),
        texts={**rendering.texts, **shown_sources(found, files)},
    )


def laid_over(closure: Closure, objects: Sequence[Rendered], named: Span) -> Outcome:
    """The objects with patches laid over, and what was found; none after an error."""
    schemas = packaged_schemas()
    subjects = subjects_of(objects)
    gathering = gathered(closure, is_namespaced_by(schemas), given(subjects))
    found: tuple[Diagnostic, ...] = tuple(before_findings(closure, gathering))
    if has_errors(found):
        return Outcome((), found)
    try:
        text = build(staged_over(closure, schemas, marked(subjects)))
    except (KustomizeError, NoKustomizeError) as error:
        return Outcome((), (*found, failure(error, closure, gathering, named)))
    made = outcome(patched_objects(text, subjects, gathering.objects, closure), schemas)
    return made._replace(diagnostics=(*found, *made.diagnostics))
