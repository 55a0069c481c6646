"""Kustomizations: which files each refers to, and what they are there for.

Decides what the fields of a kustomization mean as far as files are concerned. Must not know objects, nor read files.
Kustomize: api/types/kustomization.go
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.records import record

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.core.text.source import Document

NAMES = ("kustomization.yaml", "kustomization.yml", "Kustomization")
"""What the file of a kustomization may be called."""
COMPONENT = "Component"
KUSTOMIZATION_GROUP = "kustomize.config.k8s.io"
KINDS = ("Kustomization", COMPONENT)

FIELDS = frozenset((
    "apiVersion", "bases", "buildMetadata", "commonAnnotations", "commonLabels", "components", "configMapGenerator",
    "configurations", "crds", "generatorOptions", "generators", "helmChartInflationGenerator", "helmCharts",
    "helmGlobals", "images", "kind", "labels", "metadata", "namePrefix", "nameSuffix", "namespace", "openapi",
    "patches", "patchesJson6902", "patchesStrategicMerge", "replacements", "replicas", "resources", "secretGenerator",
    "sortOptions", "transformers", "validators", "vars",
))  # fmt: skip
"""Every field that a kustomization may have."""
PROGRAMS = ("helmCharts", "helmChartInflationGenerator", "helmGlobals")
"""Fields for which kustomize starts another program."""
GENERATORS = {"configMapGenerator": "ConfigMap", "secretGenerator": "Secret"}
PLUGINS = ("generators", "transformers", "validators")


class Use(Enum):
    """What a file or folder is there for."""

    OBJECTS = auto()
    """A file of objects, or a folder with a kustomization."""
    FOLDER = auto()
    """A folder with a kustomization."""
    PLUGIN = auto()
    """A file of configurations of generators and the like, or a folder with a kustomization of those."""
    PATCH = auto()
    CONTENT = auto()


class Reference(NamedTuple):
    """A file or folder that a kustomization refers to: as it is written, where, and what for."""

    text: str
    at: Path
    use: Use


@record
class Kustomization:
    """A kustomization. `folder` is below the folder of the project, with slashes; empty for that folder itself.

    `path` is that of its file.
    """

    folder: str
    path: str
    document: Document

    @property
    def value(self) -> dict[str, Json]:
        """What is written in it."""
        value: dict[str, Json] = self.document.value
        return value

    @property
    def is_component(self) -> bool:
        """Whether it is laid over the objects of those that name it."""
        return self.value.get("kind") == COMPONENT

    def text(self, field: str) -> str:
        """The value of a field that holds text; empty without one."""
        value = self.value.get(field)
        return value if isinstance(value, str) else ""

    def items(self, field: str) -> Iterator[tuple[int, Json]]:
        """The items of a field that holds a list."""
        yield from enumerate(listed(self.value.get(field)))

    def span(self, *at: str | int) -> Span:
        """Where a value of it is written."""
        return self.document.span(at)

    @property
    def references(self) -> Sequence[Reference]:
        """Every file and folder that it refers to, in the order in which kustomize reads them."""
        return tuple(references(self))


LISTED = {
    "resources": Use.OBJECTS,
    "bases": Use.FOLDER,
    "components": Use.FOLDER,
    "crds": Use.CONTENT,
    "configurations": Use.CONTENT,
    "patchesStrategicMerge": Use.PATCH,
    **dict.fromkeys(PLUGINS, Use.PLUGIN),
}
"""Fields that are lists of paths. Some of them may hold a document instead of a path."""
HELD = {"patches": Use.PATCH, "patchesJson6902": Use.PATCH, "replacements": Use.CONTENT}
"""Fields that are lists of maps with a path."""


def references(kustomization: Kustomization) -> Iterator[Reference]:
    """Every file and folder that a kustomization refers to."""
    for field, use in LISTED.items():
        for i, text in kustomization.items(field):
            if isinstance(text, str) and not is_document(text):
                yield Reference(text, (field, i), use)
    for field, use in HELD.items():
        for i, item in kustomization.items(field):
            if isinstance(item, dict) and isinstance(item.get("path"), str):
                yield Reference(item["path"], (field, i, "path"), use)
    openapi = kustomization.value.get("openapi")
    if isinstance(openapi, dict) and isinstance(openapi.get("path"), str):
        yield Reference(openapi["path"], ("openapi", "path"), Use.CONTENT)
    for field in GENERATORS:
        for i, item in kustomization.items(field):
            yield from contents(item, (field, i))


def contents(generator: Json, at: Path) -> Iterator[Reference]:
    """The files that a generator takes its entries from. A file may be named with the key of its entry before it."""
    if not isinstance(generator, dict):
        return
    for field in ("files", "envs"):
        for i, text in enumerate(listed(generator.get(field))):
            if isinstance(text, str):
                yield Reference(text.rpartition("=")[2], (*at, field, i), Use.CONTENT)
    if isinstance(generator.get("env"), str):
        yield Reference(generator["env"], (*at, "env"), Use.CONTENT)


def plugin_references(configuration: Json) -> Iterator[str]:
    """The files that the configuration of a built-in generator or transformer refers to."""
    if not isinstance(configuration, dict):
        return
    for field in ("path", "env"):
        if isinstance(configuration.get(field), str):
            yield configuration[field]
    for field in ("paths", "files", "envs"):
        yield from (t.rpartition("=")[2] for t in listed(configuration.get(field)) if isinstance(t, str))
    for item in listed(configuration.get("replacements")):
        if isinstance(item, dict) and isinstance(item.get("path"), str):
            yield item["path"]


def listed(value: Json) -> Sequence[Json]:
    """The items of a list; none of anything else, which kustomize refuses."""
    return value if isinstance(value, list) else ()


def is_document(text: str) -> bool:
    """Whether an item of a list of paths is a document itself. Kustomize tries to read a file first."""
    return "\n" in text or ": " in text or text.lstrip().startswith(("{", "["))
