"""Profiles: a folder a version, whose data is what the code says, and KServe's source of the others."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec._version import KSERVE_PROFILE
from kservec.core.profile import CURRENT
from kservec.core.records import evolve
from kservec.documents.profile import read_profile
from kservec.io.packaged import PROFILE_FILE, packaged, packaged_catalog, packaged_profile, packaged_profiles

ROOT = Path(__file__).parents[1]
SOURCE = os.environ.get("KSERVEC_KSERVE_SOURCE", "")
OURS = ("argoproj.io", "toolkit.fluxcd.io", "cert-manager.io", "kustomize.config.k8s.io", "monitoring.coreos.com")
"""Groups of kinds that KServe makes nothing of: what projects add, and what kservec makes instead of a Secret."""
ADDED = ("NetworkPolicy", "PodDisruptionBudget", "ExternalSecret", "Namespace", "DaemonSet")

needs_source = pytest.mark.skipif(not SOURCE, reason="KSERVEC_KSERVE_SOURCE names no git folder of kserve/kserve")


def document(version: str) -> Any:
    """The document of a profile."""
    return libyaml.load((packaged("catalog") / version / PROFILE_FILE).read_text())


def test_the_current_version_is_the_code() -> None:
    """Its profile says that nothing is missing and no rule differs, as the code has it without reading a file."""
    written = read_profile((packaged("catalog") / KSERVE_PROFILE / PROFILE_FILE).read_bytes(), PROFILE_FILE)
    assert evolve(written, release="", api_versions=()) == CURRENT
    assert packaged_profile(KSERVE_PROFILE) is CURRENT


@pytest.mark.parametrize("version", packaged_profiles())
def test_a_folder_is_a_version(version: str) -> None:
    """A profile says the version of its folder, and its catalog has every kind of documents."""
    assert document(version)["kserve"] == version
    kinds = {libyaml.load(content)["kind"] for _, content in packaged_catalog(version)}
    assert {"ClusterServingRuntime", "ClusterStorageContainer", "ConfigMap", "LLMInferenceServiceConfig"} <= kinds
    assert not [name for name, _ in packaged_catalog(version) if PROFILE_FILE in name]


def test_versions_are_in_order() -> None:
    """The earliest first, by numbers."""
    assert packaged_profiles() == ("0.20", "0.21")


@pytest.mark.parametrize("text", ["kind: Other", "kind: Profile\nkserve: '1'\nfield: []", "a: 1\n---\nb: 2"])
def test_a_misspelt_profile_is_a_bug(text: str) -> None:
    """It comes with the package, so it is refused loudly."""
    with pytest.raises(ValueError, match=PROFILE_FILE):
        read_profile(text.encode(), PROFILE_FILE)


def rendered_versions() -> Iterator[str]:
    """The API versions of what the golden cases make of KServe's objects."""
    for path in (ROOT / "golden").glob("*/expect/**/*.yaml"):
        if "_included" in path.parts or "_gitops" in path.parts:
            continue
        lines = [line.partition(": ") for line in path.read_text().splitlines()]
        body = {key: value for key, _, value in lines if key in ("apiVersion", "kind")}
        if body:
            api_version, kind = body["apiVersion"], body["kind"]
            if not api_version.startswith(OURS) and ".toolkit." not in api_version and kind not in ADDED:
                yield api_version


def test_api_versions_are_those_of_what_is_made() -> None:
    """The profile lists every API version that is rendered, and none that no case shows."""
    listed = set(document(KSERVE_PROFILE)["apiVersions"])
    made = set(rendered_versions())
    assert made <= listed
    assert listed - made == set()


def shown(revision: str, path: str) -> Any:
    """A file of KServe's source at a tag or commit, read as YAML."""
    git = ["git", f"--git-dir={SOURCE}", "show", f"{revision}:{path}"]
    text = subprocess.run(git, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return libyaml.load(text)


def fields(schema: Any, at: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every field of a schema, without those of lists."""
    for name, below in (schema.get("properties") or {}).items():
        yield (*at, name)
        yield from fields(below, (*at, name))


CRDS = {
    "InferenceService": "serving.kserve.io_inferenceservices.yaml",
    "InferenceGraph": "serving.kserve.io_inferencegraphs.yaml",
    "TrainedModel": "serving.kserve.io_trainedmodels.yaml",
    "ClusterServingRuntime": "serving.kserve.io_clusterservingruntimes.yaml",
    "ServingRuntime": "serving.kserve.io_servingruntimes.yaml",
    "LLMInferenceService": "llmisvc/serving.kserve.io_llminferenceservices.yaml",
    "LLMInferenceServiceConfig": "llmisvc/serving.kserve.io_llminferenceserviceconfigs.yaml",
    "LocalModelCache": "localmodel/serving.kserve.io_localmodelcaches.yaml",
}


@needs_source
@pytest.mark.parametrize("kind", sorted(CRDS))
def test_missing_fields_are_those_of_the_definitions(kind: str) -> None:
    """The fields that 0.20 does not have are just those by which KServe's own definitions differ."""
    old, new = document("0.20")["release"], document("0.21")["release"]
    path = f"config/crd/full/{CRDS[kind]}"
    found: list[set[tuple[str, ...]]] = []
    for revision in (old, new):
        versions = shown(revision, path)["spec"]["versions"]
        found.append({field for version in versions for field in fields(version["schema"]["openAPIV3Schema"])})
    added = found[1] - found[0]
    outermost = {".".join(field) for field in added if not any(field[:i] in added for i in range(1, len(field)))}
    said = document("0.20")["fields"]
    assert outermost == {field["path"] for field in said if kind in field["kinds"] and field.get("since")}
    assert found[0] <= found[1]


@needs_source
def test_images_are_those_of_the_release() -> None:
    """The presets of 0.20 name the images of KServe's own, but for its builds of vLLM."""
    for name, content in packaged_catalog("0.20"):
        body = libyaml.load(content)
        if body["kind"] == "LLMInferenceServiceConfig":
            file = name.rpartition("/")[2].removeprefix("kserve-")
            theirs = {
                image for image in images(shown("v0.20.0", f"config/llmisvcconfig/{file}")) if "cuda" not in image
            }
            ours = {image for image in images(body) if "/kservec/" not in image}
            assert ours == theirs, name


def images(node: Any) -> Iterator[str]:
    """Every image of a document."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key == "image" and isinstance(value, str):
                yield value
            else:
                yield from images(value)
    elif isinstance(node, list):
        for item in node:
            yield from images(item)
