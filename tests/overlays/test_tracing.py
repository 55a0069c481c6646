"""Where values of overlaid objects were written: base or patch, to the column, and what falls back where."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Span
from kservec.core.paths import Json, Path
from kservec.core.text.reading import Limits
from kservec.core.text.source import Document, parse
from kservec.overlays.closure import Patch, patches_of, resolved
from kservec.overlays.kustomization import Kustomization
from kservec.overlays.tracing import OverlaidDocument, counterpart, indexed, is_step, pointer, translated

BASE = """\
kind: InferenceService
metadata: {name: iris, labels: {team: risk}}
spec:
  predictor:
    minReplicas: 1
    containers:
      - name: a
        image: a:1
        env: [{name: X, value: x}]
      - name: b
        args: [--one, --two]
"""
OVERLAY = """\
commonLabels: {stage: prod}
images:
  - {name: a, newTag: "2"}
patches:
  - patch: |-
      # The first line of a block may be a comment.
      kind: InferenceService
      metadata: {name: iris}
      spec:
        predictor:
          maxReplicas: 9
          containers: [{name: b, image: "b:9"}]
  - target: {kind: InferenceService}
    patch: >-
      [{"op": "replace", "path": "/spec/predictor/timeout", "value": 60}]
  - target: {kind: InferenceService}
    patch: |-
      - op: add
        path: /spec/predictor/containers/0/args/-
        value: --three
      - op: add
        path: /metadata/annotations
        value: {a/b: c}
"""
VALUE: Json = {
    "kind": "InferenceService",
    "metadata": {"annotations": {"a/b": "c"}, "labels": {"stage": "prod", "team": "risk"}, "name": "iris"},
    "spec": {
        "predictor": {
            "containers": [
                {"name": "b", "image": "b:9", "args": ["--one", "--two", "--three"]},
                {"name": "a", "image": "a:2", "env": [{"name": "X", "value": "x"}]},
            ],
            "maxReplicas": 9,
            "minReplicas": 1,
            "timeout": 60,
        }
    },
}
P = ("spec", "predictor")


def only(text: str, file: str) -> Document:
    """The one document of a text."""
    (document,), found = parse(text.encode(), file)
    assert not found
    return document


@pytest.fixture(name="overlaid", scope="module")
def overlaid_fixture() -> OverlaidDocument:
    """An object with three patches of all forms and what a kustomization sets."""
    kustomization = Kustomization(folder="prod", path="prod/kustomization.yaml", document=only(OVERLAY, "k.yaml"))
    patches, found = patches_of(kustomization, {}, Limits())
    assert not found
    return OverlaidDocument(VALUE, only(BASE, "base.yaml"), (*patches, kustomization))


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ((*P, "minReplicas"), ("base.yaml", 5, 18)),
        ((*P, "containers", "a", "env", "X", "value"), ("base.yaml", 9, 32)),
        ((*P, "containers", 1, "env", 0, "value"), ("base.yaml", 9, 32)),
        ((*P, "containers", "b", "args", 1), ("base.yaml", 11, 23)),
        (("metadata", "labels", "team"), ("base.yaml", 2, 39)),
        ((*P, "maxReplicas"), ("k.yaml", 11, 24)),
        ((*P, "containers", "b", "image"), ("k.yaml", 12, 41)),
        ((*P, "timeout"), ("k.yaml", 14, 12)),
        ((*P, "containers", "b", "args", 2), ("k.yaml", 20, 16)),
        (("metadata", "annotations", "a/b"), ("k.yaml", 23, 22)),
        (("metadata", "labels", "stage"), ("k.yaml", 1, 23)),
        ((*P, "containers", "a", "image"), ("k.yaml", 3, 23)),
        ((*P, "nothing", "here"), ("base.yaml", 5, 5)),
        ((), ("base.yaml", 1, 1)),
    ],
)
def test_a_value_is_found_where_it_was_written(
    overlaid: OverlaidDocument, path: Path, place: tuple[str, int, int]
) -> None:
    """The file, line and column of the base, of a patch, or of a setting of the kustomization."""
    span = overlaid.span(path)
    assert (span.file, span.line, span.column) == place


def test_a_key_is_found_beside_its_value(overlaid: OverlaidDocument) -> None:
    """Keys are underlined in the file that has them; of what is missing, what holds it."""
    assert overlaid.key_span((*P, "maxReplicas")) == Span("k.yaml", 11, 11, 11, 22)
    assert overlaid.key_span((*P, "minReplicas")) == Span("base.yaml", 5, 5, 5, 16)
    assert overlaid.key_span((*P, "gone")).file == "base.yaml"


def test_scalars_are_those_of_the_base_alone(overlaid: OverlaidDocument) -> None:
    """What looks into the text of a scalar gets it only where that text is the object's own."""
    at = overlaid.scalar((*P, "minReplicas"))
    assert at == BASE.index("1\n    containers")
    assert overlaid.scalar((*P, "maxReplicas")) is None
    assert not overlaid.quoted((*P, "minReplicas"))
    assert overlaid.quoted((*P, "containers", "b", "image"))


