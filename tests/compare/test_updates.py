"""KServe's rules about updates, which need the old spec beside the new one."""

from __future__ import annotations

import pytest

from kservec.compare.inputs import altered, updates_of
from kservec.compare.updates import refused_updates
from kservec.io.packaged import packaged_schemas

from .building import LLM, STANDARD, edited

MODEL = """\
apiVersion: serving.kserve.io/v1alpha1
kind: TrainedModel
metadata: {name: risk, namespace: ml}
spec: {inferenceService: churn, model: {storageUri: s3://m/v1, framework: sklearn, memory: 512Mi}}
"""
RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: mn, namespace: ml}
spec: {containers: [{name: kserve-container}], workerSpec: {containers: [{name: worker-container}]}}
"""
CACHE = """\
apiVersion: serving.kserve.io/v1alpha1
kind: LocalModelCache
metadata: {name: a}
spec: {sourceModelUri: gs://m/v1, modelSize: 1Gi, nodeGroups: [g]}
"""
NAMED = ("    timeout: 60", "    timeout: 60\n    name: green")

CASES: tuple[tuple[str, str, tuple[tuple[str, str], ...], list[str]], ...] = (
    ("a predictor's name", STANDARD, (NAMED,), ["update/predictor-renamed"]),
    ("a predictor's name and model", STANDARD, (NAMED, ("v7", "v8")), []),
    ("a model", STANDARD, (("v7", "v8"),), []),
    ("memory", MODEL, (("512Mi", "1Gi"),), ["update/memory-changed"]),
    ("the same memory", MODEL, (("512Mi", "0.5Gi"),), []),
    ("the size of groups", LLM, (("data: 8", "data: 16"),), ["update/size-changed"]),
    ("the same size by other numbers", LLM, (("data: 8, dataLocal: 4", "data: 4, dataLocal: 2"),), []),
    ("a number that is none", LLM, (("data: 8", "data: {a: 1}"),), ["update/size-changed"]),
    ("no parallelism any more", LLM, (("  parallelism: {data: 8, dataLocal: 4}\n", ""),), ["update/size-changed"]),
    ("prefill that comes", LLM, (("  template:", "  prefill: {parallelism: {pipeline: 2}}\n  template:"),), []),
    ("workers", RUNTIME, ((", workerSpec: {containers: [{name: worker-container}]}", ""),), ["update/workers-dropped"]),
    ("the model of a cache", CACHE, (("m/v1", "m/v2"),), ["update/cache-uri-changed"]),
    ("the groups of a cache", CACHE, (("[g]", "[g, h]"),), []),
    ("comments", STANDARD, (("spec:\n", "spec: # why\n"),), []),
)


@pytest.mark.parametrize(("about", "before", "edits", "slugs"), CASES, ids=[case[0] for case in CASES])
def test_what_kserve_refuses(about: str, before: str, edits: tuple[tuple[str, str], ...], slugs: list[str]) -> None:
    """Each is a warning, located in the new document; documents are found again in other files."""
    del about
    pairs = altered({"a.yaml": before.encode()}, {"b.yaml": edited(before, *edits).encode()}, packaged_schemas())
    found = list(refused_updates(updates_of(pairs)))
    assert [finding.code.slug for finding in found] == slugs
    assert all(finding.span is not None and finding.span.file == "b.yaml" for finding in found)
    assert all(finding.span is not None and finding.span.line > 1 for finding in found)


@pytest.mark.parametrize("odd", ["spec: text", "spec: {predictor: [1]}", "spec: {model: {memory: x}}", "{}", "- a"])
@pytest.mark.parametrize("kind", ["InferenceService", "TrainedModel", "LLMInferenceService", "ServingRuntime"])
def test_documents_of_any_shape_are_taken(kind: str, odd: str) -> None:
    """What git holds was never checked, so nothing may depend on its structure."""
    head = f"apiVersion: serving.kserve.io/v1alpha1\nkind: {kind}\nmetadata: {{name: a, namespace: b}}\n"
    texts = [head + odd if odd.startswith("spec") else odd, f"{head}spec: {{model: {{memory: 1Gi}}, predictor: {{}}}}"]
    files = [{"a.yaml": text.encode()} for text in texts]
    for before, after in (files, files[::-1]):
        assert list(refused_updates(updates_of(altered(before, after, packaged_schemas())))) == []
