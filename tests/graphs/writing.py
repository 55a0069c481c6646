"""Small graphs and services, and what a build makes of them."""

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
URL = "http://scorer.example.com/v1/models/scorer:predict"
KNATIVE = {
    "knative": {
        "domain": {"example.com": ""},
        "features": {f"kubernetes.podspec-{name}": "enabled" for name in ("init-containers", "volumes-emptydir")},
    }
}


def node(*steps: Mapping[str, Any], kind: str = "Sequence") -> dict[str, Any]:
    """A node."""
    return {"routerType": kind, "steps": list(steps)}


def called(**fields: Any) -> dict[str, Any]:
    """A step that calls a URL."""
    return {"serviceUrl": URL, **fields}


def graph(
    nodes: Mapping[str, Any] | None = None, *, name: str = "claims", mode: str = "Standard", **more: Any
) -> dict[str, Any]:
    """A graph; `annotations` and `labels` go to its metadata, the rest to its spec."""
    annotations = {f"{GROUP}/deploymentMode": mode, **more.pop("annotations", {})}
    metadata = {"name": name, "namespace": "ml", "annotations": annotations, "labels": more.pop("labels", {})}
    spec = {"nodes": nodes or {"root": node(called())}, **more}
    return {"apiVersion": f"{GROUP}/v1alpha1", "kind": "InferenceGraph", "metadata": metadata, "spec": spec}


def service(name: str, mode: str = "Standard", **more: Any) -> dict[str, Any]:
    """An InferenceService with a model of the format sklearn, unless it has another predictor."""
    storage = f"s3://models/{name}"
    predictor = {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": storage, **more.pop("model", {})}}
    annotations = {f"{GROUP}/deploymentMode": mode, **more.pop("annotations", {})}
    metadata = {"name": name, "namespace": "ml", "annotations": annotations}
    spec = {"predictor": predictor, **more}
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": "InferenceService", "metadata": metadata, "spec": spec}


def built(*documents: Mapping[str, Any], **cluster: Any) -> Compilation:
    """Documents compiled for a cluster with the given facts besides those of Knative."""
    facts = {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", **KNATIVE, **cluster}
    platform = (File("platform.yaml", libyaml.dump(facts).encode()),)
    return compile_text(libyaml.dump_all(documents, sort_keys=False), target=Target(platform=platform))


def made(compilation: Compilation) -> dict[str, Any]:
    """The objects of a build by kind and name; a build with an error fails the test."""
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    return {f"{o.ref.kind}/{o.ref.name}": libyaml.load(o.text) for o in compilation.objects}


def slugs(compilation: Compilation) -> list[str]:
    """The codes of errors and warnings, in the order of the input."""
    return [d.code.slug for d in compilation.diagnostics if d.code.severity is not Severity.NOTE]


def quoted(compilation: Compilation, text: str) -> Sequence[str]:
    """What errors and warnings underline, given the text that was compiled."""
    lines = text.splitlines()
    spans = [d.span for d in compilation.diagnostics if d.code.severity is not Severity.NOTE and d.span is not None]
    return [lines[s.line - 1][s.column - 1 : s.end_column - 1] for s in spans]


def container(compilation: Compilation, name: str = "claims") -> Any:
    """The container of a router in Standard mode."""
    (only,) = made(compilation)[f"Deployment/{name}"]["spec"]["template"]["spec"]["containers"]
    return only
