"""What the tests of Knative mode share: services compiled for a declared cluster, from text to text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest
from tests import libyaml

from kservec import Target, compile_files
from kservec.core.knative.demands import FEATURES, demands
from kservec.io.reading import File

INGRESS = {
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "localGateway": "knative-serving/knative-local-gateway",
    "localGatewayService": "knative-local-gateway.istio-system.svc.cluster.local",
    "ingressDomain": "example.com",
}
QUANTITIES = {"cpuRequest": "100m", "cpuLimit": "1", "memoryRequest": "100Mi", "memoryLimit": "1Gi"}
SECTIONS = {
    "deploy": {"defaultDeploymentMode": "Knative"},
    "inferenceService": {},
    "security": {"autoMountServiceAccountToken": True},
    "storageInitializer": {"image": "registry.example.com/initializer:1", "enableModelcar": True, **QUANTITIES},
    **{name: {"image": f"registry.example.com/{name}:1", **QUANTITIES} for name in ("agent", "batcher", "logger")},
}
EVERY_FIELD = {
    "affinity": 1, "dnsConfig": 1, "dnsPolicy": 1, "hostAliases": 1, "hostIPC": 1, "hostNetwork": 1, "hostPID": 1,
    "nodeSelector": 1, "priorityClassName": 1, "runtimeClassName": 1, "schedulerName": 1, "securityContext": 1,
    "shareProcessNamespace": 1, "tolerations": 1, "topologySpreadConstraints": 1,
    "initContainers": [{"name": "i"}],
    "volumes": [{"name": s, s: {}} for s in ("csi", "emptyDir", "hostPath", "image", "persistentVolumeClaim")],
    "containers": [
        {
            "name": "a", "livenessProbe": 1, "env": [{"name": "e", "valueFrom": {"fieldRef": 1}}],
            "securityContext": {"capabilities": {"add": [1]}}, "volumeMounts": [{"mountPropagation": 1}],
        },
        {"name": "b"},
    ],
}  # fmt: skip
"""A pod that needs every feature of Knative."""

ALL_FEATURES = {d.key: "enabled" for d in demands(EVERY_FIELD) if d.config == FEATURES}


@dataclass(frozen=True)
class Outcome:
    """What a compile gave."""

    compilation: Any

    @property
    def objects(self) -> dict[tuple[str, str], Any]:
        """The objects by API group and name; Knative's and the core group's Services differ in the group."""
        bodies = [(o.ref, libyaml.load(o.text)) for o in self.compilation.objects]
        return {(ref.group, ref.name): body for ref, body in bodies}

    def service(self, name: str = "churn-predictor") -> Any:
        """A Knative service."""
        return self.objects["serving.knative.dev", name]

    def template(self, name: str = "churn-predictor") -> Any:
        """The template of the revisions of a Knative service."""
        return self.service(name)["spec"]["template"]

    def routes(self) -> Any:
        """The spec of the VirtualService."""
        return self.objects["networking.istio.io", "churn"]["spec"]

    @property
    def slugs(self) -> list[str]:
        """The codes of the findings, in order."""
        return [d.code.slug for d in self.compilation.diagnostics]

    def find(self, slug: str) -> Any:
        """The only finding of a code."""
        (found,) = (d for d in self.compilation.diagnostics if d.code.slug == slug)
        return found

    @property
    def tree(self) -> tuple[File, ...]:
        """The Knative services as files of a tree."""
        return tuple(File(o.path, o.text.encode()) for o in self.compilation.objects if o.ref.group)


def container(**fields: Any) -> dict[str, Any]:
    """A container that serves, with enough resources for any cluster."""
    return {"name": "kserve-container", "image": "registry.example.com/server:1", **fields}


def config_map(name: str, namespace: str, data: dict[str, str]) -> str:
    """The text of a ConfigMap."""
    metadata = {"name": name, "namespace": namespace}
    return json.dumps({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data})


def compiled(
    spec: dict[str, Any], *, metadata: dict[str, Any] | None = None, ingress: dict[str, Any] | None = None,
    config: dict[str, dict[str, str] | None] | None = None, namespace: str = "ml", **target: Any,
) -> Outcome:  # fmt: skip
    """Compile a service named churn.

    `config` are Knative's config maps by name without `config-`, None for one that is not declared.
    """
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "churn", "namespace": namespace, **(metadata or {})},
        "spec": spec,
    }
    sections = {k: json.dumps(v) for k, v in {**SECTIONS, "ingress": INGRESS | (ingress or {})}.items()}
    knative = {"domain": {"example.com": ""}, "features": ALL_FEATURES, "defaults": {}, **(config or {})}
    texts = [config_map("inferenceservice-config", "kserve", sections)]
    texts += [config_map(f"config-{k}", "knative-serving", v) for k, v in knative.items() if v is not None]
    platform = (File("platform.yaml", "\n---\n".join(texts).encode()),)
    files = [File("churn.yaml", json.dumps(service, indent=2).encode())]
    return Outcome(compile_files(files, target=Target(platform=platform, catalog="none", **target)))


def predictor(*further: dict[str, Any], server: dict[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    """The spec of a service with a predictor of its own containers."""
    return {"predictor": {"containers": [container(**(server or {})), *further], **fields}}


@pytest.fixture(name="knative")
def knative_fixture() -> Any:
    """Compiles a service for a cluster with Knative."""
    return compiled


@pytest.fixture(name="predictor")
def predictor_fixture() -> Any:
    """Makes the spec of a service."""
    return predictor


@pytest.fixture(name="secured")
def secured_fixture() -> Any:
    """Compiles a service for a cluster that fills in safe settings."""

    def make(flag: str, fields: dict[str, Any]) -> Outcome:
        return compiled(predictor(**fields), config={"features": {**ALL_FEATURES, "secure-pod-defaults": flag}})

    return make
