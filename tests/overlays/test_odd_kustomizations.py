"""Kustomizations of any shape: what is not as it should be gives findings, and never more than that."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING

import pytest

from kservec.core.diagnostics import Span
from kservec.core.text.reading import Limits
from kservec.io.overlay_files import read_closure
from kservec.io.packaged import packaged_schemas
from kservec.overlays.breaks import before_findings
from kservec.overlays.judging import is_remote
from kservec.overlays.kustomization import FIELDS
from kservec.overlays.objects import gathered
from kservec.overlays.scopes import is_namespaced_by
from kservec.overlays.wrapper import as_component, staged

if TYPE_CHECKING:
    from pathlib import Path

    from kservec.core.paths import Json

SERVICE = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: iris, namespace: ml}\n"
PARTS: tuple[Json, ...] = (
    None, True, 7, "", "a.yaml", "p.yaml", "gone.yaml", "more", "..", "a: b", "\n", [], ["a.yaml"], [None], [[]], {},
    [{}], {"a": "b"}, {"path": 3}, {"path": "p.yaml"}, [{"path": "p.yaml", "target": {"kind": ["x"], "name": "("}}],
    [{"patch": "- {op: add, path: /a, value: 1}", "target": {"name": "("}}], [{"patch": "{", "target": {}}],
    [{"patch": "- 3\n- {op: add}", "target": {"kind": 3}}], [{"files": 5, "envs": "x", "name": "g"}],
    [{"files": ["k=a.yaml", 3], "name": 4}], [{"name": "iris", "count": "x"}], [{"pairs": 3}], [{"pairs": {"a": 1}}],
    [{"name": "x", "newTag": 5}], ["kind: A\napiVersion: builtin"], {"version": 3},
)  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_a_kustomization_of_any_shape(seed: int, tmp_path: Path) -> None:
    """Fields with values that make no sense are read without a traceback, and so is what is laid over objects."""
    draw = random.Random(seed)  # noqa: S311 - a test
    fields = draw.sample(sorted(FIELDS), 8)
    value = {"resources": ["a.yaml"]} | {field: draw.choice(PARTS) for field in fields}
    (tmp_path / "more").mkdir()
    for name, text in {
        "kustomization.yaml": json.dumps(value),
        "a.yaml": SERVICE,
        "p.yaml": "- {op: remove}\n",
    }.items():
        (tmp_path / name).write_text(text)
        (tmp_path / "more" / name).write_text(text)
    closure, found = read_closure(tmp_path, ".", Span("kservec.yaml"), Limits())
    assert all(finding.span is not None for finding in found)
    if closure.kustomizations:
        gathering = gathered(closure, is_namespaced_by(packaged_schemas()))
        list(before_findings(closure, gathering))
        assert staged(closure, packaged_schemas())


@pytest.mark.parametrize(
    ("text", "remote"),
    [
        ("https://github.com/example/base", True),
        ("git@github.com:example/base.git", True),
        ("ssh://git@example.com/base", True),
        ("git::https://example.com/base", True),
        ("file:///base", True),
        ("github.com/example/base", True),
        ("git.example.com:8443/example/base?ref=main", True),
        ("example/base.git/sub", True),
        ("base?ref=main", True),
        ("../base", False),
        ("base", False),
        ("iris.yaml", False),
        ("v1.2/base", False),
        ("models.prod/iris.yaml", True),
    ],
)
def test_what_would_be_fetched(text: str, remote: bool) -> None:
    """Addresses in all spellings that kustomize takes; what looks like a host is one unless it is there."""
    assert is_remote(text, exists=False) is remote


def test_what_is_there_is_not_fetched() -> None:
    """A folder may be called like a host; a URL is one whatever is there."""
    assert not is_remote("models.prod/iris.yaml", exists=True)
    assert is_remote("https://example.com/a", exists=True)


@pytest.mark.parametrize(
    ("text", "component"),
    [
        ("resources: []\n", "resources: []\napiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"),
        (
            "kind: Kustomization # of ours\napiVersion: kustomize.config.k8s.io/v1beta1\npatches:\n- kind: x",
            "kind: Component\napiVersion: kustomize.config.k8s.io/v1alpha1\npatches:\n- kind: x\n",
        ),
    ],
)
def test_a_kustomization_becomes_a_component(text: str, component: str) -> None:
    """Every line stays where it is, so that places in messages stay right."""
    assert as_component(text) == component
