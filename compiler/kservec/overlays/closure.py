"""Everything that an overlay reaches: kustomizations, and the files that they refer to.

Must not read files; what reads them is told here where they are and what they are for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import fresh, record
from kservec.overlays.kustomization import is_document
from kservec.overlays.texts import inline_text, read_text

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.paths import Json, Path
    from kservec.core.text.reading import Limits
    from kservec.core.text.source import Document
    from kservec.overlays.kustomization import Kustomization


class Patch(NamedTuple):
    """A patch: a part of an object, or a list of operations. `target` selects what it is laid over, by patterns.

    Without a target it is laid over the one object whose kind and name it has. `at` is where its kustomization
    names it.
    """

    document: Document
    target: Json
    kustomization: Kustomization
    at: Path

    @property
    def is_list(self) -> bool:
        """Whether it is a list of operations."""
        return isinstance(self.document.value, list)


@record
class Closure:
    """What an overlay reaches. All paths are below the folder of the project, with slashes.

    `start` is the folder of the overlay; `kustomizations` are those of each folder; `contents` are all files;
    `objects` the documents of those that hold objects, `texts` those of the files of patches.
    """

    start: str
    kustomizations: Mapping[str, Kustomization] = fresh(factory=dict)
    contents: Mapping[str, bytes] = fresh(factory=dict)
    objects: Mapping[str, tuple[Document, ...]] = fresh(factory=dict)
    texts: Mapping[str, tuple[Document, ...]] = fresh(factory=dict)
    patches: Mapping[str, tuple[Patch, ...]] = fresh(factory=dict)

    @property
    def first(self) -> Kustomization:
        """The kustomization of the overlay itself."""
        return self.kustomizations[self.start]


def resolved(folder: str, text: str) -> str | None:
    """A path that is relative to a folder of the project as one that is relative to the project; None if it leaves it.

    The project itself is the empty path.
    """
    if text.startswith(("/", "~")) or "\\" in text:
        return None
    steps: list[str] = folder.split("/") if folder else []
    for step in text.split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps)


def is_below(path: str, folder: str) -> bool:
    """Whether a path is in a folder or below."""
    return not folder or path.startswith(f"{folder}/")


def patches_of(
    kustomization: Kustomization, texts: Mapping[str, tuple[Document, ...]], limits: Limits
) -> tuple[tuple[Patch, ...], tuple[Diagnostic, ...]]:
    """The patches of a kustomization in the order in which they are laid over, and what is wrong with inline ones."""
    made: list[Patch] = []
    found: list[Diagnostic] = []
    for at, path, inline, target in patch_entries(kustomization):
        documents = texts.get(resolved(kustomization.folder, path) or "", ()) if path else ()
        if inline:
            documents, faults = read_text(inline_text(kustomization.document, at, inline), limits)
            found += faults
        made += [Patch(document, target, kustomization, at) for document in documents]
    return tuple(made), tuple(found)


def patch_entries(kustomization: Kustomization) -> Iterator[tuple[Path, str, str, Json]]:
    """Where a kustomization names each of its patches, the file or the text of it, and its target."""
    for i, item in kustomization.items("patchesStrategicMerge"):
        if isinstance(item, str):
            inline = item if is_document(item) else ""
            yield ("patchesStrategicMerge", i), "" if inline else item, inline, None
    for field in ("patches", "patchesJson6902"):
        for i, item in kustomization.items(field):
            if not isinstance(item, dict):
                continue
            text, path = item.get("patch"), item.get("path")
            if isinstance(text, str):
                yield (field, i, "patch"), "", text, item.get("target")
            elif isinstance(path, str):
                yield (field, i, "path"), path, "", item.get("target")
