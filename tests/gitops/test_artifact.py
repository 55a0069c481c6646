"""OCI artifacts: an image layout that any tool reads, and whose bytes depend on the tree alone."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tarfile
from typing import TYPE_CHECKING

import pytest

from kservec.gitops.artifact import LARGEST_STORED, artifact, stored
from kservec.io.layout_writer import write_layout

if TYPE_CHECKING:
    from pathlib import Path

LONG = f"{'n' * 63}/{'u' * 100}/deployment-{'d' * 200}.yaml"
TREE = {"b/y.yaml": b"y\n", "a.yaml": b"a\n", "b/x/z.yaml": b"z" * 100_000, LONG: b"long\n", "empty.yaml": b""}
DIGEST = "sha256:17f342ccc21d27593bdb675bbbf2135a5ac0fa70b07b12b33209afce641952ab"
"""That of the manifest of one small file."""


@pytest.mark.parametrize("size", [0, 1, LARGEST_STORED - 1, LARGEST_STORED, LARGEST_STORED + 1, 3 * LARGEST_STORED])
def test_any_gzip_reader_reads_it(size: int) -> None:
    """The frame holds the content, whatever its size."""
    content = bytes(i % 251 for i in range(size))
    assert gzip.decompress(stored(content)) == content


def test_the_layer_is_the_tree() -> None:
    """Each file with its content, each folder before its files, without times, owners or the order they came in."""
    made = artifact(TREE, "both", {})
    assert made == artifact(dict(reversed(TREE.items())), "both", {})
    (digest,) = {layer["digest"] for name in made.digests for layer in manifest(made.files, name)["layers"]}
    with tarfile.open(fileobj=io.BytesIO(made.files[blob(digest)]), mode="r:gz") as archive:
        members = archive.getmembers()
        assert {m.name: archive.extractfile(m).read() for m in members if m.isfile()} == TREE  # type: ignore[union-attr]
    names = [m.name for m in members]
    assert names == sorted(names)
    assert {"b", "b/x"} <= {m.name for m in members if m.isdir()}
    assert {(m.mtime, m.uid, m.gid, m.uname) for m in members} == {(0, 0, 0, "")}


def blob(digest: str) -> str:
    """The path of a blob."""
    return f"blobs/{digest.replace(':', '/')}"


def manifest(files: dict[str, bytes], tool: str) -> dict[str, list[dict[str, str]]]:
    """The manifest that a tool's tag names."""
    listed = json.loads(files["index.json"])["manifests"]
    (digest,) = (m["digest"] for m in listed if m["annotations"]["org.opencontainers.image.ref.name"] == tool)
    found: dict[str, list[dict[str, str]]] = json.loads(files[blob(digest)])
    return found


def test_the_layout_is_consistent() -> None:
    """Every descriptor names a blob of that digest and size; tools get the types they want, one layer each."""
    made = artifact(TREE, "both", {"org.opencontainers.image.revision": "0" * 40})
    for name, content in made.files.items():
        if name.startswith("blobs/"):
            assert name == f"blobs/sha256/{hashlib.sha256(content).hexdigest()}"
    types = {}
    for tool in ("argocd", "flux"):
        document = manifest(made.files, tool)
        for descriptor in (document["config"], *document["layers"]):
            assert len(made.files[blob(descriptor["digest"])]) == descriptor["size"]
        assert made.digests[tool].startswith("sha256:")
        assert document["annotations"] == {"org.opencontainers.image.revision": "0" * 40}
        types[tool] = [layer["mediaType"] for layer in document["layers"]]
    assert types == {
        "argocd": ["application/vnd.oci.image.layer.v1.tar+gzip"],
        "flux": ["application/vnd.cncf.flux.content.v1.tar+gzip"],
    }


@pytest.mark.parametrize(("tool", "tags"), [("argocd", ["argocd"]), ("flux", ["flux"]), ("none", ["argocd", "flux"])])
def test_a_tool_has_its_own_tag(tool: str, tags: list[str]) -> None:
    """Only the tools of the environment are served; all where it has none."""
    assert list(artifact(TREE, tool, {}).digests) == tags


def test_the_bytes_are_the_same_everywhere() -> None:
    """The digest depends on no machine, library or Python version, so it can be written down here."""
    layer = artifact({"a.yaml": b"a\n"}, "argocd", {})
    assert layer.digests == {"argocd": DIGEST}


def test_a_layout_replaces_an_earlier_one(tmp_path: Path) -> None:
    """Blobs of the earlier one go, and nothing is left over."""
    write_layout(tmp_path / "out", artifact(TREE, "both", {}).files)
    second = artifact({"a.yaml": b"b\n"}, "flux", {})
    write_layout(tmp_path / "out", second.files)
    written = {p.relative_to(tmp_path / "out").as_posix(): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    assert written == second.files


def test_another_folder_is_refused(tmp_path: Path) -> None:
    """A folder that holds something else stays as it is."""
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="something else"):
        write_layout(tmp_path, artifact(TREE, "both", {}).files)
    assert [p.name for p in tmp_path.iterdir()] == ["notes.txt"]
