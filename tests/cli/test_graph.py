"""kservec graph: pictures to standard output, what is wrong to standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .repositories import PROJECT
from .running import SERVICE, kservec

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


@pytest.fixture(name="project")
def project_fixture(tmp_path: Path) -> Path:
    """A project with two environments and a service; one of them includes a route of the user's own."""
    (tmp_path / "kservec.yaml").write_text(f"{PROJECT}  edge: {{include: [routes]}}\n")
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "services" / "graph.yaml").write_text(GRAPH % '""')
    (tmp_path / "routes").mkdir()
    (tmp_path / "routes" / "claims.yaml").write_text(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: outside, namespace: ml}\n"
        "spec:\n  parentRefs: [{name: own, namespace: edge}]\n  rules: [{backendRefs: [{name: claims, port: 80}]}]\n"
    )
    return tmp_path


def test_an_environment(project: Path) -> None:
    """What is deployed is drawn: a picture for each service, from the clients to the model."""
    done = kservec(project, "graph", "prod")
    assert (done.status, done.err) == (0, "")
    assert "InferenceService payments/fraud" in done.out
    assert "s3://models/fraud/v7" in done.out
    assert "InferenceGraph ml/claims" in done.out


@pytest.mark.parametrize(
    "name", ["fraud", "payments/fraud", "InferenceService/fraud", "payments/InferenceService/fraud"]
)
def test_one_service_of_an_environment(project: Path, name: str) -> None:
    """A service is called by its name, with its namespace and kind if need be; it is drawn alone."""
    done = kservec(project, "graph", "prod", name)
    assert (done.status, done.err) == (0, "")
    assert done.out.count("subgraph") == 1
    assert "payments/fraud" in done.out


def test_a_service_that_is_not_there(project: Path) -> None:
    """A name that means nothing is wrong usage, and the nearest one is suggested."""
    done = kservec(project, "graph", "prod", "frauds")
    assert (done.status, done.out) == (2, "")
    assert "there is no service frauds; did you mean fraud?" in done.err


def test_what_an_environment_includes(project: Path) -> None:
    """A manifest of the user's own counts: its route leads to the graph."""
    done = kservec(project, "graph", "edge", "claims")
    assert (done.status, done.err) == (0, "")
    assert "edge/own" in done.out
    assert "outside" in done.out


def test_files_without_a_graph_are_drawn_as_deployed(project: Path) -> None:
    """Services alone have no steps, so their way of requests is drawn; with a graph it is drawn if asked for."""
    done = kservec(project, "graph", "services/fraud.yaml")
    assert "fraud-predictor<br/>Deployment, predictor" in done.out
    steps = kservec(project, "graph", "services").out
    assert "Deployment" not in steps
    assert "Deployment, router" in kservec(project, "graph", "services", "--view", "deployed").out


def test_a_folded_environment(project: Path) -> None:
    """A folded picture says so."""
    done = kservec(project, "graph", "prod", "--fold", "namespaces")
    assert "prod: folded: 2 objects in 2 namespaces" in done.out


def test_links_to_where_it_is_written(project: Path) -> None:
    """Nodes of an SVG lead to the file and line that they come from."""
    done = kservec(project, "graph", "prod", "fraud", "--format", "svg", "--link", "https://git.example.com/blob/main")
    assert '<a href="https://git.example.com/blob/main/services/fraud.yaml#L12">' in done.out


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        (("--link", "https://git.example.com"), "--link is for --format svg: mermaid has no links"),
        (("--format", "dot", "--link", "https://git.example.com"), "--link is for --format svg: dot has no links"),
        (
            ("--format", "svg", "--link", "javascript:alert(1)"),
            "--link javascript:alert(1): it must begin with https://",
        ),
        (("--format", "svg", "--link", "ftp://git.example.com"), "--link ftp://git.example.com: it must begin with"),
        (("--format", "svg", "--link", "https://"), "--link https://: it must begin with"),
    ],
)
def test_links_that_no_picture_would_have(project: Path, arguments: tuple[str, ...], fault: str) -> None:
    """An address that would be left out without a word is wrong usage."""
    done = kservec(project, "graph", "prod", *arguments)
    assert (done.status, done.out) == (2, "")
    assert fault in done.err


@pytest.mark.parametrize("base", ["https://git.example.com", "../src/", ".", "/"])
def test_links_may_be_relative(project: Path, base: str) -> None:
    """What a browser follows to a page is a link."""
    done = kservec(project, "graph", "prod", "fraud", "--format", "svg", "--link", base)
    assert f'<a href="{base.rstrip("/")}/services/fraud.yaml#L12">' in done.out


def test_an_environment_with_a_mistake(project: Path) -> None:
    """What does not compile is not drawn."""
    (project / "services" / "fraud.yaml").write_text(SERVICE.replace("s3://", "nowhere://"))
    done = kservec(project, "graph", "prod")
    assert (done.status, done.out) == (1, "")
    assert "storage/unknown-scheme" in done.err
