"""The wheel and the sdist: the same bytes wherever they are built, nothing missing or too many; they work alone."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from pathlib import Path
from typing import NamedTuple

import pytest

from kservec import __version__

from .scripts import ROOT, SCRIPTS, Machine, script

pytestmark = pytest.mark.slow
DISTRIBUTIONS = script("distributions.py")
INSTALLED = SCRIPTS / "installed.py"
NO_INDEX = ("No matching distribution", "Failed to establish a new connection", "Temporary failure in name resolution")
SUMS = re.compile(r"[0-9a-f]{64}  kservec-\S+(?:\.whl|\.tar\.gz)")


class Built(NamedTuple):
    """What a release has."""

    sdist: Path
    wheel: Path
    sums: list[str]

    def metadata(self) -> Message:
        """What the wheel says of itself."""
        with zipfile.ZipFile(self.wheel) as archive:
            return message_from_bytes(archive.read(f"kservec-{__version__}.dist-info/METADATA"))


@pytest.fixture(name="built", scope="session")
def built_fixture(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """Both, built twice as for a release."""
    folder = tmp_path_factory.mktemp("release") / "dist"
    command = [sys.executable, str(SCRIPTS / "distributions.py"), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert done.returncode == 0, done.stderr
    (sdist,), (wheel,) = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return Built(sdist, wheel, (folder / "SHA256SUMS").read_text().splitlines())


def test_both_are_built_and_summed(built: Built) -> None:
    """The second build made the same bytes, or there were none; their names have the version."""
    assert built.wheel.name == f"kservec-{__version__}-py3-none-any.whl"
    assert built.sdist.name == f"kservec-{__version__}.tar.gz"
    assert [bool(SUMS.fullmatch(line)) for line in built.sums] == [True, True]


def test_what_was_built_is_never_mixed(built: Built) -> None:
    """A folder that is there already is refused, and stays as it is."""
    command = [sys.executable, str(SCRIPTS / "distributions.py"), str(built.wheel.parent)]
    before = sorted(path.name for path in built.wheel.parent.iterdir())
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (done.returncode, "is there already" in done.stderr) == (2, True)
    assert sorted(path.name for path in built.wheel.parent.iterdir()) == before


def test_nothing_is_in_them_that_nobody_needs(built: Built) -> None:
    """Neither has tests, golden cases, compiled files or folders of tools; the wheel is nothing but two packages."""
    with zipfile.ZipFile(built.wheel) as wheel, tarfile.open(built.sdist) as sdist:
        names = [*wheel.namelist(), *(name.partition("/")[2] for name in sdist.getnames())]
        tops = {name.partition("/")[0] for name in wheel.namelist()}
    assert tops == {"kservec", "kservec_router", f"kservec-{__version__}.dist-info"}
    odd = r"(^|/)(tests|golden|benchmarks|__pycache__|\.venv|\.git|\.github|rendered|out|dist)/|\.py[co]$"
    assert [name for name in names if re.search(odd, name)] == []


def test_what_is_missing_or_too_many_is_found(built: Built, tmp_path: Path) -> None:
    """A wheel with another file than the checkout has is refused."""
    wheel = tmp_path / built.wheel.name
    with zipfile.ZipFile(built.wheel) as old, zipfile.ZipFile(wheel, "w") as new:
        for name in old.namelist():
            new.writestr("kservec/notes.txt" if name == "kservec/py.typed" else name, old.read(name))
    assert DISTRIBUTIONS["wheel_faults"](wheel) == [
        f"{wheel.name}: kservec/py.typed is missing",
        f"{wheel.name}: kservec/notes.txt does not belong there",
    ]


def test_the_page_of_the_index_has_links_that_lead_somewhere(built: Built) -> None:
    """Links of the README are of the release, and what they lead to is there."""
    text = str(built.metadata().get_payload())
    links = re.findall(r"\]\(([^)#]+)", text)
    own = [link for link in links if link.startswith(f"https://github.com/kservec/kservec/blob/v{__version__}/")]
    assert [link for link in links if not link.startswith("https://")] == []
    assert len(own) > 10
    assert [link for link in own if not (ROOT / link.partition(f"/v{__version__}/")[2]).exists()] == []


def test_uploads_understand_the_metadata(built: Built) -> None:
    """The format is one that indexes have known for long; the licence and the pages are told."""
    metadata = built.metadata()
    assert metadata["Metadata-Version"] == "2.4"
    assert (metadata["License-Expression"], metadata["Requires-Python"]) == ("Apache-2.0", ">=3.11")
    assert {url.partition(", ")[0] for url in metadata.get_all("Project-URL", [])} == {
        "Homepage",
        "Changelog",
        "Issues",
    }


@pytest.mark.skipif(os.name == "nt", reason="environments have other folders there")
@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_works_where_nothing_else_is(built: Built, tmp_path: Path, kind: str) -> None:
    """In a clean environment outside of the repository: demo, init, build, check; what is there is written down."""
    file = tmp_path / "kservec.cdx.json"
    command = [sys.executable, str(INSTALLED), str(getattr(built, kind)), "--sbom", str(file)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    if done.returncode and any(sign in done.stderr for sign in NO_INDEX):
        pytest.skip("there is no package index to install from")
    assert done.returncode == 0, done.stderr
    document = json.loads(file.read_text())
    component = document["metadata"]["component"]
    assert (component["name"], component["version"]) == ("kservec", __version__)
    assert component["hashes"][0]["content"] in "".join(built.sums)
    names = {each["name"].lower().replace("_", "-") for each in document["components"]}
    assert {"click", "jsonschema-rs", "pydantic", "pyyaml"} <= names
    assert not {"pip", "kservec", "pytest", "starlette"} & names
    assert str(tmp_path) not in file.read_text()


@pytest.mark.parametrize(("tag", "extra"), [("v1.2.0", ""), ("v1.2.0rc1", " --prerelease")])
def test_the_page_of_a_release(built: Built, tmp_path: Path, tag: str, extra: str) -> None:
    """It is made of a tag that exists, with everything that was built; a candidate is marked as one."""
    machine = Machine(tmp_path)
    machine.has("gh")
    ran = machine.run(SCRIPTS / "publish_page.sh", tag, str(built.wheel.parent))
    assert ran.status == 0, ran.err
    (call,) = ran.calls
    assert re.match(rf"gh release create {re.escape(tag)} --verify-tag --title {tag} --notes-file \S+{extra} /", call)
    assert [name in call for name in ("SHA256SUMS", built.wheel.name, built.sdist.name)] == [True] * 3


def test_what_was_changed_is_not_published(built: Built, tmp_path: Path) -> None:
    """A file that is not the one that was summed stops the release."""
    folder = tmp_path / "dist"
    folder.mkdir()
    for path in built.wheel.parent.iterdir():
        (folder / path.name).write_bytes(path.read_bytes() + (b"x" if path == built.wheel else b""))
    machine = Machine(tmp_path)
    machine.has("gh")
    ran = machine.run(SCRIPTS / "publish_page.sh", "v1.2.0", str(folder))
    assert (ran.status, ran.calls) == (1, [])
