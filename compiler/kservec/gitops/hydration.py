"""Hydrated trees: what GitOps Promoter and Argo CD's own hydrator want to know of a tree on a branch of its own. Pure.

The tree names the commit of the specs that it is made of, so it cannot be in that commit: it goes to another branch.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from kservec.gitops.index import Entry, index_text, read_index
from kservec.gitops.layout import INDEX

if TYPE_CHECKING:
    from collections.abc import Mapping

METADATA = "hydrator.metadata"
TRAILER = "argocd-reference-commit-"
REFERENCE_KEYS = {"author": "author", "body": "body", "date": "date", "repourl": "repoURL", "sha": "sha",
                  "subject": "subject"}  # fmt: skip
"""What follows `Argocd-reference-commit-` in a trailer, and how the metadata calls it."""


class Commit(NamedTuple):
    """A commit of the specs: the full hash, the author as `Name <address>`, the date of ISO 8601, and the message."""

    sha: str
    author: str = ""
    date: str = ""
    subject: str = ""
    body: str = ""


def hydrated(tree: Mapping[str, bytes], commit: Commit, repo_url: str) -> dict[str, bytes]:
    """A tree with the metadata beside its index; the metadata is the compiler's own file like all others."""
    entries = {path: several[0] for path, several in read_index(tree[INDEX].decode()).items()}
    index = index_text({**entries, METADATA: Entry()})
    return {**tree, METADATA: metadata_text(commit, repo_url).encode(), INDEX: index.encode()}


def metadata_text(commit: Commit, repo_url: str) -> str:
    """The text of the metadata: a JSON object without what is not known."""
    reference = referenced(commit.body)
    fields = {
        "drySha": commit.sha,
        "repoURL": repo_url,
        "author": commit.author,
        "date": commit.date,
        "subject": commit.subject,
        "body": commit.body,
        "references": [{"commit": reference}] if reference else [],
    }
    return json.dumps({key: value for key, value in fields.items() if value}, indent=2, ensure_ascii=False) + "\n"


def referenced(body: str) -> dict[str, str]:
    """The commit of another repository that trailers of a message name, such as that of the code behind a new image."""
    found: dict[str, str] = {}
    for line in body.splitlines():
        key, colon, value = line.partition(":")
        name = REFERENCE_KEYS.get(key.lower().removeprefix(TRAILER)) if key.lower().startswith(TRAILER) else None
        if colon and name:
            found[name] = value.strip()
    return found
