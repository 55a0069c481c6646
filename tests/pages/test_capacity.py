"""The page of capacity: only where nodes are stated, with the numbers that `kservec capacity` tells."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from tests.cli.running import kservec

from .sites import CLUSTER, ROOT, elements, project, service, site, text

if TYPE_CHECKING:
    from pathlib import Path

POOL = 'nodePools:\n  - {name: general, count: 1, allocatable: {cpu: "2", memory: 16Gi}}\n'
FITS = ROOT / "golden" / "project-capacity" / "input"


def test_without_node_pools_there_is_no_page(tmp_path: Path) -> None:
    """Nothing leads to it, either."""
    made = site(project(tmp_path, {"services/fraud.yaml": service()}))
    assert "capacity.html" not in made
    assert b"capacity.html" not in made["index.html"]


def test_the_numbers_are_those_of_the_command(tmp_path: Path) -> None:
    """Each row of the command's table is a row of the page; every page leads to it."""
    work = tmp_path / "work"
    shutil.copytree(FITS, work)
    made = site(work, "default")
    page = made["capacity.html"].decode()
    table = kservec(work, "capacity", "default").out.split("\n\n")[0].splitlines()
    cells = [[cell.partition("<")[0] for cell in row.split("<td>")[1:]] for row in page.split("<tr>")[2:]]
    wanted = [line.split()[-5:] for line in table[1:]]
    assert len(wanted) > 4
    assert [row[-5:] for row in cells] == wanted
    assert "Nothing, by the rules of the project" in text(made["capacity.html"])
    assert b'href="capacity.html"' in made["index.html"]


def test_what_does_not_fit_leads_to_its_place(tmp_path: Path) -> None:
    """A pool that autoscalers can ask too much of is named, with the line that states it."""
    files = {"services/fraud.yaml": service(), "platform/cluster.yaml": CLUSTER + POOL}
    made = site(project(tmp_path, files))
    shown = text(made["capacity.html"])
    assert "policy/capacity-at-max" in shown
    assert "node pool general has 2 of cpu" in shown
    line = (CLUSTER + POOL).splitlines().index(POOL.splitlines()[1]) + 1
    links = [e.attributes["href"] for e in elements(made["capacity.html"]) if e.attributes.get("class") == "place"]
    assert any(link.endswith(f"#L{line}") and "cluster" in link for link in links)
