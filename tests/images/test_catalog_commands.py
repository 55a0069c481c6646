"""What the catalog leads to is started by the entry point in these images, and without it in others."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec.api import Target, compile_text
from kservec.io.reading import File

from .programs import ROOT, Done, Place, adapter, model, write_program
from .versions import read

CATALOG = ROOT / "runtimes" / "catalog" / "0.21"
OURS = "ghcr.io/kservec/vllm-"
SHM = "/dev/shm"  # noqa: S108 - of the container
POD: dict[str, Any] = {"containers": [{"name": "main"}]}
MANY = {"data": 4, "dataLocal": 2, "tensor": 2, "expert": True}
GATEWAY = {"namespace": "kserve", "name": "kserve-ingress-gateway"}
SCHEDULER = {
    "config": {
        "inline": {
            "apiVersion": "llm-d.ai/v1alpha1",
            "kind": "EndpointPickerConfig",
            "plugins": [{"type": "precise-prefix-cache-scorer"}],
            "schedulingProfiles": [{"name": "default", "plugins": [{"pluginRef": "precise-prefix-cache-scorer"}]}],
        }
    }
}
LORA_SPEC = {"adapters": [{"name": "polite", "uri": "pvc://models/polite"}]}
SPECS: dict[str, dict[str, Any]] = {
    "one": {"parallelism": {"tensor": 2}, "kvCacheOffloading": {"cpu": "10Gi"}},
    "many": {"parallelism": MANY, "worker": POD},
    "parted": {"prefill": {"kvCacheOffloading": {"cpu": "1Gi"}}},
    "parted-many": {"parallelism": MANY, "worker": POD, "prefill": {"parallelism": MANY, "worker": POD}},
    "scored": {"router": {"route": {}, "gateway": {}, "scheduler": SCHEDULER}},
}
PREDICTOR = {"model": {"modelFormat": {"name": "vLLM"}, "storageUri": "pvc://models/tiny", "args": ["--seed=7"]}}


def service(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """An LLMInferenceService with an adapter and an argument of its own."""
    arguments = ["--seed=7", "--hf-overrides", '{"a b": "it\'s"}']
    template = {"containers": [{"name": "main", "args": arguments}]}
    prefill = {"prefill": {"template": template, **spec["prefill"]}} if "prefill" in spec else {}
    return {
        "apiVersion": "serving.kserve.io/v1alpha2",
        "kind": "LLMInferenceService",
        "metadata": {"name": name, "namespace": "ml"},
        "spec": {
            "model": {"uri": "pvc://models/tiny", "name": "chat", "lora": LORA_SPEC},
            "template": template,
            **spec,
            **prefill,
        },
    }


@cache
def containers() -> Mapping[str, dict[str, Any]]:
    """Every container with an image of ours that the catalog can lead to, with its volumes, by where it comes from."""
    predictor = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "isvc", "namespace": "ml"},
        "spec": {"predictor": PREDICTOR},
    }
    documents = [*(service(name, spec) for name, spec in SPECS.items()), predictor]
    facts = {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", "gateways": [GATEWAY]}
    platform = (File("platform.yaml", libyaml.dump(facts).encode()),)
    compilation = compile_text(libyaml.dump_all(documents, sort_keys=False), target=Target(platform=platform))
    assert compilation.ok, [diagnostic.message for diagnostic in compilation.diagnostics]
    found = {}
    for item in compilation.objects:
        for path, pod in pods(libyaml.load(item.text)):
            for container in pod["containers"]:
                if OURS in container.get("image", ""):
                    name = f"{item.ref.kind}/{item.ref.name}{path}"
                    found[name] = {**container, "volumes": pod.get("volumes", [])}
    return found


def pods(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """The pod specs in an object."""
    if isinstance(node, dict):
        if isinstance(node.get("containers"), list):
            yield path, node
        for key, value in node.items():
            yield from pods(value, f"{path}.{key}")


def raw_containers(node: Any) -> Iterator[Mapping[str, Any]]:
    """The containers in a document of the catalog that have an image of ours."""
    if isinstance(node, dict):
        if str(node.get("image", "")).startswith(OURS):
            yield node
        for value in node.values():
            yield from raw_containers(value)
    elif isinstance(node, list):
        for item in node:
            yield from raw_containers(item)


@pytest.fixture
def port() -> Iterator[int]:
    """A port at which the leader seems to listen."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def run(place: Place, container: Mapping[str, Any], port: int, **variables: str) -> Done:
    """Start a container as Kubernetes does, with the model, the adapter and the leader where this machine has them."""
    base, polite = place.folder / "models", place.folder / "polite"
    if not base.exists():
        model(base)
        adapter(polite, 8)
    words = [*container.get("command", ["kservec-vllm"]), *container.get("args", ())]
    words = [re.sub(r"/mnt/models(/base)?\b", str(base), word) for word in words]
    words = [word.replace("/mnt/lora/polite", str(polite)).replace("5555", str(port)) for word in words]
    own = {entry["name"]: entry["value"] for entry in container.get("env", ()) if "value" in entry}
    home = {name: str(place.folder / "home") for name, value in read()["environment"].items() if value.startswith("/")}
    group = {"LWS_LEADER_ADDRESS": "localhost", "LWS_WORKER_INDEX": "1"}
    return place.run_words(words, **{**own, **home, **group, **variables})


