"""Shards: the parts of a rendered tree that Argo CD or Flux sync on their own, each of them one folder. Pure."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from kservec.gitops.rendered import CLUSTER_FOLDER, GITOPS_FOLDER, SHARED_FOLDER
from kservec.project.gitops import ENVIRONMENT, NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.gitops.rendered import Rendered
    from kservec.project.settings import Settings

UNNAMED = (CLUSTER_FOLDER, SHARED_FOLDER)
"""Folders that have no name of their own in the names of shards."""


class Shard(NamedTuple):
    """A part of the tree of an environment: its folder below the output, and how many objects are in it.

    `steps` are the steps of the folder: none for the whole tree, the namespace, or the namespace and the unit.
    """

    environment: str
    steps: tuple[str, ...]
    objects: int = 0

    @property
    def name(self) -> str:
        """The name of the Application or Kustomization.

        A dot, which is neither in the name of an environment nor of a namespace, keeps different shards apart.
        """
        return ".".join((self.environment, *(step.lstrip("_") for step in self.steps if step not in UNNAMED)))

    @property
    def namespace(self) -> str:
        """The one namespace of the objects, or nothing if they are in several or in none."""
        return self.steps[0] if self.steps and not self.steps[0].startswith("_") else ""


def shards_of(objects: Iterable[Rendered], settings: Settings) -> tuple[Shard, ...]:
    """The shards of a tree in the order of their folders."""
    depth = {ENVIRONMENT: 0, NAMESPACE: 1}.get(settings.gitops.shard, 2)
    counts = Counter(tuple(o.folder.split("/")[:depth]) for o in objects if not is_for_tools(o))
    return tuple(Shard(settings.name, steps, counts[steps]) for steps in sorted(counts))


def is_for_tools(rendered: Rendered) -> bool:
    """Whether an object is one that Argo CD or Flux itself reads."""
    return rendered.place.split("/")[0] == GITOPS_FOLDER


def base_of(settings: Settings) -> tuple[str, ...]:
    """The steps of the tree's folder in what is fetched."""
    return tuple(step for step in settings.gitops.path.split("/") if step not in ("", "."))


def folder_of(settings: Settings, *steps: str) -> str:
    """A folder of the tree in what is fetched; a point for its root."""
    return "/".join((*base_of(settings), *steps)) or "."
