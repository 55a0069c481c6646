"""kservec lock: what it covers, what it asks for, and what builds make of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from .registry import COMMIT, running
from .running import Ran, kservec

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .registry import Server

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
catalog: none
platform: [platform]
environments: {dev: {}, prod: {}}
policy: {rules: {policy/image-digest: error}}
"""
SERVICES = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: chat
  namespace: ml
  annotations: {serving.kserve.io/deploymentMode: Standard}
spec:
  predictor:
    model:
      modelFormat: {name: own}
      storageUri: hf://acme/chat
"""
PLATFORM = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ClusterServingRuntime
metadata: {name: own}
spec:
  supportedModelFormats: [{name: own, autoSelect: true}]
  containers: [{name: kserve-container, image: REGISTRY/acme/server:v1}]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  storageInitializer: |
    {"image": "REGISTRY/acme/initializer:v1",
     "cpuRequest": "1", "cpuLimit": "1", "memoryRequest": "1Gi", "memoryLimit": "1Gi"}
  ingress: |
    {"ingressGateway": "knative-serving/knative-ingress-gateway"}
"""
FILES = {"kservec.yaml": PROJECT, "services/chat.yaml": SERVICES, "platform/own.yaml": PLATFORM}
LOCK = "kservec.lock.json"


class Repo:
    """A repository whose images are on a registry of this machine."""

    def __init__(self, folder: Path, server: Server) -> None:
        self.folder, self.server = folder, server
        self.registry = server.address.removeprefix("http://")
        for path, text in (
            ("kservec.yaml", PROJECT),
            ("services/chat.yaml", SERVICES),
            ("platform/own.yaml", PLATFORM),
        ):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text.replace("REGISTRY", self.registry))

    def run(self, *arguments: str) -> Ran:
        """Run kservec there; nothing but this machine can be reached."""
        return kservec(
            self.folder, *arguments, HF_ENDPOINT=self.server.address, DOCKER_CONFIG=str(self.folder), NO_PROXY="*"
        )

    @property
    def lock(self) -> dict[str, dict[str, str]]:
        """What the lock file holds."""
        content: dict[str, dict[str, str]] = json.loads((self.folder / LOCK).read_text())
        return content


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Iterator[Repo]:
    """A repository and its registry."""
    with running() as server:
        yield Repo(tmp_path, server)


def test_from_no_lock_to_a_build(repo: Repo) -> None:
    """Without a lock it is told what is missing; with one the build has digests and commits, and nothing is asked."""
    assert repo.run("build").status == 1
    before = repo.run("lock")
    assert before.status == 3
    assert before.err.count("is not in the lock file") == 3
    assert repo.server.requests == []
    updated = repo.run("lock", "--update")
    assert (updated.status, updated.err) == (0, f"{LOCK}: 2 images, 1 model; 3 changed\n")
    images = {f"{repo.registry}/acme/{name}:v1": repo.server.digest for name in ("initializer", "server")}
    assert (repo.lock["images"], repo.lock["models"]) == (images, {"hf://acme/chat": COMMIT})
    repo.server.requests.clear()
    assert repo.run("lock").err == f"{LOCK} covers 2 images and 1 model\n"
    assert repo.run("build").status == 0
    rendered = (repo.folder / "rendered/prod/ml/chat/deployment-chat-predictor.yaml").read_text()
    assert all(f"image: {image}@{digest}\n" in rendered for image, digest in images.items())
    assert f"- hf://acme/chat:{COMMIT}\n" in rendered
    assert repo.server.requests == []
    assert repo.run("lock", "--update").err == f"{LOCK}: 2 images, 1 model; nothing changed\n"


def test_only_what_is_missing_is_asked_for(repo: Repo) -> None:
    """Entries that are there stay, whatever their tags mean by now; those that nothing refers to go."""
    old = f"sha256:{'0' * 64}"
    images = {f"{repo.registry}/acme/server:v1": old, "gone:v1": old}
    (repo.folder / LOCK).write_text(
        json.dumps({"apiVersion": "kservec.dev/v1alpha1", "kind": "Lock", "images": images})
    )
    stale = repo.run("lock")
    assert stale.status == 3
    assert "warning[policy/lock-stale]: nothing refers to gone:v1 any more" in stale.err
    assert repo.run("lock", "--update", "--only-missing").status == 0
    assert repo.lock["images"][f"{repo.registry}/acme/server:v1"] == old
    assert "gone:v1" not in repo.lock["images"]
    assert repo.run("lock", "--update").status == 0
    assert repo.lock["images"][f"{repo.registry}/acme/server:v1"] == repo.server.digest


