"""Facts: the documents of kservec's own kind Cluster, read and laid over each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.cluster import ENTRY_FIELDS, Secret, ServiceAccount
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.unit import Source

if TYPE_CHECKING:
    from kservec.core.text.source import Document
    from kservec.core.tree import Path
    from kservec.documents.entries import Entry
    from kservec.spec.cluster import AssumedSecret, AssumedServiceAccount, Cluster

SECRET_VALUE = Code(
    "cluster/secret-value",
    Severity.ERROR,
    "a value that is not for a Cluster document",
    "Of a Secret's content a Cluster document takes only the plain settings that KServe itself copies into pods. List "
    "all other keys under `keys`, without their values.",
)


class Facts(NamedTuple):
    """One Cluster document."""

    model: Cluster
    document: Document


def read_facts(entries: Iterable[Entry], plain: frozenset[str]) -> tuple[list[Facts], list[Diagnostic]]:
    """The Cluster documents of a run, weakest first. `plain` are the keys of Secrets whose values are no secrets."""
    read: list[Facts] = []
    found: list[Diagnostic] = []
    for entry in entries:
        try:
            model = read_cluster(entry)
        except Reject as reject:
            found += reject.diagnostics
            continue
        for i, secret in enumerate(model.secrets):
            found += secret_values(secret, ("secrets", i), entry, plain)
        read.append(Facts(model, entry.document))
    return read, found


def read_cluster(entry: Entry) -> Cluster:
    """The model of a Cluster document. Pydantic is loaded here, for few runs have such a document.

    Raises:
        Reject: the document does not fit the model.
    """
    from kservec.documents.models import Spot, read_model  # noqa: PLC0415 - loads pydantic
    from kservec.spec.cluster import Cluster  # noqa: PLC0415 - loads pydantic

    return read_model(Cluster, entry.document.value, Spot(entry.ref, Source(document=entry.document)))


def secret_values(secret: AssumedSecret, at: Path, entry: Entry, plain: frozenset[str]) -> Iterable[Diagnostic]:
    """The values of a declared Secret that no one may write down."""
    places: list[tuple[str, ...]] = [("settings", key) for key in secret.settings if key not in plain]
    places += [("entries", key, name) for key, e in secret.entries.items() for name in e if name not in ENTRY_FIELDS]
    for place in places:
        allowed = ENTRY_FIELDS if place[0] == "entries" else sorted(plain)
        yield Diagnostic(
            code=SECRET_VALUE,
            message=f"{place[-1]} is no plain setting of Secret {secret.namespace}/{secret.name}",
            span=entry.document.key_span((*at, *place)),
            help=f"{place[0]} takes {', '.join(allowed)}; name other keys under keys",
            subject=entry.ref,
        )


def declared_secret(secret: AssumedSecret, i: int, document: Document) -> Secret:
    """A Secret that a Cluster document declares."""
    keys = frozenset((*secret.keys, *secret.settings, *secret.entries))
    return Secret(
        namespace=secret.namespace,
        name=secret.name,
        keys=keys,
        annotations=secret.annotations,
        settings=secret.settings,
        entries={**dict.fromkeys(sorted(keys - secret.settings.keys())), **secret.entries},
        span=document.span(("secrets", i, "name")),
    )


def declared_service_account(account: AssumedServiceAccount, i: int, document: Document) -> ServiceAccount:
    """A ServiceAccount that a Cluster document declares."""
    return ServiceAccount(
        namespace=account.namespace,
        name=account.name,
        annotations=account.annotations,
        secrets=tuple(account.secrets),
        image_pull_secrets=tuple(account.image_pull_secrets),
        span=document.span(("serviceAccounts", i, "name")),
    )
