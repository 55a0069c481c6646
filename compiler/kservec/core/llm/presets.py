"""Presets: which of KServe's own configs a service is laid over, by what it has.

Decides their names and order, the weakest first. Must not know what is in them.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, combineBaseRefsConfig
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from kservec.core.llm.names import MAIN
from kservec.core.pods.containers import find
from kservec.core.text.embedded import yaml_in
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from kservec.core.tree import Json

PREFIX: Final = "kserve-config-llm-"
"""The prefix that KServe takes from its environment, and the beginning of all names after it."""
TOKENIZER: Final = "tokenizer"
"""The preset of the workload that makes tokens."""
TOKEN_PRODUCERS: Final = ("token-producer", "precise-prefix-cache-scorer")
LATENCY_PRODUCER: Final = "predicted-latency-producer"
CONFIG_TEXT: Final = ("--config-text", "-config-text", "--configText", "-configText")
CONFIG_FILE: Final = ("--config-file", "-config-file", "--configFile", "-configFile")


def preset_names(spec: Json, *, tokenizes_apart: bool = True) -> list[str]:
    """The presets of a spec, over which its base configs have been laid; the weakest first."""
    names = (*router_presets(spec), *workload_presets(spec))
    return [f"{PREFIX}{name}" for name in names if tokenizes_apart or name != TOKENIZER]


def router_presets(spec: Json) -> Iterator[str]:
    """The presets of what is in front of the workloads, and of tracing."""
    scheduler = lookup(spec, ("router", "scheduler"))
    route = lookup(spec, ("router", "route"))
    if scheduler is not None and not pool_reference(spec):
        yield "scheduler"
    if scheduler is not None and has_tokenizer(spec):
        yield TOKENIZER
    if LATENCY_PRODUCER in plugin_types(spec):
        yield "scheduler-latency-predictor"
    if route is not None and not lookup(route, ("http", "refs")):
        yield "router-route"
    if spec.get("tracing") is not None:
        yield "tracing"


def workload_presets(spec: Json) -> Iterator[str]:
    """The presets of the workloads; none for one on several nodes that are neither data nor pipeline parallel."""
    prefill = spec.get("prefill")
    if prefill is not None:
        yield from workload_preset(prefill, "prefill-")
    yield from workload_preset(spec, "decode-" if prefill is not None else "")


def workload_preset(workload: Json, role: str) -> Iterator[str]:
    """The preset of one workload."""
    parallelism = workload.get("parallelism") or {}
    if workload.get("worker") is None:
        yield f"{role}template"
    elif is_data_parallel(parallelism):
        yield f"{role}worker-data-parallel"
    elif is_pipeline_parallel(parallelism):
        yield f"{role}worker-pipeline-parallel"


def is_data_parallel(parallelism: Json) -> bool:
    """Whether copies of the model share the requests. KServe: ParallelismSpec.IsDataParallel."""
    return (parallelism.get("data") or 0) > 0 or (parallelism.get("dataLocal") or 0) > 0


def is_pipeline_parallel(parallelism: Json) -> bool:
    """Whether nodes hold parts of the model's layers. KServe: ParallelismSpec.IsPipelineParallel."""
    return (parallelism.get("pipeline") or 0) > 0


def pool_reference(spec: Json) -> str:
    """The InferencePool that a service uses instead of one of its own; empty for none."""
    return lookup(spec, ("router", "scheduler", "pool", "ref", "name")) or ""


def has_tokenizer(spec: Json) -> bool:
    """Whether the scheduler needs the tokens of prompts. KServe: tokenizer.go, isTokenizerEnabled."""
    return lookup(spec, ("router", "scheduler", "tokenizer")) is not None or any(
        kind in plugin_types(spec) for kind in TOKEN_PRODUCERS
    )


def plugin_types(spec: Json) -> tuple[str, ...]:
    """The types of the plugins of the scheduler's own configuration, wherever it is written.

    KServe: tokenizer.go, hasPluginType
    """
    plugins = (scheduler_config(spec) or {}).get("plugins")
    items = plugins if isinstance(plugins, list) else []
    return tuple(p["type"] for p in items if isinstance(p, dict) and isinstance(p.get("type"), str))


def scheduler_config(spec: Json) -> Json:
    """The scheduler's configuration: inline, or an argument of its main container; None where it is no map.

    KServe: scheduler.go, getInlineConfig
    """
    inline = lookup(spec, ("router", "scheduler", "config", "inline"))
    if inline is None:
        main = find(lookup(spec, ("router", "scheduler", "template", "containers")) or (), MAIN)
        inline = config_argument((main or {}).get("args") or ())
    if isinstance(inline, str):
        read = yaml_in(inline)
        inline = None if read is None else read[0]
    return inline if isinstance(inline, dict) else None


def config_argument(args: Sequence[str]) -> str | None:
    """The text after the argument that gives the scheduler its configuration; a file named before it hides it."""
    for name, value in pairwise(args):
        if name in CONFIG_TEXT:
            return value
        if name in CONFIG_FILE:
            return None
    return None
