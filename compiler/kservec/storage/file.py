"""file: paths on the file system of the download container, written as a URI."""

from __future__ import annotations

from kservec.core.models.storage_scheme import Delivery, Scheme, SchemeTrait

SCHEME = Scheme(name="file", prefixes=("file://",), delivery=Delivery.DOWNLOAD, traits=frozenset((SchemeTrait.FILES,)))
