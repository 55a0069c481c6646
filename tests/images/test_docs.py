"""What docs/images.md says: pins, statuses, the runtime over several nodes, and what is run by hand."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from tests import libyaml

from kservec.api import Target, compile_text

from .programs import IMAGES, ROOT, Place, model, write_program
from .versions import VARIANTS, read, reference

PAGE = (ROOT / "docs" / "images.md").read_text()


def test_the_table_is_that_of_the_file_of_versions() -> None:
    """Image, architectures and vLLM of every variant."""
    for name in VARIANTS:
        entry = read()["variants"][name]
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| `{reference(entry['image'])}"))
        assert row.endswith(f"| {', '.join(entry['architectures'])} | {read()['vllm']} |")


def test_every_status_is_told() -> None:
    """Those of the code, on the page and in the help text."""
    text = "".join((IMAGES / "kservec_vllm" / name).read_text() for name in ("refusals.py", "home.py"))
    statuses = set(re.findall(r"^[A-Z_]+: Final = (\d+)$", text, re.MULTILINE))
    assert statuses == {"64", "66", "69", "70", "73", "78", "126", "127"}
    rows = re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE)
    assert {status for row in rows for status in row.split(", ")} == statuses


def test_every_cache_is_told() -> None:
    """The variables that a user may see in a pod."""
    assert all(f"`{name}`" in PAGE for name in read()["environment"] if name != "USER")


def pods() -> Iterator[dict[str, Any]]:
    """The pods that a service of the page's runtime becomes: of the head, and of its workers."""
    runtime = next(body for body in re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL) if "ServingRuntime" in body)
    about = {"deploymentMode": "Standard", "autoscalerClass": "none"}
    annotations = {f"serving.kserve.io/{name}": value for name, value in about.items()}
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "chat", "namespace": "ml", "annotations": annotations},
        "spec": {
            "predictor": {
                "model": {"modelFormat": {"name": "vLLM"}, "storageUri": "pvc://models/chat"},
                "workerSpec": {},
            }
        },
    }  # fmt: skip
    text = f"{libyaml.dump(service)}---\n{runtime}"
    compilation = compile_text(text, target=Target())
    assert compilation.ok, [diagnostic.message for diagnostic in compilation.diagnostics]
    found = [libyaml.load(item.text) for item in compilation.objects if item.ref.kind == "Deployment"]
    yield from sorted(
        (body["spec"]["template"]["spec"] for body in found), key=lambda pod: pod["containers"][0]["name"]
    )


def test_the_runtime_over_several_nodes_works(place: Place) -> None:
    """Its head starts Ray and vLLM over both nodes, its worker joins."""
    head, worker = (pod["containers"][0] for pod in pods())
    write_program(place.programs / "ray", 'echo "$@" >> "$STANDIN_RECORD.ray"')
    package = place.folder / "packages" / "ray"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("def init(**_): pass\ndef nodes(): return [{'Alive': True}] * 2\n")
    told = variables(head) | {"MODEL_DIR": str(model(place.folder / "models")), "PYTHONPATH": str(package.parent)}
    done = place.run(*head["args"], **told)
    assert done.status == 0, done.said
    assert done.words[2:] == [
        "--port=8080", "--served-model-name=chat", "--tensor-parallel-size=8", "--pipeline-parallel-size=2",
        "--distributed-executor-backend=ray",
    ]  # fmt: skip
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        joined = place.run(**variables(worker) | {"HEAD_SVC": "127.0.0.1", "RAY_PORT": port})
    assert joined.status == 0, joined.said
    starts = place.record.with_suffix(".ray").read_text().splitlines()
    assert [line.split()[1].partition("=")[0] for line in starts] == ["--head", "--address"]
    assert {"HEAD_SVC", "RAY_NODE_COUNT"} <= variables(worker).keys()


def variables(container: dict[str, Any]) -> dict[str, str]:
    """The variables of a container that have a value."""
    return {entry["name"]: entry["value"] for entry in container.get("env", ()) if "value" in entry}


@pytest.mark.parametrize("name", [*VARIANTS])
def test_commands_on_the_page_name_files_that_are_there(name: str) -> None:
    """The Dockerfile that the page builds, and those beside it."""
    assert "docker build -f runtimes/images/vllm/cuda.Dockerfile" in PAGE
    assert (IMAGES / f"{name}.Dockerfile").is_file()


def test_the_dry_run_on_the_page(place: Place) -> None:
    """A model of the hub needs no files here."""
    words = re.search(r"vllm-cpu:\S+ (--dry-run .*)", PAGE)
    assert words
    done = place.run(*words[1].split(), KSERVEC_VLLM_VARIANT="cpu", CUDA_VISIBLE_DEVICES="")
    assert (done.status, done.records) == (0, []), done.said
    assert "would run vllm serve Qwen/Qwen3-0.6B" in done.said
