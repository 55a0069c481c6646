"""Catalog: serving runtimes, storage containers and presets, indexed once and asked many times.

Knows which entries exist and in which order KServe would try them; choosing one for a spec is `choose_runtime`'s.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from kservec.core.golang.expressions import finder
from kservec.core.pods.strategic import omit_empty
from kservec.core.records import entity, fresh, record
from kservec.core.serving.runtime_pod import runtime_pod
from kservec.core.tree import Layer, Origin
from kservec.spec.clusterstoragecontainer import INIT_CONTAINER, LOCAL_MODEL_JOB

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.core.serving.runtime_pod import RuntimePod
    from kservec.core.text.source import Document
    from kservec.core.tree import Json, Path
    from kservec.spec.clusterstoragecontainer import StorageContainerSpec
    from kservec.spec.servingruntime import ServingRuntimeSpec

PROTOCOL_RANK = {"v1": 1, "v2": 2, "grpc-v1": 3, "grpc-v2": 4}
UNRANKED = 5
RUNTIME = Layer.RUNTIME


@record
class Runtime:
    """One ServingRuntime (with a namespace) or ClusterServingRuntime (without)."""

    name: str
    namespace: str
    annotations: Mapping[str, str]
    created: str
    spec: ServingRuntimeSpec
    document: Document

    @property
    def kind(self) -> str:
        """The Kubernetes kind."""
        return "ServingRuntime" if self.namespace else "ClusterServingRuntime"

    @cached_property
    def rank(self) -> int:
        """The rank of the best protocol that the runtime lists. KServe: constants.go, GetProtocolVersionPriority."""
        return min((PROTOCOL_RANK.get(p, UNRANKED) for p in self.spec.protocol_versions), default=UNRANKED)

    @cached_property
    def labels(self) -> Mapping[str, bool]:
        """The formats that the runtime serves, as `name` and `name:version`, and whether it selects itself for each.

        KServe: predictor_model.go, getServingRuntimeSupportedModelFormatLabelSet
        """
        labels: dict[str, bool] = {}
        for entry in self.spec.supported_model_formats:
            named = (entry.name, f"{entry.name}:{entry.version}") if entry.version is not None else (entry.name,)
            for label in named:
                labels[label] = labels.get(label, False) or bool(entry.auto_select)
        return labels

    @cached_property
    def pod(self) -> Json:
        """What its spec says about the pod and workers, without empty fields."""
        return omit_empty(self.document.value["spec"])

    @cached_property
    def served(self) -> RuntimePod | None:
        """What it brings into the pods that it serves; None if it has no container to run."""
        return runtime_pod(self)

    def priority(self, name: str) -> int | None:
        """The priority of the first entry of a format's name. KServe: servingruntime_types.go, GetPriority."""
        return self.priorities.get(name)

    @cached_property
    def priorities(self) -> Mapping[str, int | None]:
        """The priority of each format's name."""
        return {f.name: f.priority for f in reversed(self.spec.supported_model_formats)}

    def span(self, *path: str | int) -> Span:
        """Where a value of the runtime is written."""
        return self.document.span(path)

    def origin(self, *path: str | int) -> Origin:
        """The origin of a value of the runtime."""
        return Origin(RUNTIME, self.name, self.document, path)


@record
class StorageContainer:
    """One ClusterStorageContainer."""

    name: str
    disabled: bool
    spec: StorageContainerSpec
    document: Document

    def supports(self, uri: str) -> bool:
        """Whether a format's prefix or regular expression matches the URI. One that cannot be read matches none.

        KServe: pkg/apis/serving/v1alpha1/storage_container_types.go, IsStorageUriSupported
        """
        return any(
            (f.prefix and uri.startswith(f.prefix)) or (f.regex and (finds := finder(f.regex)) and finds(uri))
            for f in self.spec.supported_uri_formats
        )

    @cached_property
    def container(self) -> Json:
        """The container without empty fields."""
        return omit_empty(self.spec.container)

    @cached_property
    def downloads_at_start(self) -> bool:
        """Whether it runs as an init container and is not switched off."""
        return not self.disabled and self.spec.workload_type == INIT_CONTAINER

    @cached_property
    def downloads_to_nodes(self) -> bool:
        """Whether it brings copies of models onto nodes and is not switched off."""
        return not self.disabled and self.spec.workload_type == LOCAL_MODEL_JOB

    def origin(self, *path: str | int) -> Origin:
        """The origin of a value of the storage container."""
        at: Path = path
        return Origin(Layer.PLATFORM, self.name, self.document, at)


