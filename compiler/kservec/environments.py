"""Environments: from a project and the name of one of its environments to the rendered tree.

Everything that other commands do with an environment (check, diff, explain...) starts from what this makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kservec.api import Target, Upgrade, compile_files, compiled_front, parsed, shown_sources
from kservec.compilation import in_order
from kservec.core.diagnostics import Diagnostic, has_errors
from kservec.core.records import evolve, fresh, record
from kservec.core.text.source import Limits
from kservec.documents.absent import UNKNOWN_ABSENT
from kservec.documents.entries import ref_of
from kservec.gitops.layout import planned_files, stream
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.io.named_paths import nothing_compiled, path_faults
from kservec.io.packaged import packaged_schemas
from kservec.io.workspace import Workspace, files_at, source_files
from kservec.judging import judge
from kservec.project.gitops import gitops_span
from kservec.workshop import alone

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path as Folder

    from kservec.api import Compilation
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.share import Share
    from kservec.core.staging import Staged
    from kservec.core.text.document import Document
    from kservec.core.tree import Path
    from kservec.frontend import Front
    from kservec.gitops.delivery import Remark
    from kservec.gitops.rendered import Rendered
    from kservec.io.reading import File
    from kservec.overlays.tracing import OverlaidDocument
    from kservec.policy.units import Judge
    from kservec.policy.waivers import Excuse
    from kservec.project.settings import Settings
    from kservec.workshop import Crew, Witness


@record
class Rendering:
    """One environment, rendered in memory.

    `output` is the folder of its tree. `objects` are what is in it, in their total order; `diagnostics` are the
    findings in the order of the input, whose errors mean that there is nothing to write, and `texts` what they point
    into. `sources` are the files that were compiled, `urls` where the services are reached. `judge` is what the objects
    are held against, `excuses` what became of the waivers. `share` is the part that was compiled, None for all.
    `staged` are the services that were compiled for what comes next, None without an upgrade. `steps` are the findings
    as they were when all was compiled, and after each stage that was done. `spoiled` are the objects that patches would
    have made something of which no cluster takes, each with the error that tells of it. `included` and `traced` are the
    documents of objects that were included, and of those that patches changed or added.
    """

    settings: Settings
    output: Folder
    sources: tuple[File, ...] = ()
    objects: tuple[Rendered, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: Mapping[str, str] = fresh(factory=dict)
    urls: Mapping[ObjectRef, str] = fresh(factory=dict)
    judge: Judge | None = None
    excuses: tuple[Excuse, ...] = ()
    share: Share | None = None
    staged: Staged | None = None
    steps: tuple[tuple[Diagnostic, ...], ...] = ()
    spoiled: tuple[tuple[ObjectRef, Diagnostic], ...] = ()
    included: tuple[tuple[ObjectRef, Document], ...] = ()
    traced: tuple[tuple[ObjectRef, OverlaidDocument], ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is something to write."""
        return not has_errors(self.diagnostics)

    @property
    def tree(self) -> dict[str, bytes]:
        """Every file of the tree by its path below `output`."""
        return planned_files(self.objects, self.settings.layout)

    @property
    def yaml(self) -> str:
        """What is to be applied as one stream of documents, without the objects for Argo CD and Flux themselves."""
        return stream(o for o in self.objects if o.place.split("/")[0] != GITOPS_FOLDER)


Stage: TypeAlias = "Callable[[Rendering, Workspace], Rendering]"


def deliver(rendering: Rendering, workspace: Workspace) -> Rendering:
    """Make a tree ready for Argo CD or Flux, if the project names one of them."""
    if rendering.settings.gitops.tool == "none":
        return rendering
    from kservec.gitops.delivery import delivered, noted_objects  # noqa: PLC0415 - not all projects have one of them

    if rendering.share is not None:
        return evolve(rendering, objects=noted_objects(rendering.objects, rendering.settings))
    objects, remarks = delivered(rendering.objects, rendering.settings)
    return evolve(
        rendering, objects=objects, diagnostics=(*rendering.diagnostics, *told(remarks, rendering, workspace))
    )


def told(remarks: Iterable[Remark], rendering: Rendering, workspace: Workspace) -> Iterator[Diagnostic]:
    """What is remarked on the settings for Argo CD or Flux, as findings about the project's file."""
    document, name = workspace.project.document, rendering.settings.name
    for r in remarks:
        span = gitops_span(document, name, *r.setting)
        yield Diagnostic(code=r.code, message=r.message, span=span, help=r.remedy)


def joined(rendering: Rendering, others: Iterable[Rendered], workspace: Workspace) -> Rendering:
    """The whole tree: a part that was rendered, and the objects of all other parts."""
    from kservec.gitops.delivery import with_tools  # noqa: PLC0415 - only for parts

    known = {o.ref: o for o in others} | {o.ref: o for o in rendering.objects}
    objects = tuple(known[ref] for ref in sorted(known))
    if rendering.settings.gitops.tool == "none" or not objects:
        return evolve(rendering, objects=objects, share=None)
    made, remarks = with_tools(objects, rendering.settings)
    found = (*rendering.diagnostics, *told(remarks, rendering, workspace))
    return evolve(rendering, objects=made, diagnostics=found, share=None)


