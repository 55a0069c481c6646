"""The version is told in one place, and everything that names it means the same."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from kservec import __version__

from .scripts import ROOT, SCRIPTS, script

VERSIONS = script("versions.py")
CHANGES = (
    "# Changelog\n\n## Unreleased\n\n- new\n\n## 1.2.0 - 2026-11-30\n\n- old\n\n## 1.2.0rc1 - 2026-11-02\n\n- older\n"
)


def checkout(folder: Path, *, version: str = "1.2.0", changes: str = CHANGES, page: str = "") -> Path:
    """A checkout as far as its version goes."""
    (folder / "compiler" / "kservec").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "compiler" / "kservec" / "_version.py").write_text(f'__version__ = "{version}"\n')
    (folder / "CHANGELOG.md").write_text(changes)
    (folder / "docs" / "ci.md").write_text(page)
    return folder


def test_everything_names_the_version() -> None:
    """Pages, the catalog, the command, the metadata of the package, and the headings of the changelog."""
    assert VERSIONS["faults"](ROOT) == []
    assert VERSIONS["version"](ROOT) == __version__ == metadata.version("kservec")
    command = [sys.executable, "-m", "kservec", "--version"]
    assert subprocess.check_output(command, text=True).startswith(f"kservec {__version__} ")  # noqa: S603 - our own


def test_the_metadata_have_no_version_of_their_own() -> None:
    """They take it from where it is told; what is built from a Dockerfile gets it as an argument."""
    assert "\nversion = " not in (ROOT / "pyproject.toml").read_text()
    assert "\nARG VERSION=unknown\n" in (ROOT / "router" / "Dockerfile").read_text()


@pytest.mark.parametrize(
    ("tag", "version", "changes", "said"),
    [
        ("v1.2.0", "1.2.0", CHANGES, ""),
        (None, "1.3.0", CHANGES, ""),
        ("v1.2.0rc1", "1.2.0rc1", "## 1.2.0rc1 - 2026-11-02\n\n- x\n", ""),
        ("v1.2.1", "1.2.0", CHANGES, "the tag is v1.2.1, and the version is 1.2.0"),
        ("1.2.0", "1.2.0", CHANGES, "the tag is 1.2.0"),
        ("v1.3.0", "1.3.0", CHANGES, "there is no heading `## 1.3.0 - "),
        ("v1.2.0", "1.2.0", "## 1.2.0 - 2026-11-30\n\n## Unreleased\n\n- x\n", "with text below it"),
        (None, "1.1.0", CHANGES, "it tells of 1.2.0, and the version is 1.1.0"),
        (None, "1.2.0", "## 1.1.0 - 2026-01-01\n\n## 1.2.0 - 2026-11-30\n", "not in their order"),
        (None, "1.2.0", "## 1.2.0rc1 - 2026-01-01\n\n## 1.2.0 - 2026-11-30\n", "not in their order"),
        (None, "1.2.0", "## 1.2\n", "neither Unreleased nor a version with its day"),
    ],
)
def test_what_keeps_a_tag_from_being_released(
    tmp_path: Path, tag: str | None, version: str, changes: str, said: str
) -> None:
    """The tag must be the version, and the changelog must tell of it."""
    found = VERSIONS["faults"](checkout(tmp_path, version=version, changes=changes), tag)
    assert len(found) == bool(said)
    assert said in "".join(found)


def test_a_place_that_names_another_version(tmp_path: Path) -> None:
    """It is told with its line."""
    root = checkout(tmp_path, page="one\n      - uses: kservec/kservec@v1.1.0\n")
    assert VERSIONS["faults"](root) == ["docs/ci.md:2: names 1.1.0, and the version is 1.2.0"]


def test_a_new_version(tmp_path: Path) -> None:
    """Every place names it, other numbers stay, and a second time there is nothing to do."""
    page = "      rev: v1.2.0\nimage: ghcr.io/kservec/router:1.2.0 # Python 1.2.0\n- kservec/kservec@1.2.0\n"
    root = checkout(tmp_path, page=page)
    assert VERSIONS["rename"](root, "1.3.0rc1") == ["compiler/kservec/_version.py", "docs/ci.md"]
    assert (root / "docs" / "ci.md").read_text() == page.replace("v1.2.0", "v1.3.0rc1").replace(
        "router:1.2.0", "router:1.3.0rc1"
    ).replace("@1.2.0", "@1.3.0rc1")
    assert VERSIONS["version"](root) == "1.3.0rc1"
    assert VERSIONS["rename"](root, "1.3.0rc1") == []


def test_what_the_page_of_a_release_says(tmp_path: Path) -> None:
    """It is the section of that version alone."""
    assert VERSIONS["notes"](checkout(tmp_path)) == "- old"


@pytest.mark.parametrize("words", [("set", "1.2"), ("set", "v1.2.0"), ("set", "1.2.0; id"), ()])
def test_wrong_usage(words: tuple[str, ...]) -> None:
    """What is no version is refused, and nothing changes."""
    command = [sys.executable, str(SCRIPTS / "versions.py"), *words]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2  # noqa: S603 - our own
