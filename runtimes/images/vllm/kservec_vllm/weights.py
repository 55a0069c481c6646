"""Weights in a folder: which files vLLM loads of all that lie there, and whether those are whole.

What is not loaded does not count: a clone without the content of other formats is a model all the same.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from .files import AGAIN, check_content, json_file
from .refusals import NO_INPUT, Refusal
from .words import object_in

SUFFIXES: Final = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".tensors")
SAFE, GGUF = ".safetensors", ".gguf"
OF_TRAINING: Final = frozenset(
    {"training_args.bin", "optimizer.bin", "optimizer.pt", "scheduler.bin", "scheduler.pt", "scaler.pt"}
)
"""What trainers leave beside weights, and vLLM leaves out."""
OF_TORCH: Final = frozenset({"pt", "npcache"})
"""Formats to load that are not safetensors, even where there are some."""
LENGTH_BYTES, MOST_HEADER_BYTES = 8, 100_000_000
"""Of the header of safetensors; the second is what its library takes."""


def check_weights(folder: Path, names: Sequence[str], load_format: str | None) -> None:
    """Whether the files that vLLM loads are there and whole.

    An index says which they are; one of another format than is loaded may be left behind, and does not count.

    Raises:
        Refusal: one is not.
    """
    index, files = loaded(names, load_format)
    if os.path.lexists(folder / index):
        files = shards(folder / index)
    for name in files:
        check_file(folder / name)


def loaded(names: Sequence[str], load_format: str | None) -> tuple[str, Sequence[str]]:
    """The name of the index that counts, and the files where there is none.

    As vLLM chooses: those of Mistral's format, else of safetensors, else all others.
    """
    safe = [name for name in names if name.endswith(SAFE)]
    consolidated = [name for name in safe if name.startswith("consolidated")]
    if consolidated and load_format in (None, "auto", "mistral"):
        return "consolidated.safetensors.index.json", consolidated
    if safe and load_format not in OF_TORCH:
        return "model.safetensors.index.json", safe
    others = [name for name in names if name.endswith(SUFFIXES) and name not in (*safe, *OF_TRAINING)]
    return "pytorch_model.bin.index.json", others


def shards(index: Path) -> list[str]:
    """The files over which an index says that the weights are spread; they are there.

    Raises:
        Refusal: one is not, or the index names none.
    """
    found = json_file(index).get("weight_map")
    if not isinstance(found, dict) or not found or not all(isinstance(shard, str) for shard in found.values()):
        raise Refusal(NO_INPUT, f"{index} has no weight_map of names of files", AGAIN)
    missing = sorted({shard for shard in found.values() if not os.path.isfile(index.parent / shard)})
    if missing:
        more = f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        raise Refusal(NO_INPUT, f"{index} names {missing[0]}{more}, which is not there", AGAIN)
    return sorted(set(found.values()))


def check_file(path: Path) -> None:
    """Whether a file of weights is whole, as far as its size and its start tell.

    Raises:
        Refusal: it is not.
    """
    check_content(path)
    if path.name.endswith(SAFE):
        check_safetensors(path)
    elif path.name.endswith(GGUF):
        with path.open("rb") as file:
            if file.read(4) != b"GGUF":
                raise Refusal(NO_INPUT, f"{path} is no file of GGUF", AGAIN)


def check_safetensors(path: Path) -> None:
    """Whether a file is as long as its header says that its tensors are. The format is safetensors' own description."""
    size = os.path.getsize(path)
    with path.open("rb") as file:
        length = int.from_bytes(file.read(LENGTH_BYTES), "little")
        header = object_in(file.read(length)) if length <= min(size, MOST_HEADER_BYTES) else None
    end = None if header is None else end_of_tensors(header)
    if end is None:
        raise Refusal(NO_INPUT, f"{path} has no header of safetensors", AGAIN)
    told = LENGTH_BYTES + length + end
    if size != told:
        raise Refusal(NO_INPUT, f"{path} has {size} bytes, and by its header {told}", AGAIN)


def end_of_tensors(header: Mapping[str, Any]) -> int | None:
    """Where the last tensor ends, in bytes behind the header; None where the header does not say."""
    try:
        ends = [entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"]
    except (LookupError, TypeError):
        return None
    return max(ends, default=0) if all(type(end) is int for end in ends) else None