def include(rendering: Rendering, workspace: Workspace) -> Rendering:
    """Render plain manifests as they are, beside what was compiled. Of those that are sources as well nothing was said.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    settings, limits = rendering.settings, Limits()
    files = files_at(workspace, settings.include, limits.max_bytes)
    if not files:
        return rendering
    from kservec.gitops.inclusion import SPOKEN_OF, included  # noqa: PLC0415 - most projects include nothing

    documents, found = parsed(files, limits)
    if (share := rendering.share) is not None:
        documents = [d for d in documents if share.holds(ref_of(d, packaged_schemas()).namespace)]
    made = included(documents, rendering.objects, packaged_schemas(), settings.namespaces)
    names = {file.name for file in files}
    said = [d for d in rendering.diagnostics if d.code not in SPOKEN_OF or d.span is None or d.span.file not in names]
    found += made.diagnostics
    return evolve(
        rendering,
        objects=tuple(sorted((*rendering.objects, *made.objects), key=lambda rendered: rendered.ref)),
        diagnostics=in_order((*said, *found)),
        texts={**rendering.texts, **shown_sources(found, files)},
        included=made.documents,
    )


def patch(rendering: Rendering, workspace: Workspace) -> Rendering:
    """Lay the patches of the environment over its objects.

    Raises:
        OSError: a file of the patches cannot be read.
    """
    if not rendering.settings.patches:
        return rendering
    from kservec.io.patching import patched  # noqa: PLC0415 - loads what starts programs

    return patched(rendering, workspace)


STAGES: tuple[Stage, ...] = (include, patch, judge, deliver)
"""What is done with the compiled objects of an environment, one after the other, until one finds an error."""


def is_patched(rendering: Rendering, ref: ObjectRef) -> bool:
    """Whether it is known what the patches make of an object, whatever a later stage found.

    Where they spoil another one, what they make of the sound ones is there all the same.
    """
    done = STAGES.index(patch) + 1
    if len(rendering.steps) <= done:
        return False
    return not has_errors(rendering.steps[done]) or any(rendered.ref == ref for rendered in rendering.objects)


def is_complete(rendering: Rendering) -> bool:
    """Whether it is known which objects there are beside those of services: included, or added by patches."""
    done = STAGES.index(patch) + 1
    return len(rendering.steps) > done and (not has_errors(rendering.steps[done]) or bool(rendering.objects))


def render(  # noqa: PLR0913 - all but the two that matter are given by name
    workspace: Workspace,
    name: str,
    *,
    limits: Limits | None = None,
    crew: Crew = alone,
    share: Share | None = None,
    witness: Witness | None = None,
) -> Rendering:
    """Render one environment in memory.

    Args:
        workspace: the project.
        name: the environment, one of the project's.
        limits: what a file may hold.
        crew: does the work.
        share: the part of the services that is compiled, None for all of them.
        witness: handed each compiled service with its trees, by a crew of this process.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    settings, limits = workspace.environments[name], limits or Limits()
    if faults := tuple(path_faults(workspace, name)):
        return evolve(stopped(workspace, name, faults[0]), diagnostics=faults)
    sources = source_files(workspace, settings, limits.max_bytes)
    target = evolve(target_of(workspace, settings, limits), share=share)
    compiled = rendering_of(workspace, settings, (sources, target), crew, witness)
    return after_stages(with_progress(compiled, workspace), workspace, STAGES)


def after_stages(rendering: Rendering, workspace: Workspace, stages: Sequence[Stage]) -> Rendering:
    """An environment after stages, one after the other, until one finds an error.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    rendering = evolve(rendering, steps=(rendering.diagnostics,))
    for stage in stages:
        if not rendering.ok:
            break
        done = stage(rendering, workspace)
        rendering = evolve(done, steps=(*done.steps, done.diagnostics))
    return rendering


def rendering_of(
    workspace: Workspace,
    settings: Settings,
    inputs: tuple[tuple[File, ...], Target],
    crew: Crew = alone,
    witness: Witness | None = None,
) -> Rendering:
    """What is compiled of an environment, before any stage.

    Args:
        workspace: the project.
        settings: the environment.
        inputs: its sources, and its cluster.
        crew: does the work.
        witness: handed each compiled service with its trees, by a crew of this process.
    """
    sources, target = inputs
    compilation = compile_files(sources, target=target, crew=crew, witness=witness)
    return unstaged(workspace, settings, sources, compilation, target.share)


def render_front(
    workspace: Workspace, settings: Settings, inputs: tuple[Sequence[File], Target], crew: Crew
) -> tuple[Front, Rendering]:
    """An environment, rendered in memory from what was read of it, and what its passes started from.

    Args:
        workspace: the project.
        settings: the environment.
        inputs: its sources, and its cluster.
        crew: does the work.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    sources, target = inputs
    front, compilation = compiled_front(sources, target=target, crew=crew)
    compiled = unstaged(workspace, settings, sources, compilation, target.share)
    return front, after_stages(with_progress(compiled, workspace), workspace, STAGES)


