"""The files of a rendered tree: one an object, a kustomization a folder, and an index of all that is ours. Pure.

Paths and bytes of one unit never depend on other units, so that changes of two branches merge.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from kservec.emit import dump
from kservec.gitops.index import Entry, index_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.compilation import Rendered
    from kservec.core.diagnostics import ObjectRef

INDEX = "kservec.index.json"
KUSTOMIZATION = "kustomization.yaml"
SINGLE = "objects.yaml"
CLUSTER_FOLDER = "_cluster"
SHARED_FOLDER = "_shared"
LONGEST_NAME = 255
HASH_LENGTH = 10
SHARED_KINDS = frozenset({"Service", "InferencePool"})
"""Kinds that two API groups have: their files carry the group, unless it is the core group."""


def planned_tree(objects: Iterable[Rendered]) -> dict[str, bytes]:
    """Every file of the tree by its path below the output folder."""
    contents: dict[str, bytes] = {}
    owners: dict[str, str] = {}
    for rendered in objects:
        path = object_path(rendered)
        contents[path] = rendered.text.encode()
        owners[path] = owner_of(rendered)
    kustomizations = folder_kustomizations(contents)
    entries = {p: Entry(digest(c), owners[p]) for p, c in contents.items()} | {p: Entry() for p in kustomizations}
    return {**contents, **kustomizations, INDEX: index_text(entries).encode()}


def planned_file(objects: Iterable[Rendered]) -> dict[str, bytes]:
    """The files of a tree that has all objects in one: that file, a kustomization and the index."""
    content = stream(objects).encode()
    kustomizations = folder_kustomizations([SINGLE])
    entries = {SINGLE: Entry(digest(content))} | {p: Entry() for p in kustomizations}
    return {SINGLE: content, **kustomizations, INDEX: index_text(entries).encode()}


def object_path(rendered: Rendered) -> str:
    """The file of an object below the output folder."""
    return f"{folder_of(rendered)}/{file_name(rendered.ref)}"


def digest(content: bytes) -> str:
    """The SHA-256 of a file's content, in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def folder_of(rendered: Rendered) -> str:
    """The folder of an object: its unit's, or one for what units share or the cluster holds."""
    if not rendered.ref.namespace:
        return CLUSTER_FOLDER
    return f"{rendered.ref.namespace}/{SHARED_FOLDER if rendered.shared else rendered.owner.name}"


def owner_of(rendered: Rendered) -> str:
    """Who an object belongs to, as the index says it: `namespace/Kind/name`, or the namespace of what is shared."""
    if rendered.shared:
        return rendered.ref.namespace or CLUSTER_FOLDER
    return f"{rendered.owner.namespace or CLUSTER_FOLDER}/{rendered.owner.kind}/{rendered.owner.name}"


def file_name(ref: ObjectRef) -> str:
    """The name of an object's file; long ones end in a hash, odd characters are spelt out."""
    kind = f"{ref.kind}.{ref.group}" if ref.kind in SHARED_KINDS and ref.group else ref.kind
    stem = f"{kind.lower()}-{ref.name}".replace(":", "_")
    if len(stem) > LONGEST_NAME - len(".yaml"):
        mark = hashlib.sha256(stem.encode()).hexdigest()[:HASH_LENGTH]
        stem = f"{stem[: LONGEST_NAME - len('.yaml') - HASH_LENGTH - 1]}-{mark}"
    return f"{stem}.yaml"


def folder_kustomizations(paths: Iterable[str]) -> dict[str, bytes]:
    """A kustomization for every folder, listing its files and the folders below it, sorted.

    The top has one even if nothing is below it: kustomize then fails, where a bare folder would look like success.
    """
    listed: dict[str, set[str]] = {"": set()}
    for path in paths:
        parts = path.split("/")
        for depth, name in enumerate(parts):
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
