"""From settings and arguments to what is run: the order of all that is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .adapters import check_adapters
from .cluster import Cluster, Role, cluster_of, node_words
from .model import check_model, model_words
from .parallelism import check_gpus, parallel_words
from .serving import check_tls, serving_words
from .settings import Settings
from .tracing import tracing_words
from .transfer import check_transfer, side_channel
from .words import flag_of, split, unquoted

SERVE = ("serve",)
RENDER = ("launch", "render")
SEPARATOR = "--"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run: the words after `vllm`, variables besides those that are there, and the part in a group of nodes."""

    words: tuple[str, ...]
    variables: Mapping[str, str]
    cluster: Cluster

    @property
    def runs_vllm(self) -> bool:
        """Whether this node starts vLLM; workers of a Ray cluster only join it."""
        return not (self.cluster.uses_ray and self.cluster.role is Role.WORKER)


def make_plan(argv: Sequence[str], settings: Settings) -> Plan:
    """What to run for the words of a command line: `[serve | launch render] [words of a preset --] words of a spec`.

    VLLM_ADDITIONAL_ARGS goes between the two, so that a spec wins over it and it wins over a preset.

    Raises:
        Refusal: what is told cannot be read, contradicts itself or the hardware, or files are missing.
    """
    command, rest = command_of(argv)
    before, after = layers(rest)
    added = split(settings.additional_arguments, "VLLM_ADDITIONAL_ARGS")
    words = [*map(unquoted, before), *added, *map(unquoted, after)]
    if command == RENDER:
        words = model_words(words, settings)
        check_model(words)
        check_tls(words)
        return Plan(words=(*command, *words), variables={}, cluster=Cluster())
    return serving(command, words, settings)


def serving(command: Sequence[str], words: list[str], settings: Settings) -> Plan:
    """What to run to serve a model."""
    cluster = cluster_of(words, settings)
    if not (cluster.uses_ray and cluster.role is Role.WORKER):
        words = model_words(words, settings)
        words = parallel_words(words, settings)
        words = node_words(words, cluster, settings)
        words = serving_words(words, settings)
        words = tracing_words(words, settings)
        check_model(words)
        check_tls(words)
        check_transfer(words)
        check_adapters(words)
        check_gpus(words, settings, cluster.spread)
    return Plan(words=(*command, *words), variables=side_channel(words, settings), cluster=cluster)


def command_of(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The command of vLLM that is asked for, `serve` unless it is named, and the words after it."""
    for command in (RENDER, SERVE):
        if tuple(argv[: len(command)]) == command:
            return command, argv[len(command) :]
    return SERVE, argv


def layers(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words of a preset and those of a spec. Without a separator all but the model in front are the spec's."""
    if SEPARATOR not in words:
        first = 1 if words and flag_of(words[0]) is None else 0
        return words[:first], words[first:]
    at = list(words).index(SEPARATOR)
    return words[:at], words[at + 1 :]
