"""Plugins of the scheduler's configuration: finding, renaming and changing them, and the types that there are.

Decides what a type is called in the pinned version. Must not know why plugins change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kservec.core.tree import Json

PLUGINS: Final = "plugins"
PROFILES: Final = "schedulingProfiles"
KNOWN_IN: Final = (0, 10)
"""The version of llm-d's router whose types are known here: that of KServe's preset."""

KNOWN: Final = frozenset((
    "active-request-scorer", "agent-identity", "always-disagg-multimodal-decider", "always-disagg-pd-decider",
    "anthropic-parser", "approx-prefix-cache-producer", "burst-prefix-cache-producer", "by-label", "by-label-selector",
    "concurrency-detector", "context-length-aware", "core-metrics-extractor", "data-parallel-profile-handler",
    "dcgm-data-source", "dcgm-extractor", "decode-filter", "destination-endpoint-served-verifier",
    "disagg-headers-handler", "disagg-profile-handler", "disaggregatedset-rollout-screener", "edf-ordering-policy",
    "encode-filter", "endpoint-attribute-filter", "endpoint-attribute-scorer", "endpoint-notification-source",
    "fcfs-ordering-policy", "file-discovery", "global-strict-fairness-policy", "header-based-testing-filter",
    "header-label-affinity-scorer", "header-profile-handler", "inflight-load-producer", "k8s-notification-source",
    "kv-cache-utilization-scorer", "label-selector-filter", "latency-scorer", "latency-slo-admitter",
    "load-aware-scorer", "lora-affinity-scorer", "max-score-picker", "metrics-data-source",
    "mm-embeddings-cache-producer", "mm-embeddings-cache-scorer", "models-data-extractor", "models-data-source",
    "multicluster-approx-prefix-cache-producer", "multicluster-file-discovery",
    "multicluster-kv-cache-utilization-scorer", "multicluster-metrics-data-source", "multicluster-metrics-extractor",
    "multicluster-prefix-cache-scorer", "multicluster-queue-scorer", "multicluster-session-affinity-filter",
    "no-hit-lru-scorer", "openai-parser", "p2p-source-producer", "passthrough-parser", "pd-profile-handler",
    "precise-prefix-cache-producer", "precise-prefix-cache-scorer", "predicted-latency-producer", "prefill-filter",
    "prefill-header-handler", "prefix-based-pd-decider", "prefix-cache-affinity-filter", "prefix-cache-scorer",
    "priority-holdback-policy", "priority-then-time-eviction-order-policy", "probabilistic-admitter",
    "program-aware-fairness", "queue-scorer", "random-picker", "request-attribute-reporter",
    "round-robin-fairness-policy", "running-requests-size-scorer", "session-affinity-filter",
    "session-affinity-scorer", "session-id-producer", "sheddable-eviction-filter", "single-profile-handler",
    "slo-deadline-ordering-policy", "slo-headroom-tier-filter", "soft-reflective-ceiling-policy",
    "static-usage-limit-policy", "token-load-scorer", "token-producer", "tokenizer", "topology-affinity-filter",
    "topology-affinity-scorer", "topology-extractor", "utilization-detector", "utilization-filter",
    "vertexai-parser", "vllmgrpc-parser", "vllmhttp-parser", "weighted-random-picker",
))  # fmt: skip
"""The types that llm-d's router 0.10 registers. llm-d-router: cmd/epp/runner/runner.go"""


def plugins_of(config: Json) -> list[Json] | None:
    """The plugins of a configuration; None if it has no list of them."""
    found = config.get(PLUGINS)
    return found if isinstance(found, list) else None


def has_type(config: Json, *kinds: str) -> bool:
    """Whether a plugin is of one of some types."""
    return any(isinstance(p, dict) and p.get("type") in kinds for p in plugins_of(config) or ())


def with_each(config: Json, kind: str, change: Callable[[Json], Json]) -> Json:
    """A configuration in which each plugin of a type is changed."""
    plugins = plugins_of(config)
    if plugins is None:
        return config
    return {**config, PLUGINS: [change(p) if isinstance(p, dict) and p.get("type") == kind else p for p in plugins]}


def with_profiles(config: Json, change: Callable[[list[Json]], list[Json]]) -> Json:
    """A configuration in which the lists of plugins that profiles refer to are changed."""
    profiles = config.get(PROFILES)
    if plugins_of(config) is None or not isinstance(profiles, list):
        return config
    changed = [
        {**p, PLUGINS: change(p[PLUGINS])} if isinstance(p, dict) and isinstance(p.get(PLUGINS), list) else p
        for p in profiles
    ]
    return {**config, PROFILES: changed}


def renamed(config: Json, old: str, new: str) -> Json:
    """A configuration in which a type of plugins has another name, and so have plugins that are called like it."""
    plugins = plugins_of(config)
    if plugins is None:
        return config
    config = {**config, PLUGINS: [with_word(with_word(p, "type", old, new), "name", old, new) for p in plugins]}
    return with_profiles(config, lambda refs: [with_word(ref, "pluginRef", old, new) for ref in refs])


def with_word(item: Json, field: str, old: str, new: str) -> Json:
    """A map whose field, if it has one value, has another instead."""
    return {**item, field: new} if isinstance(item, dict) and item.get(field) == old else item


def with_plugin(config: Json, plugin: Json) -> Json:
    """A configuration with one plugin more."""
    return {**config, PLUGINS: [*(plugins_of(config) or ()), plugin]}


def parameters_of(plugin: Json) -> Json:
    """The parameters of a plugin; an empty map if it has none."""
    found = plugin.get("parameters")
    return found if isinstance(found, dict) else {}


def names_of(plugins: Iterable[Json]) -> Iterator[str]:
    """What profiles may call the plugins."""
    for plugin in plugins:
        if isinstance(plugin, dict):
            yield plugin.get("name") or plugin.get("type") or ""
