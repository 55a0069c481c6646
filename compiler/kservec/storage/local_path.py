"""local_path: absolute and relative paths on the file system of the download container, with no scheme at all."""

from __future__ import annotations

from kservec.core.models.model_uri import is_local_path
from kservec.core.models.storage_scheme import Delivery, Scheme


def claims(uri: str) -> int:
    """The least there is, for text in which no scheme is written."""
    return 1 if is_local_path(uri) else 0


SCHEME = Scheme(
    name="local path", prefixes=(), delivery=Delivery.DOWNLOAD, claims=claims, forms=("an absolute or relative path",)
)
