"""Overlays on the command line: what a user sees of kustomize, and what cannot be reached through an overlay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kservec.io.kustomize import HOW_TO, tools

from .running import ROOT, SERVICE, kservec, tree

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
environments:
  dev: {overlay: overlays/dev}
"""
TRACES = ("config.kubernetes.io", "kservec.dev/rendered", "wrapper", "kservec-")
"""What must not be seen of how kustomize was run."""


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with an overlay that changes one value."""
    if not list(tools()):
        pytest.skip(f"NOT TESTED: overlays need kustomize, and there is none here; {HOW_TO}")
    for path, text in {
        "kservec.yaml": PROJECT,
        "services/fraud.yaml": SERVICE,
        "services/kustomization.yaml": "resources: [fraud.yaml]\n",
        "overlays/dev/kustomization.yaml": "resources: [../../services]\npatches: [{path: fraud.yaml}]\n",
        "overlays/dev/fraud.yaml": SERVICE.replace("fraud/v7", "fraud/v8"),
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def test_an_overlay_is_built(repo: Path) -> None:
    """The patched value is in the tree, nothing of kustomize is, and a second build has nothing to do."""
    assert kservec(repo, "build").err == "rendered/dev: 8 files written\n"
    made = tree(repo / "rendered")
    assert any(b"s3://models/fraud/v8" in content for content in made.values())
    assert not [path for path, content in made.items() for trace in TRACES if trace.encode() in content]
    assert kservec(repo, "build").err == "rendered/dev: up to date\n"


@pytest.mark.slow
def test_the_same_bytes_from_anywhere(repo: Path) -> None:
    """The folder, the seed of hashes and the temporary folder have no part in what is made or said."""
    (repo / "overlays/dev/fraud.yaml").write_text(SERVICE.replace("sklearn", "sklern"))
    (repo / "other").mkdir()
    said = {kservec(repo, "lint", "dev", PYTHONHASHSEED=seed, TMPDIR=str(repo / "other")).err for seed in "012"}
    (only,) = said
    assert not [trace for trace in TRACES if trace in only]
    assert list((repo / "other").iterdir()) == []
    assert "../overlays/dev/fraud.yaml" in kservec(repo / "services", "lint", "dev").err


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "outside"])
@pytest.mark.parametrize("what", ["fraud.yaml", "kustomization.yaml", "."])
def test_a_link_leads_nowhere_else(
    repo: Path, tmp_path_factory: pytest.TempPathFactory, what: str, inside: bool
) -> None:
    """Files and folders outside of the project are not reached by links, nor files of other folders in it."""
    elsewhere = (repo if inside else tmp_path_factory.mktemp("elsewhere")) / "base"
    elsewhere.mkdir(exist_ok=True)
    (elsewhere / "kustomization.yaml").write_text("resources: [fraud.yaml]\n")
    (elsewhere / "fraud.yaml").write_text(SERVICE)
    if what == ".":
        (repo / "linked").symlink_to(elsewhere)
        (repo / "overlays/dev/kustomization.yaml").write_text("resources: [../../linked]\n")
    else:
        (repo / "services" / what).unlink()
        (repo / "services" / what).symlink_to(elsewhere / what)
    ran = kservec(repo, "lint", "dev")
    if what == "." and inside:
        assert (ran.status, "overlay/outside" in ran.err) == (0, False)
    else:
        assert ran.status == 1
        assert "error[overlay/outside]" in ran.err


def test_without_kustomize_the_error_says_how_to_get_it(repo: Path) -> None:
    """A machine without library and programs gets one located error, and nothing is written."""
    library = repo / "pykustomize"
    library.mkdir()
    (library / "__init__.py").write_text("raise ImportError('made for another machine')\n")
    ran = kservec(repo, "build", PATH=str(repo), PYTHONPATH=str(repo))
    assert ran.status == 1
    assert "error[overlay/no-kustomize]" in ran.err
    assert "kservec.yaml:5:18" in ran.err
    assert not (repo / "rendered").exists()


def test_a_built_in_runtime_is_exported_and_patched(repo: Path) -> None:
    """`runtimes export` prints the file as it is; among the sources it can be patched by an overlay."""
    exported = kservec(repo, "runtimes", "export", "kserve-sklearnserver")
    assert (exported.status, exported.err) == (0, "")
    assert exported.out.startswith("#")
    (repo / "services/runtime.yaml").write_text(exported.out)
    (repo / "services/kustomization.yaml").write_text("resources: [fraud.yaml, runtime.yaml]\n")
    (repo / "overlays/dev/fraud.yaml").write_text(
        "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {name: kserve-sklearnserver}\n"
        "spec:\n  containers: [{name: kserve-container, image: 'example.com/sklearn:v1'}]\n"
    )
    out = kservec(repo, "build", "--stdout", "dev").out
    assert "image: example.com/sklearn:v1" in out
    assert "--http_port=8080" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("export",), "name one runtime to export"),
        (("export", "kserve-sklernserver"), "did you mean kserve-sklearnserver?"),
        (("sklearn", "xgboost"), "name one format"),
    ],
)
def test_wrong_words_after_runtimes(words: tuple[str, ...], said: str) -> None:
    """What cannot be meant is refused."""
    ran = kservec(ROOT, "runtimes", *words)
    assert (ran.status, said in ran.err) == (2, True)


def test_the_document_for_kustomize_is_printed() -> None:
    """`schema kustomize` is an OpenAPI document with KServe's kinds."""
    printed = json.loads(kservec(ROOT, "schema", "kustomize").out)
    assert "serving.kserve.io.v1beta1.InferenceService" in printed["definitions"]


def test_a_kustomization_among_files_is_passed_over(repo: Path) -> None:
    """Files of a folder are compiled as they are; a note says that the kustomization is not run."""
    ran = kservec(repo, "lint", "services/")
    assert ran.status == 0
    assert "note[input/kustomization]" in ran.err


def test_explain_sees_what_an_overlay_makes(repo: Path) -> None:
    """A patched value is explained by the patch, also where the overlay has findings of its own."""
    kustomization = repo / "overlays/dev/kustomization.yaml"
    kustomization.write_text(kustomization.read_text() + "images: [{name: nobody, newTag: v1}]\n")
    arguments = "initContainers[storage-initializer].args"
    ran = kservec(repo, "explain", f"Deployment/fraud-predictor.spec.template.spec.{arguments}", "dev")
    assert ran.status == 0
    assert "overlays/dev/fraud.yaml:12" in ran.out
