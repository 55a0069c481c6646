"""Comparing environments with a commit: the committed tree, else a build of its sources, against a build of today's."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kservec.committed import changed_inputs, checked_out, committed_tree, differing, located
from kservec.compare.affected import Reach, Unit, affected_units, is_unit, owned_paths
from kservec.compare.inputs import Described, altered, documents_of, updates_of
from kservec.compare.objects import Side, owners_in
from kservec.compare.report import ABSENT, COMMITTED, REBUILT, Comparison, compared
from kservec.compare.updates import refused_updates
from kservec.core.diagnostics import Diagnostic, Reject
from kservec.core.lock import LOCK_FILE
from kservec.core.text.source import Limits
from kservec.environments import render
from kservec.gitops.layout import INDEX
from kservec.io.git import GitError
from kservec.io.overlay_files import read_closure
from kservec.io.overlaying import files_of, named_at
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import read_files
from kservec.io.tree_writer import content_of
from kservec.io.workspace import files_at, source_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.committed import Base
    from kservec.compare.affected import Name
    from kservec.compare.inputs import Altered
    from kservec.environments import Rendering
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace
    from kservec.project.settings import Settings


def comparison_of(base: Base, workspace: Workspace, rendering: Rendering) -> Comparison:
    """What is different in an environment that a build was made of.

    Raises:
        GitError: git cannot tell.
        Reject: the sources of the commit have to be built, and have errors.
        OSError: a file cannot be read, or a temporary one cannot be written.
    """
    settings, after = rendering.settings, rendering.tree
    old = base.environments.get(settings.name)
    blobs = committed_tree(base, old) if old is not None else None
    if blobs is not None:
        before, new = differing(base, blobs, after)
        index = base.repository.contents([blobs[INDEX].identity])[blobs[INDEX].identity]
        origin = COMMITTED
    else:
        tree = rebuilt(base, settings.name) if old is not None else {}
        before = {path: content for path, content in tree.items() if after.get(path) != content}
        new = {path: content for path, content in after.items() if tree.get(path) != content}
        index, origin = tree.get(INDEX, b""), REBUILT if old is not None else ABSENT
    sides = Side(*listed(before, index)), Side(new, owners_in(after[INDEX], new))
    comparison = Comparison(settings.name, settings.output, origin)
    updates = update_findings(base, workspace, rendering) if old is not None else ()
    return compared(comparison, *sides, rendering.objects, updates)


def listed(files: Mapping[str, bytes], index: bytes) -> tuple[dict[str, bytes], dict[str, str]]:
    """The files of an old tree that its index lists, and their owners; others are not the compiler's."""
    owners = owners_in(index, files)
    return {path: content for path, content in files.items() if path in owners or path == INDEX}, owners


def removed(base: Base, settings: Settings) -> Comparison | None:
    """What goes with an environment that there is no more; None if it had no tree.

    Raises:
        GitError: git cannot tell.
    """
    blobs = committed_tree(base, settings)
    if blobs is None:
        return None
    before, _ = differing(base, blobs, {})
    files, owners = listed(before, before[INDEX])
    comparison = Comparison(settings.name, settings.output, COMMITTED, gone=True)
    return compared(comparison, Side(files, owners), Side({}, {}), ())


def rebuilt(base: Base, name: str) -> dict[str, bytes]:
    """The tree that a commit's sources lead to.

    Raises:
        GitError: git cannot tell.
        Reject: they have errors.
        OSError: they do not exist, or a temporary file cannot be written.
    """
    with checked_out(base, Limits()) as workspace:
        if workspace is None:
            raise GitError(f"the project at {base.shown} cannot be built", "compare with a commit that has its trees")
        rendering = render(workspace, name)
        if not rendering.ok:
            raise Reject(*(d for d in located(rendering, workspace.root, base) if d.is_error))
        return rendering.tree


