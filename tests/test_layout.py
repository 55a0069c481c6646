"""The rendered tree: where each object's file lies, what lists it, and that kustomize reads it as it was written."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests import libyaml

from kservec import compile_tree
from kservec.core.diagnostics import ObjectRef
from kservec.gitops.index import Entry, index_text, read_index
from kservec.gitops.layout import INDEX, digest, planned_file, planned_tree
from kservec.gitops.rendered import Rendered
from kservec.io.tree_writer import write_tree

ROOT = Path(__file__).parents[1]
OWNER = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "iris")
KNATIVE = "serving.knative.dev/v1"
LONG = "x" * 253


def rendered(api_version: str, kind: str, name: str, *, namespace: str = "ml", shared: bool = False) -> Rendered:
    """An object of the service iris."""
    return Rendered(ObjectRef(api_version, kind, namespace, name), f"name: {name}\n", OWNER, shared)


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (rendered("apps/v1", "Deployment", "iris-predictor"), "ml/iris/deployment-iris-predictor.yaml"),
        (rendered("v1", "Service", "iris"), "ml/iris/service-iris.yaml"),
        (rendered(KNATIVE, "Service", "iris"), "ml/iris/service.serving.knative.dev-iris.yaml"),
        (rendered("v1", "ConfigMap", "ca", shared=True), "ml/_shared/configmap-ca.yaml"),
        (rendered("v1", "PersistentVolume", "iris", namespace=""), "_cluster/persistentvolume-iris.yaml"),
        (rendered("rbac.authorization.k8s.io/v1", "Role", "a:b"), "ml/iris/role-a_b.yaml"),
    ],
)
def test_an_object_has_one_place(made: Rendered, path: str) -> None:
    """The folder is the owner's, the file is named after kind and name, and the group where two groups share a kind."""
    assert made.path == path


def test_long_names_keep_files_apart() -> None:
    """A name too long for a file system is cut, with a hash that tells it from others of the same beginning."""
    first, second = (rendered("autoscaling/v2", "HorizontalPodAutoscaler", LONG[:-1] + end) for end in "ab")
    assert first.path != second.path
    assert max(len(part) for part in first.path.split("/")) == 255


def test_kustomizations_list_everything_sorted() -> None:
    """Each folder lists its files and folders, the top one the namespaces; nothing else is listed."""
    made = planned_tree([
        rendered("v1", "Service", "iris"),
        rendered("apps/v1", "Deployment", "iris"),
        rendered("v1", "ConfigMap", "ca", shared=True),
        rendered("v1", "PersistentVolume", "iris", namespace=""),
    ])  # fmt: skip
    listed = {p: libyaml.load(c)["resources"] for p, c in made.items() if p.endswith("kustomization.yaml")}
    assert listed == {
        "kustomization.yaml": ["_cluster", "ml"],
        "_cluster/kustomization.yaml": ["persistentvolume-iris.yaml"],
        "ml/kustomization.yaml": ["_shared", "iris"],
        "ml/_shared/kustomization.yaml": ["configmap-ca.yaml"],
        "ml/iris/kustomization.yaml": ["deployment-iris.yaml", "service-iris.yaml"],
    }


def test_the_index_knows_every_file() -> None:
    """One line a file: objects with their hash and owner, kustomizations by name only."""
    made = planned_tree([rendered("v1", "Service", "iris"), rendered("v1", "ConfigMap", "ca", shared=True)])
    own, shared = digest(b"name: iris\n"), digest(b"name: ca\n")
    assert made[INDEX].decode().splitlines() == [
        '{"apiVersion":"kservec.dev/v1alpha1","kind":"Index","files":{',
        '"kustomization.yaml": {},',
        f'"ml/_shared/configmap-ca.yaml": {{"sha256": "{shared}", "owner": "ml"}},',
        '"ml/_shared/kustomization.yaml": {},',
        '"ml/iris/kustomization.yaml": {},',
        f'"ml/iris/service-iris.yaml": {{"sha256": "{own}", "owner": "ml/InferenceService/iris"}},',
        '"ml/kustomization.yaml": {}',
        "}}",
    ]
    assert read_index(made[INDEX].decode()).keys() == made.keys() - {INDEX}


@pytest.mark.parametrize(
    "text", ["", "{}", "[1, 2]", "null", '"a": "b",', '"a": {"sha256": 1', "\x00", '{"files": {"a": {}}}', "}}\n" * 9]
)
def test_a_damaged_index_is_read_as_far_as_it_goes(text: str) -> None:
    """Whatever stands in the file, reading it raises nothing, and lines that can be read count."""
    good = '"a/b.yaml": {"sha256": "1", "owner": "ml"},'
    assert read_index(f"{text}\n{good}\n{text}\n").get("a/b.yaml") == (Entry("1", "ml"),)


def test_an_empty_index_is_json() -> None:
    """A tree without objects has an index all the same."""
    assert libyaml.load(index_text({}))["files"] == {}


def test_single_file() -> None:
    """One file has the stream, and a kustomization lists it."""
    made = planned_file([rendered("v1", "Service", "a"), rendered("v1", "Service", "b")])
    assert made["objects.yaml"] == b"---\nname: a\n---\nname: b\n"
    assert libyaml.load(made["kustomization.yaml"])["resources"] == ["objects.yaml"]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="no kubectl here")
@pytest.mark.parametrize("plan", [planned_tree, planned_file])
def test_kustomize_reads_what_was_written(tmp_path: Path, plan: type) -> None:
    """`kubectl kustomize` over the examples' tree gives the objects of the stream, no more and no less."""
    compiled = compile_tree([ROOT / "examples" / "services"], platform=[ROOT / "examples" / "platform"])
    write_tree(tmp_path / "rendered", plan(compiled.objects), force=False)
    command = [str(shutil.which("kubectl")), "kustomize", str(tmp_path / "rendered")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a known program
    assert done.returncode == 0, done.stderr
    read, written = (list(libyaml.load_all(text)) for text in (done.stdout, compiled.yaml))
    assert sorted(map(repr, read)) == sorted(map(repr, written))
