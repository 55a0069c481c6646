"""Trained models: which ones a server may load, and how it learns of them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests import libyaml

from kservec.api import Compilation, compile_text

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: scores, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec: {predictor: {model: {modelFormat: {name: triton}, protocolVersion: v2, resources: {limits: {memory: 2Gi}}}}}
"""
CUSTOM = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: scores, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  predictor:
    containers:
    - name: kserve-container
      image: registry.example.com/scorer:1
      env: [{name: MULTI_MODEL_SERVER, value: "true"}]
"""


def model(name: str = "a", memory: str = "512Mi", uri: str = "s3://models/a", parent: str = "scores") -> str:
    """A TrainedModel."""
    spec = {"inferenceService": parent, "model": {"storageUri": uri, "framework": "onnx", "memory": memory}}
    metadata = {"name": name, "namespace": "ml"}
    head = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "TrainedModel"}
    return libyaml.dump({**head, "metadata": metadata, "spec": spec})


def compiled(*documents: str) -> Compilation:
    """What documents lead to on a platform as KServe ships it."""
    return compile_text("---\n".join(documents))


def slugs(compilation: Compilation) -> list[str]:
    """The codes of the errors, in order."""
    return [d.code.slug for d in compilation.diagnostics if d.is_error]


def listed(compilation: Compilation) -> Any:
    """The models that the agent is told of."""
    config = next(o for o in compilation.objects if o.ref.kind == "ConfigMap")
    return json.loads(libyaml.load(config.text)["data"]["models.json"])


def test_models_are_listed_by_name() -> None:
    """The list does not depend on the order of the documents, which KServe's own list does not keep either."""
    documents = [model("b", "1.5Gi"), SERVICE, model("a", "512Mi", "gs://models/a")]
    made = compiled(*documents)
    assert [entry["modelName"] for entry in listed(made)] == ["a", "b"]
    assert listed(made)[1]["modelSpec"] == {"storageUri": "s3://models/a", "framework": "onnx", "memory": "1536Mi"}
    assert compiled(*reversed(documents)).yaml == made.yaml


@pytest.mark.parametrize(
    ("given", "slug", "line"),
    [
        (model("a.b"), "trainedmodel/name", 4),
        (model(uri="hf://acme/a"), "trainedmodel/storage-uri", 11),
        (model(uri="pvc://claim/a"), "trainedmodel/storage-uri", 11),
        (model(memory="3Gi"), "trainedmodel/out-of-memory", 10),
        (model(parent="other"), "trainedmodel/no-parent", 7),
    ],
)
def test_a_model_that_is_refused(given: str, slug: str, line: int) -> None:
    """What KServe's webhook or controller would refuse is refused, at the field that it is about."""
    found = compiled(given, SERVICE)
    (fault,) = [d for d in found.diagnostics if d.is_error]
    assert (fault.code.slug, fault.span and fault.span.line) == (slug, line)


@pytest.mark.parametrize("uri", ["s3://", "s3:///m", "gs://", "https://"])
def test_a_uri_that_names_no_model(uri: str) -> None:
    """KServe looks at the prefix alone, and its agent could never pull from there."""
    (fault,) = [d for d in compiled(model(uri=uri), SERVICE).diagnostics if d.is_error]
    assert (fault.code.slug, fault.span and fault.span.line) == ("storage/no-model", 11)


@pytest.mark.parametrize(
    ("uri", "slug"),
    [
        ("s3://${BUCKET}/m", "storage/unfilled-placeholder"),
        ("s3://<bucket>/m", "storage/unfilled-placeholder"),
        ("gs://models/$(VERSION)", "storage/unfilled-placeholder"),
        ("https://acct.blob.core.windows.net", "storage/uri-incomplete"),
        ("https://acct.blob.core.windows.net/models/", "storage/uri-incomplete"),
        ("http://models.example.com/", "storage/uri-incomplete"),
        ("https://reader:Sesame-1234@models.example.com/a.onnx", "storage/password-in-uri"),
    ],
)
def test_a_uri_that_is_hardly_meant(uri: str, slug: str) -> None:
    """It is warned of at its place, and the model stays in the list."""
    made = compiled(model(uri=uri), SERVICE)
    found = [(d.code.slug, d.span and d.span.line) for d in made.diagnostics if d.code.slug.startswith("storage/")]
    assert (made.ok, found) == (True, [(slug, 11)])
    assert listed(made)[0]["modelSpec"]["storageUri"] == uri


