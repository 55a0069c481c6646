"""Small LLMInferenceServices, and what a build makes of them with the built-in presets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.api import Target, compile_text
from kservec.core.diagnostics import Severity
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.api import Compilation

GROUP = "serving.kserve.io"
GATEWAY = {"namespace": "kserve", "name": "kserve-ingress-gateway"}
POOL, ALPHA_POOL = "inference.networking.k8s.io", "inference.networking.x-k8s.io"


def llm(name: str = "chat", *, stopped: bool = False, **spec: Any) -> dict[str, Any]:
    """A service that serves a small model under its own name, unless it has another model."""
    model = {"uri": "pvc://models/tiny", "name": name, **spec.pop("model", {})}
    metadata: dict[str, Any] = {"name": name, "namespace": "ml"}
    if stopped:
        metadata["annotations"] = {f"{GROUP}/stop": "true"}
    version, kind = f"{GROUP}/v1alpha2", "LLMInferenceService"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": {"model": model, **spec}}


def config(name: str, **spec: Any) -> dict[str, Any]:
    """A base config of the services' namespace."""
    version, kind = f"{GROUP}/v1alpha2", "LLMInferenceServiceConfig"
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "ml"}, "spec": spec}


def router(scheduler: Mapping[str, Any] | None = None, **route: Any) -> dict[str, Any]:
    """A router with a route, and with a scheduler if one is given."""
    found: dict[str, Any] = {"route": route, "gateway": {}}
    return found if scheduler is None else {**found, "scheduler": scheduler}


def inline(*types: str, **more: Any) -> dict[str, Any]:
    """A scheduler whose inline configuration has plugins of some types, all in one profile."""
    refs = [{"pluginRef": kind} for kind in types]
    found = {
        "apiVersion": "llm-d.ai/v1alpha1",
        "kind": "EndpointPickerConfig",
        "plugins": [{"type": kind} for kind in types],
        "schedulingProfiles": [{"name": "default", "plugins": refs}],
        **more,
    }
    return {"config": {"inline": found}}


def foreign_pool(name: str) -> dict[str, Any]:
    """An InferencePool that somebody else makes."""
    picker = {"name": name, "port": {"number": 9002}}
    spec = {"selector": {"matchLabels": {"app": name}}, "targetPorts": [{"number": 8000}], "endpointPickerRef": picker}
    return {
        "apiVersion": f"{POOL}/v1",
        "kind": "InferencePool",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": spec,
    }


def ingress(**settings: Any) -> dict[str, Any]:
    """KServe's configuration with settings of its ingress."""
    known = {"ingressGateway": "a/b", "kserveIngressGateway": "kserve/kserve-ingress-gateway", **settings}
    metadata = {"name": "inferenceservice-config", "namespace": "kserve"}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"ingress": json.dumps(known)}}


def account(name: str, **more: Any) -> dict[str, Any]:
    """A ServiceAccount of the services' namespace."""
    metadata = {"name": name, "namespace": "ml", "annotations": more.pop("annotations", {})}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata, **more}


def built(*documents: Mapping[str, Any], absent: tuple[str, ...] = (), **cluster: Any) -> Compilation:
    """Documents compiled for a cluster that has the default Gateway and the given facts."""
    facts = {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", "gateways": [GATEWAY], **cluster}
    platform = (File("platform.yaml", libyaml.dump(facts).encode()),)
    text = libyaml.dump_all(documents, sort_keys=False)
    return compile_text(text, target=Target(platform=platform, absent=absent))


def made(*documents: Mapping[str, Any], **target: Any) -> dict[str, Any]:
    """The objects of a build by kind and name; of two versions of a pool the older is `InferencePool.alpha`."""
    compilation = built(*documents, **target)
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    found = {}
    for item in compilation.objects:
        kind = "InferencePool.alpha" if item.ref.group == ALPHA_POOL else item.ref.kind
        found[f"{kind}/{item.ref.name}"] = libyaml.load(item.text)
    return found


def slugs(compilation: Compilation) -> list[str]:
    """The codes of errors and warnings, in the order of the input."""
    return [d.code.slug for d in compilation.diagnostics if d.code.severity is not Severity.NOTE]


def scheduler_args(objects: Mapping[str, Any], name: str = "chat") -> list[str]:
    """The arguments of the scheduler's main container."""
    pod = objects[f"Deployment/{name}-kserve-router-scheduler"]["spec"]["template"]["spec"]
    found: list[str] = pod["containers"][0]["args"]
    return found


def scheduler_config(objects: Mapping[str, Any], name: str = "chat") -> Any:
    """The scheduler's configuration."""
    args = scheduler_args(objects, name)
    return libyaml.load(args[args.index("--config-text") + 1])


def rules(objects: Mapping[str, Any], name: str = "chat") -> dict[str, Any]:
    """The rules of a service's route by their names."""
    return {rule["name"]: rule for rule in objects[f"HTTPRoute/{name}-kserve-route"]["spec"]["rules"]}
