"""Sites for tests: a project in a folder, rendered in this process, and its pages as values."""

from __future__ import annotations

import html.parser
from contextlib import chdir
from pathlib import Path
from typing import NamedTuple

from tests.cli.running import PROJECT, SERVICE

from kservec.io.workspace import open_workspace
from kservec.reporting import report_pages, witnessed

LARGEST = 1 << 20
CLUSTER = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
gateways:
  - {namespace: kserve, name: kserve-ingress-gateway}
"""
SCALED = SERVICE.replace("    model:", "    minReplicas: 2\n    maxReplicas: 6\n    model:").replace("/v7", "")
RESOURCES = """\
      resources:
        requests: {cpu: 500m, memory: 1Gi}
        limits: {cpu: "2", memory: 4Gi}
"""


class Element(NamedTuple):
    """An element of a page: its name and attributes."""

    name: str
    attributes: dict[str, str]


class Reader(html.parser.HTMLParser):
    """Gathers the elements and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[Element] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep an element."""
        self.elements.append(Element(tag, {name: value or "" for name, value in attrs}))

    def handle_data(self, data: str) -> None:
        """Keep a text."""
        self.words.append(data)


def elements(page: bytes) -> list[Element]:
    """The elements of a page."""
    reader = Reader()
    reader.feed(page.decode())
    return reader.elements


def text(page: bytes) -> str:
    """The text of a page."""
    reader = Reader()
    reader.feed(page.decode())
    return "".join(reader.words)


def service(name: str = "fraud", namespace: str = "payments") -> str:
    """A service that scales, and says what it needs."""
    return (SCALED + RESOURCES).replace("fraud", name).replace("payments", namespace)


def project(folder: Path, files: dict[str, str]) -> Path:
    """A folder with a project and files below it."""
    for path, content in {"kservec.yaml": PROJECT, "platform/cluster.yaml": CLUSTER, **files}.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(content)
    return folder


def site(folder: Path, environment: str = "prod") -> dict[str, bytes]:
    """The pages of the report of an environment of the project in a folder."""
    with chdir(folder):
        workspace, _, found = open_workspace(Path("kservec.yaml"), LARGEST)
        assert workspace is not None, found
        seen = witnessed(workspace, environment, lambda done, total: None)  # noqa: ARG005
        assert seen.rendering.ok, seen.rendering.diagnostics
        return dict(report_pages(workspace, seen, seen.rendering.diagnostics))
