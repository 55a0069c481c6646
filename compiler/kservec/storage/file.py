"""file: paths on the file system of the download container, written as a URI."""

from __future__ import annotations

from kservec.core.registry import Delivery, Scheme

SCHEME = Scheme(name="file", prefixes=("file://",), delivery=Delivery.DOWNLOAD)
