"""Tokens of prompts in the scheduler's configuration: who makes them, and what knows the caches by them.

KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, withDecomposePrecisePrefixCacheScorer and its neighbours
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Final

from kservec.core.llm.scheduler_config.migrations import PREFIX_SCORER, PRODUCER_NAME
from kservec.core.llm.scheduler_config.plugins import (
    PLUGINS,
    has_type,
    parameters_of,
    plugins_of,
    with_each,
    with_profiles,
    with_word,
)

if TYPE_CHECKING:
    from kservec.core.tree import Json

PRECISE_SCORER: Final = "precise-prefix-cache-scorer"
PRECISE_PRODUCER: Final = "precise-prefix-cache-producer"
TOKEN_PRODUCER: Final = "token-producer"  # noqa: S105 - the name of a plugin
MODEL_PATH: Final = "/mnt/models/base"
SIDECAR_MODEL: Final = "base"
SIDECAR_SOCKET: Final = "/tmp/tokenizer/tokenizer-uds.socket"  # noqa: S108 - a path in a container
INDEXER: Final = "indexerConfig"
TOKEN_POOL: Final = "tokenizersPoolConfig"  # noqa: S105 - the name of a field
TOKENS: Final = "tokenProcessorConfig"


def with_tokenizer(config: Json, url: str) -> Json:
    """A configuration whose tokens come from the tokenizer at a URL."""
    return with_each(in_three_parts(config, url), TOKEN_PRODUCER, lambda plugin: asking(plugin, url))


def in_three_parts(config: Json, url: str) -> Json:
    """A configuration in which the first scorer that knows caches precisely is what it consists of since 0.9."""
    plugins = plugins_of(config)
    i = next((i for i, p in enumerate(plugins or ()) if isinstance(p, dict) and p.get("type") == PRECISE_SCORER), -1)
    if plugins is None or i < 0:
        return config
    parts = [
        {"type": TOKEN_PRODUCER, "parameters": {"modelName": MODEL_PATH, "vllm": {"url": url}}},
        precise_producer(plugins[i]),
        {"type": PREFIX_SCORER, "parameters": {PRODUCER_NAME: PRECISE_PRODUCER}},
    ]
    rest = [p for j, p in enumerate(plugins) if j != i and not (isinstance(p, dict) and p.get("type") == PREFIX_SCORER)]
    return with_profiles({**config, PLUGINS: [*rest[:i], *parts, *rest[i:]]}, with_one_prefix_scorer)


def precise_producer(scorer: Json) -> Json:
    """What knows the caches, with the parameters that its scorer had."""
    parameters: dict[str, Json] = {}
    for name, value in parameters_of(scorer).items():
        if name != INDEXER or not isinstance(value, dict):
            parameters[name] = value
            continue
        kept = {field: part for field, part in value.items() if field not in (TOKEN_POOL, TOKENS)}
        if kept:
            parameters[name] = kept
        if TOKENS in value and TOKENS not in scorer["parameters"]:
            parameters[TOKENS] = value[TOKENS]
    return {"type": PRECISE_PRODUCER} | ({"parameters": parameters} if parameters else {})


def with_one_prefix_scorer(refs: list[Json]) -> list[Json]:
    """What a profile refers to, with the new name of the scorer, and only once: the first counts with its weight."""
    named = [with_word(ref, "pluginRef", PRECISE_SCORER, PREFIX_SCORER) for ref in refs]
    counts = accumulate(isinstance(ref, dict) and ref.get("pluginRef") == PREFIX_SCORER for ref in named)
    return [
        ref
        for ref, count in zip(named, counts, strict=True)
        if count <= 1 or not isinstance(ref, dict) or ref.get("pluginRef") != PREFIX_SCORER
    ]


def asking(plugin: Json, url: str) -> Json:
    """A producer of tokens that knows its model and whom to ask."""
    parameters = parameters_of(plugin)
    asked = {"url": url, **map_in(parameters, "vllm")}
    return {**plugin, "parameters": {"modelName": MODEL_PATH, **parameters, "vllm": asked}}


def for_sidecar(config: Json) -> Json:
    """A configuration whose tokens come from a container beside the scheduler, as before 0.9."""
    return with_each(with_each(config, PRECISE_SCORER, with_socket), PREFIX_SCORER, with_block_tokens)


def with_socket(scorer: Json) -> Json:
    """A precise scorer that asks at the socket of the container, with its settings of tokens at the top."""
    parameters = parameters_of(scorer)
    indexer = map_in(parameters, INDEXER)
    pool = map_in(indexer, TOKEN_POOL)
    socket = map_in(pool, "uds")
    pool = {**pool, "modelName": SIDECAR_MODEL, "uds": {**socket, "socketFile": SIDECAR_SOCKET}}
    raised = {TOKENS: indexer[TOKENS]} if TOKENS in indexer and TOKENS not in parameters else {}
    return {**scorer, "parameters": {**parameters, INDEXER: {**indexer, TOKEN_POOL: pool}, **raised}}


def map_in(value: Json, field: str) -> Json:
    """The map in a field of a map; an empty one if none is there."""
    found = value.get(field)
    return found if isinstance(found, dict) else {}


def with_block_tokens(scorer: Json) -> Json:
    """A scorer of prefixes that has the size of its blocks under the newer name, too."""
    parameters = parameters_of(scorer)
    if "blockSize" not in parameters or "blockSizeTokens" in parameters:
        return scorer
    return {**scorer, "parameters": {**parameters, "blockSizeTokens": parameters["blockSize"]}}


def needs_sidecar(config: Json) -> bool:
    """Whether a container for tokens beside the scheduler is of any use since 0.9."""
    return plugins_of(config) is None or has_type(config, PRECISE_SCORER)
