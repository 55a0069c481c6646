"""Judging: the stage of an environment in which its objects are held against the project's policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.api import parsed, shown_sources
from kservec.compilation import in_order
from kservec.core.diagnostics import Span
from kservec.core.lock import LOCK_FILE
from kservec.core.records import evolve
from kservec.core.text.source import Limits
from kservec.documents.entries import ref_of
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import shown_name
from kservec.io.workspace import files_at
from kservec.policy.judging import graded
from kservec.policy.verdicts import verdicts

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.core.text.document import Document
    from kservec.environments import Rendering
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace


def judge(rendering: Rendering, workspace: Workspace) -> Rendering:
    """An environment with what its policy finds, and what became of the waivers.

    The project's own document says where its waivers are.
    """
    if rendering.judge is None:
        return rendering
    project, (files, documents) = workspace.project.document, plain_documents(rendering, workspace)
    found = verdicts(rendering.judge, rendering.objects, lambda waiver: project.span(waiver.at), documents)
    stale = graded(stale_lock(workspace), [rendering.judge.policy], worst=None)
    placed = (placed_in_patches(d, rendering, workspace) for d in found.diagnostics)
    diagnostics = in_order((*rendering.diagnostics, *placed, *stale))
    texts = {**rendering.texts, **shown_sources(found.diagnostics, files)}
    return evolve(rendering, diagnostics=diagnostics, excuses=found.excuses, texts=texts)


def placed_in_patches(finding: Diagnostic, rendering: Rendering, workspace: Workspace) -> Diagnostic:
    """A finding that is nowhere in the input is due to the patches of the environment."""
    patches = rendering.settings.patches
    if finding.span is not None or not patches:
        return finding
    return evolve(finding, span=Span(shown_name(workspace.at(patches))))


def plain_documents(rendering: Rendering, workspace: Workspace) -> tuple[tuple[File, ...], dict[ObjectRef, Document]]:
    """The manifests that are rendered as they are: their files, and the document of each object.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    limits = Limits()
    files = files_at(workspace, rendering.settings.include, limits.max_bytes)
    documents, _ = parsed(files, limits)
    schemas = packaged_schemas()
    return files, {ref_of(document, schemas): document for document in documents}


def stale_lock(workspace: Workspace) -> tuple[Diagnostic, ...]:
    """The warning that the lock file is of another version, if there is one and it is."""
    if workspace.lock is None:
        return ()
    from kservec.io.packaged import packaged_versions  # noqa: PLC0415 - many projects have no lock
    from kservec.project.lock import outdated  # noqa: PLC0415 - as above

    return outdated(workspace.lock, packaged_versions(workspace.kserve), shown_name(workspace.at(LOCK_FILE)))
