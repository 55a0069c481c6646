"""The built-in catalog: pinned, free of ties, and KServe's own but for the differences that are written down."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec.io.packaged import PROFILE_FILE

ROOT = Path(__file__).resolve().parent.parent
CATALOG = ROOT / "runtimes" / "catalog" / "0.21"
DIFFERENCES = ROOT / "docs" / "catalog-differences.yaml"
PLATFORM = Path(os.environ.get("KSERVEC_CONFORMANCE", ROOT.parent / "shared" / "conformance")) / "platform"
RECORDED = PLATFORM / "catalog"
CONFIG = "inferenceservice-config.yaml"

SHIPPED = {
    "kserve-autogluonserver",
    "kserve-huggingfaceserver",
    "kserve-huggingfaceserver-multinode",
    "kserve-lgbserver",
    "kserve-mlserver",
    "kserve-openvino",
    "kserve-paddleserver",
    "kserve-pmmlserver",
    "kserve-predictiveserver",
    "kserve-sklearnserver",
    "kserve-tensorflow-serving",
    "kserve-torchserve",
    "kserve-tritonserver",
    "kserve-vllmserver",
    "kserve-xgbserver",
}
PROTOCOL_RANK = {"v1": 1, "v2": 2, "grpc-v1": 3, "grpc-v2": 4}

Document = Mapping[str, Any]

needs_recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded platform beside the repository")


@cache
def read(folder: Path) -> Mapping[str, Document]:
    """The documents of a catalog folder by file name; a file holds one."""
    paths = (path for path in sorted(folder.glob("*.yaml")) if path.name != PROFILE_FILE)
    return {path.name: libyaml.load(path.read_text("utf-8")) for path in paths}


@cache
def differences() -> Document:
    """The written list."""
    found: Document = libyaml.load(DIFFERENCES.read_text("utf-8"))
    return found


def runtimes(folder: Path) -> Mapping[str, Document]:
    """The runtimes of a catalog folder by name."""
    found = read(folder).values()
    return {body["metadata"]["name"]: body for body in found if body["kind"] == "ClusterServingRuntime"}


def images(body: Document) -> set[str]:
    """Every image that a document of the catalog names; that of the explainer has its version in a field of its own."""
    if body["kind"] != "ConfigMap":
        return {value for path, value in leaves(body) if path.endswith(".image")}
    version = sections(body)["explainers"]["art"]["defaultImageVersion"]
    return {
        f"{value}:{version}" if path.startswith("explainers.") else value
        for path, value in leaves(sections(body))
        if path.endswith((".image", "Image"))
    }


def sections(config: Document) -> Document:
    """The sections of KServe's configuration, each of which is JSON in a string."""
    return {key: json.loads(text) for key, text in config["data"].items()}


