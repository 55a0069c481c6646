"""Environments: from a project and the name of one of its environments to the rendered tree.

Everything that other commands do with an environment (check, diff, explain...) starts from what this makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kservec.api import Target, compile_files, parsed, shown_sources
from kservec.compilation import in_order
from kservec.core.diagnostics import Diagnostic, has_errors
from kservec.core.records import evolve, fresh, record
from kservec.core.text.source import Limits
from kservec.documents.absent import UNKNOWN_ABSENT
from kservec.gitops.layout import planned_files, stream
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.io.named_paths import nothing_compiled, path_faults
from kservec.io.packaged import packaged_schemas
from kservec.io.workspace import Workspace, include_files, platform_files, source_files
from kservec.judging import judge
from kservec.project.gitops import gitops_span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path as Folder

    from kservec.api import Compilation
    from kservec.compilation import Witness
    from kservec.core.diagnostics import ObjectRef, Span
    from kservec.core.tree import Path
    from kservec.gitops.rendered import Rendered
    from kservec.io.reading import File
    from kservec.memory import Earlier
    from kservec.policy.units import Judge
    from kservec.policy.waivers import Excuse
    from kservec.project.settings import Settings


@record
class Rendering:
    """One environment, rendered in memory.

    `output` is the folder of its tree. `objects` are what is in it, in their total order; `diagnostics` are the
    findings in the order of the input, whose errors mean that there is nothing to write, and `texts` what they point
    into. `sources` are the files that were compiled, `urls` where the services are reached. `judge` is what the objects
    are held against, `excuses` what became of the waivers. `earlier` is what makes the next rendering fast, if it was
    asked for.
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
    earlier: Earlier | None = None

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
    from kservec.gitops.delivery import delivered  # noqa: PLC0415 - most projects have one of the tools, but not all

    objects, remarks = delivered(rendering.objects, rendering.settings)
    document, name = workspace.project.document, rendering.settings.name
    found = (
        Diagnostic(code=r.code, message=r.message, span=gitops_span(document, name, *r.setting), help=r.remedy)
        for r in remarks
    )
    return evolve(rendering, objects=objects, diagnostics=(*rendering.diagnostics, *found))


def include(rendering: Rendering, workspace: Workspace) -> Rendering:
    """Render plain manifests as they are, beside what was compiled. Of those that are sources as well nothing was said.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    settings, limits = rendering.settings, Limits()
    files = include_files(workspace, settings, limits.max_bytes)
    if not files:
        return rendering
    from kservec.gitops.inclusion import SPOKEN_OF, included  # noqa: PLC0415 - most projects include nothing

    documents, found = parsed(files, limits)
    made = included(documents, rendering.objects, packaged_schemas(), settings.namespaces)
    names = {file.name for file in files}
    said = [d for d in rendering.diagnostics if d.code not in SPOKEN_OF or d.span is None or d.span.file not in names]
    found += made.diagnostics
    return evolve(
        rendering,
        objects=tuple(sorted((*rendering.objects, *made.objects), key=lambda rendered: rendered.ref)),
        diagnostics=in_order((*said, *found)),
        texts={**rendering.texts, **shown_sources(found, files)},
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


def render(  # noqa: PLR0913 - what a rendering is told as it goes, and what it tells
    workspace: Workspace,
    name: str,
    *,
    limits: Limits | None = None,
    each: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
    witness: Witness = lambda unit, env: None,  # noqa: ARG005
    earlier: Earlier | None = None,
) -> Rendering:
    """Render one environment in memory.

    Args:
        workspace: the project.
        name: the environment, one of the project's.
        limits: what a file may hold.
        each: told how many of how many services are done.
        witness: handed each compiled service with its trees.
        earlier: what an earlier rendering holds for the next one; with an empty one this one does.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    settings, limits = workspace.environments[name], limits or Limits()
    if faults := tuple(path_faults(workspace, name)):
        return Rendering(settings=settings, output=workspace.at(settings.output), diagnostics=faults)
    sources = source_files(workspace, settings, limits.max_bytes)
    target = target_of(workspace, settings, limits)
    compilation = compile_files(sources, target=target, each=each, witness=witness, earlier=earlier)
    rendering = Rendering(
        settings=settings,
        output=workspace.at(settings.output),
        sources=sources,
        objects=compilation.objects,
        diagnostics=said_of(compilation, workspace, settings),
        texts=compilation.sources,
        urls=compilation.urls,
        judge=compilation.result.judge,
        earlier=compilation.result.earlier,
    )
    for stage in STAGES:
        rendering = stage(rendering, workspace) if rendering.ok else rendering
    return rendering


def said_of(compilation: Compilation, workspace: Workspace, settings: Settings) -> tuple[Diagnostic, ...]:
    """What was found in an environment; what is about the project's own settings is located in its file."""
    places = absent_places(workspace, settings.name)
    found = tuple(placed(d, places) for d in compilation.diagnostics)
    if compilation.ok and not compilation.objects:
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
            *include_files(workspace, settings, limits.max_bytes),
            *platform_files(workspace, settings, limits.max_bytes),
        ),
        catalog=settings.catalog,
        absent=settings.absent,
        limits=limits,
        names_revisions=settings.names_revisions,
        additions=evolve(settings.additions, policy=settings.policy, lock=workspace.lock),
    )
