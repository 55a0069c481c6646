"""Shards: every object in exactly one, names that tell them apart, and a warning where one gets too large."""

from __future__ import annotations

import subprocess
from shutil import which
from typing import TYPE_CHECKING

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.gitops.argocd import name_template, namespace_template
from kservec.gitops.delivery import delivered
from kservec.gitops.layout import KUSTOMIZATION
from kservec.gitops.shards import Shard, shards_of

from .trees import DELIVERED, load, made, rendered, settings_of

if TYPE_CHECKING:
    from pathlib import Path

SERVICE = ("v1", "Service")
REPO = "repoURL: https://git.example.com/ml.git"
ARGO_KINDS = ("Application", "ApplicationSet")
STEPS = [(), ("payments",), ("_cluster",), ("payments", "fraud"), ("payments", "_shared"), ("payments", "_included")]


@pytest.mark.parametrize(
    ("shard", "names"),
    [
        ("environment", {"prod": 3}),
        ("namespace", {"prod": 1, "prod.a": 1, "prod.b": 1}),
        ("unit", {"prod": 1, "prod.a.x": 1, "prod.b.y": 1}),
    ],
)
def test_what_a_shard_holds(shard: str, names: dict[str, int]) -> None:
    """A namespace, a unit, or the whole environment; what has no namespace is a shard of its own."""
    objects = [made("v1", "PersistentVolume", "v", ""), made(*SERVICE, "x", "a"), made(*SERVICE, "y", "b")]
    shards = shards_of(objects, settings_of(f"{{tool: flux, {REPO}, shard: {shard}}}"))
    assert {s.name: s.objects for s in shards} == names


def test_different_shards_have_different_names() -> None:
    """Dashes in names of environments, namespaces and units cannot be taken for one another."""
    steps = [("a", "b-c"), ("a-b", "c"), ("a-b-c",), ("a", "_shared"), ("_cluster",)]
    names = [Shard("prod", one).name for one in steps] + [Shard("prod-a", ("b-c",)).name]
    assert len(set(names)) == len(names)


def test_a_large_shard_is_a_warning() -> None:
    """Above 1,500 objects the setting is named that makes smaller ones (gitops/large-shard)."""
    objects = [made(*SERVICE, f"s{i}") for i in range(1501)]
    (remark,) = delivered(objects, settings_of(f"{{tool: argocd, {REPO}}}")).remarks
    assert remark.code.slug == "gitops/large-shard"
    assert remark.message == "prod.ml has 1,501 objects, more than 1,500; kustomize gets slow"
    assert remark.remedy == "set shard: unit"
    assert delivered(objects[1:], settings_of(f"{{tool: argocd, {REPO}}}")).remarks == ()
    assert delivered(objects, settings_of(f"{{tool: argocd, {REPO}, shard: unit}}")).remarks == ()


def test_a_tree_without_objects_has_none_for_tools() -> None:
    """Otherwise the last service that goes would look like a tree that still holds something."""
    assert delivered([], settings_of(f"{{tool: both, {REPO}}}")).objects == ()


def test_without_a_tool_nothing_changes() -> None:
    """The objects are those that were compiled."""
    objects = (made("v1", "PersistentVolumeClaim"),)
    assert delivered(objects, settings_of("{tool: none}")).objects == objects


@pytest.mark.parametrize("tree", DELIVERED, ids=lambda tree: "/".join(tree.parts[-4:]))
def test_every_object_is_in_exactly_one_shard(tree: Path) -> None:
    """What the Applications, or Flux's Kustomizations, find by their folders is the tree, each object once."""
    everything = sorted(p for p in tree.rglob("*.yaml") if "_gitops" not in p.parts and p.name != KUSTOMIZATION)
    for kind in ("application", "kustomization"):
        paths = [
            source_path(load(path)) for path in tree.glob(f"_gitops/*/{kind}-*.yaml") if "bootstrap" not in path.parts
        ]
        if paths:
            folders = [tree / inside(path, tree) for path in paths]
            assert sorted(f for folder in folders for f in listed(folder)) == everything


def source_path(body: dict[str, dict[str, dict[str, str]]]) -> str:
    """The folder that an Application or a Kustomization of Flux is about."""
    spec = body["spec"]
    return spec["source"]["path"] if body["kind"] == "Application" else str(spec["path"])


def inside(path: str, tree: Path) -> str:
    """The part of a path that is below the folder of a tree; the path of an artifact is all of it."""
    head, found, rest = f"{path}/".rpartition(f"rendered/{tree.name}/")
    return rest if found else head or path


def listed(folder: Path) -> list[Path]:
    """The files that kustomize takes of a folder."""
    resources = load(folder / KUSTOMIZATION)["resources"]
    found = [folder / name for name in resources]
    return [file for path in found for file in (listed(path) if path.is_dir() else [path])]


@pytest.mark.parametrize("steps", STEPS[1:], ids="/".join)
def test_an_application_set_names_applications_as_shards_are_named(steps: tuple[str, ...], tmp_path: Path) -> None:
    """Go's own templates make of a folder the name and the namespace that a shard has."""
    if which("go") is None:
        pytest.skip("Go is not there to run its templates")
    program = """package main
import ("os"; "strings"; "text/template")
func main() {
  known := template.FuncMap{
    "has": func(a any, all []any) bool { for _, x := range all { if x == a { return true } }; return false },
    "list": func(all ...any) []any { return all },
    "hasPrefix": func(p, s string) bool { return strings.HasPrefix(s, p) },
    "trimPrefix": func(p, s string) string { return strings.TrimPrefix(s, p) },
  }
  t := template.Must(template.New("").Funcs(known).Option("missingkey=error").Parse(os.Args[1]))
  path := map[string]any{"segments": strings.Split(os.Args[2], "/"), "path": os.Args[2]}
  if err := t.Execute(os.Stdout, map[string]any{"path": path}); err != nil { panic(err) }
}
"""
    (tmp_path / "main.go").write_text(program)
    template = f"prod{name_template(2)} {namespace_template(2)}"
    command = ["go", "run", "main.go", template, "/".join(("rendered", "prod", *steps))]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    shard = Shard("prod", steps)
    assert done.stdout == f"{shard.name} {shard.namespace}"


def test_kustomizations_of_flux_wait_for_what_they_need() -> None:
    """Units wait for the volumes of the cluster and for what they share, unless that waits for them in turn."""
    settings = settings_of(f"{{tool: flux, {REPO}, shard: unit}}")
    owner = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "iris")
    claim = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "c", "namespace": "ml"}}
    bound = {**claim, "spec": {"volumeName": "v"}}
    for body, before in ((bound, ["prod", "prod.ml"]), (claim, ["prod"])):
        objects = [made("v1", "PersistentVolume", "v", ""), rendered(body, owner, shared=True), made(*SERVICE)]
        made_for = {o.ref.name: o.text for o in delivered(objects, settings).objects if o.place == "_gitops/flux"}
        names = [line.removeprefix("  - name: ") for line in made_for["prod.ml.iris"].splitlines() if "- name:" in line]
        assert names == before
