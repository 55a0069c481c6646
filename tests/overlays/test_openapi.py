"""What kustomize is told of KServe's kinds: lists that merge, and kinds without namespaces."""

from __future__ import annotations

import json

import pytest

from kservec.io.kustomize import Tool, build
from kservec.io.packaged import packaged_schemas
from kservec.overlays.openapi import POD_HOLDERS, definition_name, openapi_document, openapi_text

SCHEMAS = packaged_schemas()
WRAPPER = "wrapper/kustomization.yaml"
CONTAINERS = "[{name: a, image: a, env: [{name: ONE, value: x}], volumeMounts: [{name: v, mountPath: /v}]}, {name: b}]"
PATCH = "[{name: a, env: [{name: TWO, value: y}], volumeMounts: [{name: w, mountPath: /w}]}]"
PLACES = {
    ("serving.kserve.io/v1beta1", "InferenceService"): ("spec", "transformer"),
    ("serving.kserve.io/v1alpha1", "ServingRuntime"): ("spec",),
    ("serving.kserve.io/v1alpha1", "ClusterServingRuntime"): ("spec", "workerSpec"),
    ("serving.kserve.io/v1alpha1", "ClusterStorageContainer"): (),
    ("serving.kserve.io/v1alpha2", "LLMInferenceService"): ("spec", "prefill", "template"),
    ("serving.kserve.io/v1alpha2", "LLMInferenceServiceConfig"): ("spec", "router", "scheduler", "template"),
    ("serving.knative.dev/v1", "Service"): ("spec", "template", "spec"),
    ("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"): ("spec", "leaderWorkerTemplate", "workerTemplate", "spec"),
    ("apps/v1", "Deployment"): ("spec", "template", "spec"),
    ("apps/v1", "StatefulSet"): ("spec", "template", "spec"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template", "spec"),
    ("v1", "Pod"): ("spec",),
}
"""Where kinds have containers."""


def at(path: tuple[str, ...], value: str) -> str:
    """A value at a path, in YAML's flow style."""
    for step in reversed(path):
        value = f"{{{step}: {value}}}"
    return value.removeprefix("{").removesuffix("}")


@pytest.mark.parametrize("kind", [kind for kind in PLACES if PLACES[kind]], ids=lambda kind: kind[1])
def test_containers_merge_by_name(kind: tuple[str, str], any_tool: Tool) -> None:
    """What a patch does not name stays: other containers, the image, variables, mounts."""
    head = f"apiVersion: {kind[0]}\nkind: {kind[1]}\nmetadata: {{name: x}}\n"
    files = {
        WRAPPER: "resources: [a.yaml]\npatches: [{path: p.yaml}]\nopenapi: {path: openapi.json}\n",
        "wrapper/a.yaml": f"{head}{at((*PLACES[kind], 'containers'), CONTAINERS)}\n",
        "wrapper/p.yaml": f"{head}{at((*PLACES[kind], 'containers'), PATCH)}\n",
        "wrapper/openapi.json": openapi_text(SCHEMAS),
    }
    made = build({path: text.encode() for path, text in files.items()}, any_tool)
    for kept in ("image: a", "name: ONE", "name: TWO", "mountPath: /v", "mountPath: /w", "- name: b"):
        assert kept in made


def test_kinds_of_the_cluster_get_no_namespace(any_tool: Tool) -> None:
    """`namespace:` reaches what is in namespaces, and nothing else."""
    kinds = SCHEMAS.kinds().values()
    objects = [f"apiVersion: {k.api_version}\nkind: {k.kind}\nmetadata: {{name: x}}\n" for k in kinds]
    files = {
        WRAPPER: "resources: [a.yaml]\nnamespace: moved\nopenapi: {path: openapi.json}\n",
        "wrapper/a.yaml": "---\n".join(objects),
        "wrapper/openapi.json": openapi_text(SCHEMAS),
    }
    made = build({path: text.encode() for path, text in files.items()}, any_tool).split("---\n")
    moved = {text.split("kind: ")[1].split("\n")[0] for text in made if "namespace: moved" in text}
    expected = {k.kind for k in kinds if k.is_namespaced}
    assert moved == expected


def test_every_kind_is_in_it() -> None:
    """It replaces what kustomize knows, so that all kinds we know and those with pods are in it; references lead on."""
    document = openapi_document(SCHEMAS)
    names = {definition_name(*kind) for kind in (*SCHEMAS.kinds(), *POD_HOLDERS)}
    assert names <= document["definitions"].keys()
    text = json.dumps(document)
    referred = {part.split('"')[0] for part in text.split("#/definitions/")[1:]}
    assert referred <= document["definitions"].keys()
    assert json.dumps(openapi_document.__wrapped__(SCHEMAS)) == text


def test_definitions_of_the_user_come_over_ours() -> None:
    """An overlay that brings a document of its own keeps what ours says of other kinds."""
    own = {"definitions": {"v1.Pod": {"type": "object"}, "example.com.v1.Thing": {"type": "object"}}}
    made = json.loads(openapi_text(SCHEMAS, own))
    assert made["definitions"]["v1.Pod"] == {"type": "object"}
    assert {"example.com.v1.Thing", "serving.kserve.io.v1beta1.InferenceService"} <= made["definitions"].keys()
