"""What a commit holds of a project: its project file, the trees of its environments, and what they were made from."""

from __future__ import annotations

import posixpath
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.records import evolve, record
from kservec.core.text.file_names import is_yaml_or_json
from kservec.gitops.layout import INDEX
from kservec.io.git import LINK, GitError, blob_id, repository_of
from kservec.io.interrupts import temporary_folder
from kservec.io.workspace import Workspace, open_workspace
from kservec.project.reading import PROJECT_FILE, read_project

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.core.text.source import Limits
    from kservec.environments import Rendering
    from kservec.io.git import Blob, Repository
    from kservec.io.reading import File
    from kservec.project.settings import Settings

PROJECT_UNREADABLE = Code(
    "change/project-unreadable",
    Severity.WARNING,
    "a committed project file that cannot be used",
    "The kservec.yaml of the commit that is compared with has errors, or was written for another version of kservec. "
    "The trees are looked for where today's kservec.yaml has them.",
)
SHORT = 12


@record
class Base:
    """The commit that a project is compared with.

    `prefix`: the project's folder in the repository, with a slash. `shown`: what the user called the commit.
    `environments`: those of the commit's own project file, none if it has no project.
    """

    repository: Repository
    commit: str
    shown: str
    environments: Mapping[str, Settings]
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def short(self) -> str:
        """The commit's id, in short."""
        return self.commit[:SHORT]

    def place(self, path: str) -> str:
        """Where a path of the project is in the repository."""
        return posixpath.normpath(posixpath.join(self.repository.prefix, path))

    def files(self, paths: Iterable[str]) -> dict[str, Blob]:
        """The committed files at and below paths of the project, by their paths in the project.

        Raises:
            GitError: git cannot tell.
        """
        places = [self.place(path) for path in paths]
        found = self.repository.files(self.commit, *places) if places else {}
        prefix = self.repository.prefix
        return {path.removeprefix(prefix): blob for path, blob in found.items() if path.startswith(prefix)}


def base_of(workspace: Workspace, ref: str, *, exact: bool) -> Base:
    """The commit that a project is compared with: where HEAD left the history of a ref, or the ref itself.

    Raises:
        GitError: the project is in no repository, the ref leads to no commit, or there is no common history.
    """
    repository = repository_of(workspace.root)
    commit = repository.commit(ref)
    if not exact:
        commit = repository.merge_base(commit, ref)
    found = Base(repository=repository, commit=commit, shown=ref, environments={})
    file = found.files([PROJECT_FILE]).get(PROJECT_FILE)
    if file is None:
        return found
    project, wrong = read_project(repository.contents([file.identity])[file.identity], f"{ref}:{PROJECT_FILE}")
    if project is not None:
        return evolve(found, environments=project.environments)
    return evolve(found, environments=workspace.environments, diagnostics=(unusable(ref, wrong),))


def unusable(ref: str, wrong: Sequence[Diagnostic]) -> Diagnostic:
    """The warning about a committed project file."""
    message = f"{PROJECT_FILE} at {ref} cannot be used: {wrong[0].message}"
    hint = "today's kservec.yaml says where the trees are"
    return Diagnostic(code=PROJECT_UNREADABLE, message=message, span=wrong[0].span or Span(PROJECT_FILE), help=hint)


def committed_tree(base: Base, settings: Settings) -> dict[str, Blob] | None:
    """The committed tree of an environment by the paths below its output; None if none was committed.

    Raises:
        GitError: git cannot tell.
    """
    folder = f"{posixpath.normpath(settings.output)}/"
    files = {path.removeprefix(folder): blob for path, blob in base.files([settings.output]).items()}
    return files if INDEX in files else None


