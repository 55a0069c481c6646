"""The commands that tell: --version, runtimes, schema, completion."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest
from tests import libyaml

from kservec import __version__
from kservec._version import KSERVE_PROFILE
from kservec.io.packaged import packaged_profiles

from .running import environment, kservec

GOLDEN = Path(__file__).parents[2] / "golden"


def test_version(work: Path) -> None:
    """All spellings print one line with the version and the profile."""
    expected = (0, f"kservec {__version__} (KServe 0.21)\n", "")
    assert kservec(work, "--version") == kservec(work, "-V") == kservec(work, "--debug", "--version") == expected


def test_runtimes_come_in_the_order_of_selection(work: Path) -> None:
    """First what a model without a protocol gets, then what speaks others, last what never selects itself."""
    rows = [line.split() for line in kservec(work, "runtimes", "sklearn").out.splitlines()[1:]]
    assert [(row[3], row[6]) for row in rows] == [
        ("kserve-sklearnserver", "yes"),
        ("kserve-mlserver", "yes"),
        ("kserve-predictiveserver", "no"),
    ]


def test_runtimes_of_a_namespace_come_first(work: Path) -> None:
    """A ServingRuntime of the platform stands before those of the cluster."""
    runtime = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime",
        "metadata": {"name": "own", "namespace": "payments"},
        "spec": {
            "supportedModelFormats": [{"name": "sklearn", "autoSelect": True}],
            "containers": [{"name": "kserve-container", "image": "registry.example.com/own:1"}],
        },
    }
    (work / "runtime.json").write_text(json.dumps(runtime))
    rows = kservec(work, "runtimes", "sklearn", "--platform", "runtime.json").out.splitlines()
    assert rows[1].split() == ["sklearn", "-", "own", "payments", "any", "yes", "registry.example.com/own:1"]


def test_runtimes_without_the_catalog(work: Path) -> None:
    """`--catalog none` leaves the platform's own, here none."""
    assert kservec(work, "runtimes", "--catalog", "none").out.splitlines() == [
        "FORMAT  PRIORITY  RUNTIME  NAMESPACE  PROTOCOLS  AUTO  IMAGE"
    ]


def test_images_for_a_mirror(work: Path) -> None:
    """Every image of the catalog and of the configuration, one a line, sorted; those of specs are theirs."""
    lines = kservec(work, "runtimes", "--images").out.splitlines()
    assert lines == sorted(set(lines))
    assert {
        "ghcr.io/kservec/vllm-cpu:0.1.0",
        "ghcr.io/kservec/vllm-cuda:0.1.0",
        "ghcr.io/llm-d/llm-d-router-endpoint-picker:v0.10.0",
        "kserve/agent:v0.21.0",
        "kserve/art-explainer:v0.21.0",
        "kserve/huggingfaceserver:v0.21.0",
        "kserve/huggingfaceserver:v0.21.0-gpu",
        "kserve/router:v0.21.0",
        "kserve/storage-initializer:v0.21.0",
        "registry.k8s.io/pause:3.10.1",
        "tensorflow/serving:2.6.2-gpu",
    } <= set(lines)
    assert not [line for line in lines if ":" not in line]
    assert kservec(work, "runtimes", "--images", "sklearn").status == 2


def test_lists_for_programs(work: Path) -> None:
    """As JSON the lists hold what the lines hold, and what was found; nothing is beside the document."""
    images = json.loads(kservec(work, "runtimes", "--images", "--format", "json").out)
    assert images == {"images": kservec(work, "runtimes", "--images").out.splitlines(), "diagnostics": []}
    (first, *others) = json.loads(kservec(work, "runtimes", "sklearn", "--format", "json").out)["runtimes"]
    assert first == {
        "format": "sklearn", "versions": ["1"], "priority": 1, "runtime": "kserve-sklearnserver", "namespace": "",
        "protocols": ["v1", "v2"], "auto": True, "image": "kserve/sklearnserver:v0.21.0",
    }  # fmt: skip
    assert [(other["runtime"], other["auto"]) for other in others] == [
        ("kserve-mlserver", True),
        ("kserve-predictiveserver", False),
    ]
    none = kservec(work, "runtimes", "--catalog", "none", "--format", "json")
    assert (json.loads(none.out), none.err) == ({"runtimes": [], "diagnostics": []}, "")


