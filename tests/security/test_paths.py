"""Names in specs become names of files: none of them leads out of the tree, or into what git and tools read."""

from __future__ import annotations

import json
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import SERVICE, kservec

from kservec import compile_text

if TYPE_CHECKING:
    from pathlib import Path

NAMES = (
    *(
        "..",
        "../x",
        "../../etc/cron.d/x",
        "/etc/passwd",
        "a/b",
        "a/../../b",
        "a\\b",
        "C:\\x",
        "a\0b",
        "a\nb",
        "x" * 300,
    ),
    *(
        ".git",
        ".git/hooks",
        "-rf",
        "~root",
        "$(x)",
        "_cluster",
        "_gitops",
        "_shared",
        "kservec.index.json",
        "con",
        "nul",
    ),
    "kustomization.yaml",
)
PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
include: [plain]
environments: {prod: {}}
"""


def inside(path: str) -> bool:
    """Whether a path of the tree stays in it, and names no hidden file or folder."""
    parts = PurePosixPath(path).parts
    return not path.startswith("/") and not any(part.startswith((".", "-", "~")) or "\\" in part for part in parts)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", ["name", "namespace"])
def test_names_of_services_stay_inside(name: str, field: str) -> None:
    """A service of such a name or namespace is refused, or all its files are below the output folder."""
    text = SERVICE.replace({"name": "fraud\n", "namespace": "payments\n"}[field], f"{json.dumps(name)}\n")
    made = compile_text(text)
    assert made.ok == bool(made.objects)
    assert all(inside(path) for path in made.tree)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("field", ["name", "namespace", "kind"])
def test_names_of_included_objects_stay_inside(tmp_path: Path, name: str, field: str) -> None:
    """Plain manifests may be of any kind; what is written of them is inside the tree, or nothing is written."""
    body = {"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "thing", "namespace": "payments"}}
    if field == "kind":
        body["kind"] = name
    else:
        body["metadata"][field] = name  # type: ignore[index] - the metadata is a map
    project = tmp_path / "so" / "deep" / "that" / "steps" / "upwards" / "are" / "seen"
    for folder, text in (("services", SERVICE), ("plain", json.dumps(body))):
        (project / folder).mkdir(parents=True)
        (project / folder / "one.yaml").write_text(text)
    (project / "kservec.yaml").write_text(PROJECT)
    before = {path for path in tmp_path.rglob("*") if project not in path.parents}
    ran = kservec(project, "build")
    assert ran.status in (0, 1), ran.err
    outside = {path for path in tmp_path.rglob("*") if project not in path.parents}
    assert outside == before
    assert {path.name for path in project.iterdir()} <= {"services", "plain", "kservec.yaml", "rendered"}
    written = [p.relative_to(project).as_posix() for p in project.rglob("*") if "rendered" in p.parts]
    assert bool(written) == (ran.status == 0)
    assert all(inside(path) for path in written)


@pytest.mark.parametrize(
    "ref", ["--output=x", "-c", "--upload-pack=touch x", "HEAD; touch x", "$(touch x)", "@{-1}..x"]
)
@pytest.mark.parametrize("command", ["diff", "affected"])
def test_a_ref_is_no_option(tmp_path: Path, ref: str, command: str) -> None:
    """What is handed in as a commit, such as the name of a branch, is never taken for an option or a program."""
    (tmp_path / "kservec.yaml").write_text(PROJECT.replace("include: [plain]\n", ""))
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "one.yaml").write_text(SERVICE)
    arguments = ("--", ref) if command == "diff" else (f"--since={ref}",)
    ran = kservec(tmp_path, command, *arguments)
    assert ran.status == 2, ran.err
    assert "Traceback" not in ran.err
    assert {path.name for path in tmp_path.iterdir()} == {"services", "kservec.yaml"}
