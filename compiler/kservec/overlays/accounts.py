"""The service accounts that documents of a platform describe, as they are or in a Cluster document."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from kservec.documents.entries import CLUSTER, OWN_VERSION
from kservec.overlays.objects import DEFAULT_NAMESPACE, id_of

if TYPE_CHECKING:
    from kservec.core.paths import Json
    from kservec.core.text.document import Document


def accounts_of(documents: Iterable[Document]) -> frozenset[tuple[str, str]]:
    """Every service account by its namespace and name."""
    return frozenset(account for document in documents for account in accounts_in(document.value))


def accounts_in(value: Json) -> Iterator[tuple[str, str]]:
    """The service accounts that one document describes."""
    if not isinstance(value, dict):
        return
    found = id_of(value)
    if found is not None and (found.group, found.kind) == ("", "ServiceAccount"):
        yield found.place, found.name
    if (value.get("apiVersion"), value.get("kind")) == (OWN_VERSION, CLUSTER):
        for item in value.get("serviceAccounts") or ():
            if isinstance(item, dict):
                yield str(item.get("namespace") or DEFAULT_NAMESPACE), str(item.get("name"))