def test_uris_that_models_come_from(work: Path) -> None:
    """Every kind that a scheme or a storage container of the platform brings in, which hints have no room for."""
    lines = kservec(work, "runtimes", "--uris").out.splitlines()
    assert lines == sorted(set(lines))
    assert {"s3://", "hf://", "pvc://", "https://ACCOUNT.blob.core.windows.net/CONTAINER/PATH"} <= set(lines)
    spec = {"container": {"name": "storage-initializer"}, "supportedUriFormats": [{"prefix": "dvc://"}]}
    container = {"apiVersion": "serving.kserve.io/v1alpha1", "kind": "ClusterStorageContainer", "spec": spec}
    (work / "platform.json").write_text(json.dumps({**container, "metadata": {"name": "dvc"}}))
    more = kservec(work, "runtimes", "--uris", "--platform", "platform.json", "--format", "json")
    assert sorted({*lines, "dvc://"}) == json.loads(more.out)["uris"]
    assert [kservec(work, "runtimes", "--uris", other).status for other in ("--images", "sklearn")] == [2, 2]


def test_images_of_a_platform(work: Path) -> None:
    """The platform's runtimes and configuration count; without the catalog nothing of it is left."""
    runtime = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": "own"},
        "spec": {
            "supportedModelFormats": [{"name": "sklearn"}],
            "containers": [{"name": "kserve-container", "image": "registry.example.com/own:1"}],
        },
    }
    agent = {"data": {"agent": json.dumps({"image": "registry.example.com/agent:2"})}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "inferenceservice-config"}, **agent}
    (work / "platform.json").write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [runtime, config]}))
    ran = kservec(work, "runtimes", "--images", "--catalog", "none", "--platform", "platform.json")
    assert {"registry.example.com/own:1", "registry.example.com/agent:2"} <= set(ran.out.splitlines())
    assert "vllm" not in ran.out


def profile_of(case: Path) -> str:
    """The version of KServe that a golden case is compiled for."""
    args = libyaml.load((case / "case.yaml").read_text()).get("args") or ()
    return next((after for option, after in pairwise(args) if option == "--profile"), KSERVE_PROFILE)


def test_golden_cases_have_no_other_images(work: Path) -> None:
    """No object has an image that neither its own documents nor the list name, so a mirror misses none."""
    images = {
        name: kservec(work, "runtimes", "--images", "--profile", name).out.split() for name in packaged_profiles()
    }
    unknown = set()
    for case in (file.parent for file in sorted(GOLDEN.glob("[!e]*/case.yaml")) if "project" not in file.parent.name):
        listed = images[profile_of(case)]
        repositories = {image.rpartition(":")[0] for image in listed}
        documents = (path for folder in ("input", "platform") for path in (case / folder).rglob("*.yaml"))
        given = "".join(path.read_text() for path in documents)
        for path in case.glob("expect/**/*.yaml"):
            for image in re.findall(r"^ *(?:- )?image: \"?([^\s\"]+)", path.read_text(), re.MULTILINE):
                repository, _, tag = image.rpartition(":")
                is_own = repository in given or (repository in repositories and tag in given)
                if image not in listed and not is_own:
                    unknown.add((case.name, image))
    assert not unknown


def test_a_broken_platform_is_reported(work: Path) -> None:
    """An error in the platform's documents is shown like any other."""
    (work / "platform.yaml").write_text("kind: [\n")
    ran = kservec(work, "runtimes", "--platform", "platform.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert "platform.yaml:1:7" in ran.err


def test_schemas(work: Path) -> None:
    """Without a kind the names are listed; with one its JSON Schema is printed."""
    names = kservec(work, "schema").out.splitlines()
    assert "serving.kserve.io/v1beta1/InferenceService" in names
    printed = json.loads(kservec(work, "schema", "InferenceService").out)
    assert printed == json.loads(kservec(work, "schema", "serving.kserve.io/v1beta1/InferenceService").out)
    assert printed["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", ["project", "Project", "kservec.dev/v1alpha1/Project", "cluster"])
def test_the_schemas_of_our_own_documents(work: Path, name: str) -> None:
    """By their word, kind or full name."""
    schema = json.loads(kservec(work, "schema", name).out)
    assert schema["title"] == f"{name.rpartition('/')[2].capitalize()} kservec.dev/v1alpha1"


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(work: Path, shell: str) -> None:
    """Each shell gets a script that the shell itself can read."""
    script = kservec(work, "completion", shell)
    assert script.status == 0
    assert "_KSERVEC_COMPLETE" in script.out
    program = shutil.which(shell)
    if program is not None:
        command = [program, "-n", "-c", script.out] if shell != "bash" else [program, "-n"]
        done = subprocess.run(command, input=script.out, text=True, capture_output=True, check=False)  # noqa: S603
        assert (done.returncode, done.stderr) == (0, "")


def test_completion_answers(work: Path) -> None:
    """Commands, options and kinds are completed."""
    asked = {
        "kservec bu": "build",
        "kservec build --plat": "--platform",
        "kservec schema InferenceS": "InferenceService",
    }
    for words, answer in asked.items():
        ran = kservec(work, _KSERVEC_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD=str(words.count(" ")))
        assert f"plain,{answer}" in ran.out.splitlines(), environment()
