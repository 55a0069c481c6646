"""The paths of a project: below its folder, and each output a folder of its own.

A tree that holds another one, or sources, would be replaced together with what is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.text.source import Document
    from kservec.core.tree import Path
    from kservec.project.settings import Settings
    from kservec.spec.project import Options, Project

OUTSIDE = Code(
    "project/path-outside",
    Severity.ERROR,
    "a path of a project that leads out of its folder",
    "All paths of a project are below the folder of kservec.yaml, so that a checkout is all that a build needs.",
)
IN_GIT = Code(
    "project/path-in-git",
    Severity.ERROR,
    "a path of a project that leads into git's own folder",
    "What is in a folder called .git is git's: its hooks are programs that git runs, and nothing in it is committed. "
    "kservec neither reads nor writes there.",
)
OVERLAP = Code(
    "project/output-overlaps",
    Severity.ERROR,
    "an output folder that is not a folder of its own",
    "Each environment is rendered into a folder that holds nothing else: neither sources nor the tree of another "
    "environment. Put {env} into `output`.",
)
BAD_NAME = Code(
    "project/environment-name",
    Severity.ERROR,
    "a name that an environment cannot have",
    "Environments are named on the command line, in paths and in labels: lower-case letters, digits and dashes.",
)

is_name = re.compile(r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?").fullmatch
LISTS = ("sources", "platform", "include")
SINGLE = ("overlay", "patches", "output")


def path_findings(project: Project, document: Document, environments: Mapping[str, Settings]) -> Iterator[Diagnostic]:
    """What is wrong with the paths of a project and the names of its environments."""
    places = [(path, at) for path, at in all_paths(project) if leads_out(path)]
    for path, at in places:
        hint = "name a path below the folder of kservec.yaml, with slashes and without .."
        yield Diagnostic(code=OUTSIDE, message=f"{path} leads out of the project", span=document.span(at), help=hint)
    inside = [(path, at) for path, at in all_paths(project) if leads_into_git(path)]
    for path, at in inside:
        hint = "name a folder outside .git"
        yield Diagnostic(code=IN_GIT, message=f"{path} leads into .git", span=document.span(at), help=hint)
    for name in project.environments:
        if not is_name(name):
            span = document.key_span(("environments", name))
            hint = "use lower-case letters, digits and dashes, 63 at most"
            yield Diagnostic(code=BAD_NAME, message=f"{name!r} names no environment", span=span, help=hint)
    if not places and not inside:
        yield from overlaps(environments, document)


def all_paths(project: Project) -> Iterator[tuple[str, Path]]:
    """Every path of a project, and where it stands."""
    yield from paths_in(project, ())
    for name, environment in project.environments.items():
        if environment is not None:
            yield from paths_in(environment, ("environments", name))


def paths_in(options: Options, at: Path) -> Iterator[tuple[str, Path]]:
    """The paths of a project, or of one environment."""
    for key in LISTS:
        for i, path in enumerate(getattr(options, key, ())):
            yield path, (*at, key, i)
    for key in SINGLE:
        if (path := getattr(options, key, None)) is not None:
            yield path, (*at, key)
    for i, path in enumerate(options.upgrade.platform if options.upgrade is not None else ()):
        yield path, (*at, "upgrade", "platform", i)


def leads_out(path: str) -> bool:
    """Whether a path is not surely below the folder that it is relative to."""
    return (
        path.startswith(("/", "~")) or "\\" in path or ".." in path.split("/") or ":" in path.split("/", maxsplit=1)[0]
    )


def leads_into_git(path: str) -> bool:
    """Whether a path has a step that is git's folder, on disks that know no case too."""
    return ".git" in (step.rstrip(". ").lower() for step in path.replace("\\", "/").split("/"))


def overlaps(environments: Mapping[str, Settings], document: Document) -> Iterator[Diagnostic]:
    """Errors about output folders that hold each other, or what is compiled."""
    for name, settings in environments.items():
        span = output_span(name, document)
        inputs = [("the project itself", "."), *((f"the input {path}", path) for path in inputs_of(settings))]
        others = [(f"the output of {other}", s.output) for other, s in environments.items() if other != name]
        for what, path in inputs:
            if is_below(path, settings.output):
                message = f"the output of {name}, {settings.output}, holds {what}"
                yield Diagnostic(code=OVERLAP, message=message, span=span, help="render into a folder of its own")
        for what, path in others:
            if is_below(path, settings.output):
                message = f"the output of {name}, {settings.output}, holds {what}"
                yield Diagnostic(code=OVERLAP, message=message, span=span, help="put {env} into output")


def inputs_of(settings: Settings) -> tuple[str, ...]:
    """Every path that an environment reads."""
    single = [path for path in (settings.overlay, settings.patches) if path]
    coming = settings.upgrade.platform if settings.upgrade is not None else ()
    return (*settings.sources, *settings.platform, *coming, *settings.include, *single)


def generated_folder(settings: Settings) -> str:
    """The folder of rendered trees: the first step of an output, or all of it where something is read below that."""
    steps = parts(settings.output)
    is_shared = any(is_below(path, steps[0]) for path in inputs_of(settings))
    return "/".join(steps) if is_shared else steps[0]


def output_span(name: str, document: Document) -> Span:
    """Where the output of an environment is written."""
    own = ("environments", name, "output")
    return document.span(own if lookup(document.value, own) is not None else ("output",))


def is_below(path: str, folder: str) -> bool:
    """Whether a path is a folder, or something in it."""
    steps, above = parts(path), parts(folder)
    return steps[: len(above)] == above


def parts(path: str) -> list[str]:
    """The steps of a path."""
    return [step for step in path.split("/") if step not in ("", ".")]
