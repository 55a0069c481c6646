"""Migrations: a configuration written for an earlier version of the scheduler, as a later one takes it.

Each is a function from a configuration to one; none decides when it is due.
KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, With* and with*
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING, Final

from kservec.core.llm.scheduler_config.flags import METRIC_FIELDS
from kservec.core.llm.scheduler_config.plugins import (
    PLUGINS,
    has_type,
    parameters_of,
    plugins_of,
    renamed,
    with_each,
    with_plugin,
)

if TYPE_CHECKING:
    from kservec.core.tree import Json

OLD_HEADERS, HEADERS = "prefill-header-handler", "disagg-headers-handler"
OLD_HANDLER, HANDLER = "pd-profile-handler", "disagg-profile-handler"
OLD_EXTRACTOR, EXTRACTOR = "model-server-protocol-metrics", "core-metrics-extractor"
ALWAYS, BY_PREFIX = "always-disagg-pd-decider", "prefix-based-pd-decider"
PREFIX_SCORER: Final = "prefix-cache-scorer"
PRODUCER_NAME: Final = "prefixMatchInfoProducerName"
METRICS_SOURCE: Final = "metrics-data-source"
OLD_API, API = "inference.networking.x-k8s.io/v1alpha1", "llm-d.ai/v1alpha1"
CHARACTERS_PER_TOKEN: Final = 4
MOST_CHARACTERS: Final = 1 << 53
"""More than any prompt has; a threshold may be written so large that it is an infinity."""

_match_number = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)").match


class NoTextError(Exception):
    """A parameter that names a plugin is no text."""


def since_0_7(config: Json) -> Json:
    """Names and parameters of the plugins that share prefill and decode."""
    config = renamed(config, OLD_HEADERS, HEADERS)
    return without_hash_block_size(with_deciders(renamed(config, OLD_HANDLER, HANDLER)))


def with_deciders(config: Json) -> Json:
    """A configuration whose profile handlers say by a plugin when prefill is apart.

    Raises:
        NoTextError: the name of a decider is no text.
    """
    plugins = plugins_of(config)
    if plugins is None:
        return config
    needed: list[Json] = []
    changed = [with_decider(p, needed) if is_handler(p) else p for p in plugins]
    for decider in needed:
        if not any(isinstance(p, dict) and p.get("type") == decider["type"] for p in changed):
            # A decider must be declared before the handler that names it.
            changed.insert(next(i for i, p in enumerate(changed) if is_handler(p)), decider)
    return {**config, PLUGINS: changed}


def is_handler(plugin: Json) -> bool:
    """Whether a plugin shares prefill and decode."""
    return isinstance(plugin, dict) and plugin.get("type") in (HANDLER, OLD_HANDLER)


def with_decider(handler: Json, needed: list[Json]) -> Json:
    """A handler whose parameters are in today's form; a decider that must be there for it is added to `needed`.

    Raises:
        NoTextError: the name of the decider is no text.
    """
    parameters = parameters_of(handler)
    if "deciders" in parameters:
        return handler
    named = parameters.get("deciderPluginName")
    if "deciderPluginName" in parameters:
        if not isinstance(named, str):
            raise NoTextError("deciderPluginName is no text")
        decider = named
    elif "threshold" in parameters:
        needed.append(decider_for(parameters["threshold"]))
        decider = needed[-1]["type"]
    else:
        return handler
    kept = {name: value for name, value in parameters.items() if name not in ("deciderPluginName", "threshold")}
    return {**handler, "parameters": {**kept, "deciders": {"prefill": decider}}}


def decider_for(threshold: Json) -> Json:
    """The decider that a threshold in characters stands for: one in tokens, of about four characters each."""
    if threshold in (0, "0") and not isinstance(threshold, bool):
        return {"type": ALWAYS}
    found = None if isinstance(threshold, bool) or threshold is None else _match_number(str(threshold))
    tokens = max(ceil(min(float(found[1]), MOST_CHARACTERS) / CHARACTERS_PER_TOKEN), 1) if found else 1
    return {"type": BY_PREFIX, "parameters": {"nonCachedTokens": tokens}}


def without_hash_block_size(config: Json) -> Json:
    """A configuration without a parameter that is gone."""
    plugins = plugins_of(config)
    if plugins is None:
        return config
    return {**config, PLUGINS: [without_parameter(p, "hashBlockSize") for p in plugins]}


def without_parameter(plugin: Json, name: str) -> Json:
    """A plugin without one of its parameters."""
    if not isinstance(plugin, dict) or name not in parameters_of(plugin):
        return plugin
    return {**plugin, "parameters": {k: v for k, v in plugin["parameters"].items() if k != name}}


def with_metrics(config: Json, values: Mapping[str, str]) -> Json:
    """A configuration that names a server's metrics as flags did, unless it names some."""
    if not values or has_type(config, OLD_EXTRACTOR, EXTRACTOR):
        return config
    engine = {"name": "vllm"} | {field: values[flag] for flag, field in METRIC_FIELDS.items() if flag in values}
    parameters = {
        "engineLabelKey": "inference.networking.k8s.io/engine-type",
        "defaultEngine": "vllm",
        "engineConfigs": [engine],
    }
    return with_plugin(config, {"name": OLD_EXTRACTOR, "type": OLD_EXTRACTOR, "parameters": parameters})


def since_0_8(config: Json) -> Json:
    """The name of the plugin that reads a server's metrics."""
    return renamed(config, OLD_EXTRACTOR, EXTRACTOR)


def with_bare_prefix_scorers(config: Json) -> Json:
    """A configuration whose scorers of cached prefixes say only who knows the prefixes; since 0.9."""
    return with_each(config, PREFIX_SCORER, bare_scorer)


def bare_scorer(plugin: Json) -> Json:
    """A scorer of cached prefixes with the one parameter that it takes."""
    if not isinstance(plugin.get("parameters"), dict):
        return plugin
    kept = {name: value for name, value in plugin["parameters"].items() if name == PRODUCER_NAME}
    rest = {name: value for name, value in plugin.items() if name != "parameters"}
    return {**rest, "parameters": kept} if kept else rest


def with_api(config: Json) -> Json:
    """A configuration of the API group that the scheduler takes since 0.9."""
    return {**config, "apiVersion": API} if config.get("apiVersion") == OLD_API else config


def with_scraping(config: Json, parameters: Mapping[str, Json]) -> Json:
    """A configuration that says how metrics are fetched as flags did, unless it does so already; since 0.10."""
    if not parameters or has_type(config, METRICS_SOURCE):
        return config
    return with_plugin(config, {"type": METRICS_SOURCE, "parameters": dict(parameters)})
