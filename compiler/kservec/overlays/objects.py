"""The objects of an overlay: where each comes from, under which names it goes, and what is laid over it.

Follows kustomize's order: what is named first comes first, then what is generated, then components; patches are laid
over what is there, and then the namespace, prefix and suffix are set. Must not know kinds but by their scope.

Kustomize: api/internal/target/kusttarget.go, accumulateTarget; kusttarget_configplugin.go (the order)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.golang.expressions import finder
from kservec.core.records import evolve, record
from kservec.overlays.closure import Closure, Patch, resolved
from kservec.overlays.kustomization import GENERATORS, Kustomization

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.core.text.source import Document

DEFAULT_NAMESPACE = "default"


class Id(NamedTuple):
    """What an object is called at some point: its group, version, kind, namespace (empty: none is written) and name."""

    group: str
    version: str
    kind: str
    namespace: str
    name: str

    @property
    def api_version(self) -> str:
        """The group and version as they are written."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def place(self) -> str:
        """The namespace that it is in."""
        return self.namespace or DEFAULT_NAMESPACE

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


IsNamespaced: TypeAlias = "Callable[[str, str], bool]"
"""Whether the objects of an apiVersion and kind are in namespaces."""


@record
class Gathered:
    """An object of an overlay: `ids` are what it was called, the last one is what it is called in the end.

    `document` is None for what is generated; `file` is the file that it comes from, or the kustomization that generates
    it. `layers` are the patches that may have changed it and the kustomizations that it went through, in their order.
    """

    document: Document | None
    file: str
    ids: tuple[Id, ...]
    layers: tuple[Patch | Kustomization, ...] = ()

    @property
    def first(self) -> Id:
        """What it is called in its file."""
        return self.ids[0]

    @property
    def last(self) -> Id:
        """What it is called in the end; without the hash that names of generated objects get."""
        return self.ids[-1]


@record
class Gathering:
    """The objects of a kustomization, and the patches of it and those below with what they are laid over."""

    objects: tuple[Gathered, ...] = ()
    laid: tuple[tuple[Patch, tuple[Gathered, ...], tuple[Gathered, ...]], ...] = ()
    """Each patch, the objects that it fits, and all that were there."""


def gathered(closure: Closure, is_namespaced: IsNamespaced, given: Sequence[Gathered] = ()) -> Gathering:
    """The objects of an overlay, laid over those that are given."""
    return Gatherer(closure, is_namespaced).below(closure.first, tuple(given))


class Gatherer(NamedTuple):
    """What is the same on all levels."""

    closure: Closure
    is_namespaced: IsNamespaced

    def below(self, kustomization: Kustomization, given: tuple[Gathered, ...] = ()) -> Gathering:
        """The objects of a kustomization and of those below; `given` are those that a component is laid over."""
        made = Gathering(objects=given)
        for field in ("resources", "bases"):
            for _, text in kustomization.items(field):
                made = joined(made, self.named(kustomization, text))
        made = joined(made, Gathering(objects=tuple(generated(kustomization))))
        for _, text in kustomization.items("components"):
            component = self.folder(kustomization, text)
            if component is not None:
                above = self.below(component, made.objects)
                made = Gathering(objects=above.objects, laid=(*made.laid, *above.laid))
        return self.transformed(kustomization, made)

    def named(self, kustomization: Kustomization, text: Json) -> Gathering:
        """The objects of a file or folder."""
        folder = self.folder(kustomization, text)
        if folder is not None:
            return self.below(folder)
        path = resolved(kustomization.folder, text) if isinstance(text, str) else None
        documents = self.closure.objects.get(path or "", ())
        return Gathering(
            objects=tuple(
                Gathered(document=document, file=path or "", ids=(found,))
                for document in documents
                if (found := id_of(document.value)) is not None
            )
        )

    def folder(self, kustomization: Kustomization, text: Json) -> Kustomization | None:
        """The kustomization of a folder that another one names."""
        path = resolved(kustomization.folder, text) if isinstance(text, str) else None
        return None if path is None else self.closure.kustomizations.get(path)

    def transformed(self, kustomization: Kustomization, made: Gathering) -> Gathering:
        """The objects after what a kustomization does to all of them."""
        objects, laid = list(made.objects), list(made.laid)
        for patch in self.closure.patches.get(kustomization.folder, ()):
            fit = [i for i, known in enumerate(objects) if fits(patch, known)]
            laid.append((patch, tuple(objects[i] for i in fit), tuple(objects)))
            for i in fit:
                objects[i] = evolve(objects[i], layers=(*objects[i].layers, patch))
        return Gathering(objects=tuple(self.renamed(kustomization, known) for known in objects), laid=tuple(laid))

    def renamed(self, kustomization: Kustomization, known: Gathered) -> Gathered:
        """An object with the namespace, prefix and suffix of a kustomization."""
        last = known.last
        version = f"{last.group}/{last.version}".lstrip("/")
        namespace = kustomization.text("namespace") if self.is_namespaced(version, last.kind) else ""
        name = f"{kustomization.text('namePrefix')}{last.name}{kustomization.text('nameSuffix')}"
        new = last._replace(namespace=namespace or last.namespace, name=name if has_affix(last.kind) else last.name)
        ids = known.ids if new == last else (*known.ids, new)
        return evolve(known, ids=ids, layers=(*known.layers, kustomization))


def joined(one: Gathering, other: Gathering) -> Gathering:
    """The objects and patches of two kustomizations."""
    return Gathering(objects=(*one.objects, *other.objects), laid=(*one.laid, *other.laid))


def has_affix(kind: str) -> bool:
    """Whether prefixes and suffixes are added to the names of a kind."""
    return kind not in ("APIService", "CustomResourceDefinition", "Namespace")


def generated(kustomization: Kustomization) -> Iterator[Gathered]:
    """The ConfigMaps and Secrets that a kustomization generates."""
    for field, kind in GENERATORS.items():
        for _, item in kustomization.items(field):
            if isinstance(item, dict) and isinstance(item.get("name"), str):
                found = Id("", "v1", kind, str(item.get("namespace") or ""), item["name"])
                yield Gathered(document=None, file=kustomization.folder, ids=(found,))


def id_of(value: Json) -> Id | None:
    """The identity of an object as it is written; None for what is no object."""
    metadata = value.get("metadata") if isinstance(value, dict) else None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        return None
    group, _, version = str(value.get("apiVersion", "")).rpartition("/")
    return Id(group, version, str(value.get("kind", "")), str(metadata.get("namespace") or ""), metadata["name"])


def fits(patch: Patch, known: Gathered) -> bool:
    """Whether a patch is laid over an object."""
    if isinstance(patch.target, dict):
        return any(is_selected(patch.target, called) for called in known.ids)
    wanted = id_of(patch.document.value)
    return wanted is not None and any(
        wanted._replace(namespace=wanted.place) == called._replace(namespace=called.place) for called in known.ids
    )


def is_selected(target: dict[str, Json], called: Id) -> bool:
    """Whether a selector takes an object of this identity. What it says of labels is not looked at."""
    return all(
        is_pattern_of(str(target[field]), getattr(called, field))
        for field in Id._fields
        if target.get(field) not in (None, "")
    )


def is_pattern_of(pattern: str, text: str) -> bool:
    """Whether a text is what a pattern of a selector means: all of it, as a regular expression."""
    finds = finder(f"^(?:{pattern})$")
    return finds is None or finds(text)
