"""What tests of LLM workloads share: a resolved service on a declared cluster, and the passes that build it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from kservec.core.cluster import Cluster, Secret, ServiceAccount
from kservec.core.diagnostics import Diagnostic, ObjectRef, Reject
from kservec.core.llm.part import Part, PartRole
from kservec.core.records import evolve
from kservec.core.registry import Env
from kservec.core.text.source import parse
from kservec.core.tree import Tree
from kservec.core.unit import Source, Unit
from kservec.passes.attach_artifacts import attach_artifacts
from kservec.passes.render_llminferenceservice import render_llminferenceservice
from kservec.passes.scale_llminferenceservice import scale_llminferenceservice
from kservec.passes.split_llminferenceservice import split_llminferenceservice
from kservec.passes.trace_requests import trace_requests
from kservec.spec.llminferenceservice import LLMInferenceService

INGRESS = {"ingressGateway": "knative-serving/gateway", "kserveIngressGateway": "kserve/gateway"}
STORAGE = {
    "image": "registry.example.com/initializer:1",
    "cpuRequest": "100m",
    "cpuLimit": "1",
    "memoryRequest": "100Mi",
    "memoryLimit": "1Gi",
    "enableModelcar": True,
    "uidModelcar": 1010,
}
CREDENTIALS = {"storageSecretNameAnnotation": "serving.kserve.io/storageSecretName"}
SIDECAR = {"name": "llm-d-routing-sidecar", "image": "registry.example.com/sidecar:1"}
MODEL = "hf://acme/tiny"
PASSES = (
    split_llminferenceservice, attach_artifacts, trace_requests, scale_llminferenceservice, render_llminferenceservice,
)  # fmt: skip


def pod(**fields: Any) -> dict[str, Any]:
    """A pod with a server named main."""
    return {"containers": [{"name": "main", "image": "registry.example.com/vllm:1"}], **fields}


def single(**spec: Any) -> dict[str, Any]:
    """A resolved service of one node."""
    return {"model": {"uri": MODEL, "name": "tiny"}, "template": pod(), **spec}


def group(**spec: Any) -> dict[str, Any]:
    """A resolved service of several nodes."""
    return single(worker=pod(), parallelism={"data": 8, "dataLocal": 2}, **spec)


def secret(name: str, *keys: str) -> Secret:
    """A Secret in the namespace ml, by its keys."""
    return Secret(namespace="ml", name=name, keys=frozenset(keys))


def account(name: str, *secrets: str, **more: Any) -> ServiceAccount:
    """A ServiceAccount in the namespace ml."""
    return ServiceAccount(namespace="ml", name=name, secrets=secrets, **more)


@dataclass(frozen=True)
class Built:
    """What became of a service, or what stopped it. `trees` are the objects with the origins of their values."""

    objects: dict[tuple[str, str], dict[str, Any]]
    diagnostics: tuple[Diagnostic, ...]
    parts: tuple[Part, ...] = ()
    trees: dict[tuple[str, str], Tree] = field(default_factory=dict)

    @property
    def slugs(self) -> list[str]:
        """The codes of the findings, in order."""
        return [d.code.slug for d in self.diagnostics]

    @property
    def names(self) -> list[tuple[str, str]]:
        """Kind and name of every object, sorted."""
        return sorted(self.objects)

    def written(self, kind: str, name: str, *path: str) -> str:
        """Where the service says what a value of an object comes from: the path in its file; empty if it does not."""
        found = self.trees[kind, name].origin(path)
        return "" if found is None or found[0].doc is None else ".".join(map(str, (*found[0].at, *found[1])))

    def of(self, kind: str, name: str = "") -> dict[str, Any]:
        """The object of a kind, and of a name if several are there."""
        (found,) = (body for (k, n), body in self.objects.items() if k == kind and name in ("", n))
        return found

    @property
    def pod(self) -> dict[str, Any]:
        """The pod of the main part."""
        found: dict[str, Any] = next(p for p in self.parts if p.role is PartRole.MAIN).pod.value
        return found

    @property
    def server(self) -> dict[str, Any]:
        """The container that serves the model."""
        return named(self.pod["containers"], "main")

    @property
    def initializer(self) -> dict[str, Any]:
        """The container that downloads."""
        return named(self.pod["initContainers"], "storage-initializer")


def named(items: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """The item of a name."""
    (found,) = (item for item in items if item["name"] == name)
    return found


def mounts(container: dict[str, Any]) -> dict[str, str]:
    """The mounts of a container: path -> volume."""
    return {m["mountPath"]: m["name"] for m in container.get("volumeMounts") or ()}


@dataclass(frozen=True)
class World:
    """What is around a service: the user's metadata, the cluster's objects, sections of KServe's configuration.

    `own` is what stands in the service itself, where that is not all of it.
    """

    annotations: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)
    secrets: tuple[Secret, ...] = ()
    accounts: tuple[ServiceAccount, ...] = ()
    absent: tuple[str, ...] = ()
    stopped: bool = False
    tls: bool = False
    issuer: dict[str, str] = field(default_factory=dict)
    config_maps: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    storage: dict[str, Any] = field(default_factory=dict)
    sections: dict[str, Any] = field(default_factory=dict)
    own: dict[str, Any] | None = None

    def env(self, make: Any) -> Env:
        """The environment that a bench makes of it."""
        sections = {
            "ingress": {**INGRESS, "enableLLMInferenceServiceTLS": self.tls},
            "storageInitializer": {**STORAGE, **self.storage},
            "credentials": CREDENTIALS,
            **self.sections,
        }
        env: Env = make(absent=self.absent, **sections).env
        cluster = Cluster(
            secrets={(s.namespace, s.name): s for s in self.secrets},
            service_accounts={(a.namespace, a.name): a for a in self.accounts},
            config_maps=self.config_maps,
        )
        return evolve(env, cluster=cluster, platform=evolve(env.platform, certificate_issuer=self.issuer))


def build(make: Any, spec: dict[str, Any], **around: Any) -> Built:
    """Take a resolved service named chat, in the namespace ml, through the passes. `around` are fields of a World."""
    world = World(**around)
    env = world.env(make)
    unit, found = unit_of(spec, world), ()
    try:
        for work in PASSES:
            step = work(unit, env)
            unit, found = step.unit, (*found, *step.diagnostics)
    except Reject as reject:
        return Built({}, (*found, *reject.diagnostics))
    trees = {(m.ref.kind, m.ref.name): m.body for m in unit.bundle.manifests}
    return Built({name: tree.value for name, tree in trees.items()}, found, unit.parts, trees)


def unit_of(spec: dict[str, Any], world: World) -> Unit:
    """The service as it is once its configs are merged in."""
    value = {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": {"name": "chat", "namespace": "ml", "labels": world.labels, "annotations": world.annotations},
        "spec": spec,
    }
    (document,), _ = parse(json.dumps(value, indent=2).encode(), "llm.yaml")
    source = Source(document=document)
    return Unit(
        ref=ObjectRef("serving.kserve.io/v1alpha2", "LLMInferenceService", "ml", "chat"),
        source=source,
        spec=LLMInferenceService.read({**document.value, "spec": spec if world.own is None else world.own}),
        labels=world.labels,
        annotations=world.annotations,
        stopped=world.stopped,
        resolved=None if world.stopped else Tree.of(document.value["spec"], source.origin("spec")),
    )
