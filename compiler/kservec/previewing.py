"""Previewing: what an environment would be with another version of KServe, or with more of a platform.

Nothing is written, and nothing has to be committed: the environment is rendered twice from what is on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.api import Upgrade, parsed
from kservec.api import front_of as read_front
from kservec.compare.objects import Side, owners_in
from kservec.compare.report import Comparison, compared
from kservec.compare.upgrade import Place, Preview, causes_of
from kservec.compare.values import Item
from kservec.comparisons import comparison_of
from kservec.compilation import step_of
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity, Span, has_errors
from kservec.core.records import evolve, record
from kservec.core.text.source import Limits
from kservec.documents.entries import ref_of
from kservec.environments import Rendering, after_stages, deliver, include, patch, rendering_of, target_of
from kservec.explain.values import one
from kservec.frontend import READERS, describes_cluster
from kservec.gitops.layout import INDEX
from kservec.io.packaged import packaged_schemas
from kservec.io.workspace import files_at, source_files
from kservec.judging import judge
from kservec.spec.selection import ANY, Selection

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.api import Target
    from kservec.committed import Base
    from kservec.compare.objects import Changed
    from kservec.compare.values import Difference
    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Path
    from kservec.core.unit import Unit
    from kservec.frontend import Front
    from kservec.io.reading import File
    from kservec.io.workspace import Workspace
    from kservec.project.settings import Settings
    from kservec.project.upgrade import UpgradeSettings

ON_DISK = "on disk"
"""Where the old tree comes from: it was built from what is on disk."""
EVERYTHING = (Selection(ANY),)
MOST_ATTEMPTS = 5
BEFORE_DELIVERY = (include, patch)
MOST_NAMED = 3

NO_PLATFORM = Code(
    "upgrade/no-platform",
    Severity.ERROR,
    "files over the platform that say nothing of a cluster",
    "Of a path of `kservec diff --platform` no document is read: none describes a cluster, so nothing could change. "
    "docs/platform.md lists the kinds that are read. Most often the path is another one than was meant, or all of a "
    "file is commented out.",
)
UNDER_WAY = Code(
    "upgrade/under-way",
    Severity.ERROR,
    "another upgrade is under way",
    "`kservec diff --profile` and `--platform` show what an upgrade does to services as they are. Where kservec.yaml "
    "has an upgrade that some services have already, these would seem to lose it. Let all services have that one, and "
    "make it what holds, before you look at the next.",
)


@record
class Wanted:
    """What is to be looked at: another version of KServe, files over the platform, and the services that get them.

    Where neither a version nor files are given it is the upgrade of the project, for more services.
    """

    profile: str = ""
    platform: Sequence[File] = ()
    paths: Sequence[str] = ()
    only: Sequence[Selection] = ()

    @property
    def is_new(self) -> bool:
        """Whether it is another upgrade than the project's."""
        return bool(self.profile or self.platform)


def undescribed(path: str, files: Sequence[File]) -> Iterator[Diagnostic]:
    """The error about files over the platform of which nothing is read. Of broken ones their parser has more to say.

    Args:
        path: what the files were found by.
        files: the files.
    """
    documents, found = parsed(files, Limits())
    refs = [ref_of(document, packaged_schemas()) for document in documents]
    if has_errors(found) or any(describes_cluster(ref, packaged_schemas()) for ref in refs):
        return
    named = ", ".join(str(ref) if ref.kind else "what is no object" for ref in refs[:MOST_NAMED])
    rest = len(refs) - MOST_NAMED
    inside = f"; there is {named}" + (f" and {rest:,} more" if rest > 0 else "") if refs else ""
    yield Diagnostic(
        code=NO_PLATFORM,
        message=f"no document of --platform {path} describes a cluster{inside}",
        span=documents[0].span(("kind",)) if documents else Span(files[0].name),
        help="name files of runtimes, of KServe's configuration, or with a Cluster document",
    )


def preview(workspace: Workspace, before: Rendering, wanted: Wanted, base: Base | None) -> Preview | Rendering:
    """What an upgrade would do to an environment; a rendering whose errors keep it from being told.

    Args:
        workspace: the project.
        before: the environment as it is.
        wanted: the upgrade.
        base: the commit that the outcome is compared with; None for what is on disk.

    Raises:
        GitError: git cannot tell.
        Reject: sources of the commit have errors, or another upgrade is under way.
        OSError: a path of the project cannot be read.
    """
    settings, limits = before.settings, Limits()
    target = target_of(workspace, settings, limits)
    target = evolve(target, upgrade=upgrade_for(workspace, settings, wanted))
    sources = source_files(workspace, settings, limits.max_bytes)
    after, target, refused = attempted(workspace, settings, sources, target)
    if not after.ok:
        return after
    judged = judge(after, workspace)
    new = [d for d in judged.diagnostics if d not in before.diagnostics]
    after = deliver(evolve(after, diagnostics=()), workspace)
    comparison = comparison_with(base, workspace, before, after)
    old, _ = read_front(sources, target=target_of(workspace, settings, limits))
    later, _ = read_front(sources, target=target)
    return Preview(
        to=words_of(wanted, settings),
        comparison=comparison,
        causes=causes_of(comparison, Tracer(old, later).place),
        by_hand=(*refused, *(d for d in new if d.is_error)),
        warnings=tuple(d for d in new if d.code.severity is Severity.WARNING),
        staged=after.staged,
    )


