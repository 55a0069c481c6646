"""List the arguments and the metrics of the pinned vLLM, as its own code has them.

Run it with the Python of an environment that has just that vLLM; a GPU is not needed:

    python3 -m venv /tmp/vllm && /tmp/vllm/bin/pip install vllm==VERSION
    /tmp/vllm/bin/python scripts/make_vllm_lists.py

It writes `arguments.json` (names, arity, types and choices of `vllm serve`, no help texts) and `metrics.json` (names as
Prometheus sees them) beside `runtimes/images/vllm/versions.json`. A vLLM of another version than that file pins is
refused.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import os
import sys
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal
from unittest.mock import MagicMock

FOLDER = Path(__file__).resolve().parents[1] / "runtimes" / "images" / "vllm"
PREFIX = "vllm:"


def main() -> int:
    """Write both lists, of the vLLM that is installed here."""
    pinned = json.loads((FOLDER / "versions.json").read_text())["vllm"]
    found = importlib.metadata.version("vllm").partition("+")[0]
    if found != pinned:
        sys.stderr.write(f"versions.json pins vLLM {pinned}, here is {found}\n")
        return 1
    on_a_cpu()
    write("arguments.json", found, "arguments", arguments())
    write("metrics.json", found, "metrics", metrics())
    return 0


def on_a_cpu() -> None:
    """Have vLLM take this machine for one without a GPU, whatever it was built for: defaults come from the platform."""
    os.environ["CUDA_VISIBLE_DEVICES"] = ""
    platforms = importlib.import_module("vllm.platforms")
    cpu = importlib.import_module("vllm.platforms.cpu")
    platforms.current_platform = cpu.CpuPlatform()


def write(name: str, version: str, title: str, entries: Mapping[str, Any]) -> None:
    """Write a list, one entry a line and sorted, so that two versions of it can be compared."""
    lines = [f"  {json.dumps(key)}: {json.dumps(entries[key], sort_keys=True)}" for key in sorted(entries)]
    text = ",\n".join(lines)
    (FOLDER / name).write_text(f'{{\n "vllm": "{version}",\n "{title}": {{\n{text}\n }}\n}}\n')
    sys.stdout.write(f"{FOLDER / name}\n")


def arguments() -> dict[str, Any]:
    """Arguments of `vllm serve` by name, as vLLM's own parser has been told; `vllm launch render` has the same.

    Raises:
        SystemExit: in this version it has not, and the list has to be made for each.
    """
    cli_args = importlib.import_module("vllm.entrypoints.openai.cli_args")
    parsing = importlib.import_module("vllm.utils.argparse_utils")
    serve = described(cli_args.make_arg_parser(parsing.FlexibleArgumentParser(prog="vllm")))
    launch = importlib.import_module("vllm.entrypoints.cli.launch")
    tree = parsing.FlexibleArgumentParser(prog="vllm")
    launch.LaunchSubcommand().subparser_init(tree.add_subparsers())
    if described(subparser(subparser(tree, "launch"), "render")) != serve:
        sys.exit("vllm launch render takes other arguments than vllm serve")
    return serve


def subparser(parser: argparse.ArgumentParser, name: str) -> argparse.ArgumentParser:
    """The parser of a subcommand."""
    actions = [a for a in parser._actions if isinstance(a, argparse._SubParsersAction)]
    found: argparse.ArgumentParser = actions[0].choices[name]
    return found


def described(parser: argparse.ArgumentParser) -> dict[str, Any]:
    """Each argument of a parser by its first long name; a positional one by its destination."""
    entries = {}
    for action in parser._actions:
        if "--help" in action.option_strings:
            continue
        long = [name for name in action.option_strings if name.startswith("--")]
        entries[long[0] if long else action.dest] = argument(action)
    return entries


def argument(action: argparse.Action) -> dict[str, Any]:
    """Names, arity, type and choices of an argument; what does not apply is left out."""
    entry: dict[str, Any] = {"names": action.option_strings, "values": arity(action)}
    kind = getattr(action.type, "__name__", None)
    if kind is not None and entry["values"] != "none":
        entry["type"] = kind
    if action.choices is not None:
        entry["choices"] = [str(choice) for choice in action.choices]
    elif (ranks := literal_choices(action)) is not None:
        entry["choices"] = ranks
    return {key: value for key, value in entry.items() if value != []}


def literal_choices(action: argparse.Action) -> list[str] | None:
    """Choices that the parser leaves to the checks of the configuration: ranks of LoRA adapters."""
    if action.dest != "max_lora_rank":
        return None
    ranks = importlib.import_module("vllm.config.lora").MaxLoRARanks
    return [str(n) for n in typing.get_args(ranks)] if typing.get_origin(ranks) is Literal else None


def arity(action: argparse.Action) -> str:
    """How many values an argument takes: none, one, optional, any (of them) or some (one at least)."""
    if action.nargs == 0 or isinstance(action, argparse.BooleanOptionalAction):
        return "none"
    return {None: "one", "?": "optional", "*": "any", "+": "some"}[action.nargs]  # type: ignore[index]


def metrics() -> dict[str, str]:
    """Every metric by the name under which Prometheus has it, with its type.

    The parts of vLLM that make them are started, with a configuration in which all is switched on.
    """
    prometheus = importlib.import_module("prometheus_client")
    before = {family.name for family in prometheus.REGISTRY.collect()}
    make_metrics()
    families = [family for family in prometheus.REGISTRY.collect() if family.name not in before]
    found = {name: family.type for family in families for name in exposed(family) if name.startswith(PREFIX)}
    return dict(sorted(found.items()))


def make_metrics() -> None:
    """Start what registers metrics: the engine, its connectors, the parsers of tool calls."""
    config = everything_on()
    importlib.import_module("vllm.v1.metrics.loggers").PrometheusStatLogger(config)
    client = importlib.import_module("prometheus_client")
    config.kv_transfer_config = MagicMock()
    types = {kind: kind for kind in (client.Gauge, client.Counter, client.Histogram)}
    config.kv_transfer_config.kv_connector_extra_config = {
        "spec_name": "TieringOffloadingSpec",
        "cpu_bytes_to_use": 1 << 30,
        "secondary_tiers": [{"type": "fs", "root_dir": "/cache"}],
    }
    connectors = "vllm.distributed.kv_transfer.kv_connector.v1"
    for module, name in (("nixl.stats", "NixlPromMetrics"), ("offloading.metrics", "OffloadPromMetrics")):
        maker = getattr(importlib.import_module(f"{connectors}.{module}"), name)
        maker(config, types, ["model_name", "engine"], {0: ["model", "0"]})
    importlib.import_module("vllm.parser.metrics").init_parser_metrics(model_name="model")


def everything_on() -> Any:
    """What a configuration says to those who make metrics."""
    config = MagicMock()
    config.model_config.served_model_name = "model"
    config.model_config.max_model_len = 4096
    config.model_config.is_diffusion = False
    config.observability_config.show_hidden_metrics = False
    config.speculative_config.num_speculative_tokens = 1
    config.kv_transfer_config = None
    return config


def exposed(family: Any) -> list[str]:
    """The names of a family's series. One that has no series before the first request has that of the family."""
    names = sorted({s.name for s in family.samples if not s.name.endswith("_created")})
    return names or [family.name]


if __name__ == "__main__":
    sys.exit(main())