def differing(
    base: Base, before: Mapping[str, Blob], after: Mapping[str, bytes]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files in which a committed tree and a planned one differ, with their contents on both sides.

    Files are told apart by the ids that git gives their contents, so that only those that differ are read.

    Raises:
        GitError: an object is not in this clone.
    """
    new = {path: content for path, content in after.items() if not is_blob(content, before.get(path))}
    old = {path: blob for path, blob in before.items() if blob.is_regular and (path in new or path not in after)}
    contents = base.repository.contents(blob.identity for blob in old.values())
    return {path: contents[blob.identity] for path, blob in old.items()}, new


def is_blob(content: bytes, blob: Blob | None) -> bool:
    """Whether a file of a commit has this content."""
    return blob is not None and blob.is_regular and blob_id(content, blob.identity) == blob.identity


def changed_inputs(
    base: Base, workspace: Workspace, paths: Sequence[str], current: Iterable[File]
) -> tuple[dict[str, bytes], dict[str, bytes]]:
    """The files at and below paths of the project that are not as they were, with their contents before and after.

    Args:
        base: the commit.
        workspace: the project.
        paths: what is looked at, files and folders of the project.
        current: the files that are there now.

    Raises:
        GitError: git cannot tell.
    """
    root = workspace.root.as_posix()
    now = {posixpath.relpath(file.name, root): file.content for file in current if file.finding is None}
    then = {path: blob for path, blob in base.files(paths).items() if blob.is_regular}
    hidden = hidden_among(then, paths)
    after = {path: content for path, content in now.items() if not is_blob(content, then.get(path))}
    gone = {path: blob for path, blob in then.items() if path in after or (path not in now and path not in hidden)}
    contents = base.repository.contents(blob.identity for blob in gone.values())
    return {path: contents[blob.identity] for path, blob in gone.items()}, after


def hidden_among(files: Iterable[str], paths: Sequence[str]) -> frozenset[str]:
    """The files that are no input though they are below a path: hidden ones, rendered trees, other file types."""
    names = list(files)
    trees = {path.removesuffix(INDEX) for path in names if path.rpartition("/")[2] == INDEX}
    named = {posixpath.normpath(path) for path in paths}
    return frozenset(path for path in names if path not in named and not is_input(path, trees))


def is_input(path: str, trees: Iterable[str]) -> bool:
    """Whether a file of a folder is read as an input."""
    steps = PurePosixPath(path).parts
    is_hidden = any(step.startswith(".") for step in steps)
    return is_yaml_or_json(path) and not is_hidden and not path.startswith(tuple(trees)) and path != PROJECT_FILE


@contextmanager
def checked_out(base: Base, limits: Limits) -> Iterator[Workspace | None]:
    """The project as it was, in a folder of its own for as long as it is needed; None if it cannot be used.

    Raises:
        GitError: git cannot tell.
        OSError: the folder cannot be written.
    """
    outputs = [f"{posixpath.normpath(s.output)}/" for s in base.environments.values()]
    blobs = {p: b for p, b in base.files(["."]).items() if not p.startswith(tuple(outputs))}
    contents = {path: content for path, content in texts(base, blobs).items() if len(content) <= limits.max_bytes}
    with temporary_folder() as folder:
        for path, content in contents.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(content)
        yield open_workspace(folder / PROJECT_FILE, limits.max_bytes).workspace


def texts(base: Base, blobs: Mapping[str, Blob]) -> dict[str, bytes]:
    """The contents of files; a link has that of the file that it leads to, if that is among them.

    Raises:
        GitError: an object is not in this clone.
    """
    contents = base.repository.contents(b.identity for b in blobs.values() if b.is_regular or b.mode == LINK)
    found = {path: contents[blob.identity] for path, blob in blobs.items() if blob.is_regular}
    for path, blob in blobs.items():
        if blob.mode == LINK:
            target = posixpath.join(posixpath.dirname(path), contents[blob.identity].decode(errors="replace"))
            if (content := found.get(posixpath.normpath(target))) is not None:
                found[path] = content
    return found


def located(rendering: Rendering, root: Path, base: Base) -> tuple[Diagnostic, ...]:
    """The findings of a build of a commit, in files of that commit."""
    old, new = f"{root.as_posix()}/", f"{base.shown}:"
    found = (evolve(d, message=d.message.replace(old, new), related=()) for d in rendering.diagnostics)
    return tuple(
        evolve(d, span=d.span._replace(file=d.span.file.replace(old, new, 1))) if d.span is not None else d
        for d in found
    )


__all__ = ["Base", "GitError", "base_of", "changed_inputs", "checked_out", "committed_tree", "differing", "located"]
