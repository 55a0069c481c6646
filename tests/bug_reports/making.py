"""Small services and runtimes, and what a build makes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.api import Target, compile_text
from kservec.core.diagnostics import Severity
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.api import Compilation

GROUP = "serving.kserve.io"
SERVER = "kserve-container"
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", SERVER)
CLASS = f"{GROUP}/autoscalerClass"
INSIDE = {"networking.kserve.io/visibility": "cluster-local"}
GPU = {"limits": {"nvidia.com/gpu": "1"}}
DIGEST = "registry.example.com/hf@sha256:" + "0f" * 32
BY_GATEWAY = {"inferenceServiceConfig": {"ingress": {"enableGatewayApi": True}}}
HEADLESS = {"inferenceServiceConfig": {"service": {"serviceClusterIPNone": True}}}
NO_ROUTES = {"inferenceServiceConfig": {"ingress": {"disableIngressCreation": True}}}
FEATURES = ("nodeselector", "persistent-volume-claim", "init-containers", "volumes-emptydir")
KNATIVE = {"domain": {"example.com": ""}, "features": {f"kubernetes.podspec-{f}": "enabled" for f in FEATURES}}
PLAIN = {"containers": [{"name": SERVER, "image": "server:1"}]}


def service(predictor: Mapping[str, Any], name: str = "churn", mode: str = "Standard", **more: Any) -> dict[str, Any]:
    """An InferenceService; `annotations` and `labels` go to its metadata, the rest to its spec."""
    annotations = {f"{GROUP}/deploymentMode": mode, **more.pop("annotations", {})}
    namespace = more.pop("namespace", "ml")
    metadata = {"name": name, "namespace": namespace, "annotations": annotations, "labels": more.pop("labels", {})}
    spec = {"predictor": predictor, **more}
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": "InferenceService", "metadata": metadata, "spec": spec}


def model(fmt: str = "acme", uri: str | None = "s3://models/churn", **more: Any) -> dict[str, Any]:
    """A predictor with a model; fields of the predictor itself stand under `predictor`."""
    storage = {} if uri is None else {"storageUri": uri}
    return {"model": {"modelFormat": {"name": fmt}, **storage, **more.pop("model", {})}, **more}


def runtime(name: str = "acme-server", server_type: str = "", **more: Any) -> dict[str, Any]:
    """A ClusterServingRuntime for the format acme; `beside` are further containers, other fields go to its own."""
    beside, spec = more.pop("beside", ()), more.pop("spec", {})
    container = {"name": SERVER, "image": f"registry.example.com/{name}:1.0", **more}
    formats = [{"name": "acme", "version": "1", "autoSelect": True}]
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": name, "annotations": {f"{GROUP}/server-type": server_type}},
        "spec": {"supportedModelFormats": formats, "containers": [container, *beside], **spec},
    }


def built(*documents: Mapping[str, Any], **cluster: Any) -> Compilation:
    """Documents compiled for a cluster with one runtime, the built-in ones, and the given facts."""
    facts = {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", **cluster}
    given = [*documents] if any(d["kind"] == "ClusterServingRuntime" for d in documents) else [*documents, runtime()]
    platform = (File("platform.yaml", libyaml.dump(facts).encode()),)
    text = libyaml.dump_all(given, sort_keys=False)
    return compile_text(text, target=Target(platform=platform))


def made(compilation: Compilation) -> dict[str, Any]:
    """The objects of a build by kind and name; a build with an error fails the test."""
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    return {f"{o.ref.kind}/{o.ref.name}": libyaml.load(o.text) for o in compilation.objects}


def found(compilation: Compilation, *, notes: bool = False) -> list[str]:
    """The slugs of what was found, but for settings of Knative that nothing declares."""
    kinds = [d for d in compilation.diagnostics if notes or d.code.severity is not Severity.NOTE]
    return [d.code.slug for d in kinds if not d.code.slug.endswith("-undeclared")]


def dig(value: Any, path: Sequence[str | int]) -> Any:
    """What stands at a path, None if nothing does; items of lists by name or number."""
    for step in path:
        if isinstance(value, list) and isinstance(step, str):
            value = next((i for i in value if step in (i.get("name"), i.get("mountPath"))), None)
        elif isinstance(value, list):
            value = value[step]
        else:
            value = (value or {}).get(step)
    return value


def deployment(compilation: Compilation, *path: str | int, name: str = "churn-predictor") -> Any:
    """What stands at a path of a Deployment."""
    return dig(made(compilation)[f"Deployment/{name}"], path)
