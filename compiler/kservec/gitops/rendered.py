"""Rendered objects: the text of each, and the file of the tree that holds it. Pure.

Where an object's file is follows from the object and its owner alone, so that changes of two branches merge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from kservec.core.diagnostics import ObjectRef
    from kservec.policy.judging import Judged

CLUSTER_FOLDER = "_cluster"
SHARED_FOLDER = "_shared"
INCLUDED_FOLDER = "_included"
"""Manifests that are rendered as they are. Any kind may be among them, so their files carry the group."""
GITOPS_FOLDER = "_gitops"
"""What Argo CD or Flux itself reads; it is not among what they sync."""
LONGEST_NAME = 255
SPELT = str.maketrans({":": "_", "\\": "_"})
"""What parts paths on some systems, and what stands for it in the names of files."""
HASH_LENGTH = 10
SHARED_KINDS = frozenset({"Service", "InferencePool"})
"""Kinds that two API groups have: their files carry the group, unless it is the core group."""


class Rendered(NamedTuple):
    """One object as it is written, and the user's object that it comes from. `shared` objects have no single owner.

    `place` is the folder of an object that belongs to no unit; `judged` is what a project's policy found in it.
    """

    ref: ObjectRef
    text: str
    owner: ObjectRef
    shared: bool = False
    place: str = ""
    judged: Judged | None = None

    @property
    def path(self) -> str:
        """The object's file below the output folder."""
        return f"{self.folder}/{file_name(self.ref, with_group=self.place.endswith(INCLUDED_FOLDER))}"

    @property
    def folder(self) -> str:
        """The folder of the object: its unit's, or one for what units share or the cluster holds."""
        if self.place or not self.ref.namespace:
            return self.place or CLUSTER_FOLDER
        return f"{self.ref.namespace}/{SHARED_FOLDER if self.shared else self.owner.name}"

    @property
    def possessor(self) -> str:
        """Who it belongs to, as the index says it: `namespace/Kind/name`, or the namespace of what is shared."""
        if self.shared:
            return self.ref.namespace or CLUSTER_FOLDER
        return f"{self.owner.namespace or CLUSTER_FOLDER}/{self.owner.kind}/{self.owner.name}"


def file_name(ref: ObjectRef, *, with_group: bool = False) -> str:
    """The name of an object's file; long ones end in a hash, odd characters are spelt out."""
    kind = f"{ref.kind}.{ref.group}" if (with_group or ref.kind in SHARED_KINDS) and ref.group else ref.kind
    stem = f"{kind.lower()}-{ref.name}".translate(SPELT)
    if len(stem) > LONGEST_NAME - len(".yaml"):
        import hashlib  # noqa: PLC0415 - loads OpenSSL, a fiftieth of a short run

        mark = hashlib.sha256(stem.encode()).hexdigest()[:HASH_LENGTH]
        stem = f"{stem[: LONGEST_NAME - len('.yaml') - HASH_LENGTH - 1]}-{mark}"
    return f"{stem}.yaml"