@entity
class Preset:
    """One LLMInferenceServiceConfig, in the form of v1alpha2 and with the defaults of its schema.

    `moved` maps paths of `spec` below the object to where they were written, if in another form. `faults` are what is
    wrong with its structure, for whoever uses it; it has no spec then.
    """

    name: str
    namespace: str
    spec: Json
    document: Document
    moved: Mapping[Path, Path] = fresh(factory=dict)
    faults: tuple[Diagnostic, ...] = ()

    def origin(self, *path: str | int) -> Origin:
        """The origin of a value of the preset."""
        at: Path = path
        for new, old in self.moved.items():
            if at[: len(new)] == new:
                at = old + at[len(new) :]
                break
        return Origin(Layer.PRESET, self.name, self.document, at)


def by_priority(runtimes: Iterable[Runtime], name: str) -> tuple[Runtime, ...]:
    """Runtimes with a priority for a format before those without, the higher first; otherwise in the order given."""
    return tuple(sorted(runtimes, key=lambda r: (r.priority(name) is None, -(r.priority(name) or 0))))


@record
class Catalog:
    """All runtimes, storage containers and presets of a run.

    The tuples are sorted by namespace and name; presets are found by them.
    """

    runtimes: tuple[Runtime, ...] = ()
    storage_containers: tuple[StorageContainer, ...] = ()
    presets: Mapping[tuple[str, str], Preset] = fresh(factory=dict)

    @cached_property
    def by_name(self) -> dict[tuple[str, str], Runtime]:
        """Runtimes by namespace (empty for cluster scope) and name."""
        return {(r.namespace, r.name): r for r in self.runtimes}

    @cached_property
    def by_namespace(self) -> dict[str, tuple[Runtime, ...]]:
        """Runtimes by namespace (empty for cluster scope), in the order KServe tries them before priorities count.

        Best protocol first, then newest, then by name. KServe: predictor_model.go, sortServingRuntimeList
        """
        groups: dict[str, list[Runtime]] = {}
        for runtime in sorted(self.runtimes, key=lambda r: r.name):
            groups.setdefault(runtime.namespace, []).append(runtime)
        newest_first = {n: sorted(g, key=lambda r: r.created, reverse=True) for n, g in groups.items()}
        return {n: tuple(sorted(g, key=lambda r: r.rank)) for n, g in newest_first.items()}

    @cached_property
    def offers(self) -> dict[tuple[str, str], tuple[Runtime, ...]]:
        """Runtimes that select themselves, by namespace and format (`name`, or `name:version`), first choice first."""
        offers: dict[tuple[str, str], list[Runtime]] = {}
        for namespace, runtimes in self.by_namespace.items():
            for runtime in runtimes:
                for label, is_auto in runtime.labels.items():
                    if is_auto:
                        offers.setdefault((namespace, label), []).append(runtime)
        return {key: by_priority(found, key[1].partition(":")[0]) for key, found in offers.items()}

    @cached_property
    def contested(self) -> frozenset[tuple[str, str]]:
        """The keys of `offers` under which there are runtimes that only priorities and names can put in order."""
        return frozenset(
            key for key, found in self.offers.items() if len({(r.rank, r.created) for r in found}) < len(found)
        )

    def find(self, namespace: str, name: str) -> Runtime | None:
        """The runtime of a name: the namespace's own before the cluster's. KServe: utils.go, GetServingRuntime."""
        return self.by_name.get((namespace, name)) or self.by_name.get(("", name))

    def storage_container(self, name: str) -> StorageContainer | None:
        """The storage container of a name, or None."""
        return next((c for c in self.storage_containers if c.name == name), None)

    def storage_container_for(self, uri: str) -> StorageContainer | None:
        """The first storage container, by name, that can download a URI.

        KServe takes the first in the order of its cache, which is random; by name is one of its answers.
        KServe: storage_initializer_injector.go, GetStorageContainerSpec
        """
        return next((c for c in self.storage_containers if c.downloads_at_start and c.supports(uri)), None)