def test_a_memory_that_is_hardly_meant() -> None:
    """The server would be told that the model needs next to nothing."""
    found = [d for d in compiled(model(memory="512m"), SERVICE).diagnostics if d.code.slug == "output/quantity-odd"]
    assert [(d.message, d.help) for d in found] == [
        ("memory is 512m, which is less than a byte", "did you mean 512Mi?")
    ]


@pytest.mark.parametrize("uri", ["s3://models", "gs://models", "s3://models/a b", "https://models.example.com/a?b=c"])
def test_a_uri_that_may_be_meant(uri: str) -> None:
    """A bucket can be pulled whole; nothing is said."""
    assert [d for d in compiled(model(uri=uri), SERVICE).diagnostics if d.code.slug.startswith("storage/")] == []


@pytest.mark.parametrize(("uri", "meant"), [("s3:/models/a", "s3://models/a"), ("gs ://models/a", "gs://models/a")])
def test_a_misspelt_scheme(uri: str, meant: str) -> None:
    """The agent has no paths of its own to pull from, so that this is an error, which says what was meant."""
    (fault,) = [d for d in compiled(model(uri=uri), SERVICE).diagnostics if d.is_error]
    assert (fault.code.slug, f"did you mean {meant}?" in fault.help) == ("trainedmodel/storage-uri", True)


def test_memory_counts_up_to_the_limit() -> None:
    """All models together may take what the predictor has; the first that is too much is named, by name."""
    assert compiled(SERVICE, model("a", "1Gi"), model("b", "1Gi")).ok
    found = compiled(SERVICE, model("c", "1Mi"), model("b", "1Gi"), model("a", "1Gi"))
    (fault,) = [d for d in found.diagnostics if d.is_error]
    assert "up to c with 1Mi" in fault.message


def test_a_limit_of_the_runtime_does_not_count() -> None:
    """KServe looks at the InferenceService alone; the runtime's own limit is no help."""
    bare = SERVICE.replace(", resources: {limits: {memory: 2Gi}}", "")
    (fault,) = [d for d in compiled(bare, model()).diagnostics if d.is_error]
    assert "sets no memory limit" in fault.message


def test_the_default_limit_of_a_custom_server_counts() -> None:
    """KServe writes its default resources into custom predictors, and the models may take those."""
    assert compiled(CUSTOM, model(memory="2Gi")).ok
    assert slugs(compiled(CUSTOM, model(memory="3Gi"))) == ["trainedmodel/out-of-memory"]


@pytest.mark.parametrize("predictor", ["storageUri: 's3://a/b'", "storage: {key: k, path: p}"])
def test_a_server_with_a_model_takes_no_others(predictor: str) -> None:
    """Only a predictor that names no model of its own serves several."""
    single = SERVICE.replace("protocolVersion: v2", f"protocolVersion: v2, {predictor}")
    assert "trainedmodel/parent-has-a-model" in slugs(compiled(single, model()))


def test_the_parent_is_in_the_same_namespace() -> None:
    """A service of the same name elsewhere is no parent; one that is refused itself is one."""
    elsewhere = SERVICE.replace("namespace: ml", "namespace: other")
    assert slugs(compiled(elsewhere, model())) == ["trainedmodel/no-parent"]
    broken = SERVICE.replace("{predictor: {", "{predictor: {minReplicas: 3, maxReplicas: 2, ")
    assert [slug for slug in slugs(compiled(broken, model())) if slug.startswith("trainedmodel/")] == []
    assert not compiled(broken, model()).ok


def test_a_change_of_memory_is_not_seen() -> None:
    """KServe refuses to change the memory of a model; a build knows no earlier memory."""
    assert compiled(SERVICE, model(memory="256Mi")).ok
    assert compiled(SERVICE, model(memory="1Gi")).ok
