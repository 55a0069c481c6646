"""LoRA adapters: whether they are switched on, there, and no larger than vLLM is told to allow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple, TypeGuard

from .files import AGAIN, json_file
from .refusals import CONFIG, NO_INPUT, USAGE, Refusal
from .weights import check_file
from .words import has, json_object, number, occurrences

MODULES: Final = "--lora-modules"
ENABLE: Final = "--enable-lora"
MOST: Final = "--max-lora-rank"
RANKS: Final = (1, 8, 16, 32, 64, 128, 256, 320, 512)
"""The ranks that vLLM may be told to allow."""
DEFAULT_RANK: Final = 16
FILE: Final = "adapter_config.json"
WEIGHTS: Final = tuple(f"adapter_model.{suffix}" for suffix in ("safetensors", "bin", "pt", "tensors"))
"""The first of them that is there is loaded."""
LOG: Final = "look at the log of the container storage-initializer"
_is_hub_name = re.compile(r"[\w][\w.-]*(?:/[\w][\w.-]*)?").fullmatch


class Adapter(NamedTuple):
    """An adapter: under which name it is served, and where it lies."""

    name: str
    path: str


def adapters_of(words: Sequence[str]) -> Iterator[Adapter]:
    """The adapters that vLLM is told of, in either spelling: JSON, or name=path.

    Raises:
        Refusal: one cannot be read.
    """
    for _, found in occurrences(words, MODULES):
        yield from map(adapter_of, found)


def adapter_of(entry: str) -> Adapter:
    """One adapter."""
    if entry.startswith("{"):
        body = json_object(entry, MODULES)
        name, path = body.get("name"), body.get("path")
    else:
        name, _, path = entry.partition("=")
    if not (is_text(name) and is_text(path)):
        raise Refusal(USAGE, f"an adapter of {MODULES} has no name or no path", 'write {"name": NAME, "path": PATH}')
    return Adapter(name, path)


def is_text(value: object) -> TypeGuard[str]:
    """Whether a value of JSON can be a name or a path: escapes of JSON write texts that no system can take."""
    try:
        return isinstance(value, str) and value != "" and b"\0" not in os.fsencode(value)
    except UnicodeEncodeError:
        return False


def check_adapters(words: Sequence[str]) -> None:
    """Whether vLLM can load its adapters.

    Raises:
        Refusal: it cannot.
    """
    adapters = list(adapters_of(words))
    if adapters and not has(words, ENABLE):
        raise Refusal(CONFIG, f"{MODULES} is given without {ENABLE}", f"add {ENABLE}, or leave the adapters out")
    allowed = number(words, MOST)
    if allowed is not None and allowed not in RANKS:
        enough = next((rank for rank in RANKS if rank >= allowed), RANKS[-1])
        ranks = ", ".join(map(str, RANKS))
        raise Refusal(CONFIG, f"{MOST} is {allowed}", f"vLLM takes {ranks}; set model.lora.maxRank to {enough}")
    seen: dict[str, str] = {}
    for adapter in adapters:
        if seen.setdefault(adapter.name, adapter.path) != adapter.path:
            message = f"two adapters are called {adapter.name}: at {seen[adapter.name]} and at {adapter.path}"
            raise Refusal(CONFIG, message, "give one of them another name")
        check_adapter(adapter, DEFAULT_RANK if allowed is None else allowed)


def check_adapter(adapter: Adapter, allowed: int) -> None:
    """Whether an adapter that is a folder is there, and small enough; one of the hub is left to vLLM.

    As for vLLM, what is there is a folder, wherever the path starts.
    """
    folder = Path(adapter.path)
    if not adapter.path.startswith(("/", "./", "../", "~")) and not os.path.exists(folder):
        if not _is_hub_name(adapter.path):
            message = f"adapter {adapter.name}: {adapter.path} is neither a folder nor a name of the hub"
            raise Refusal(NO_INPUT, message, "write the whole path of a folder, or OWNER/NAME")
        return
    path = Path(os.path.expanduser(folder), FILE)
    if not os.access(path, os.R_OK):
        what = f"user {os.getuid()} may not read {path}" if os.path.exists(path) else f"there is no {path}"
        raise Refusal(NO_INPUT, f"adapter {adapter.name}: {what}", LOG)
    rank = rank_of(path)
    if rank is not None and rank > allowed:
        enough = next((most for most in RANKS if most >= rank), None)
        remedy = (
            f"set model.lora.maxRank to {enough} ({MOST}={enough})" if enough else f"vLLM takes {RANKS[-1]} at most"
        )
        raise Refusal(CONFIG, f"adapter {adapter.name} has rank {rank}, and vLLM is told to allow {allowed}", remedy)
    weights = next((found for name in WEIGHTS if os.path.lexists(found := path.with_name(name))), None)
    if weights is None:
        raise Refusal(NO_INPUT, f"adapter {adapter.name}: there is no {path.with_name(WEIGHTS[0])}", LOG)
    check_file(weights)


def rank_of(path: Path) -> int | None:
    """The largest rank in the configuration of an adapter; None where it has none.

    Raises:
        Refusal: the file is no JSON object, or a rank in it is no number.
    """
    body = json_file(path)
    pattern = body.get("rank_pattern") or {}
    ranks = [body["r"]] if body.get("r") is not None else []
    ranks += pattern.values() if isinstance(pattern, dict) else [pattern]
    for rank in ranks:
        if not isinstance(rank, int) or isinstance(rank, bool) or rank < 1:
            raise Refusal(NO_INPUT, f"{path} has the rank {rank!r}, which is no whole number from 1 on", AGAIN)
    return max(ranks, default=None)