def update_findings(base: Base, workspace: Workspace, rendering: Rendering) -> tuple[Diagnostic, ...]:
    """What KServe would refuse in the updates of an environment's documents.

    Raises:
        GitError: git cannot tell.
        OSError: a file cannot be read, or a temporary one cannot be written.
    """
    before, after = inputs(base, workspace, rendering.settings, Limits())
    pairs = altered(before, after, packaged_schemas())
    return tuple(sorted(refused_updates(updates_of(pairs)), key=lambda found: found.sort_key))


def inputs(
    base: Base, workspace: Workspace, settings: Settings, limits: Limits
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files that an environment is made of and that are not as they were, before and after.

    Those of an overlay are what comes of it: the old ones are made anew.

    Raises:
        GitError: git cannot tell.
        OSError: a file cannot be read, or a temporary one cannot be written.
    """
    described = changed_inputs(
        base, workspace, settings.platform, files_at(workspace, settings.platform, limits.max_bytes)
    )
    current = source_files(workspace, settings, limits.max_bytes)
    old = base.environments.get(settings.name)
    if old is None or not (settings.overlay or old.overlay):
        before, after = changed_inputs(base, workspace, settings.sources, current)
        return {**described[0], **before}, {**described[1], **after}
    with checked_out(base, limits) as then:
        overlaid = by_name(source_files(then, old, limits.max_bytes), then) if then is not None else {}
    return {**described[0], **overlaid}, {**described[1], **by_name(current, workspace)}


def by_name(files: Iterable[File], workspace: Workspace) -> dict[str, bytes]:
    """The contents of files by their names, below the project's folder where they are in it."""
    lead = "" if workspace.root == Path() else f"{workspace.root.as_posix()}/"
    return {file.name.removeprefix(lead): file.content for file in files if file.finding is None}


def reach(base: Base, workspace: Workspace, name: str) -> Reach | None:
    """What the files concern that changed since a commit, in one environment; None if nothing.

    Raises:
        GitError: git cannot tell.
        OSError: a file cannot be read, or a temporary one cannot be written.
    """
    limits, settings = Limits(), workspace.environments[name]
    before, after = inputs(base, workspace, settings, limits)
    current = source_files(workspace, settings, limits.max_bytes)
    pairs = altered(before, after, packaged_schemas())
    others = further_files(base, workspace, settings)
    old = base.environments.get(name)
    whole = bool(others) or old != settings
    if not pairs and not whole:
        return None
    known = units_in(current, pairs)
    units = affected_units(pairs, known)
    if whole:
        because = others or (workspace.file.name,)
        units = tuple(Unit(known[unit].ref, because) for unit in sorted(known))
    index = content_of(workspace.at(settings.output) / INDEX) or b""
    files = owned_paths(index.decode(errors="replace"), (unit.owner for unit in units))
    return Reach(name, settings.output, units, files, whole)


def units_in(current: Iterable[File], pairs: Iterable[Altered]) -> dict[Name, Described]:
    """All services of an environment, and those that it had."""
    files = ((f.name, f.content) for f in current if f.finding is None)
    gone = [Described(pair.ref, pair.before) for pair in pairs if pair.before is not None]
    found = (*gone, *documents_of(files, packaged_schemas()).values())
    return {described.ref[1:]: described for described in found if is_unit(described.ref)}


def further_files(base: Base, workspace: Workspace, settings: Settings) -> tuple[str, ...]:
    """The changed files among those that an environment is made of besides its documents."""
    coming = settings.upgrade.platform if settings.upgrade is not None else ()
    paths = (*settings.include, *coming, LOCK_FILE)
    existing = workspace.below(path for path in paths if workspace.at(path).exists())
    files = [file for path in existing for file in read_files([path], Limits().max_bytes)]
    if settings.patches:
        named = named_at(workspace, settings.name, "patches")
        closure, _ = read_closure(workspace.root, settings.patches, named, Limits(), workspace.pending)
        paths = (*paths, settings.patches, *closure.contents)
        files += files_of(workspace.root, closure)
    before, after = changed_inputs(base, workspace, paths, files)
    return tuple(sorted({**before, **after}))
