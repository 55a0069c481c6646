"""Folders of input: what is in them that cannot be read, and what is passed over, is said where it is."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from .running import CONTEXT, SERVICE, kservec

if TYPE_CHECKING:
    from pathlib import Path

UNREADABLE, NOT_A_FILE, NOT_FOLLOWED = "input/unreadable", "input/not-a-file", "input/link-not-followed"
ODD = {
    "a link to nothing": ("gone.yaml", 1, UNREADABLE, "services/gone.yaml is a link to nowhere.yaml, which is not"),
    "a link to itself": ("loop.yaml", 1, UNREADABLE, "services/loop.yaml is a link to loop.yaml, which leads back"),
    "a pipe": ("pipe.yaml", 0, NOT_A_FILE, "services/pipe.yaml is no file"),
    "a device": ("null.yaml", 0, NOT_A_FILE, "services/null.yaml is no file"),
    "a link to a folder": ("linked", 0, NOT_FOLLOWED, "services/linked is a link to a folder, and not followed"),
    "a link to the folder above": ("up", 0, NOT_FOLLOWED, "services/up is a link to a folder, and not followed"),
}


def make(folder: Path, name: str) -> None:
    """Make one odd entry of a folder."""
    if name == "pipe.yaml":
        os.mkfifo(folder / name)
        return
    targets = {"gone.yaml": "nowhere.yaml", "loop.yaml": "loop.yaml", "null.yaml": os.devnull, "up": ".."}
    (folder / name).symlink_to(targets.get(name, folder.parent))


@pytest.mark.parametrize("what", ODD)
def test_an_odd_entry_is_told_of_and_the_others_are_read(work: Path, what: str) -> None:
    """Only what cannot be known stops the build; the finding names the entry."""
    name, status, code, message = ODD[what]
    (work / "services").mkdir()
    (work / "services" / "fraud.yaml").write_text(SERVICE)
    make(work / "services", name)
    ran = kservec(work, "lint", "--format", "json", "services")
    found = [d for d in json.loads(ran.out)["diagnostics"] if d["code"] == code]
    assert ran.status == status
    assert [(d["location"]["file"], d["location"]["line"]) for d in found] == [(f"services/{name}", 0)]
    assert found[0]["message"].startswith(message)


PASSED_OVER = [*(name for name, status, *_ in ODD.values() if not status), "kustomization.yaml"]


@pytest.mark.parametrize("name", PASSED_OVER)
@pytest.mark.parametrize("of_the_platform", [False, True])
def test_what_is_passed_over_hides_nothing(work: Path, name: str, *, of_the_platform: bool) -> None:
    """It would declare nothing, so what no document declares is reported as it is without it."""
    service = SERVICE.replace("Standard", "Knative") + "    serviceAccountName: reader\n"
    for folder, text in (("services", service), ("platform", CONTEXT.replace("reader", "other"))):
        (work / folder).mkdir()
        (work / folder / "a.yaml").write_text(text)
    before = codes_beside(work)
    odd = work / ("platform" if of_the_platform else "services")
    if name == "kustomization.yaml":
        (odd / name).touch()
    else:
        make(odd, name)
    assert {"serviceaccount/not-declared", "knative/settings-undeclared"} <= set(before)
    assert codes_beside(work) == before


def codes_beside(work: Path) -> list[str]:
    """The codes of a run, without those about entries of the folders."""
    ran = kservec(work, "lint", "--format", "json", "services", "--platform", "platform")
    codes = [d["code"] for d in json.loads(ran.out)["diagnostics"]]
    return [code for code in codes if not code.startswith("input/")]


def test_a_folder_may_be_called_like_a_file(work: Path) -> None:
    """A folder `x.yaml` is searched as any other."""
    (work / "services" / "x.yaml").mkdir(parents=True)
    (work / "services" / "x.yaml" / "fraud.yaml").write_text(SERVICE)
    assert "kind: Deployment" in kservec(work, "build", "services").out


@pytest.mark.parametrize("name", ["up.YAML", "up.Yml", "up.yML"])
def test_a_suffix_may_have_capitals(work: Path, name: str) -> None:
    """Whoever calls a file of a folder so wants it to be read."""
    (work / "services").mkdir()
    (work / "services" / name).write_text(SERVICE)
    assert "kind: Deployment" in kservec(work, "build", "services").out


def test_json_with_capitals_is_held_to_be_json(work: Path) -> None:
    """What is wrong with it is said of JSON, not of YAML, as for a file whose suffix has none."""
    (work / "services").mkdir()
    (work / "services" / "up.JSON").write_text('{"kind": "InferenceService",, }')
    ran = kservec(work, "build", "services")
    assert ran.status == 1
    assert "not valid JSON" in ran.err


@pytest.mark.parametrize("name", ["kustomization.yaml", "kustomization.YML", "Kustomization"])
def test_a_kustomization_of_any_name_is_told_of(work: Path, name: str) -> None:
    """It is not run, however it is spelt."""
    (work / "services").mkdir()
    (work / "services" / "fraud.yaml").write_text(SERVICE)
    (work / "services" / name).write_text("resources: [fraud.yaml]\n")
    ran = kservec(work, "lint", "--format", "json", "services")
    found = [d for d in json.loads(ran.out)["diagnostics"] if d["code"] == "input/kustomization"]
    assert [d["location"]["file"] for d in found] == [f"services/{name}"]


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="whoever is root can read everything")
def test_what_may_not_be_read(work: Path) -> None:
    """A file and a folder without permission are both told of in one run."""
    (work / "services" / "closed").mkdir(parents=True)
    (work / "services" / "closed.yaml").write_text(SERVICE)
    (work / "services" / "closed.yaml").chmod(0)
    (work / "services" / "closed").chmod(0)
    ran = kservec(work, "build", "services")
    (work / "services" / "closed").chmod(0o700)
    assert ran.status == 1
    assert "cannot read services/closed: Permission denied" in ran.err
    assert "cannot read services/closed.yaml: Permission denied" in ran.err


def test_a_link_to_a_file_is_the_file(work: Path) -> None:
    """A file that is reached twice is read once, and a link to one elsewhere is read."""
    (work / "services").mkdir()
    (work / "services" / "a.yaml").symlink_to(work / "fraud.yaml")
    ran = kservec(work, "lint", "services", "fraud.yaml")
    assert (ran.status, "object-twice" in ran.err) == (0, False)
