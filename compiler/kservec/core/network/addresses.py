"""Addresses: whom a pod is told to call, as peers and ports of a NetworkPolicy.

A NetworkPolicy knows no names. What a URL names in the cluster becomes its namespace; what is elsewhere, any address at
the URL's port.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from kservec.core.digits import integer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.tree import Json

NAMESPACE_NAME = "kubernetes.io/metadata.name"
ANYWHERE: tuple[Json, ...] = ({"ipBlock": {"cidr": "0.0.0.0/0"}}, {"ipBlock": {"cidr": "::/0"}})
DEFAULT_PORTS = {"http": 80, "https": 443, "grpc": 443}
SERVICE = "svc"

match_url = re.compile(r"(?:--[\w-]+=)?(https?|grpc)://(?:[^/@\s]*@)?([\w.-]+)(?::(\d+))?(?:[/?#]\S*)?").fullmatch
"""An argument or a variable that is a URL, or an option with one: scheme, host, port."""


def urls(values: Iterable[str]) -> list[tuple[str, str, int]]:
    """The URLs among texts, each once: scheme, host and port."""
    found = (match_url(value) for value in values)
    return sorted({(m[1], m[2], integer(m[3]) if m[3] else DEFAULT_PORTS[m[1]]) for m in found if m is not None})


def rules_of(host: str, port: int) -> Iterator[Json]:
    """The rules that let a pod call a host at a port.

    Services of the cluster are reached at the ports of their pods, which nobody knows here, so any port will do there.
    A name of two parts may be a Service or a host elsewhere.
    """
    labels = host.split(".")
    if host == "localhost" or host.startswith("127."):
        return
    if len(labels) == 1:
        yield {"to": [{"podSelector": {}}]}
    elif SERVICE in labels[2:3] or len(labels) == 2:
        yield {"to": [in_namespace(labels[1])]}
    if len(labels) > 1 and SERVICE not in labels[2:3]:
        yield {"to": list(ANYWHERE), "ports": [tcp(port)]}


def in_namespace(name: str) -> Json:
    """All pods of a namespace, as a peer."""
    return {"namespaceSelector": {"matchLabels": {NAMESPACE_NAME: name}}}


def labelled(labels: Json) -> Json:
    """The pods of the own namespace that have labels, as a peer."""
    return {"podSelector": {"matchLabels": dict(labels)}}


def tcp(port: int | str) -> Json:
    """A port of a rule, by its number or its name."""
    return {"port": port, "protocol": "TCP"}
