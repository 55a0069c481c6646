"""Trees that leave the repository of their specs: for a branch of their own, or as an OCI artifact."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import click

from kservec.cli.places import refuse_overlap
from kservec.gitops.hydration import Commit, hydrated

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from kservec.cli.selection import Selection
    from kservec.environments import Rendering

_is_full_hash = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})").fullmatch


def hydrated_tree(selection: Selection, rendering: Rendering, commit: str | None) -> Mapping[str, bytes]:
    """The tree of an environment with the metadata that names the commit of the specs.

    Raises:
        click.UsageError: it is not known which commit that is.
    """
    return hydrated(rendering.tree, commit_of(selection, rendering, commit), rendering.settings.gitops.repo_url)


def write_artifact(selection: Selection, rendering: Rendering, folder: Path, commit: str | None) -> str:
    """Write an environment as an OCI image layout; the digests, for whoever signs them.

    Raises:
        click.UsageError: the commit is no full hash.
        click.ClickException: the folder cannot be written.
    """
    from kservec.cli.writing import begin  # noqa: PLC0415 - only where something is written
    from kservec.gitops.artifact import artifact  # noqa: PLC0415 - not for branches
    from kservec.io.layout_writer import INDEX, write_layout  # noqa: PLC0415

    named = {"org.opencontainers.image.title": rendering.settings.name}
    if commit is not None:
        named["org.opencontainers.image.revision"] = commit_of(selection, rendering, commit).sha
    if selection.workspace is not None:
        refuse_overlap(selection.workspace, rendering, folder, "--oci")
    made = artifact(rendering.tree, rendering.settings.gitops.tool, named)
    begin(folder / INDEX)
    try:
        write_layout(folder, made.files)
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename or folder}: {error.strerror}") from None
    return "\n".join(f"{folder}:{tag}@{digest}" for tag, digest in made.digests.items())


def commit_of(selection: Selection, rendering: Rendering, given: str | None) -> Commit:
    """The commit of the specs: the one that is given, else the one that is checked out.

    Raises:
        click.UsageError: it is no full hash, or git does not know, or the specs differ from it.
    """
    ctx = click.get_current_context()
    if given is not None:
        if not _is_full_hash(given):
            raise click.UsageError(f"--commit {given}: give the full hash, 40 or 64 lower-case hexadecimal digits", ctx)
        return Commit(given)
    from kservec.io.commits import NoCommitError, head_commit  # noqa: PLC0415 - git is not asked where it need not
    from kservec.project.paths import inputs_of  # noqa: PLC0415

    assert selection.workspace is not None
    inputs = (selection.workspace.file.name.rpartition("/")[2], *inputs_of(rendering.settings))
    try:
        return head_commit(selection.workspace.root, inputs)
    except NoCommitError as error:
        raise click.UsageError(f"--hydrator names the commit of the specs: {error}; or give --commit", ctx) from None
