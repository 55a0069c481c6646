"""What tools note on the specs that they have applied is on none of the objects that are made of them."""

from __future__ import annotations

import pytest
from tests import libyaml

from kservec import compile_text

LABELS = {
    "app.kubernetes.io/instance": "specs",
    "argocd.argoproj.io/instance": "specs",
    "kustomize.toolkit.fluxcd.io/name": "specs",
    "kustomize.toolkit.fluxcd.io/namespace": "flux-system",
    "helm.toolkit.fluxcd.io/name": "specs",
}
ANNOTATIONS = {
    "argocd.argoproj.io/tracking-id": "specs:serving.kserve.io/Kind:ml/x",
    "argocd.argoproj.io/installation-id": "one",
    "argocd.argoproj.io/refresh": "hard",
    "kustomize.toolkit.fluxcd.io/checksum": "0123",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
    "reconcile.fluxcd.io/requestedAt": "2026-01-01T00:00:00Z",
    "kubectl.kubernetes.io/last-applied-configuration": "{}",
}
ORDER = {"argocd.argoproj.io/sync-wave": "3", "argocd.argoproj.io/sync-options": "Replace=true"}
"""What the user wants of objects, and so is on all of them, but on no pod."""
MODEL = {"predictor": {"model": {"modelFormat": {"name": "sklearn"}, "storageUri": "s3://models/x"}}}
GRAPH = {"nodes": {"root": {"routerType": "Sequence", "steps": [{"serviceUrl": "http://a.b"}]}}}
LLM = {"model": {"uri": "hf://a/b"}, "router": {"route": {}, "scheduler": {}}}
KINDS = [
    ("v1beta1", "InferenceService", "Standard", MODEL),
    ("v1beta1", "InferenceService", "Knative", MODEL),
    ("v1alpha1", "InferenceGraph", "Standard", GRAPH),
    ("v1alpha1", "InferenceGraph", "Knative", GRAPH),
    ("v1alpha2", "LLMInferenceService", "Standard", LLM),
]


@pytest.mark.parametrize(
    ("version", "kind", "mode", "spec"), KINDS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_notes_of_tools_stay_where_they_are(version: str, kind: str, mode: str, spec: dict[str, object]) -> None:
    """No key or value of a note is anywhere in an object; labels of pods and selectors included."""
    annotations = {**ANNOTATIONS, **ORDER, "serving.kserve.io/deploymentMode": mode}
    metadata = {"name": "x", "namespace": "ml", "labels": {**LABELS, "team": "a"}, "annotations": annotations}
    body = {"apiVersion": f"serving.kserve.io/{version}", "kind": kind, "metadata": metadata, "spec": spec}
    result = compile_text(libyaml.dump(body))
    assert result.ok, result.diagnostics
    for rendered in result.objects:
        assert [key for key in (*LABELS, *ANNOTATIONS) if key in rendered.text] == [], rendered.ref
        template = (libyaml.load(rendered.text).get("spec") or {}).get("template") or {}
        assert [key for key in ORDER if key in str(template)] == [], rendered.ref