def test_facts_about_models_are_noted_if_asked_for(repo: Repo) -> None:
    """What the memory of a model follows from; what somebody has added stays, and other updates leave them alone."""
    assert repo.run("lock", "--facts").status == 2
    repo.server.model = {
        "num_hidden_layers": 2,
        "num_local_experts": 8,
        "architectures": ["X"],
        "text_config": {"a": 1},
    }
    noted = {"num_hidden_layers": 2, "num_local_experts": 8, "parameters": 80, "weight_bytes": 96}
    assert repo.run("lock", "--update", "--facts").status == 0
    assert repo.lock["modelFacts"] == {"hf://acme/chat": noted}
    assert f"/acme/chat/resolve/{COMMIT}/config.json" in [request.path for request in repo.server.requests]
    content = json.loads((repo.folder / LOCK).read_text())
    content["modelFacts"]["hf://acme/chat"]["expert_parameters"] = 40
    (repo.folder / LOCK).write_text(json.dumps(content))
    for arguments in (["--facts"], []):
        assert repo.run("lock", "--update", *arguments).status == 0
        assert repo.lock["modelFacts"] == {"hf://acme/chat": {**noted, "expert_parameters": 40}}


@pytest.mark.parametrize("counts", [{"BF16": 16, "I32": 64}, {}, {"BF16": 0}])
def test_sizes_that_may_be_packed_are_not_noted(repo: Repo, counts: dict[str, int]) -> None:
    """An element of such a type may hold several parameters."""
    repo.server.model, repo.server.counts = {"num_hidden_layers": 2}, counts
    assert repo.run("lock", "--update", "--facts").status == 0
    assert repo.lock["modelFacts"] == {"hf://acme/chat": {"num_hidden_layers": 2}}


def test_a_model_without_a_description_is_an_error(repo: Repo) -> None:
    """Nothing is written, as when a commit cannot be had."""
    ran = repo.run("lock", "--update", "--facts")
    assert ran.status == 1
    assert "answers 404 for model acme/chat" in ran.err
    assert not (repo.folder / LOCK).exists()


def test_facts_that_cannot_be_are_refused(repo: Repo) -> None:
    """At their place in the lock file."""
    content = {
        "apiVersion": "kservec.dev/v1alpha1",
        "kind": "Lock",
        "modelFacts": {"hf://acme/chat": {"parameters": "8B"}},
    }
    (repo.folder / LOCK).write_text(json.dumps(content, indent=1))
    ran = repo.run("build")
    assert ran.status == 1
    assert "modelFacts of hf://acme/chat has parameters: '8B', which is no whole number above 0" in ran.err
    assert f"{LOCK}:5:" in ran.err


def test_one_environment_keeps_the_entries_of_others(repo: Repo) -> None:
    """Whoever updates the lock for one environment takes nothing from another."""
    images = {"other:v1": f"sha256:{'0' * 64}"}
    (repo.folder / LOCK).write_text(
        json.dumps({"apiVersion": "kservec.dev/v1alpha1", "kind": "Lock", "images": images})
    )
    assert repo.run("lock", "prod", "--update").status == 0
    assert repo.lock["images"].items() > images.items()


@pytest.mark.slow
def test_offline(repo: Repo) -> None:
    """Each machine that does not answer is named once, and the lock file stays as it was."""
    with running() as gone:
        pass
    repo.server.address = gone.address
    path = repo.folder / "platform/own.yaml"
    path.write_text(path.read_text().replace(repo.registry, gone.address.removeprefix("http://")))
    ran = repo.run("lock", "--update")
    assert ran.status == 1
    assert ran.err.count("cannot be reached: Connection refused") == 1
    assert "the lock file is as it was; this is the one command that needs the network" in ran.err
    assert not (repo.folder / LOCK).exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("lock", "./services"), "this needs a project file (kservec.yaml) and names of its environments"),
        (("lock", "--only-missing"), "--only-missing goes with --update"),
        (("lock", "prd"), "prd is neither an environment of kservec.yaml nor a path; did you mean prod?"),
    ],
)
def test_wrong_usage(repo: Repo, arguments: tuple[str, ...], said: str) -> None:
    """What contradicts itself is refused, and says what to write."""
    ran = repo.run(*arguments)
    assert ran.status == 2
    assert said in ran.err


def test_a_project_that_does_not_compile(repo: Repo) -> None:
    """Nothing is asked for."""
    (repo.folder / "services/chat.yaml").write_text(SERVICES.replace("hf://acme/chat", "ftp://acme/chat"))
    ran = repo.run("lock", "--update")
    assert ran.status == 1
    assert "ftp://" in ran.err
    assert repo.server.requests == []