def test_a_value_that_is_nowhere_points_at_what_it_replaced() -> None:
    """Changes that leave no trace (replacements) point at the value that they changed."""
    document = OverlaidDocument({"spec": {"a": 2, "b": {"c": 1}}}, only("spec:\n  a: 1\n", "base.yaml"), ())
    assert document.span(("spec", "a")) == Span("base.yaml", 2, 6, 2, 7)
    assert document.span(("spec", "b", "c")).line == 2


@pytest.mark.parametrize(
    ("item", "i", "others", "expected"),
    [
        ({"name": "b"}, 0, [{"name": "a"}, {"name": "b", "x": 1}], 1),
        ({"name": "c"}, 0, [{"name": "a"}], -1),
        ("x", 0, ["y", "x"], 1),
        ("z", 1, ["y", "x"], 1),
        ("z", 2, ["y", "x"], -1),
    ],
)
def test_counterparts(item: Json, i: int, others: list[Json], expected: int) -> None:
    """Items are the same by their key, else by being equal, else by their place."""
    assert counterpart(item, i, others, "containers") == expected


def test_paths_of_patches() -> None:
    """JSON pointers escape slashes and tildes; a dash is any place in a list, and no key."""
    assert pointer("/a~1b/~0c/0") == ["a/b", "~c", "0"]
    assert (is_step("-", 3), is_step("-", "-"), is_step("1", 1), is_step("-", "x")) == (True, True, True, False)
    assert indexed({"a": [{"name": "x"}]}, ("a", "x", "gone")) == ("a", 0)
    assert translated({"a": 1}, ("a",), {"b": 1}) is None


@pytest.mark.parametrize(
    ("folder", "text", "path"),
    [
        ("overlays/prod", "../../services", "services"),
        ("overlays/prod", "./a.yaml", "overlays/prod/a.yaml"),
        ("overlays", "..", ""),
        ("", "..", None),
        ("a", "../../b", None),
        ("a", "/b", None),
        ("a", "~/b", None),
    ],
)
def test_paths_stay_in_the_project(folder: str, text: str, path: str | None) -> None:
    """A path is followed step by step; one that leaves the project has none."""
    assert resolved(folder, text) == path


def test_patches_of_all_fields() -> None:
    """Inline and by file, old fields and new ones, in kustomize's order."""
    text = (
        "patchesStrategicMerge:\n  - a.yaml\n  - |-\n    kind: B\npatchesJson6902:\n"
        "  - {target: {kind: C}, path: a.yaml}\npatches:\n  - {patch: '{kind: D}'}\n  - nothing\n"
    )
    kustomization = Kustomization(folder="", path="k.yaml", document=only(text, "k.yaml"))
    found: tuple[Patch, ...]
    found, _ = patches_of(kustomization, {"a.yaml": (only("kind: A\n", "a.yaml"),)}, Limits())
    assert [(patch.document.value["kind"], patch.target) for patch in found] == [
        ("A", None), ("B", None), ("D", None), ("A", {"kind": "C"}),
    ]  # fmt: skip
