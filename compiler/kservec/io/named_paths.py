"""The paths that a project names: whether they are there, hold something, and stay inside of the project.

Decides what is said of them, at their places in the project file. Must not know what is read from them.
"""

from __future__ import annotations

import os
from pathlib import Path as Folder
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest
from kservec.gitops.layout import INDEX
from kservec.io.reading import LED_OUT, UNREADABLE, entries_below, is_within
from kservec.io.repository import repository_top
from kservec.project.gitops import gitops_span
from kservec.project.paths import LISTS, paths_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import Span
    from kservec.io.workspace import Workspace
    from kservec.project.settings import Settings

NOT_FOUND = Code(
    "project/path-not-found",
    Severity.ERROR,
    "a path of a project that is not there",
    "A path of kservec.yaml names no file and no folder. Paths are relative to the folder of kservec.yaml.",
)
EMPTY = Code(
    "project/path-empty",
    Severity.ERROR,
    "a path of a project that holds nothing to read",
    "A path of kservec.yaml names a folder without any YAML or JSON file. Sources may be empty: their last service may "
    "have been removed.",
)
NOTHING = Code(
    "project/nothing-to-compile",
    Severity.WARNING,
    "sources of a project without any service",
    "No object comes of the sources of an environment: they hold no service, or only kservec's own documents.",
)

ELSEWHERE = Code(
    "gitops/path-from-top",
    Severity.WARNING,
    "a rendered tree that Argo CD or Flux would look for elsewhere",
    "The folder of kservec.yaml is not the top of its repository, and `gitops.path` counts from there. Without it the "
    "tools look for the tree where `output` would be at the top.",
)

SOURCES = "sources"
RELATIVE = "paths are relative to the folder of kservec.yaml"


def path_faults(workspace: Workspace, name: str) -> Iterator[Diagnostic]:
    """Errors about the paths that one environment reads, each where it is written."""
    model, document = workspace.project.model, workspace.project.document
    own = model.environments.get(name)
    places = list(paths_in(model, ()))
    if own is not None:
        places += paths_in(own, ("environments", name))
    root = os.path.realpath(workspace.root)
    for path, at in places:
        if any(step in LISTS for step in at):
            faults = faults_of(path, workspace.at(path), root, document.span(at))
            yield from (d for d in faults if SOURCES not in at or d.code is not EMPTY)


def faults_of(path: str, place: Folder, root: str, span: Span) -> Iterator[Diagnostic]:
    """What is wrong with one path of a project, whose folder really is `root`."""
    if not os.path.lexists(place):
        yield Diagnostic(code=NOT_FOUND, message=f"there is no {path}", span=span, help=meant(place))
    elif not is_within(os.path.realpath(place), root):
        message = f"{path} leads out of the project by a link"
        yield Diagnostic(code=LED_OUT, message=message, span=span, help="name what is in the project, or copy it there")
    elif not place.exists():
        message = f"{path} is a link that leads nowhere"
        yield Diagnostic(code=NOT_FOUND, message=message, span=span, help="mend or remove the link")
    elif not (place.is_dir() or place.is_file()):
        message = f"{path} is no file and no folder"
        yield Diagnostic(code=NOT_FOUND, message=message, span=span, help="name a file or a folder")
    elif not os.access(place, os.R_OK):
        yield Diagnostic(code=UNREADABLE, message=f"cannot read {path}", span=span, help="make it readable")
    elif place.is_dir() and next(entries_below(place), None) is None:
        tree = (place / INDEX).exists()
        what = "is a tree that kservec wrote" if tree else "holds no YAML or JSON file"
        hint = "name the folder of the specs" if tree else "put one there, or leave the path out"
        yield Diagnostic(code=NOT_FOUND if tree else EMPTY, message=f"{path} {what}", span=span, help=hint)


def meant(place: Folder, otherwise: str = RELATIVE) -> str:
    """What to write instead of a path that is not there: one of its neighbours, if any is called nearly so."""
    while not place.parent.exists():
        place = place.parent
    try:
        siblings = [each.name for each in place.parent.iterdir()]
    except OSError:
        siblings = []
    near = closest(place.name, sorted(siblings))
    return f"did you mean {near}?" if near else otherwise


def nothing_compiled(workspace: Workspace) -> Diagnostic:
    """The warning that no service is among the sources."""
    span = workspace.project.document.span(("sources",))
    hint = "name the files or folders of the services"
    return Diagnostic(code=NOTHING, message="there is no service in the sources", span=span, help=hint)


def misplaced(workspace: Workspace, settings: Settings) -> Iterator[Diagnostic]:
    """A warning where the tree of an environment lies deeper in its repository than Argo CD or Flux are told."""
    model, gitops = workspace.project.model, settings.gitops
    own = model.environments.get(settings.name) or model
    if gitops.tool == "none" or gitops.is_artifact or own.gitops.path or model.gitops.path:
        return
    root = Folder(workspace.real_root)
    below = root.relative_to(repository_top(root)).as_posix()
    if below != ".":
        path = f"{below}/{getattr(own, 'output', None) or model.output}"
        message = f"Argo CD and Flux count paths from the top of the repository, and this project is in {below}"
        span = gitops_span(workspace.project.document, settings.name, "tool")
        yield Diagnostic(code=ELSEWHERE, message=message, span=span, help=f"add gitops.path: {path}")