def told(done: Done) -> list[str]:
    """What vLLM was told, in an order that does not matter, and without the address, which a shell finds elsewhere."""
    assert done.status == 0, done.said
    return sorted(word for word in done.words if not word.startswith("--data-parallel-address="))


NAMES = sorted(containers())
each = pytest.mark.parametrize("name", NAMES)


def test_every_container_with_an_image_of_ours_is_looked_at() -> None:
    """Those that are compiled here come from every file of the catalog that has one."""
    here = [body for path in CATALOG.glob("*.yaml") for body in raw_containers(libyaml.load(path.read_text()))]
    assert len(here) == len(NAMES) - 1, "the servers of `one` and `scored` come from the same container"


@each
def test_no_command_bypasses_the_entry_point(place: Place, port: int, name: str) -> None:
    """In an image of ours the entry point starts vLLM, which takes all that it is told."""
    done = run(place, containers()[name], port, VLLM_ADDITIONAL_ARGS="--chat-template 'a b'")
    assert done.status == 0, done.said
    assert "kservec-vllm: runs vllm " in done.said
    assert "warning" not in done.said


@each
@pytest.mark.slow
def test_another_image_of_vllm_is_told_the_same(tmp_path: Path, port: int, name: str) -> None:
    """Without the entry point a shell does what it can, and vLLM is started with the same words."""
    more = {"VLLM_ADDITIONAL_ARGS": "" if "isvc" in name or "tokenizer" in name else "--chat-template 'a b'"}
    here = run(Place(tmp_path / "ours"), containers()[name], port, **more)
    other = Place(tmp_path / "other", entrypoint=False)
    write_program(other.programs / "python", 'shift 2; for w; do set -- "$@" "$w"; shift; done; exec vllm serve "$@"')
    there = run(other, containers()[name], port, **more)
    assert "kservec-vllm" not in there.said
    same = [word.replace(str(tmp_path / "ours"), str(tmp_path / "other")) for word in told(here)]
    assert (
        sorted(same) == told(there) if "isvc" not in name else set(same) <= {*told(there), f"{tmp_path}/other/models"}
    )


@each
def test_pods_have_the_caches_and_the_volumes_of_the_image(name: str) -> None:
    """Every folder that the image declares writable is a volume of the pod, no other is, and the variables agree."""
    container = containers()[name]
    own = {entry["name"]: entry.get("value") for entry in container["env"]}
    assert read()["environment"].items() <= own.items()
    empty = {volume["name"] for volume in container["volumes"] if "emptyDir" in volume}
    mounted = {m["mountPath"] for m in container["volumeMounts"] if m["name"] in empty and not m.get("readOnly")}
    shared = {SHM} if "tokenizer" in name else set()
    assert mounted == set(read()["writable"]) - shared


@each
def test_the_root_file_system_is_read_only_where_it_can_be(name: str) -> None:
    """Container runtimes write into that of GPU pods; those of CPUs get nothing to write but their volumes."""
    context = containers()[name]["securityContext"]
    assert context.get("readOnlyRootFilesystem") == (None if "isvc" in name else "tokenizer" in name)
    assert context["allowPrivilegeEscalation"] is False
