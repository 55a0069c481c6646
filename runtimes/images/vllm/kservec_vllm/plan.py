"""From settings and arguments to what is run: the order of all that is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .adapters import check_adapters
from .cluster import Cluster, Role, cluster_of, node_words
from .flags import spelt_out, strays
from .model import check_model, model_words
from .parallelism import check_gpus, check_numbers, parallel_words
from .refusals import USAGE, Refusal
from .serving import check_config, check_tls, serving_words
from .settings import Settings
from .tracing import tracing_words
from .transfer import check_transfer, side_channel
from .words import DRY_RUN, flag_of, has, split, unquoted

SERVE = ("serve",)
RENDER = ("launch", "render")
OTHERS = (
    "bench",
    "chat",
    "collect-env",
    "complete",
    "health",
    "help",
    "launch",
    "render",
    "run-batch",
    "version",
    "vllm",
)
"""What is no model unless `serve` stands before it: commands of vLLM, of ours elsewhere, and the like."""
SEPARATOR = "--"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is run: the words after `vllm`, variables besides those that are there, and the part in a group of nodes.

    `is_dry`: it is to be said, and not to be run.
    """

    words: tuple[str, ...]
    variables: Mapping[str, str]
    cluster: Cluster
    is_dry: bool

    @property
    def runs_vllm(self) -> bool:
        """Whether this node starts vLLM; workers of a Ray cluster only join it."""
        return not (self.cluster.uses_ray and self.cluster.role is Role.WORKER)


def make_plan(argv: Sequence[str], settings: Settings) -> Plan:
    """What to run for the words of a command line: `[serve | launch render] [words of a preset --] words of a spec`.

    VLLM_ADDITIONAL_ARGS goes between the two, so that a spec wins over it and it wins over a preset. A dry run may be
    asked for in any of them.

    Raises:
        Refusal: what is told cannot be read, contradicts itself or the hardware, or files are missing.
    """
    added = split(settings.additional_arguments, "VLLM_ADDITIONAL_ARGS")
    is_dry = has([*argv, *added], DRY_RUN)
    command, rest = command_of(without_dry_run(argv))
    before, after = layers(rest)
    words = [spelt_out(unquoted(word)) for word in (*before, *without_dry_run(added), *after)]
    if SEPARATOR in words:
        message = f"{SEPARATOR} stands in VLLM_ADDITIONAL_ARGS, or twice"
        raise Refusal(USAGE, message, "write it once, between a preset's arguments and a spec's; vLLM takes none")
    if command == RENDER:
        words = serving_words(model_words(words, settings), settings)
        check_files(words)
        return Plan(words=(*command, *words), variables={}, cluster=Cluster(), is_dry=is_dry)
    cluster = cluster_of(words, settings)
    if not (cluster.uses_ray and cluster.role is Role.WORKER):
        words = server_words(words, cluster, settings)
        check_files(words)
        check_engine(words, cluster, settings)
    variables = side_channel(words, settings)
    return Plan(words=(*command, *words), variables=variables, cluster=cluster, is_dry=is_dry)


def server_words(words: Sequence[str], cluster: Cluster, settings: Settings) -> list[str]:
    """The words of a server of a model."""
    found = model_words(words, settings)
    found = parallel_words(found, settings)
    found = node_words(found, cluster, settings)
    found = serving_words(found, settings)
    return tracing_words(found, settings)


def check_files(words: Sequence[str]) -> None:
    """Whether what is read before anything is served can be read."""
    check_model(words)
    check_tls(words)
    check_config(words)


def check_engine(words: Sequence[str], cluster: Cluster, settings: Settings) -> None:
    """Whether what computes can work as it is told."""
    check_numbers(words)
    check_transfer(words)
    check_adapters(words)
    check_gpus(words, settings, cluster.spread)


def command_of(argv: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The command of vLLM that is asked for, `serve` unless it is named, and the words after it.

    Raises:
        Refusal: another command is asked for.
    """
    for command in (RENDER, SERVE):
        if tuple(argv[: len(command)]) == command:
            return command, argv[len(command) :]
    words = [word for word in argv if word != SEPARATOR]
    named = next((words[i] for i in strays(words)), "")
    if named in OTHERS:
        message = f"{named!r} is taken for a command, and those are serve and launch render, in front"
        remedy = f"start vllm itself for its other commands; a model of this name is served by `serve {named}`"
        raise Refusal(USAGE, message, remedy)
    return SERVE, argv


def without_dry_run(words: Sequence[str]) -> list[str]:
    """All words but that nothing is to be run, which is for this program alone."""
    return [word for word in words if flag_of(word) != DRY_RUN]


def layers(words: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """The words of a preset and those of a spec. Without a separator all but the model in front are the spec's."""
    if SEPARATOR not in words:
        first = 1 if words and flag_of(words[0]) is None else 0
        return words[:first], words[first:]
    at = list(words).index(SEPARATOR)
    return words[:at], words[at + 1 :]
