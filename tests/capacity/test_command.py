"""kservec capacity: its tables, its exit status, and that the documentation shows what it prints."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml
from tests.cli.running import PROJECT, ROOT, SERVICE, WRONG, kservec

if TYPE_CHECKING:
    from pathlib import Path

FITS, LACKS = ROOT / "golden" / "project-capacity" / "input", ROOT / "golden" / "err-project-capacity" / "input"
QUOTA = ROOT / "golden" / "err-project-quota-exceeded" / "input"
AT_MAX = ROOT / "golden" / "warn-project-capacity-at-max" / "input"
PAGE = (ROOT / "docs" / "capacity.md").read_text(encoding="utf-8")
POOL = """\
apiVersion: kservec.dev/v1alpha1
kind: Cluster
nodePools:
  - {name: general, count: NUMBER, allocatable: {cpu: "4", memory: 16Gi}}
"""


@pytest.mark.parametrize(("project", "status"), [(FITS, 0), (LACKS, 3)])
def test_the_documentation_shows_what_the_command_prints(project: Path, status: int) -> None:
    """An environment that fits, and one that does not for three reasons; the exit status tells them apart."""
    ran = kservec(project, "capacity", "default")
    assert (ran.status, ran.err) == (status, "")
    assert f"```\n{ran.out}```\n" in PAGE


@pytest.mark.parametrize(("environment", "nodes"), [("dev", ["2", "0", "1"]), ("prod", ["2..6", "1..3", "1..2"])])
def test_the_examples_fit_onto_the_nodes_of_their_environments(environment: str, nodes: list[str]) -> None:
    """Each has its own numbers of the same pools; some pods of theirs need GPUs."""
    ran = kservec(ROOT, "capacity", environment)
    assert (ran.status, ran.err) == (0, "")
    assert "\neverything fits\n" in ran.out
    table = [line.split() for line in ran.out.partition("\n\n")[0].splitlines()]
    assert [row[1] for row in table if row[0] in ("general", "a100", "l40s")] == nodes
    assert any(row[0] == "nvidia.com/gpu" and int(row[-2]) > 0 for row in table)


def test_programs_get_numbers() -> None:
    """CPUs, bytes and pieces; a figure that is unknown is null, with its reason."""
    answer = json.loads(kservec(FITS, "capacity", "default", "--format", "json").out)
    general = {row["resource"]: row for row in answer["pools"][0]["resources"]}
    assert general["cpu"] == {"resource": "cpu", "has": 43.5, "atMin": 4.0, "atMax": 16.0, "headRoom": 27.5}
    chat = next(w for w in answer["workloads"] if w["object"]["name"] == "chat-predictor")
    assert (chat["replicas"], chat["pools"]) == ({"min": 1, "max": 4}, ["h100"])
    assert chat["needsOfReplica"]["memory"] == 200 << 30
    model = next(m for m in answer["models"] if m["model"])
    assert model["figures"]["weights"]["value"] == 70553706496 * 2 // 4
    assert (answer["fits"], answer["fitsAtMin"], model["fits"]) == (True, True, True)


def test_findings_name_their_place() -> None:
    """Programs get the code, how bad it is, and the line that leads to it."""
    found = json.loads(kservec(LACKS, "capacity", "default", "--format", "json").out)["findings"]
    assert [(f["code"], f["severity"], f["location"]["file"], f["location"]["line"]) for f in found] == [
        ("policy/capacity-exceeded", "error", "platform/cluster.yaml", 7),
        ("policy/no-node-fits", "error", "services/services.yaml", 14),
        ("policy/no-node-fits", "error", "services/services.yaml", 24),
        ("policy/gpu-memory", "warning", "services/services.yaml", 59),
    ]


def test_quotas_are_shown_with_what_is_used_of_them() -> None:
    """Beside the nodes, or without any; their findings are in the list."""
    ran = kservec(QUOTA, "capacity", "default")
    assert ran.status == 3
    assert [line.split()[-4:] for line in ran.out.splitlines()[3:6]] == [
        ["4", "5", "6", "-2"],
        ["128Gi", "96Gi", "128Gi", "0"],
        ["3", "3", "4", "-1"],
    ]
    assert "error  platform/cluster.yaml:6:30" in ran.out
    (quota,) = json.loads(kservec(QUOTA, "capacity", "default", "--format", "json").out)["quotas"]
    assert quota["resources"][1] == {
        "resource": "limits.memory", "has": 128 << 30, "atMin": 96 << 30, "atMax": 128 << 30, "headRoom": 0,
    }  # fmt: skip


def test_rollouts_of_all_workloads_at_once() -> None:
    """Each Deployment has a quarter more pods then, rounded up."""
    answer = json.loads(kservec(FITS, "capacity", "default", "--surge", "--format", "json").out)
    general = {row["resource"]: row for row in answer["pools"][0]["resources"]}
    assert (general["cpu"]["atMin"], general["cpu"]["atMax"]) == (6.0, 20.0)


def test_workloads_are_listed_if_asked_for() -> None:
    """What a replica needs, and where it may run."""
    out = kservec(FITS, "capacity", "default", "--workloads").out
    row = next(line for line in out.splitlines() if line.startswith("Deployment ml/chat-predictor  "))
    assert row.split() == ["Deployment", "ml/chat-predictor", "1..4", "h100", "1", "16", "200Gi", "4", "nvidia.com/gpu"]


@pytest.mark.parametrize(("number", "status", "says"), [("1", 0, "everything fits"), ("0", 3, "general: has no nodes")])
def test_files_and_a_platform(tmp_path: Path, number: str, status: int, says: str) -> None:
    """Without a project the pools are those of --platform, and lint says the same."""
    (tmp_path / "service.yaml").write_text(SERVICE)
    (tmp_path / "cluster.yaml").write_text(POOL.replace("NUMBER", number))
    ran = kservec(tmp_path, "capacity", "service.yaml", "--platform", "cluster.yaml")
    assert ran.status == status
    assert says in ran.out
    linted = kservec(tmp_path, "lint", "service.yaml", "--platform", "cluster.yaml")
    assert linted.status == (1 if status else 0)
    assert ("policy/no-node-fits" in linted.err) is bool(status)


def test_without_pools_it_says_how_to_state_them(tmp_path: Path) -> None:
    """Models are estimated all the same."""
    (tmp_path / "service.yaml").write_text(SERVICE)
    ran = kservec(tmp_path, "capacity", "service.yaml")
    assert ran.status == 0
    assert ran.out.startswith("no node pools are stated: write them under nodePools of a Cluster document\n")
    assert json.loads(kservec(tmp_path, "capacity", "service.yaml", "--format", "json").out)["fits"] is None


def test_what_is_not_counted_is_remarked_on(tmp_path: Path) -> None:
    """Pods that ask for nothing, services without a bound, pods that name their node."""
    knative = SERVICE.replace("Standard", "Knative").replace("name: fraud", "name: free")
    bare = SERVICE.replace("    model:", "    nodeName: n1\n    model:").replace("name: fraud", "name: bare")
    custom = (
        f"{bare.split('  predictor:')[0]}  predictor:\n    containers: [{{name: kserve-container, image: a/b:v1}}]\n"
    )
    config = 'inferenceServiceConfig: {inferenceService: {resource: {cpuRequest: "", cpuLimit: ""}}}\n'
    (tmp_path / "service.yaml").write_text("---\n".join((knative, custom.replace("name: bare", "name: silent"), bare)))
    (tmp_path / "cluster.yaml").write_text(POOL.replace("NUMBER", "9") + config)
    out = kservec(tmp_path, "capacity", "service.yaml", "--platform", "cluster.yaml").out
    remarks = out.partition("\nremarks\n")[2].splitlines()
    assert remarks == [
        "  Service payments/free-predictor: nothing bounds its replicas; counted with 1",
        "  1 workload without a request for CPU or memory, counted with none (policy/resources-missing finds them)",
        "  Deployment payments/bare-predictor: its pods name their node or claim devices; only their CPU and memory is "
        "counted",
    ]


def test_errors_in_the_input_are_another_status(tmp_path: Path) -> None:
    """There is no table then."""
    (tmp_path / "service.yaml").write_text(WRONG)
    ran = kservec(tmp_path, "capacity", "service.yaml")
    assert (ran.status, ran.out) == (1, "")
    assert "error[" in ran.err


def with_policy(project: Path, folder: Path, policy: Any) -> Path:
    """A copy of a project whose policy is another one."""
    shutil.copytree(project, folder, dirs_exist_ok=True)
    stated = libyaml.load((folder / "kservec.yaml").read_text())
    (folder / "kservec.yaml").write_text(libyaml.dump({**stated, "policy": policy}))
    return folder


def test_what_fits_with_the_fewest_replicas_alone() -> None:
    """It is said in words of its own, and programs get both; a warning changes no exit status."""
    ran = kservec(AT_MAX, "capacity", "default")
    assert ran.status == 0
    assert "\nfits with the fewest replicas, not with the most\n  warning  platform/cluster.yaml:4:12\n" in ran.out
    answer = json.loads(kservec(AT_MAX, "capacity", "default", "--format", "json").out)
    assert (answer["fits"], answer["fitsAtMin"]) == (False, True)


def test_a_shortage_is_excused_by_the_name_of_its_pool(tmp_path: Path) -> None:
    """What all workloads lack together is no object's fault. It lacks all the same, and the reason stands beside it."""
    waiver = {"code": "policy/capacity-at-max", "object": "NodePool general", "reason": "more nodes come next week"}
    ran = kservec(with_policy(AT_MAX, tmp_path, {"waivers": [waiver]}), "capacity", "default")
    assert "\nfits with the fewest replicas, not with the most\n  note  platform/cluster.yaml:4:12\n" in ran.out
    assert "\n    excused (waived: more nodes come next week)\n" in ran.out


