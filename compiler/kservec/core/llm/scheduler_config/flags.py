"""Flags of the scheduler that later versions refuse, and what its configuration says instead.

Decides which they are. KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, filterArgs and its callers
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from kservec.core.tree import Json

METRIC_FIELDS: Final[Mapping[str, str]] = {
    "total-queued-requests-metric": "queuedRequestsSpec",
    "total-running-requests-metric": "runningRequestsSpec",
    "kv-cache-usage-percentage-metric": "kvUsageSpec",
    "lora-info-metric": "loraSpec",
    "cache-info-metric": "cacheInfoSpec",
}
"""Flags that name a server's metrics, and the fields of a plugin that do so since 0.7."""

SCRAPE_FIELDS: Final[Mapping[str, str]] = {
    "model-server-metrics-scheme": "scheme",
    "model-server-metrics-path": "path",
    "model-server-metrics-https-insecure-skip-verify": "insecureSkipVerify",
}
"""Flags that say how metrics are fetched, and the parameters of a plugin that do so since 0.10."""

SCRAPE_PORT: Final = "model-server-metrics-port"
"""The same for the port, which nothing says any more: it is that of the pool."""

SCRAPE_FLAGS: Final = (*SCRAPE_FIELDS, SCRAPE_PORT)
SKIP_VERIFY: Final = "model-server-metrics-https-insecure-skip-verify"
TRUE: Final = ("", "1", "t", "T", "TRUE", "true", "True")
FALSE: Final = ("0", "f", "F", "FALSE", "false", "False")


class Parted(NamedTuple):
    """Arguments without some flags, and the values of these."""

    kept: list[str]
    values: dict[str, str]


class BadFlagError(Exception):
    """A flag has a value that it does not take."""


def parted(args: Iterable[str], names: Collection[str]) -> Parted:
    """Arguments without the flags of some names; of those with the values that they have, beside or behind them."""
    kept: list[str] = []
    values: dict[str, str] = {}
    rest = list(args)
    while rest:
        arg = rest.pop(0)
        name, _, value = arg.lstrip("-").partition("=")
        if name not in names:
            kept.append(arg)
            continue
        if not value and rest and not rest[0].startswith("-"):
            value = rest.pop(0)
        values[name] = value
    return Parted(kept, values)


def without_flags(container: Json, fields: Sequence[str], names: Collection[str]) -> tuple[Json, dict[str, str]]:
    """A container whose lists of arguments have none of some flags, and the values of these."""
    values: dict[str, str] = {}
    for field in fields:
        found = parted(container.get(field) or (), names)
        if found.values:
            container = {**container, field: found.kept}
            values.update(found.values)
    return container, values


def scrape_parameters(values: Mapping[str, str]) -> dict[str, Json]:
    """The parameters that say what the flags for fetching metrics said.

    Raises:
        BadFlagError: what must be true or false is neither.
    """
    parameters: dict[str, Json] = {}
    for flag, field in SCRAPE_FIELDS.items():
        value = values.get(flag)
        if flag == SKIP_VERIFY and value is not None:
            if value not in TRUE + FALSE:
                raise BadFlagError(f"--{flag} is {value!r}, which is neither true nor false")
            parameters[field] = value in TRUE
        elif value:
            parameters[field] = value
    return parameters
