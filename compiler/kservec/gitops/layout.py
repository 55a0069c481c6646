"""The files of a rendered tree: one an object, a kustomization a folder, and an index of all that is ours. Pure.

Paths and bytes of one unit never depend on other units, so that changes of two branches merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.emit import dump
from kservec.gitops.index import Entry, index_text
from kservec.gitops.rendered import GITOPS_FOLDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from kservec.gitops.rendered import Rendered

INDEX = "kservec.index.json"
KUSTOMIZATION = "kustomization.yaml"
SINGLE = "objects.yaml"
LAYOUTS = TREE, ONE_FILE = ("tree", "single")
"""The ways to lay objects out: a file for each, or one for all."""


def planned_files(objects: Sequence[Rendered], layout: str) -> dict[str, bytes]:
    """Every file of a tree by its path below the output folder, in one of the `LAYOUTS`."""
    return (planned_tree if layout == TREE else planned_file)(objects)


def planned_tree(objects: Iterable[Rendered]) -> dict[str, bytes]:
    """Every file of the tree by its path below the output folder."""
    contents: dict[str, bytes] = {}
    owners: dict[str, str] = {}
    for rendered in objects:
        path = rendered.path
        contents[path] = rendered.text.encode()
        owners[path] = rendered.possessor
    kustomizations = folder_kustomizations(contents)
    entries = {p: Entry(digest(c), owners[p]) for p, c in contents.items()} | {p: Entry() for p in kustomizations}
    return {**contents, **kustomizations, INDEX: index_text(entries).encode()}


def planned_file(objects: Sequence[Rendered]) -> dict[str, bytes]:
    """The files of a tree that has all objects in one: that file, a kustomization, the index, and what is for tools."""
    apart = {o.path: o for o in objects if o.place.split("/")[0] == GITOPS_FOLDER}
    content = stream(o for o in objects if o.path not in apart).encode()
    contents = {SINGLE: content, **{path: o.text.encode() for path, o in apart.items()}}
    kustomizations = folder_kustomizations(contents)
    owners = {path: o.possessor for path, o in apart.items()}
    entries = {path: Entry(digest(content), owners.get(path, "")) for path, content in contents.items()}
    index = index_text({**entries, **dict.fromkeys(kustomizations, Entry())})
    return {**contents, **kustomizations, INDEX: index.encode()}


def digest(content: bytes) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    import hashlib  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

    return hashlib.sha256(content).hexdigest()


def folder_kustomizations(paths: Iterable[str]) -> dict[str, bytes]:
    """A kustomization for every folder, listing its files and the folders below it, sorted.

    The top has one even if nothing is below it: kustomize then fails, where a bare folder would look like success.
    It does not list the objects for Argo CD or Flux, which would then sync themselves.
    """
    listed: dict[str, set[str]] = {"": set()}
    for path in paths:
        parts = path.split("/")
        for depth, name in enumerate(parts):
            if depth == 0 and name == GITOPS_FOLDER:
                continue
            listed.setdefault("/".join(parts[:depth]), set()).add(name)
    return {f"{f}/{KUSTOMIZATION}".lstrip("/"): kustomization(names) for f, names in sorted(listed.items())}


def kustomization(names: Iterable[str]) -> bytes:
    """The text of a kustomization that lists files and folders."""
    listing: Mapping[str, object] = {
        "apiVersion": "kustomize.config.k8s.io/v1beta1",
        "kind": "Kustomization",
        "resources": sorted(names),
    }
    return dump(listing).encode()


def stream(objects: Iterable[Rendered]) -> str:
    """All objects as one stream of documents."""
    return "".join(f"---\n{rendered.text}" for rendered in objects)
