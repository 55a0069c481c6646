"""The objects that Argo CD and Flux read: they fit the published definitions, and refer to what is there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests import libyaml

from kservec.gitops.delivery import delivered
from kservec.gitops.layout import KUSTOMIZATION
from kservec.io.packaged import packaged_schemas

from .trees import DELIVERED, load, made, settings_of

if TYPE_CHECKING:
    from pathlib import Path

OBJECTS = [p for tree in DELIVERED for p in sorted(tree.glob("_gitops/*/*.yaml")) if p.name != KUSTOMIZATION]
FOR_FLUX = [tree for tree in DELIVERED if (tree / "_gitops" / "flux").is_dir()]
SETTINGS = """{tool: both, repoURL: https://git.example.com/ml.git, revision: refs/tags/v1, shard: unit,
  argocd: {generate: ApplicationSet, project: ml, projects: {risk: [ml, b], cards: [c]}, createProjects: true,
    destination: "https://10.0.0.1:6443", automated: false, createNamespace: true, syncOptions: [Validate=false]},
  flux: {secret: git, serviceAccount: ml, substitute: {a: b}, wait: false}}"""
COMMIT = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: "/".join(path.parts[-5:]))
def test_an_object_fits_its_definition(path: Path) -> None:
    """Structure, patterns and enums of the published definition hold; no field is unknown, no default left out."""
    body = load(path)
    assert faults(body) == []
    assert packaged_schemas().with_defaults(body, body["apiVersion"], body["kind"]) == body


def faults(body: dict[str, object]) -> list[str]:
    """What is wrong with an object by the schema of its kind."""
    found = packaged_schemas().output_errors(body, str(body["apiVersion"]), str(body["kind"]))
    return [str(fault) for fault in found]


def test_every_option_fits_the_definitions() -> None:
    """Objects made with all options at once are as valid."""
    objects = [made("v1", "Service"), made("v1", "PersistentVolume", "v", "")]
    for tool_object in delivered(objects, settings_of(SETTINGS)).objects[2:]:
        assert faults(libyaml.load(tool_object.text)) == [], tool_object.ref


@pytest.mark.parametrize(
    ("repo", "revision", "told"),
    [
        ("https://git.example.com/ml.git", "release", "    branch: release\n"),
        ("https://git.example.com/ml.git", COMMIT, f'    commit: "{COMMIT}"\n'),
        ("https://git.example.com/ml.git", "refs/tags/v1", "    name: refs/tags/v1\n"),
        ("oci://registry.example.com/ml", "v1", "    tag: v1\n"),
        ("oci://registry.example.com/ml", "sha256:00", '    digest: "sha256:00"\n'),
    ],
)
def test_a_revision_as_flux_has_it(repo: str, revision: str, told: str) -> None:
    """A branch, commit or full name of a repository; a tag or digest of an artifact."""
    settings = settings_of(f"{{tool: flux, repoURL: '{repo}', revision: '{revision}'}}")
    (source,) = (o for o in delivered([made("v1", "Service")], settings).objects if o.ref.kind.endswith("Repository"))
    assert f"  ref:\n{told}".replace('"', "") in source.text.replace('"', "")


def test_an_application_of_a_shard_that_goes_takes_its_objects_along() -> None:
    """Applications carry the finalizer, unless nothing is to be removed; then an ApplicationSet keeps them, too."""
    repo = "repoURL: https://git.example.com/ml.git"
    for kind in ("Application", "ApplicationSet"):
        for prune in ("true", "false"):
            settings = settings_of(f"{{tool: argocd, {repo}, prune: {prune}, argocd: {{generate: {kind}}}}}")
            objects = delivered([made("v1", "Service")], settings).objects
            (text,) = (o.text for o in objects if o.ref.kind == kind and o.place == "_gitops/argocd")
            assert ("resources-finalizer.argocd.argoproj.io/foreground" in text) == (prune == "true")
            assert ("preserveResourcesOnDeletion: true" in text) == (prune == "false" and kind == "ApplicationSet")


@pytest.mark.parametrize("tree", FOR_FLUX, ids=lambda tree: "/".join(tree.parts[-4:]))
def test_no_script_is_left_to_flux(tree: Path) -> None:
    """Every object of a tree for Flux that holds ${...} says that it is not for Flux to replace."""
    texts = [p.read_text() for p in tree.rglob("*.yaml") if "_gitops" not in p.parts]
    left = [t for text in texts for t in text.split("\n---\n") if "${" in t and "substitute: disabled" not in t]
    variables = [t for t in left if "${region}" in t and t.count("${") == 1]
    assert left == variables


@pytest.mark.parametrize(("tool", "confirms", "keeps"), [("argocd", True, False), ("flux", False, True)])
def test_claims_and_namespaces_are_not_pruned_unasked(tool: str, *, confirms: bool, keeps: bool) -> None:
    """Weights are lost with their claim, so somebody has to agree; a claim on a named volume loses nothing."""
    settings = settings_of(f"{{tool: {tool}, repoURL: 'https://git.example.com/ml.git'}}")
    weights = made("v1", "PersistentVolumeClaim", "weights")
    handle = made("v1", "PersistentVolumeClaim", "handle", spec={"volumeName": "v"})
    namespace = made("v1", "Namespace", "ml", "")
    for rendered, guarded in ((weights, True), (namespace, True), (handle, False)):
        text = delivered([rendered], settings).objects[0].text
        assert ("argocd.argoproj.io/sync-options: Delete=confirm,Prune=confirm" in text.replace('"', "")) == (
            confirms and guarded
        )
        assert ("kustomize.toolkit.fluxcd.io/prune: disabled" in text) == (keeps and guarded)


def test_a_namespace_is_made_once() -> None:
    """By the tree or by Argo CD, never by both (gitops/setting)."""
    settings = settings_of("{tool: argocd, repoURL: 'https://git.example.com/ml.git', argocd: {createNamespace: true}}")
    (remark,) = delivered([made("v1", "Namespace", "ml", "")], settings).remarks
    assert (remark.code.slug, remark.code.severity.name) == ("gitops/setting", "ERROR")
