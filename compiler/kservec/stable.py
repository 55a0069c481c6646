"""The stable revision of a service: the one that an environment's committed tree names, and so a sync has made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.api import parsed
from kservec.committed import base_of, committed_tree
from kservec.core.diagnostics import ObjectRef
from kservec.core.knative.revisions import API_VERSION, KIND, REVISED, last_stable
from kservec.core.text.source import Limits
from kservec.edits.pins import refusal
from kservec.gitops.layout import INDEX
from kservec.io.git import GitError
from kservec.io.reading import File, read_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json
    from kservec.io.workspace import Workspace

HEAD = "HEAD"


def stable_revision(workspace: Workspace, refs: Mapping[str, ObjectRef], place: Span) -> str:
    """The revision that serves all traffic now, by the trees of all environments that have a service.

    Args:
        workspace: the project.
        refs: what the service is called in each environment.
        place: where it is written.

    Raises:
        OSError: a tree cannot be read.
        Reject: there is no tree, the service is new, a tree differs from its commit, or the environments differ.
    """
    names = {name: revision_in(workspace, name, ref, place) for name, ref in refs.items()}
    for name, revision in names.items():
        if not revision:
            hint = f"build, commit and apply {refs[name].name} as it is first: kservec build {name}"
            raise refusal(f"the tree of {name} has no revision of {refs[name].name} by name", place, hint)
    if len(set(names.values())) > 1:
        service = next(iter(refs.values())).name
        shown = ", ".join(f"{name} runs {revision}" for name, revision in names.items())
        hint = (
            "a spec that several environments share can name one revision only; start it in the overlay of one: "
            f"kservec canary start {service} --env {next(iter(refs))} ..."
        )
        raise refusal(f"environments differ in the stable revision of {service}: {shown}", place, hint)
    return next(iter(names.values()))


def revision_in(workspace: Workspace, environment: str, ref: ObjectRef, place: Span) -> str:
    """The stable revision of a service's predictor in the tree of an environment; empty if there is none.

    What is committed counts, since that is what is synced; where no tree is committed, the one on disk.

    Raises:
        OSError: the tree cannot be read.
        Reject: the tree on disk is not the committed one.
    """
    wanted = ObjectRef(API_VERSION, KIND, ref.namespace, f"{ref.name}-predictor")
    present = service_among(tree_files(workspace, environment), wanted)
    committed = committed_files(workspace, environment, ref.namespace)
    if committed is not None and service_among(committed, wanted) != present:
        output = workspace.environments[environment].output
        message = f"the tree of {environment} has another version of {ref.name} than the commit has"
        hint = f"commit {output} and let it sync, or restore it: git restore {output}"
        raise refusal(message, place, hint)
    return last_stable(present) if present is not None else ""


def service_among(files: Iterable[File], wanted: ObjectRef) -> Json | None:
    """The Knative Service of a name among files of a tree; None if there is none."""
    documents, _ = parsed(files, Limits())
    for document in documents:
        metadata = document.value.get("metadata") or {}
        kind = (document.value.get("apiVersion"), document.value.get("kind"))
        if (*kind, metadata.get("namespace"), metadata.get("name")) == wanted:
            return document.value
    return None


def tree_files(workspace: Workspace, environment: str) -> tuple[File, ...]:
    """The files of an environment's tree on disk that hold Knative Services; none without a tree.

    Raises:
        OSError: the tree cannot be read.
    """
    folder = workspace.at(workspace.environments[environment].output)
    return read_tree(folder, REVISED, Limits().max_bytes) if (folder / INDEX).is_file() else ()


def committed_files(workspace: Workspace, environment: str, namespace: str) -> list[File] | None:
    """The same of the commit that is checked out, for one namespace; None if no tree is committed."""
    try:
        base = base_of(workspace, HEAD, exact=True)
        settings = base.environments.get(environment)
        blobs = committed_tree(base, settings) if settings is not None else None
        if blobs is None:
            return None
        near = {p: b for p, b in blobs.items() if b.is_regular and ("/" not in p or p.startswith(f"{namespace}/"))}
        contents = base.repository.contents(blob.identity for blob in near.values())
    except GitError:
        return None
    held = ((path, contents[blob.identity]) for path, blob in sorted(near.items()))
    return [File(path, content) for path, content in held if REVISED in content]
