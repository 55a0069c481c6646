"""What a git repository holds, asked of the `git` program.

Only objects are read, never the index or the working tree, and nothing that a repository configures is run: no pager,
no filters, no external diff, no hooks, no fetching. Output is the same in every language.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

HARDENED = (
    *("--no-pager", "--literal-pathspecs", "--no-replace-objects"),
    *("-c", "core.fsmonitor=false", "-c", "protocol.allow=never"),
)
KEPT = ("GIT_CONFIG", "GIT_CEILING_DIRECTORIES", "GIT_DISCOVERY_ACROSS_FILESYSTEM", "GIT_EXEC_PATH")
"""Variables of git that are handed on. Others, which a hook may have set, would lead to another repository."""
SETTINGS = {"LC_ALL": "C", "GIT_TERMINAL_PROMPT": "0", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1"}
SHA256_LENGTH = 64
LINK = "120000"
REGULAR = ("100644", "100755")

_is_plain_ref = re.compile(r"(?!-)(?!.*(?:\.\.|:))[^\x00-\x20\x7f~^?*\[\\]+(?:[~^][0-9]*)*").fullmatch


class GitError(Exception):
    """What git could not do: what is wrong, and what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class Blob(NamedTuple):
    """A file of a commit: its mode, and the id of its content."""

    mode: str
    identity: str

    @property
    def is_regular(self) -> bool:
        """Whether it is a file, and no link or submodule."""
        return self.mode in REGULAR


class Repository(NamedTuple):
    """A repository. `top` is the folder of its working tree, `prefix` where in it, with a slash, we are."""

    top: Path
    prefix: str

    def run(self, *arguments: str, given: bytes = b"") -> bytes:
        """What git answers.

        Raises:
            GitError: it fails.
        """
        done = git(self.top, arguments, given)
        if done.returncode:
            raise GitError(last_line(done.stderr) or f"git {arguments[0]} failed")
        return done.stdout

    def commit(self, ref: str) -> str:
        """The commit that a branch, tag or the like leads to.

        Raises:
            GitError: there is none, or the text could be taken for something else.
        """
        if not is_ref(ref):
            raise GitError(f"{ref!r} is no name of a commit", "name a branch, a tag or a commit")
        done = git(self.top, ("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}"))
        if done.returncode and ref == "HEAD":
            raise GitError("this repository has no commit yet", "commit the rendered tree first")
        if done.returncode and self.is_shallow():
            deepen = "fetch more of the history: git fetch --deepen=50, or git fetch --unshallow"
            hint = f"{deepen} (in GitHub Actions: fetch-depth: 0)"
            raise GitError(f"{ref} is no commit of this repository, which is a shallow clone", hint)
        if done.returncode:
            hint = f"is it spelt right? fetch it: git fetch origin {ref.removeprefix('origin/')}"
            raise GitError(f"{ref} is no commit of this repository", hint)
        return done.stdout.decode().strip()

    def is_shallow(self) -> bool:
        """Whether the clone has only the last part of the history."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def has(self, ref: str) -> bool:
        """Whether a text names a commit."""
        return is_ref(ref) and not git(self.top, ("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")).returncode

    def merge_base(self, commit: str, ref: str) -> str:
        """Where the history of HEAD left that of a commit.

        Raises:
            GitError: the histories have nothing in common, as far as they are here.
        """
        done = git(self.top, ("merge-base", commit, self.commit("HEAD")))
        if not done.returncode:
            return done.stdout.decode().strip()
        if self.is_shallow():
            hint = "fetch the history: git fetch --unshallow (in GitHub Actions: fetch-depth: 0), or compare --exact"
            raise GitError(f"this is a shallow clone, which does not reach back to where HEAD left {ref}", hint)
        raise GitError(f"HEAD and {ref} have no history in common", "compare with the commit itself: --exact")

    def files(self, commit: str, *paths: str) -> dict[str, Blob]:
        """The files at and below paths of the repository, links and submodules too, by their paths from its top.

        A path is one without a slash at its end; the whole commit is `.`.

        Raises:
            GitError: the commit is not wholly here.
        """
        where = () if "." in paths else ("--", *dict.fromkeys(paths))
        listed = self.run("ls-tree", "-r", "-z", "--full-tree", commit, *where)
        files: dict[str, Blob] = {}
        for line in listed.split(b"\0"):
            head, _, path = line.partition(b"\t")
            if path:
                mode, _, identity = head.decode().split(" ")
                files[os.fsdecode(path)] = Blob(mode, identity)
        return files

    def contents(self, identities: Iterable[str]) -> dict[str, bytes]:
        """The contents of blobs by their ids.

        Raises:
            GitError: one is not here, as in a partial clone.
        """
        wanted = sorted(set(identities))
        if not wanted:
            return {}
        answer = self.run("cat-file", "--batch", given="".join(f"{i}\n" for i in wanted).encode())
        found: dict[str, bytes] = {}
        place = 0
        for identity in wanted:
            end = answer.index(b"\n", place)
            parts = answer[place:end].split()
            if parts[-1] == b"missing":
                raise GitError(f"the object {identity} is not in this clone", "fetch it: git fetch --refetch")
            size = int(parts[-1])
            found[identity] = answer[end + 1 : end + 1 + size]
            place = end + 1 + size + 1
        return found


def repository_of(folder: Path) -> Repository:
    """The repository that a folder is in.

    Raises:
        GitError: there is no git, or it is in none.
    """
    done = git(folder, ("rev-parse", "--show-toplevel", "--show-prefix"))
    if done.returncode:
        reason = last_line(done.stderr)
        if "not a git repository" in reason:
            raise GitError(f"{folder} is in no git repository", "run it in a checkout, or make one: git init")
        raise GitError(f"git refuses {folder}: {reason}", "see what git status says there")
    top, prefix = done.stdout.decode(errors="surrogateescape").split("\n")[:2]
    return Repository(Path(top), prefix)


def git(folder: Path, arguments: Sequence[str], given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run git in a folder.

    Raises:
        GitError: there is no git.
    """
    try:
        return subprocess.run(  # noqa: S603 - a fixed program, and arguments that cannot be options
            ["git", *HARDENED, *arguments],  # noqa: S607 - wherever the user has it
            cwd=folder, env=environment(os.environ), input=given, capture_output=True, check=False,
        )  # fmt: skip
    except FileNotFoundError:
        raise GitError("there is no git program", "install git") from None


def environment(own: Mapping[str, str]) -> dict[str, str]:
    """The environment in which git runs."""
    kept = {name: value for name, value in own.items() if not name.startswith("GIT_") or name.startswith(KEPT)}
    return kept | SETTINGS


def last_line(text: bytes) -> str:
    """The last line of an error, without its label."""
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("fatal: ") if lines else ""


def is_ref(text: str) -> bool:
    """Whether a text can name a commit and nothing else, no option, range or file of a commit."""
    return _is_plain_ref(text) is not None


def blob_id(content: bytes, like: str) -> str:
    """The id that git gives a content, by the hash of another id."""
    head = b"blob %d\0" % len(content)
    if len(like) == SHA256_LENGTH:
        return hashlib.sha256(head + content).hexdigest()
    return hashlib.sha1(head + content, usedforsecurity=False).hexdigest()
