"""Which Secrets, ServiceAccounts and namespaces of a dump specs have to do with; others stay out of the files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.cluster import Cluster
    from kservec.core.paths import Json

_find_words = re.compile(r"[A-Za-z0-9.-]+").findall
DEFAULT_ACCOUNT = "default"


def referred_to(cluster: Cluster, specs: Iterable[tuple[str, Json]], settings: Iterable[str]) -> Cluster:
    """What specs refer to, of all that a dump has.

    Args:
        cluster: everything in the dump.
        specs: the namespace and the value of each spec.
        settings: the texts of KServe's configuration, which may name Secrets, too.
    """
    named = names_in(specs)
    shared = words_in(settings)
    accounts = {key: a for key, a in cluster.service_accounts.items() if key[1] in named.get(key[0], ())}
    for (namespace, _), account in accounts.items():
        named[namespace].update(account.secrets, account.image_pull_secrets)
    wanted = {key: s for key, s in cluster.secrets.items() if key[0] in named and key[1] in named[key[0]] | shared}
    spaces = {name: labels for name, labels in cluster.namespaces.items() if name in named}
    return evolve(cluster, secrets=wanted, service_accounts=accounts, namespaces=spaces)


def names_in(specs: Iterable[tuple[str, Json]]) -> dict[str, set[str]]:
    """What the specs of each namespace may name: every text in them."""
    named: dict[str, set[str]] = {}
    for namespace, value in specs:
        named.setdefault(namespace, {DEFAULT_ACCOUNT}).update(texts_in(value))
    return named


def words_in(settings: Iterable[str]) -> set[str]:
    """What texts of KServe's configuration may name."""
    return {word for text in settings for word in _find_words(text)}


def texts_in(value: Json) -> Iterator[str]:
    """Every text in a value."""
    if isinstance(value, dict):
        for part in value.values():
            yield from texts_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts_in(part)
    elif isinstance(value, str):
        yield value
