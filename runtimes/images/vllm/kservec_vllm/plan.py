"""From settings and arguments to what is run: the order of all that is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .adapters import check_adapters
from .cluster import Cluster, Role, cluster_of, node_words
from .model import check_model, model_words
from .parallelism import check_gpus, parallel_words
from .refusals import USAGE, Refusal
from .serving import check_tls, serving_words
from .settings import Settings
from .tracing import tracing_words
from .transfer import check_transfer, side_channel
from .words import flag_of, split, unquoted

SERVE = ("serve",)
RENDER = ("launch", "render")
OTHERS = ("bench", "chat", "collect-env", "complete", "launch", "run-batch", "vllm")
"""Commands of vLLM that serve nothing, and what is more than a command."""
SEPARATOR = "--"
DRY_RUN = "--dry-run"


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
    command, rest = command_of(without_dry_run(argv))
    before, after = layers(rest)
    added = added_words(settings)
    words = [*map(unquoted, before), *without_dry_run(added), *map(unquoted, after)]
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
    """The command of vLLM that is asked for, `serve` unless it is named, and the words after it.

    Raises:
        Refusal: another command is asked for.
    """
    for command in (RENDER, SERVE):
        if tuple(argv[: len(command)]) == command:
            return command, argv[len(command) :]
    if argv and argv[0] in OTHERS:
        message = f"{argv[0]!r} is no command of this program, which runs vllm serve and vllm launch render"
        remedy = f"start vllm instead for its other commands; a model of this name is served by `serve {argv[0]}`"
        raise Refusal(USAGE, message, remedy)
    return SERVE, argv


def is_dry_run(argv: Sequence[str], settings: Settings) -> bool:
    """Whether nothing is to be run, wherever that is said."""
    return len(without_dry_run(words := [*argv, *added_words(settings)])) < len(words)


def without_dry_run(words: Sequence[str]) -> list[str]:
    """All words but that nothing is to be run, which is for this program alone."""
    return [word for word in words if flag_of(word) != DRY_RUN]


def added_words(settings: Settings) -> list[str]:
    """The words of the variable for more of them."""
    return split(settings.additional_arguments, "VLLM_ADDITIONAL_ARGS")


def layers(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words of a preset and those of a spec. Without a separator all but the model in front are the spec's."""
    if SEPARATOR not in words:
        first = 1 if words and flag_of(words[0]) is None else 0
        return words[:first], words[first:]
    at = list(words).index(SEPARATOR)
    return words[:at], words[at + 1 :]