def test_an_excuse_changes_the_exit_status_and_not_the_statement(tmp_path: Path) -> None:
    """Pods without a place have none, be the rule off; the findings are where they were."""
    names = ("no-node-fits", "capacity-exceeded", "gpu-memory")
    off = {"rules": dict.fromkeys((f"policy/{name}" for name in names), "off")}
    project = with_policy(LACKS, tmp_path, off)
    ran = kservec(project, "capacity", "default")
    assert (ran.status, ran.err) == (0, "")
    assert "\ndoes not fit\n" in ran.out
    assert "everything fits" not in ran.out
    answer = json.loads(kservec(project, "capacity", "default", "--format", "json").out)
    assert (answer["fits"], answer["fitsAtMin"]) == (False, False)
    stated = json.loads(kservec(LACKS, "capacity", "default", "--format", "json").out)["findings"]
    excused = [{**f, "severity": "note", "excuse": "the rule is off"} for f in stated]
    assert sorted(answer["findings"], key=str) == sorted(excused, key=str)


def test_what_only_patches_explain_is_found_in_them(tmp_path: Path) -> None:
    """As lint has it: no file of the input says what keeps the pods away."""
    patch = "- {op: add, path: /spec/template/spec/nodeSelector, value: {team: ml}}"
    files = {
        "kservec.yaml": PROJECT.replace("{}", "{patches: patches}"),
        "services/fraud.yaml": SERVICE,
        "platform/cluster.yaml": POOL.replace("NUMBER", "1"),
        "patches/kustomization.yaml": "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
        f"patches:\n  - target: {{kind: Deployment}}\n    patch: '{patch}'\n",
    }
    for path, content in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(content)
    assert "\ndoes not fit\n  error  patches\n" in kservec(tmp_path, "capacity", "prod").out
    assert "--> patches\n" in kservec(tmp_path, "lint", "prod").err


def test_a_finding_can_be_excused_with_a_reason(tmp_path: Path) -> None:
    """By an annotation of the service, as any finding about an object."""
    waiver = 'annotations:\n    kservec.dev/waive.no-node-fits: "nodes come next week"'
    (tmp_path / "service.yaml").write_text(SERVICE.replace("annotations:", waiver))
    (tmp_path / "cluster.yaml").write_text(POOL.replace("NUMBER", "0"))
    ran = kservec(tmp_path, "capacity", "service.yaml", "--platform", "cluster.yaml")
    assert ran.status == 0
    assert "\ndoes not fit\n" in ran.out
    assert "\n    excused (waived: nodes come next week)\n" in ran.out
