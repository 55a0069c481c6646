"""Paths of a project that cannot be read: located in the project file, in every format, for every command."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from .running import SERVICE, kservec

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "apiVersion: kservec.dev/v1alpha1\nkind: Project\n"
PATHS = {
    "sources": "sources: [service]\n",
    "platform": "sources: [services]\nplatform: [service]\n",
    "include": "sources: [services]\ninclude: [service]\n",
    "overlay": "sources: [services]\nenvironments: {prod: {overlay: service}}\n",
    "patches": "sources: [services]\nenvironments: {prod: {patches: service}}\n",
}


def project(folder: Path, text: str) -> None:
    """A project with one service and a few fields."""
    (folder / "services").mkdir()
    (folder / "services" / "fraud.yaml").write_text(SERVICE)
    (folder / "kservec.yaml").write_text(HEAD + text)


@pytest.mark.parametrize("field", PATHS)
@pytest.mark.parametrize("command", ["build", "lint", "check"])
def test_a_path_that_is_not_there(tmp_path: Path, command: str, field: str) -> None:
    """It is an error in the input: where it stands, and what was meant."""
    project(tmp_path, PATHS[field])
    ran = kservec(tmp_path, command, "--format", "json")
    report = json.loads(ran.out or ran.err)
    (found,) = report["diagnostics"]
    assert (ran.status, found["location"]["file"]) == (1, "kservec.yaml")
    assert found["location"]["line"] == len((HEAD + PATHS[field]).splitlines())
    assert found["location"]["column"] > 1
    assert found["help"] == "did you mean services?"


@pytest.mark.parametrize(("layout", "said"), [("github", "file=kservec.yaml,line=3"), ("sarif", '"startLine":3')])
def test_other_formats_have_it_too(tmp_path: Path, layout: str, said: str) -> None:
    """Whatever reads findings is told of it."""
    project(tmp_path, PATHS["sources"])
    ran = kservec(tmp_path, "lint", "--format", layout)
    assert (ran.status, said in ran.out) == (1, True), ran


@pytest.mark.parametrize("command", [("explain", "Deployment/fraud-predictor"), ("graph",), ("lock",)])
def test_commands_that_render_nothing(tmp_path: Path, command: tuple[str, ...]) -> None:
    """None of them fails with a traceback, or does as if nothing were wrong."""
    project(tmp_path, PATHS["sources"])
    assert kservec(tmp_path, *command).status in (1, 2)


@pytest.mark.parametrize("field", ["sources", "platform", "include"])
def test_a_link_that_leads_out(tmp_path: Path, field: str) -> None:
    """Links of files and folders are refused: named ones in the project file, others where they lie."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    (outside / "other.yaml").write_text(SERVICE.replace("fraud", "other"))
    sources = "services, linked" if field == "sources" else "services"
    project(inside, f"sources: [{sources}]\n" + ("" if field == "sources" else f"{field}: [linked]\n"))
    (inside / "linked").symlink_to("../outside")
    ran = kservec(inside, "lint")
    assert (ran.status, "error[project/link-outside]: linked leads out of the project by a link" in ran.err) == (
        1,
        True,
    )
    assert f" --> kservec.yaml:{3 if field == 'sources' else 4}:" in ran.err
    (inside / "linked").unlink()
    (inside / "linked").mkdir()
    (inside / "linked" / "other.yaml").symlink_to("../../outside/other.yaml")
    ran = kservec(inside, "lint")
    assert (ran.status, " --> linked/other.yaml" in ran.err) == (1, True)
    (inside / "linked" / "other.yaml").unlink()
    (inside / "kept.yaml").write_text("# nothing\n")
    (inside / "linked" / "other.yaml").symlink_to("../kept.yaml")
    assert "link-outside" not in kservec(inside, "lint").err


def test_what_is_neither_file_nor_folder(tmp_path: Path) -> None:
    """A pipe, which might never end, a link to nothing and a link to itself are not read."""
    project(tmp_path, "sources: [services, pipe, gone, loop]\n")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "gone").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    ran = kservec(tmp_path, "lint")
    assert (ran.status, ran.err.count("error[project/path-not-found]")) == (1, 3), ran.err
    assert ran.err.count(" --> kservec.yaml:3:") == 3


def test_output_in_the_folder_of_git(tmp_path: Path) -> None:
    """Its hooks are programs; neither a project nor an option may write there."""
    project(tmp_path, "sources: [services]\n")
    (tmp_path / ".git" / "hooks").mkdir(parents=True)
    ran = kservec(tmp_path, "build", "--output", ".git/hooks/x")
    assert (ran.status, "choose a folder of its own" in ran.err) == (2, True)
    assert not (tmp_path / ".git" / "hooks" / "x").exists()


def test_a_project_below_the_top_of_its_repository(tmp_path: Path) -> None:
    """The tools count from the top; the warning has what to write, which ends it."""
    (tmp_path / ".git").mkdir()
    folder = tmp_path / "ml" / "models"
    folder.mkdir(parents=True)
    text = 'sources: [services]\ngitops: {tool: argocd, repoURL: "https://git.example.com/ml.git"}\n'
    project(folder, text)
    ran = kservec(folder, "build")
    assert (ran.status, ran.err.count("warning[gitops/path-from-top]"), " --> kservec.yaml:4:16" in ran.err) == (
        0,
        1,
        True,
    )
    assert "add gitops.path: ml/models/rendered/{env}" in ran.err
    (folder / "kservec.yaml").write_text(HEAD + text.replace("tool:", 'path: "ml/models/rendered/{env}", tool:'))
    assert "path-from-top" not in kservec(folder, "build").err
    (folder / "kservec.yaml").write_text(HEAD + "sources: [services]\n")
    assert "path-from-top" not in kservec(folder, "build").err