def unstaged(
    workspace: Workspace, settings: Settings, sources: Sequence[File], compilation: Compilation, share: Share | None
) -> Rendering:
    """An environment as it was compiled, before any stage."""
    return Rendering(
        settings=settings,
        output=workspace.at(settings.output),
        sources=tuple(sources),
        objects=compilation.objects,
        diagnostics=said_of(compilation, workspace, settings.name, share),
        texts=compilation.sources,
        urls=compilation.urls,
        judge=compilation.result.judge,
        share=share,
        staged=compilation.result.staged,
    )


def with_progress(rendering: Rendering, workspace: Workspace) -> Rendering:
    """An environment with what there is to say about how far its upgrade has come."""
    upgrade, staged = rendering.settings.upgrade, rendering.staged
    if upgrade is None or staged is None or rendering.share is not None:
        return rendering
    from kservec.project.upgrade import upgrade_findings  # noqa: PLC0415 - most projects have no upgrade under way

    said = upgrade_findings(upgrade, staged, workspace.project.document)
    return evolve(rendering, diagnostics=(*rendering.diagnostics, *said))


def stopped(workspace: Workspace, name: str, reason: Diagnostic) -> Rendering:
    """An environment that is not rendered, and why."""
    settings = workspace.environments[name]
    return Rendering(settings=settings, output=workspace.at(settings.output), diagnostics=(reason,))


def said_of(compilation: Compilation, workspace: Workspace, name: str, share: Share | None) -> tuple[Diagnostic, ...]:
    """What was found in an environment; what is about the project's own settings is located in its file."""
    places = absent_places(workspace, name)
    found = tuple(placed(d, places) for d in compilation.diagnostics)
    if compilation.ok and not compilation.objects and share is None:
        found = (*found, nothing_compiled(workspace))
    return found


def absent_places(workspace: Workspace, name: str) -> dict[str, Span]:
    """Where each kind is written that a project says is absent, by the name as findings have it."""
    model, document = workspace.project.model, workspace.project.document
    own = model.environments.get(name)
    given: list[tuple[str, Path]] = [(kind, ("absent", i)) for i, kind in enumerate(model.absent)]
    given += [(kind, ("environments", name, "absent", i)) for i, kind in enumerate(own.absent if own else ())]
    return {kind: document.span(at) for kind, at in given}


def placed(found: Diagnostic, places: Mapping[str, Span]) -> Diagnostic:
    """A finding about a kind that is said to be absent, at its place."""
    if found.code is not UNKNOWN_ABSENT or found.span is not None:
        return found
    span = next((s for kind, s in places.items() if found.message.endswith(repr(kind)) or not kind.strip()), None)
    return evolve(found, span=span)


def together(workspace: Workspace, renderings: Sequence[Rendering]) -> list[Rendering]:
    """Environments with what is wrong with them side by side: objects that two of them would both apply."""
    if len(renderings) < 2:
        return list(renderings)
    from kservec.gitops.twins import Tree, cluster_of, twin_findings  # noqa: PLC0415 - not for a single environment

    trees = [Tree(r.settings.name, cluster_of(r.settings.gitops), r.objects) for r in renderings]
    found = list(twin_findings(trees, workspace.project.document))
    return [
        evolve(r, diagnostics=(*r.diagnostics, *(d for name, d in found if name == r.settings.name)))
        for r in renderings
    ]


def target_of(workspace: Workspace, settings: Settings, limits: Limits) -> Target:
    """The cluster of an environment, which will have what the environment includes.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    return evolve(
        Target(),
        platform=(
            *files_at(workspace, settings.include, limits.max_bytes),
            *files_at(workspace, settings.platform, limits.max_bytes),
        ),
        catalog=settings.catalog,
        profile=settings.kserve,
        absent=settings.absent,
        limits=limits,
        names_revisions=settings.names_revisions,
        additions=evolve(settings.additions, policy=settings.policy, lock=workspace.lock),
        upgrade=upgrade_of(workspace, settings, limits),
    )


def upgrade_of(workspace: Workspace, settings: Settings, limits: Limits) -> Upgrade | None:
    """What some of the services of an environment are compiled for instead; None where there are none.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    coming = settings.upgrade
    if coming is None or not coming.only:
        return None
    files = files_at(workspace, coming.platform, limits.max_bytes)
    return Upgrade(profile=coming.kserve, platform=files, only=coming.only)
