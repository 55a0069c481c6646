"""Writing an OCI image layout: blobs first and the index last, so that a layout never names what is not there."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MARK, INDEX, BLOBS = "oci-layout", "index.json", "blobs/sha256"


def write_layout(folder: Path, files: Mapping[str, bytes]) -> None:
    """Make a folder this image layout. Blobs of an earlier one go.

    Raises:
        OSError: the folder cannot be written, or holds something else than an image layout.
    """
    if folder.exists() and (not folder.is_dir() or (any(folder.iterdir()) and not (folder / MARK).is_file())):
        raise FileExistsError(errno.EEXIST, "it holds something else than an image layout", str(folder))
    (folder / BLOBS).mkdir(parents=True, exist_ok=True)
    for path in sorted(files, key=lambda path: (path == INDEX, path)):
        replace(folder / path, files[path])
    kept = {Path(path).name for path in files if path.startswith(BLOBS)}
    for blob in sorted((folder / BLOBS).iterdir()):
        if blob.name not in kept:
            blob.unlink()


def replace(path: Path, content: bytes) -> None:
    """Write a file in one step."""
    beside = path.with_name(f".{path.name}.new")
    beside.write_bytes(content)
    os.replace(beside, path)
