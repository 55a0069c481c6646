"""Mending: documents that do not fit their schemas as they are evidently meant, each part where it was written."""

from __future__ import annotations

import pytest

from kservec import compile_text
from kservec.core.text.source import parse
from kservec.documents.mending import MOST_FAULTS, mended
from kservec.io.packaged import packaged_schemas

SERVICE = """\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata: {name: fraud, namespace: ml, labels: {LABEL}}
spec:
  predictor:
    FIELD
    minReplicas: 2
    containers:
    - name: kserve-container
      ENTRY
      image: registry.example.com/fraud:1
"""


def text(label: str = "team: risk", field: str = "timeout: 5", entry: str = "stdin: false") -> str:
    """A service with a label, a field and an entry of its container."""
    return SERVICE.replace("LABEL", label).replace("FIELD", field).replace("ENTRY", entry)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        (text(label="team: risk and fraud"), text(label="team: risk and fraud")),
        (text(label="since: 2024-01, on: yes"), text(label="since: '2024-01', on: 'yes'")),
        (text(label="since: 007"), text(label="since: '007'")),
        (text(field="maxReplica: 3"), text(field="maxReplicas: 3")),
        (text(field="zzz: 3"), text().replace("    timeout: 5\n", "")),
        (text(entry="imagePullPolice: Always"), text(entry="imagePullPolicy: Always")),
        (
            text("a b: x", "maxReplica: 3", "zzz: 4"),
            text("a b: x", "maxReplicas: 3").replace("      stdin: false\n", ""),
        ),
    ],
)
def test_a_document_as_it_is_meant(wrong: str, meant: str) -> None:
    """Fields have the names that are meant, labels are texts, and what no place knows is gone; places stay."""
    (document,), _ = parse(wrong.encode(), "a.yaml")
    (expected,), _ = parse(meant.encode(), "a.yaml")
    made = mended(document, packaged_schemas())
    assert made is not None
    assert made.value == expected.value
    image = ("spec", "predictor", "containers", 0, "image")
    assert made.span(image) == document.span(image)
    assert made.span(("spec", "predictor", "minReplicas")) == document.span(("spec", "predictor", "minReplicas"))


@pytest.mark.parametrize(
    "wrong",
    [
        text(field="minReplicass: 3"),
        text(field="maxReplica: many"),
        text(field="zzz: {a: b}"),
        text(field="image: a"),
        text(field="maxReplicas: many"),
        text(label="team: [risk]"),
        text().replace("name: fraud", "name: Fraud"),
        text().replace("fraud:1", "fraud:1\n      ports: [{}]"),
        "\n".join(text("a b: x").splitlines()[:3]),
        text(label=", ".join(f"a{i} b: x" for i in range(MOST_FAULTS + 1))),
    ],
    ids=[
        "there already",
        "no number",
        "no scalar",
        "at home elsewhere",
        "type",
        "list",
        "name",
        "missing",
        "spec",
        "many",
    ],
)
def test_where_it_is_not_evident_nothing_is_taken_for_meant(wrong: str) -> None:
    """What else is wrong with such a document waits for the next run."""
    (document,), _ = parse(wrong.encode(), "a.yaml")
    assert mended(document, packaged_schemas()) is None
    assert {d.code.slug.partition("/")[0] for d in compile_text(wrong).diagnostics if d.is_error} <= {
        "schema",
        "metadata",
    }


def test_nothing_is_written_of_a_document_as_it_is_meant() -> None:
    """Its errors stay errors."""
    compiled = compile_text(text(field="maxReplica: 3"))
    assert not compiled.ok
    assert not compiled.yaml
