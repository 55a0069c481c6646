"""Whoever runs the image, and whatever may be written: caches end up where that user may write."""

from __future__ import annotations

from pathlib import Path

import pytest

from .programs import TMP, Place, is_root
from .versions import read

pytestmark = pytest.mark.skipif(not is_root(), reason="needs to become another user")

BECOME = ["setpriv", "--reuid=1000540000", "--regid=0", "--clear-groups"]
OUTSIDER = ["setpriv", "--reuid=1000540000", "--regid=1000540000", "--clear-groups"]
CANNOT_WRITE = 73
BELOW_TMP = f"{TMP}/vllm-1000540000"


def caches(home: Path) -> dict[str, str]:
    """The variables of the image, below another home."""
    return {name: value.replace("/home", str(home), 1) for name, value in read()["environment"].items()}


def test_any_user_of_group_0_writes_to_the_home(open_place: Place) -> None:
    """An OpenShift user has no entry among the users, and group 0: the image's own folders do."""
    home = open_place.folder / "caches"
    home.mkdir(mode=0o770)
    home.chmod(0o770)
    told = caches(home) | {"HF_HUB_CACHE": str(home)}
    done = open_place.run("acme/chat", prefix=BECOME, **told)
    assert done.status == 0, done.said
    assert {name: done.environment[name] for name in told} == told


def test_any_user_of_any_group_writes_below_tmp(open_place: Place) -> None:
    """Where the image's folders are not this user's, and nothing is mounted there, everything goes to /tmp."""
    home = open_place.folder / "caches"
    home.mkdir(mode=0o770)
    told = caches(home) | {"HF_HUB_CACHE": str(home)}
    done = open_place.run("acme/chat", prefix=OUTSIDER, **told)
    assert done.status == 0, done.said
    moved = {name: value for name, value in done.environment.items() if name in told and name != "USER"}
    assert all(value.startswith(BELOW_TMP) for value in moved.values()), moved
    assert f"sets HOME={BELOW_TMP}" in done.said


def test_a_user_without_a_name_gets_one(open_place: Place) -> None:
    """Libraries ask who is there, and fail for users that have no entry."""
    done = open_place.run("acme/chat", prefix=OUTSIDER, HOME=TMP)
    assert done.environment["USER"] == "vllm"


def test_the_name_of_a_user_leads_nowhere(open_place: Place) -> None:
    """It is no part of a path that is written to."""
    done = open_place.run("acme/chat", prefix=OUTSIDER, HOME="/root", USER="/../../etc")
    assert done.environment["HOME"] == BELOW_TMP


def test_nowhere_to_write_is_refused(open_place: Place) -> None:
    """With a read-only root file system and nothing mounted there is a message instead of a library's traceback."""
    readonly = f"mount --bind {TMP} {TMP} && mount -o remount,ro,bind {TMP}"
    command = f"exec {' '.join(OUTSIDER)} kservec-vllm acme/chat"
    done = open_place.run_words(["unshare", "--mount", "/bin/sh", "-c", f"{readonly} && {command}"], HOME="/")
    if "unshare" in done.said or "mount:" in done.said:
        pytest.skip("no namespaces here")
    assert done.status == CANNOT_WRITE, done.said
    assert "mount an emptyDir at /home and one at /tmp" in done.said


def test_nothing_is_written_by_the_program_itself(open_place: Place) -> None:
    """Its folder may be read-only, and stays as it was."""
    before = sorted(open_place.package.rglob("*"))
    for path in (open_place.package, *before):
        path.chmod(path.stat().st_mode & ~0o222)
    assert open_place.run("acme/chat", prefix=OUTSIDER, HOME=TMP).status == 0
    assert sorted(open_place.package.rglob("*")) == before