def upgrade_for(workspace: Workspace, settings: Settings, wanted: Wanted) -> Upgrade:
    """The upgrade that is meant: a new one, or the project's for more services.

    Raises:
        Reject: it is a new one, and another one is under way: nobody could tell what services that have it should get.
        OSError: a path of the project cannot be read.
    """
    only, coming = tuple(wanted.only), settings.upgrade
    new = Upgrade(profile=wanted.profile or settings.kserve, platform=wanted.platform, only=only or EVERYTHING)
    if coming is None:
        return new
    own = Upgrade(profile=coming.kserve, platform=files_at(workspace, coming.platform, Limits().max_bytes))
    if not wanted.is_new or brings(own) == brings(new):
        return evolve(own, only=(*coming.only, *only) if only else EVERYTHING)
    if coming.only:
        raise Reject(under_way(workspace, settings.name, coming))
    return new


def brings(upgrade: Upgrade) -> tuple[str, list[bytes]]:
    """What an upgrade brings to whoever has it: a version of KServe, and what the files over the platform say."""
    return upgrade.profile, [file.content for file in upgrade.platform]


def under_way(workspace: Workspace, name: str, coming: UpgradeSettings) -> Diagnostic:
    """The error about another upgrade than the one that some services of an environment have."""
    return Diagnostic(
        code=UNDER_WAY,
        message=f"some services of {name} have this upgrade already, so another one cannot be foreseen",
        span=workspace.project.document.key_span(coming.at),
        help="--only shows more of this one; look at another one in other environments, or when all have this one",
    )


def words_of(wanted: Wanted, settings: Settings) -> str:
    """What comes next, in words."""
    coming = settings.upgrade
    if wanted.is_new or coming is None:
        profile, paths = wanted.profile, wanted.paths
    else:
        profile, paths = coming.kserve if coming.kserve != settings.kserve else "", coming.platform
    parts = [f"KServe {profile} instead of {settings.kserve}" if profile else "", " and ".join(paths)]
    named = ", ".join(selection.text for selection in wanted.only)
    return ", ".join(part for part in parts if part) + (f", for {named}" if named else "")


def attempted(
    workspace: Workspace, settings: Settings, sources: tuple[File, ...], target: Target
) -> tuple[Rendering, Target, tuple[Diagnostic, ...]]:
    """An environment with an upgrade for all services that can have it, and the errors of those that cannot."""
    refused: dict[Diagnostic, None] = {}
    for _ in range(MOST_ATTEMPTS):
        compiled = rendering_of(workspace, settings, (sources, target))
        rendering = after_stages(compiled, workspace, BEFORE_DELIVERY)
        errors = [d for d in rendering.diagnostics if d.is_error]
        stuck = frozenset(d.subject for d in errors if d.subject is not None and d.subject.kind in READERS)
        assert target.upgrade is not None
        if not errors or not stuck - target.upgrade.but:
            break
        refused |= dict.fromkeys(errors)
        target = evolve(target, upgrade=evolve(target.upgrade, but=target.upgrade.but | stuck))
    return rendering, target, tuple(refused)


def comparison_with(base: Base | None, workspace: Workspace, before: Rendering, after: Rendering) -> Comparison:
    """What changes: against a commit, or against what a build of what is on disk makes.

    Raises:
        GitError, Reject, OSError: as `comparison_of`.
    """
    if base is not None:
        return comparison_of(base, workspace, after)
    old, new = before.tree, after.tree
    gone = {path: content for path, content in old.items() if new.get(path) != content}
    made = {path: content for path, content in new.items() if old.get(path) != content}
    sides = Side(gone, owners_in(old[INDEX], gone)), Side(made, owners_in(new[INDEX], made))
    settings = after.settings
    return compared(Comparison(settings.name, settings.output, ON_DISK), *sides, after.objects)


class Tracer:
    """Where values of changed objects come from; a service that is asked for is compiled once."""

    def __init__(self, before: Front, after: Front) -> None:
        self.fronts = (before, after)
        self.units: dict[tuple[int, ObjectRef], Unit | None] = {}

    def place(self, change: Changed, difference: Difference) -> Place:
        """Where a value comes from: the new one, or the old one where it goes."""
        path = path_of(difference)
        for side in (1, 0):
            found = self.traced(side, change, path)
            if found is not None:
                return found
        return Place("")

    def traced(self, side: int, change: Changed, path: Path) -> Place | None:
        """Where the value at a path of one side comes from; None if nothing is there."""
        unit = self.unit(side, change.owner)
        made = next((m for m in unit.bundle.manifests if m.ref == change.ref), None) if unit is not None else None
        if made is None:
            return None
        value = made.body.get(*path)
        if value is None:
            return None
        told = one(made.body, path, value)
        return Place(told.layer, told.span)

    def unit(self, side: int, owner: str) -> Unit | None:
        """The service that an owner names, compiled."""
        front = self.fronts[side]
        named = (unit.ref for unit in front.units if f"{unit.namespace}/{unit.ref.kind}/{unit.name}" == owner)
        ref = next(named, None)
        if ref is None:
            return None
        if (side, ref) not in self.units:
            step = step_of(front, ref)
            self.units[side, ref] = step.unit if step is not None else None
        return self.units[side, ref]


def path_of(difference: Difference) -> Path:
    """The path of a field that differs, up to a text that holds JSON."""
    steps: list[str | int] = []
    for step in difference.place:
        if isinstance(step, Item):
            steps.append(step.key)
        elif isinstance(step, (str, int)):
            steps.append(step)
        else:
            break
    return tuple(steps)
