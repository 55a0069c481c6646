"""kservec graph: pictures to standard output, what is wrong to standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .running import kservec

if TYPE_CHECKING:
    from pathlib import Path

GRAPH = """\
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: claims, namespace: ml, annotations: {serving.kserve.io/deploymentMode: Standard}}
spec:
  nodes:
    root:
      routerType: Sequence
      steps:
      - {serviceUrl: "http://scorer/", nodeName: %s}
"""


@pytest.fixture(name="graph")
def graph_fixture(tmp_path: Path) -> Path:
    """A folder with a graph."""
    (tmp_path / "graph.yaml").write_text(GRAPH % '""')
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "first"),
    [((), "flowchart LR"), (("--format", "dot"), "digraph kservec {"), (("--format", "svg"), "<svg xmlns=")],
)
def test_a_picture(graph: Path, arguments: tuple[str, ...], first: str) -> None:
    """The picture is all there is on standard output."""
    done = kservec(graph, "graph", *arguments, "graph.yaml")
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(first)


def test_a_graph_with_a_mistake(graph: Path) -> None:
    """What cannot be compiled is not drawn."""
    (graph / "graph.yaml").write_text(GRAPH % "score")
    done = kservec(graph, "graph", "graph.yaml")
    assert (done.status, done.out) == (1, "")
    assert "graph/several-targets" in done.err


@pytest.mark.parametrize("arguments", [(), ("empty.yaml",), ("missing.yaml",), ("--format", "png", "graph.yaml")])
def test_wrong_usage(graph: Path, arguments: tuple[str, ...]) -> None:
    """Nothing to draw, nothing to read or no such language is wrong usage."""
    (graph / "empty.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n")
    done = kservec(graph, "graph", *arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("error: ")
