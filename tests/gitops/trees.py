"""Golden trees and made-up objects for the tests of this folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

from tests import libyaml

from kservec.core.diagnostics import ObjectRef
from kservec.emit import dump
from kservec.gitops.rendered import Rendered
from kservec.project.reading import read_project
from kservec.project.settings import Settings

Object: TypeAlias = dict[str, Any]

GOLDEN = Path(__file__).parents[2] / "golden"
EXPECTED = [path for path in sorted(GOLDEN.glob("*/expect/**/*.yaml")) if path.name != "kustomization.yaml"]
TREES = sorted({path.parent for path in GOLDEN.glob("*/expect/**/kservec.index.json")})
DELIVERED = [tree for tree in TREES if (tree / "_gitops").is_dir()]
OWNER = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "iris")


def load(path: Path) -> Object:
    """The one object of a file."""
    value: Object = libyaml.load(path.read_text())
    return value


def rendered(body: Object, owner: ObjectRef = OWNER, *, shared: bool = False) -> Rendered:
    """An object as it is in a tree."""
    metadata = body["metadata"]
    ref = ObjectRef(body["apiVersion"], body["kind"], metadata.get("namespace", ""), metadata["name"])
    return Rendered(ref, dump(body), owner, shared)


def made(api_version: str, kind: str, name: str = "iris", namespace: str = "ml", **fields: Any) -> Rendered:
    """An object of a kind in the folder of its unit."""
    metadata = {"name": name, "namespace": namespace} if namespace else {"name": name}
    owner = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", namespace, name)
    return rendered({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}, owner)


def settings_of(gitops: str, environment: str = "prod") -> Settings:
    """The settings of an environment with what `gitops` says, in YAML."""
    text = (
        "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [s]\n"
        f"gitops: {gitops}\nenvironments: {{{environment}: {{}}}}\n"
    )
    project, found = read_project(text.encode(), "kservec.yaml")
    assert project is not None, found
    return project.environments[environment]
