"""Environments: from a project and the name of one of its environments to the rendered tree.

Everything that other commands do with an environment (check, diff, explain...) starts from what this makes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from kservec.api import Target, compile_files
from kservec.core.additions import Additions
from kservec.core.diagnostics import has_errors
from kservec.core.records import evolve, fresh, record
from kservec.core.text.source import Limits
from kservec.gitops.layout import planned_file, planned_tree, stream
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.io.workspace import Workspace, platform_files, source_files

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kservec.core.diagnostics import Diagnostic, ObjectRef
    from kservec.gitops.rendered import Rendered
    from kservec.io.reading import File
    from kservec.project.settings import Settings

TREE = "tree"


@record
class Rendering:
    """One environment, rendered in memory.

    `output` is the folder of its tree. `objects` are what is in it, in their total order; `diagnostics` are the
    findings in the order of the input, whose errors mean that there is nothing to write, and `texts` what they point
    into. `sources` are the files that were compiled, `urls` where the services are reached.
    """

    settings: Settings
    output: Path
    sources: tuple[File, ...] = ()
    objects: tuple[Rendered, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    texts: Mapping[str, str] = fresh(factory=dict)
    urls: Mapping[ObjectRef, str] = fresh(factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there is something to write."""
        return not has_errors(self.diagnostics)

    @property
    def tree(self) -> dict[str, bytes]:
        """Every file of the tree by its path below `output`."""
        return (planned_tree if self.settings.layout == TREE else planned_file)(self.objects)

    @property
    def yaml(self) -> str:
        """What is to be applied as one stream of documents, without the objects for Argo CD and Flux themselves."""
        return stream(o for o in self.objects if o.place.split("/")[0] != GITOPS_FOLDER)


Stage: TypeAlias = "Callable[[Rendering, Workspace], Rendering]"


def patch(rendering: Rendering, workspace: Workspace) -> Rendering:
    """Lay the patches of the environment over its objects.

    Raises:
        OSError: a file of the patches cannot be read.
    """
    if not rendering.settings.patches:
        return rendering
    from kservec.io.patching import patched  # noqa: PLC0415 - loads what starts programs

    return patched(rendering, workspace)


STAGES: tuple[Stage, ...] = (patch,)
"""What is done with the compiled objects of an environment, one after the other, until one finds an error."""


def render(
    workspace: Workspace,
    name: str,
    *,
    limits: Limits | None = None,
    each: Callable[[int, int], None] = lambda done, total: None,  # noqa: ARG005
) -> Rendering:
    """Render one environment in memory.

    Args:
        workspace: the project.
        name: the environment, one of the project's.
        limits: what a file may hold.
        each: told how many of how many services are done.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    settings, limits = workspace.environments[name], limits or Limits()
    sources = source_files(workspace, settings, limits.max_bytes)
    compilation = compile_files(sources, target=target_of(workspace, settings, limits), each=each)
    rendering = Rendering(
        settings=settings,
        output=workspace.at(settings.output),
        sources=sources,
        objects=compilation.objects,
        diagnostics=compilation.diagnostics,
        texts=compilation.sources,
        urls=compilation.urls,
    )
    for stage in STAGES:
        rendering = stage(rendering, workspace) if rendering.ok else rendering
    return rendering


def target_of(workspace: Workspace, settings: Settings, limits: Limits) -> Target:
    """The cluster of an environment.

    Raises:
        OSError: a path of the project does not exist or cannot be read.
    """
    return evolve(
        Target(),
        platform=platform_files(workspace, settings, limits.max_bytes),
        catalog=settings.catalog,
        absent=settings.absent,
        limits=limits,
        names_revisions=settings.names_revisions,
        additions=additions_of(settings),
    )


def additions_of(settings: Settings) -> Additions:
    """What an environment wants of its objects beyond what KServe makes."""
    return Additions(image_rewrites=settings.image_rewrites, pod_security=settings.pod_security)
