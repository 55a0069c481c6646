"""The commit that specs are of, as git tells it."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from kservec.gitops.hydration import Commit

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

FORMAT = "%H%x00%an <%ae>%x00%aI%x00%s%x00%b"


class NoCommitError(Exception):
    """Why there is no commit that the specs are of."""


def head_commit(root: Path, inputs: Sequence[str]) -> Commit:
    """The commit that is checked out.

    Args:
        root: a folder of the repository.
        inputs: paths below it that must be as in that commit.

    Raises:
        NoCommitError: there is no repository, no commit yet, or an input differs from it.
    """
    if not has_commit(root):
        raise NoCommitError("this repository has no commit yet; commit the specs first")
    sha, author, date, subject, body = git(root, "show", "--no-patch", f"--format={FORMAT}", "HEAD").split("\0")
    changed = git(root, "status", "--porcelain", "--untracked-files=normal", "--", *inputs).splitlines()
    if changed:
        raise NoCommitError(f"{changed[0][3:]} differs from commit {sha[:10]}; commit it first")
    return Commit(sha, author, date, subject, body.strip())


def has_commit(root: Path) -> bool:
    """Whether the repository of a folder has a commit.

    Raises:
        NoCommitError: there is no repository.
    """
    git(root, "rev-parse", "--git-dir")
    try:
        git(root, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
    except NoCommitError:
        return False
    return True


def git(root: Path, *arguments: str) -> str:
    """What git says.

    Raises:
        NoCommitError: git is not there, or refuses.
    """
    try:
        command = ["git", "--no-optional-locks", "-C", str(root), *arguments]
        done = subprocess.run(command, capture_output=True, check=False)  # noqa: S603 - arguments of our own
    except OSError as error:
        raise NoCommitError(f"git cannot be run: {error.strerror}") from None
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip().splitlines()
        raise NoCommitError(said[-1].removeprefix("fatal: ") if said else "git refuses")
    return done.stdout.decode(errors="replace")
