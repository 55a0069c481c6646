"""Golden pictures of what is deployed. `pytest --snapshot-update` draws them anew; look before they are kept."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

from kservec.drawing.dot import dot
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import svg
from kservec.topology.environment import environment_topology
from kservec.topology.units import unit_topology

from .deploying import deployed, example_target, graph, of_documents, of_examples, of_golden, relative, service

if TYPE_CHECKING:
    from kservec.topology.values import Topology

HERE = Path(__file__).parent
PICTURES = HERE / "pictures"
DOCS = HERE.parents[1] / "docs"
LANGUAGES = {"svg": svg, "mmd": mermaid, "dot": dot}
OLD_POOL = "InferencePool.inference.networking.x-k8s.io"
TEAMS = ("fraud", "search", "support", "vision", "voice")


def canary() -> tuple[Topology, ...]:
    """A service behind the Gateway API, of which a tenth of the requests tries the next model."""
    found = of_golden("isvc-canary-10-percent")
    return (unit_topology(found.inventory, found.ref("fraud")),)


def screening() -> tuple[Topology, ...]:
    """An InferenceGraph with a condition and a split."""
    found = of_examples("payment-screening", "fraud-detector")
    return (unit_topology(found.inventory, found.ref("payment-screening")),)


def assistant() -> tuple[Topology, ...]:
    """A large model with a scheduler, whose requests are begun by other pods than finish them."""
    found = deployed(relative(HERE / "assistant.yaml"), example_target(OLD_POOL))
    return (unit_topology(found.inventory, found.ref("assistant")),)


def environment() -> tuple[Topology, ...]:
    """Sixty services of five teams, and graphs of one that call others."""
    services = [service(f"model-{i}", TEAMS[i % 5], minReplicas=1 + i % 3) for i in range(60)]
    calling = [
        graph("triage", "support", "http://model-3-predictor.vision.svc/", "http://model-4-predictor.voice.svc/"),
        graph("answer", "support", "http://model-8-predictor.vision.svc/", "http://model-2-predictor/"),
    ]
    return environment_topology(of_documents(*services, *calling).inventory, "prod")


CASES = {"canary": canary, "screening": screening, "assistant": assistant, "environment": environment}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", CASES)
def test_a_golden_picture(name: str, language: str, snapshot_update: bool) -> None:
    """The committed picture is what is drawn today."""
    path, drawn = PICTURES / f"{name}.{language}", LANGUAGES[language](CASES[name]())
    if snapshot_update:
        path.write_text(drawn)
    assert path.read_text() == drawn


@pytest.mark.parametrize(("name", "file"), [("assistant", "topology.svg"), ("environment", "environment.svg")])
def test_a_picture_in_the_documentation(name: str, file: str, snapshot_update: bool) -> None:
    """The page on graphs shows what is drawn today."""
    path, drawn = DOCS / file, svg(CASES[name]())
    if snapshot_update:
        path.write_text(drawn)
    assert path.read_text() == drawn


@pytest.mark.parametrize("name", CASES)
def test_a_picture_can_be_read_by_who_does_not_see_it(name: str) -> None:
    """Each picture has a title and a description that names everything in it, and nothing that runs."""
    root = ElementTree.fromstring(svg(CASES[name]()))  # noqa: S314 - our own text
    space = "{http://www.w3.org/2000/svg}"
    named = {element.get("id"): element.text or "" for element in root}
    title, description = (named[key] for key in root.attrib["aria-labelledby"].split())
    assert title
    for node in (node for topology in CASES[name]() for node in topology.nodes):
        assert node.lines[0] in description
    assert {element.tag.removeprefix(space) for element in root.iter()} <= {
        "svg", "title", "desc", "style", "defs", "marker", "path", "rect", "g", "text",
    }  # fmt: skip
