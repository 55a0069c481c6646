"""The page of capacity: only where nodes are stated, with the numbers that `kservec capacity` tells."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from tests import libyaml
from tests.cli.running import PROJECT, ROOT, kservec

from .sites import CLUSTER, elements, project, service, site, text

if TYPE_CHECKING:
    from pathlib import Path

RANGE = """\
apiVersion: v1
kind: LimitRange
metadata: {name: small, namespace: payments}
spec: {limits: [{type: Container, max: {memory: 1Gi}}]}
"""
POOL = 'nodePools:\n  - {name: general, count: 1, allocatable: {cpu: "2", memory: 16Gi}}\n'
FITS, LACKS, AT_MAX, QUOTA = (
    ROOT / "golden" / name / "input"
    for name in (
        "project-capacity",
        "err-project-capacity",
        "warn-project-capacity-at-max",
        "err-project-quota-exceeded",
    )
)
OFF = "{rules: {policy/no-node-fits: off, policy/capacity-exceeded: off, policy/quota-exceeded: off}}"
WAIVED = "{waivers: [{code: policy/capacity-at-max, object: NodePool *, reason: 'more nodes come <b>next</b> week'}]}"


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
    assert "everything fits" in text(made["capacity.html"])
    assert "Nothing." in text(made["capacity.html"])
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


@pytest.mark.parametrize(("origin", "policy"), [(AT_MAX, "{}"), (AT_MAX, WAIVED), (LACKS, OFF), (QUOTA, OFF)])
def test_the_page_says_what_the_command_says(tmp_path: Path, origin: Path, policy: str) -> None:
    """The same statement, and each finding with what excuses it: a waiver, or a rule that is off."""
    work = tmp_path / "work"
    shutil.copytree(origin, work)
    stated = libyaml.load((work / "kservec.yaml").read_text())
    (work / "kservec.yaml").write_text(libyaml.dump({**stated, "policy": libyaml.load(policy)}))
    page = site(work, "default")["capacity.html"]
    ran = kservec(work, "capacity", "default")
    said = ran.out.partition("\n\nmodels\n")[0].partition("\n\nremarks\n")[0].rpartition("\n\n")[2].splitlines()
    statement, found = said[0], [line.strip() for line in said[1:]]
    assert statement in ("fits with the fewest replicas, not with the most", "does not fit")
    classes = [(e.attributes.get("class"), e.name) for e in elements(page)]
    severities = [name.removeprefix("finding ") for name, tag in classes if tag == "li" and name]
    assert severities == [line.split()[0] for line in found if line.split()[0] in ("error", "warning", "note")]
    messages = [line for line in found if not line.startswith(("error  ", "warning  ", "note  "))]
    assert messages
    shown = text(page)
    for line in (statement, *messages):
        assert line in shown
    assert ("excused (" in shown) is (policy != "{}")


def test_what_is_off_is_on_no_other_page(tmp_path: Path) -> None:
    """The project does not want to hear of it; whoever asks for the capacity does."""
    files = {"services/fraud.yaml": service(), "platform/cluster.yaml": CLUSTER + POOL}
    off = PROJECT + "policy: {rules: {policy/capacity-at-max: off}}\n"
    made = site(project(tmp_path, {**files, "kservec.yaml": off}))
    assert "excused (the rule is off)" in text(made["capacity.html"])
    others = [page for path, page in made.items() if path.endswith(".html") and path != "capacity.html"]
    assert not any(b"policy/capacity-at-max" in page for page in others)


def test_quotas_stand_in_a_table_of_their_own(tmp_path: Path) -> None:
    """With the numbers of the command, where no nodes are stated."""
    work = tmp_path / "work"
    shutil.copytree(QUOTA, work)
    stated = libyaml.load((work / "kservec.yaml").read_text())
    (work / "kservec.yaml").write_text(libyaml.dump({**stated, "policy": libyaml.load(OFF)}))
    page = site(work, "default")["capacity.html"].decode()
    out = kservec(work, "capacity", "default").out.splitlines()
    cells = [[cell.partition("<")[0] for cell in row.split("<td>")[1:]] for row in page.split("<tr>")[2:]]
    assert [row[-5:] for row in cells] == [line.split()[-5:] for line in out[3:6]]
    assert "Node pools" not in page


def test_limits_of_a_namespace_alone_are_told(tmp_path: Path) -> None:
    """A LimitRange says nothing of sums, and still something does not fit into it."""
    work = project(tmp_path, {"services/fraud.yaml": service(), "platform/range.yaml": RANGE})
    (work / "kservec.yaml").write_text(PROJECT + "policy: {rules: {policy/limit-range: warning}}\n")
    assert "does not fit" in text(site(work)["capacity.html"])
    assert "\ndoes not fit\n  warning  " in kservec(work, "capacity", "prod").out


def test_a_finding_leads_to_its_unit(tmp_path: Path) -> None:
    """Be it excused or not."""
    notes = "  annotations:\n    kservec.dev/waive.no-node-fits: nodes come next week\n"
    tiny = POOL.replace('cpu: "2"', "cpu: 100m")
    waived = service("late").replace("  annotations:\n", notes)
    files = {"services/late.yaml": waived, "platform/cluster.yaml": CLUSTER + tiny}
    page = site(project(tmp_path, files))["capacity.html"]
    links = [e.attributes["href"] for e in elements(page) if e.name == "a"]
    assert "excused (waived: nodes come next week)" in text(page)
    assert any("inferenceservice-late" in link for link in links)
