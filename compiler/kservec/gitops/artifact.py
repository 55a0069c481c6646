"""OCI artifacts: a rendered tree as an image layout, the same bytes for the same tree on every machine. Pure.

The layer is a tar of sorted names without times or owners. It is stored and not compressed within its gzip frame, since
the bytes of compressed data depend on the library. Its digest says what is in the tree, and nothing else.
"""

from __future__ import annotations

import hashlib
import io
import json
import struct
import tarfile
import zlib
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.tree import Json

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
GZIP_HEADER = b"\x1f\x8b\x08" + bytes(6) + b"\xff"
"""Deflate; no flags, no time, no hint; an unknown system."""
LARGEST_STORED = 65535
FILE_MODE, FOLDER_MODE = 0o644, 0o755


class Media(NamedTuple):
    """The types that a tool expects of the config and of the layer."""

    config: str
    layer: str


MEDIA = {
    "argocd": Media("application/vnd.oci.image.config.v1+json", "application/vnd.oci.image.layer.v1.tar+gzip"),
    "flux": Media("application/vnd.cncf.flux.config.v1+json", "application/vnd.cncf.flux.content.v1.tar+gzip"),
}
"""By tool, which is also the tag in the layout."""


class Artifact(NamedTuple):
    """An image layout: its files by path, and the digest of each tool's manifest."""

    files: Mapping[str, bytes]
    digests: Mapping[str, str]


def artifact(tree: Mapping[str, bytes], tool: str, annotations: Mapping[str, str]) -> Artifact:
    """The image layout of a tree: a manifest for each tool, all with one layer.

    Args:
        tree: the files by their paths.
        tool: argocd, flux, both or none; none stands for both.
        annotations: what the manifests say of themselves.
    """
    archive = archived(tree)
    layer = stored(archive)
    config = text_of({"architecture": "", "config": {}, "os": "", "rootfs": rootfs(archive)})
    blobs, listed, digests = {digest(layer): layer, digest(config): config}, [], {}
    for name, media in MEDIA.items():
        if tool in (name, "both", "none"):
            manifest = text_of(
                {
                    "schemaVersion": 2,
                    "mediaType": MANIFEST,
                    "config": descriptor(config, media.config),
                    "layers": [descriptor(layer, media.layer)],
                    **({"annotations": dict(annotations)} if annotations else {}),
                }
            )
            blobs[digest(manifest)] = manifest
            digests[name] = digest(manifest)
            tag = {"org.opencontainers.image.ref.name": name}
            listed.append({**descriptor(manifest, MANIFEST), "annotations": tag})
    files = {f"blobs/{name.replace(':', '/')}": blob for name, blob in blobs.items()}
    files["oci-layout"] = text_of({"imageLayoutVersion": "1.0.0"})
    files["index.json"] = text_of({"schemaVersion": 2, "mediaType": INDEX, "manifests": listed})
    return Artifact(files, digests)


def rootfs(archive: bytes) -> Json:
    """What a config says of the layer."""
    return {"type": "layers", "diff_ids": [digest(archive)]}


def descriptor(content: bytes, media_type: str) -> Json:
    """How one blob names another."""
    return {"mediaType": media_type, "digest": digest(content), "size": len(content)}


def digest(content: bytes) -> str:
    """The digest of a blob, with the algorithm before it."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def text_of(value: Json) -> bytes:
    """A JSON value as compact text with sorted keys."""
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def archived(tree: Mapping[str, bytes]) -> bytes:
    """A tar of files, each folder before what is in it, in the order of their paths."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted({*folders_of(tree), *tree}):
            content = tree.get(path)
            entry = tarfile.TarInfo(path)
            entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            entry.mode = FOLDER_MODE if content is None else FILE_MODE
            entry.size = len(content or b"")
            archive.addfile(entry, io.BytesIO(content or b""))
    return buffer.getvalue()


def folders_of(tree: Mapping[str, bytes]) -> Iterator[str]:
    """Every folder that files lie in."""
    for path in tree:
        parts = path.split("/")
        yield from ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def stored(content: bytes) -> bytes:
    """Content in a gzip frame, as blocks that are not compressed (RFC 1951, 3.2.4)."""
    starts = range(0, max(len(content), 1), LARGEST_STORED)
    blocks = []
    for start in starts:
        block = content[start : start + LARGEST_STORED]
        final = start + LARGEST_STORED >= len(content)
        blocks.append(struct.pack("<BHH", final, len(block), len(block) ^ 0xFFFF) + block)
    return b"".join((GZIP_HEADER, *blocks, struct.pack("<II", zlib.crc32(content), len(content) & 0xFFFFFFFF)))
