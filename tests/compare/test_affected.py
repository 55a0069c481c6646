"""Which services changed documents concern."""

from __future__ import annotations

import pytest

from kservec.compare.affected import affected_units, is_unit, owned_paths
from kservec.compare.inputs import altered, documents_of
from kservec.io.packaged import packaged_schemas

from .building import GRAPH, STANDARD, built, edited

ONE, TWO = STANDARD, STANDARD.replace("fraud", "churn").replace("payments", "sales")
CALLING = edited(
    GRAPH, ('{serviceUrl: "http://a.payments.svc.cluster.local/v1/models/a:predict"', "{serviceName: fraud")
)
MODEL = """\
apiVersion: serving.kserve.io/v1alpha1
kind: TrainedModel
metadata: {name: m, namespace: sales}
spec: {inferenceService: churn, model: {memory: 1Gi}}
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: a, namespace: sales}\n"
RUNTIME = "apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\nmetadata: {name: r}\nspec: {}\n"
FILES = {"one.yaml": ONE, "two.yaml": TWO, "graph.yaml": CALLING, "more.yaml": f"{MODEL}---\n{ACCOUNT}---\n{RUNTIME}"}


@pytest.mark.parametrize(
    ("file", "edit", "names"),
    [
        ("two.yaml", ("v7", "v8"), ["churn"]),
        ("one.yaml", ("v7", "v8"), ["screening", "fraud"]),
        ("one.yaml", ("spec:\n", "spec: # why\n"), []),
        ("graph.yaml", ("weight: 90", "weight: 80"), ["screening"]),
        ("more.yaml", ("memory: 1Gi", "memory: 2Gi"), ["churn"]),
        ("more.yaml", ("name: a,", "name: b,"), ["churn"]),
        ("more.yaml", ("spec: {}", "spec: {disabled: true}"), ["screening", "churn", "fraud"]),
    ],
    ids=["service", "service of a graph", "comment", "graph", "model", "namespace", "cluster"],
)
def test_services_that_a_document_concerns(file: str, edit: tuple[str, str], names: list[str]) -> None:
    """Itself, the graphs that call it, its namespace, or all, by what was changed."""
    before = {name: text.encode() for name, text in FILES.items()}
    after = {**before, file: edited(FILES[file], edit).encode()}
    schemas = packaged_schemas()
    known = {d.ref[1:]: d for d in documents_of(after.items(), schemas).values() if is_unit(d.ref)}
    units = affected_units(altered(before, after, schemas), known)
    assert sorted(unit.ref.name for unit in units) == sorted(names)
    assert all(unit.files == (file,) for unit in units)


def test_files_of_an_owner() -> None:
    """The index tells which files are a service's."""
    compilation = built(ONE)
    index = compilation.tree["kservec.index.json"].decode()
    owned = owned_paths(index, ["payments/InferenceService/fraud"])
    assert list(owned) == sorted(rendered.path for rendered in compilation.objects)
    assert owned_paths(index, ["payments/InferenceService/frau"]) == ()
