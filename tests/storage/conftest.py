"""What the tests of storage share: a predictor on a declared cluster, taken through the passes that bring models in."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from typing import Any

import pytest

from kservec.core.catalog import Catalog, StorageContainer
from kservec.core.cluster import Cluster, Secret, ServiceAccount
from kservec.core.diagnostics import Diagnostic, Reject
from kservec.core.records import evolve
from kservec.core.registry import Env
from kservec.core.serving.internal_annotations import settled
from kservec.core.text.source import Document, parse
from kservec.core.unit import Component, Role, Unit
from kservec.passes.attach_images import attach_images
from kservec.passes.attach_models import attach_models
from kservec.spec.clusterstoragecontainer import StorageContainerSpec

SETTINGS = {
    "image": "registry.example.com/initializer:1",
    "cpuRequest": "100m",
    "cpuLimit": "1",
    "memoryRequest": "100Mi",
    "memoryLimit": "1Gi",
    "enableModelcar": True,
    "uidModelcar": 1010,
}
CREDENTIALS = {
    "storageSecretNameAnnotation": "serving.kserve.io/storageSecretName",
    "s3": {"s3AccessKeyIDName": "AWS_ACCESS_KEY_ID", "s3SecretAccessKeyName": "AWS_SECRET_ACCESS_KEY"},
}
DEFAULT_FORMATS = ({"prefix": "s3://"}, {"prefix": "gs://"}, {"regex": "https?://(.+)/(.+)"})


def document(value: dict[str, Any], file: str) -> Document:
    """A document as it is read from a file."""
    (read,), _ = parse(json.dumps(value, indent=2).encode(), file)
    return read


def secret(name: str, *keys: str, **more: Any) -> Secret:
    """A Secret in the namespace ml, by its keys."""
    entries = more.get("entries", {})
    all_keys = frozenset((*keys, *more.get("settings", {}), *entries))
    return Secret(namespace="ml", name=name, keys=all_keys, **more)


def account(name: str, *secrets: str, **more: Any) -> ServiceAccount:
    """A ServiceAccount in the namespace ml."""
    return ServiceAccount(namespace="ml", name=name, secrets=secrets, **more)


def storage_container(name: str, *formats: dict[str, str], **container: Any) -> StorageContainer:
    """A ClusterStorageContainer that downloads several models."""
    spec = {
        "container": {"name": "storage-initializer", **container},
        "supportedUriFormats": list(formats),
        "supportsMultiModelDownload": True,
    }
    value = {"kind": "ClusterStorageContainer", "metadata": {"name": name}, "spec": spec}
    read = StorageContainerSpec.read(spec)
    return StorageContainer(name=name, disabled=False, spec=read, document=document(value, "containers.yaml"))


@dataclass(frozen=True)
class Attached:
    """The predictor after the passes, or what stopped it."""

    pod: dict[str, Any]
    diagnostics: tuple[Diagnostic, ...]
    unit: Unit | None = None
    worker: dict[str, Any] | None = None

    @property
    def slugs(self) -> list[str]:
        """The codes of the findings, in order."""
        return [d.code.slug for d in self.diagnostics]

    @property
    def initializer(self) -> dict[str, Any]:
        """The container that downloads."""
        return next(c for c in self.pod["initContainers"] if c["name"] == "storage-initializer")

    @property
    def server(self) -> dict[str, Any]:
        """The container that serves the model."""
        return next(c for c in self.pod["containers"] if c["name"] == "kserve-container")

    @property
    def env(self) -> dict[str, Any]:
        """The variables of the download container: plain values, or the Secret and key of a reference."""
        tuning = ("HF_HUB", "HF_XET")
        return {e["name"]: told(e) for e in self.initializer["env"] if not e["name"].startswith(tuning)}


def told(entry: dict[str, Any]) -> str:
    """What a variable says: its value, or secret/key."""
    if "valueFrom" not in entry:
        return entry["value"]
    assert "value" not in entry
    reference = entry["valueFrom"]["secretKeyRef"]
    return f"{reference['name']}/{reference['key']}"


@dataclass(frozen=True)
class World:
    """What is around a predictor. `platform` are facts of the target, `server` fields of its model server."""

    secrets: tuple[Secret, ...] = ()
    accounts: tuple[ServiceAccount, ...] = ()
    containers: tuple[StorageContainer, ...] = (storage_container("default", *DEFAULT_FORMATS),)
    config_maps: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    platform: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    server: dict[str, Any] = field(default_factory=dict)
    worker: bool = False

    def env(self, env: Env) -> Env:
        """The environment of a bench, in this world."""
        cluster = Cluster(
            secrets={(s.namespace, s.name): s for s in self.secrets},
            service_accounts={(a.namespace, a.name): a for a in self.accounts},
            config_maps=self.config_maps,
        )
        catalog = Catalog(storage_containers=tuple(sorted(self.containers, key=lambda c: c.name)))
        return evolve(env, cluster=cluster, catalog=catalog, platform=evolve(env.platform, **self.platform))


@dataclass(frozen=True)
class Bringing:
    """Takes a predictor through the passes on a cluster."""

    make: Any

    def __call__(self, predictor: dict[str, Any] | str, **given: Any) -> Attached:
        """Attach the models of a predictor; a text stands for a model at that URI.

        `given` are the fields of a World, and fields of the storageInitializer section.
        """
        if isinstance(predictor, str):
            predictor = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": predictor}}
        around = {f.name for f in fields(World)}
        world = World(**{k: v for k, v in given.items() if k in around})
        settings = {**SETTINGS, **{k: v for k, v in given.items() if k not in around}}
        bench = self.make(storageInitializer=settings, credentials=CREDENTIALS)
        unit = bench.unit({"predictor": predictor}, metadata=world.metadata)
        unit = unit.with_components(tuple(with_server(c, world) for c in unit.components))
        return attached(unit, world.env(bench.env))


def with_server(component: Component, world: World) -> Component:
    """A component whose pod has the model server that a runtime would give it, and whose annotations have spoken."""
    component = settled(component)
    if component.implementation[-1:] != ("model",):
        return component
    own = component.pod.value.get("containers") or []
    containers = [{"name": "kserve-container", "image": "registry.example.com/server:1", **world.server}, *own]
    pod = component.pod.put(("containers",), containers, component.pod.sub("containers"))
    second = pod.put(("containers",), [{"name": "worker-container"}], component.pod) if world.worker else None
    return evolve(component, pod=pod, worker_pod=second)


def attached(unit: Unit, env: Env) -> Attached:
    """The predictor after both passes."""
    found: tuple[Diagnostic, ...] = ()
    try:
        for work in (attach_models, attach_images):
            step = work(unit, env)
            unit, found = step.unit, (*found, *step.diagnostics)
    except Reject as reject:
        return Attached({}, (*found, *reject.diagnostics))
    predictor = unit.component(Role.PREDICTOR)
    assert predictor is not None
    worker = predictor.worker_pod.value if predictor.worker_pod is not None else None
    return Attached(predictor.pod.value, found, unit, worker)


@pytest.fixture(name="attach")
def attach_fixture(bench) -> Bringing:
    """Takes a predictor through the passes on a cluster."""
    return Bringing(bench)
