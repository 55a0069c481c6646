"""Rewriting: the text of a configuration, as the scheduler's version takes it.

Decides which migrations are due. Texts of one kind are the same for many services, so each is worked out once.
KServe: pkg/controller/v1alpha2/llmisvc/scheduler.go, schedulerTransform and mutateSchedulerConfig
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from kservec.core.golang.yaml_text import yaml_text
from kservec.core.llm.scheduler_config.flags import scrape_parameters
from kservec.core.llm.scheduler_config.migrations import (
    since_0_7,
    since_0_8,
    with_api,
    with_bare_prefix_scorers,
    with_metrics,
    with_scraping,
)
from kservec.core.llm.scheduler_config.tokenizing import for_sidecar, needs_sidecar, with_tokenizer
from kservec.core.llm.scheduler_config.versions import Version, since
from kservec.core.text.embedded import yaml_in

if TYPE_CHECKING:
    from kservec.core.tree import Json

FIRST_MIGRATED: Final = since(0, 7)
METRICS_RENAMED: Final = since(0, 8)
TOKENS_APART: Final = since(0, 9)
SCRAPING_BY_PLUGIN: Final = since(0, 10)


class Changes(NamedTuple):
    """What a configuration is rewritten for: a version, and what flags said that are gone.

    `has_sidecar`: a container beside the scheduler makes tokens. `tokenizer_url` is empty without a tokenizer.
    """

    version: Version
    has_sidecar: bool = False
    tokenizer_url: str = ""
    metrics: tuple[tuple[str, str], ...] = ()
    scraping: tuple[tuple[str, str], ...] = ()


class Rewritten(NamedTuple):
    """A configuration's new text and value, and whether a container for tokens beside the scheduler stays."""

    text: str
    config: Json
    keeps_sidecar: bool = True


@lru_cache(maxsize=256)
def rewritten(text: str, changes: Changes) -> Rewritten | None:
    """A configuration for a version; None if the text is no YAML object of any kind, which KServe leaves alone.

    Raises:
        NoTextError: a plugin is named by something else than a text.
        BadFlagError: a flag that became a parameter has a value that it does not take.
    """
    config = read_config(text)
    if config is None:
        return None
    if changes.has_sidecar:
        config = for_sidecar(config)
    keeps_sidecar = True
    if changes.version >= FIRST_MIGRATED:
        config = with_metrics(since_0_7(config), dict(changes.metrics))
    if changes.version >= METRICS_RENAMED:
        config = since_0_8(config)
    if changes.version >= TOKENS_APART:
        keeps_sidecar = needs_sidecar(config)
        config = with_api(with_bare_prefix_scorers(config))
        config = with_tokenizer(config, changes.tokenizer_url) if changes.tokenizer_url else config
    if changes.version >= SCRAPING_BY_PLUGIN:
        config = with_scraping(config, scrape_parameters(dict(changes.scraping)))
    return Rewritten(yaml_text(config), config, keeps_sidecar)


def read_config(text: str) -> Json:
    """The configuration in a text; None if it cannot be read, or says of no kind what it is."""
    read = yaml_in(text)
    if read is None:
        return None
    config, findings = read
    fits = isinstance(config, dict) and isinstance(config.get("kind"), str) and config["kind"]
    return config if fits and not findings else None