def leaves(node: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Path and value of every scalar; list items go by name where they have one."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield from leaves(value, f"{path}.{key}" if path else key)
    elif isinstance(node, list):
        for position, item in enumerate(node):
            step = item.get("name", position) if isinstance(item, dict) else position
            yield from leaves(item, f"{path}[{step}]")
    else:
        yield path, node


def differing(ours: Document, theirs: Document) -> set[str]:
    """Paths at which two documents have other values."""
    here, there = dict(leaves(ours)), dict(leaves(theirs))
    return {path for path in here.keys() | there.keys() if here.get(path) != there.get(path)}


def chosen(folder: Path, name: str, version: str | None, protocol: str, multinode: bool) -> list[str]:
    """The runtimes that KServe would put first, more than one where nothing but their names decides.

    KServe: pkg/apis/serving/v1beta1/predictor_model.go, GetSupportingRuntimes
    """
    ranked = []
    for runtime, body in runtimes(folder).items():
        spec = body["spec"]
        formats = [item for item in spec["supportedModelFormats"] if item["name"] == name]
        selectable = [
            item for item in formats if item.get("autoSelect") and (version is None or item.get("version") == version)
        ]
        protocols = spec.get("protocolVersions", [])
        speaks = not protocols or protocol in protocols
        if selectable and speaks and ("workerSpec" in spec) == multinode:
            best = min((PROTOCOL_RANK[item] for item in protocols), default=5)
            ranked.append((-formats[0].get("priority", 0), best, runtime))
    return [runtime for *rank, runtime in ranked if rank == list(min(ranked)[:2])]


def requests() -> list[tuple[str, str | None, str, bool]]:
    """Every request that a format of the catalog can answer: name, version or none, protocol, several nodes."""
    formats = [item for body in runtimes(CATALOG).values() for item in body["spec"]["supportedModelFormats"]]
    named = {(item["name"], version) for item in formats for version in (None, item.get("version"))}
    ordered = sorted(named, key=lambda pair: (pair[0], pair[1] or ""))
    return [(*pair, protocol, nodes) for pair, protocol, nodes in product(ordered, PROTOCOL_RANK, (False, True))]


def test_has_every_runtime_that_kserve_ships() -> None:
    """All fifteen runtimes of KServe 0.21 are there, eleven presets, a storage container, and its configuration."""
    assert set(runtimes(CATALOG)) == SHIPPED
    others = [body["kind"] for body in read(CATALOG).values() if body["kind"] != "ClusterServingRuntime"]
    assert sorted(others) == ["ClusterStorageContainer", "ConfigMap", *["LLMInferenceServiceConfig"] * 11]


def test_a_file_is_named_after_its_object() -> None:
    """One document a file, and the file name is the object's name, so names are unique."""
    for name, body in read(CATALOG).items():
        suffix = "-storage-container" if body["kind"] == "ClusterStorageContainer" else ""
        assert name == f"{body['metadata']['name']}{suffix}.yaml"


def without_containers(body: Document) -> bool:
    """Whether a document is a preset that says nothing about pods."""
    return body["kind"] == "LLMInferenceServiceConfig" and body["metadata"]["name"].endswith(("-route", "-tracing"))


@pytest.mark.parametrize("name", sorted(name for name, body in read(CATALOG).items() if not without_containers(body)))
def test_images_are_pinned(name: str) -> None:
    """Every image has a tag that does not move, or a digest."""
    found = images(read(CATALOG)[name])
    assert found
    for image in sorted(found):
        _, _, tag = image.rpartition("/")[2].partition(":")
        assert "@sha256:" in image or tag, image
        assert not tag.startswith("latest"), image


@pytest.mark.parametrize("name", sorted(read(CATALOG)))
def test_a_file_says_what_it_serves(name: str) -> None:
    """Every file opens with a comment."""
    assert (CATALOG / name).read_text("utf-8").startswith("# ")


def test_no_two_runtimes_tie() -> None:
    """No request of the catalog is decided by the order of names alone."""
    ties = {request: names for request in requests() if len(names := chosen(CATALOG, *request)) > 1}
    assert not ties


@pytest.mark.parametrize(
    ("name", "protocol", "runtime"),
    [
        ("sklearn", "v1", "kserve-sklearnserver"),
        ("sklearn", "v2", "kserve-mlserver"),
        ("xgboost", "v1", "kserve-xgbserver"),
        ("xgboost", "v2", "kserve-mlserver"),
        ("lightgbm", "v1", "kserve-lgbserver"),
        ("mlflow", "v2", "kserve-mlserver"),
        ("tensorflow", "v1", "kserve-tensorflow-serving"),
        ("tensorflow", "v2", "kserve-tritonserver"),
        ("onnx", "v2", "kserve-tritonserver"),
        ("pytorch", "v1", "kserve-torchserve"),
        ("huggingface", "v1", "kserve-huggingfaceserver"),
        ("vLLM", "v1", "kserve-vllmserver"),
        ("openvino", "v2", "kserve-openvino"),
    ],
)
def test_a_format_gets_the_runtime_of_a_default_installation(name: str, protocol: str, runtime: str) -> None:
    """The usual formats pick the runtime that KServe's own installation would give them; OpenVINO takes none away."""
    assert chosen(CATALOG, name, None, protocol, False) == [runtime]


def test_the_list_names_every_image_and_no_other() -> None:
    """docs/catalog-differences.yaml gives a reason for each image of the catalog."""
    listed = [item["image"] for item in differences()["images"]]
    assert sorted(listed) == sorted(set().union(*map(images, read(CATALOG).values())))
    assert all(item["why"] and item["kserve"] for item in differences()["images"])


@needs_recorded
def test_added_runtimes_are_listed() -> None:
    """The catalog has the recorded platform's runtimes and those that the list calls added."""
    added = {item["runtime"] for item in differences()["added"]}
    assert set(runtimes(CATALOG)) - set(runtimes(RECORDED)) == added
    assert set(runtimes(RECORDED)) <= set(runtimes(CATALOG))


@needs_recorded
def test_differs_from_the_recorded_platform_only_as_listed() -> None:
    """Every other value than the recorded platform's is listed, and every listed one is there."""
    found = {
        (body["metadata"]["name"], path)
        for name, body in read(RECORDED).items()
        for path in differing(read(CATALOG)[name], body)
    }
    listed = {
        (runtime, path)
        for entry in differences()["fields"]
        for runtime, path in product(entry["runtimes"], entry["paths"])
    }
    assert found <= listed
    assert {path for _, path in listed} == {path for _, path in found}
    assert {runtime for runtime, _ in listed} == {runtime for runtime, _ in found}


@needs_recorded
def test_configuration_differs_only_as_listed() -> None:
    """KServe's configuration is the recorded platform's, but for the fields that are listed."""
    recorded = libyaml.load((PLATFORM / CONFIG).read_text("utf-8"))
    found = differing(sections(read(CATALOG)[CONFIG]), sections(recorded))
    assert found == {path for entry in differences()["configuration"] for path in entry["paths"]}


@needs_recorded
def test_every_request_picks_the_recorded_runtime() -> None:
    """Whatever format, version, protocol and number of nodes: where the recorded platform has a runtime, it is ours."""
    for request in requests():
        if expected := chosen(RECORDED, *request):
            assert chosen(CATALOG, *request) == expected, request


@pytest.fixture
def shell(tmp_path: Path) -> Mapping[str, str]:
    """An environment whose `ray` and `python` print their arguments; the first `ray health-check` fails."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    health = 'if [ "$1" = health-check ] && [ ! -e "$0.seen" ]; then : > "$0.seen"; exit 1; fi\n'
    echo = 'printf "%s" "${0##*/}"; printf " <%s>" "$@"; echo\n'
    for name, body in (("ray", health + echo), ("python", echo), ("sleep", ":\n")):
        (tmp_path / name).write_text(f"#!{bash}\n{body}")
        (tmp_path / name).chmod(0o755)
    return {
        "PATH": f"{tmp_path}:{Path(bash).parent}",
        "MODEL_DIR": "/mnt/models",
        "POD_IP": "10.0.0.1",
        "RAY_PORT": "6379",
        "TENSOR_PARALLEL_SIZE": "2",
        "PIPELINE_PARALLEL_SIZE": "3",
        "HEAD_SVC": "llama-head-1",
        "POD_NAMESPACE": "assistants",
    }


def run(command: list[str], environment: Mapping[str, str]) -> list[str]:
    """The lines that a container's command prints."""
    done = subprocess.run(command, env=dict(environment), capture_output=True, text=True, check=True, timeout=60)  # noqa: S603
    return done.stdout.splitlines()


def test_multinode_head_passes_arguments_unchanged(shell: Mapping[str, str]) -> None:
    """The head waits for its workers, then starts the server with the model, both sizes and the spec's arguments."""
    head = runtimes(CATALOG)["kserve-huggingfaceserver-multinode"]["spec"]["containers"][0]
    lines = run([*head["command"], "--model_name=llama", '--json={"a": 1}'], shell)
    assert lines[0].startswith("ray <start> <--head>")
    assert "<registered_nodes>" in lines[1]
    assert lines[2] == (
        "python <-m> <huggingfaceserver> <--model_dir=/mnt/models> <--tensor-parallel-size=2>"
        ' <--pipeline-parallel-size=3> <--model_name=llama> <--json={"a": 1}>'
    )


def test_multinode_worker_waits_for_the_head(shell: Mapping[str, str]) -> None:
    """A worker asks until the head answers, then joins it under an address without the cluster's domain."""
    worker = runtimes(CATALOG)["kserve-huggingfaceserver-multinode"]["spec"]["workerSpec"]["containers"][0]
    waiting, joined = run(worker["command"], shell)
    assert waiting.startswith("no Ray head at llama-head-1.assistants.svc:6379")
    assert joined == "ray <start> <--address=llama-head-1.assistants.svc:6379> <--block>"
