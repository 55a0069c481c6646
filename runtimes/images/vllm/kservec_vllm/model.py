"""Where the model is: a folder, or a name on the Hugging Face hub; and whether a folder holds one."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from .files import check_readable, json_file
from .flags import strays
from .refusals import CONFIG, NO_INPUT, USAGE, Refusal
from .settings import Settings
from .weights import GGUF, SUFFIXES, check_file, check_weights
from .words import flag_of, has, value, without

MOUNT: Final = "/mnt/models"
HUB: Final = "hf://"
FLAGS: Final = ("--model", "--model-dir", "--model-id")
"""vLLM's own flag, and those of KServe's Hugging Face server."""
OF_KSERVE: Final = ("pvc://", "oci://", "oci+native://", "http://", "https://")
NO_VALUE: Final = "name the model once; a flag that switches something on takes no value"
_is_hub_name = re.compile(r"\w[\w.-]*/\w[\w.-]*", re.ASCII).fullmatch
LOADS_NO_FILES: Final = frozenset({"dummy", "runai_streamer", "runai_streamer_sharded", "tensorizer"})


def model_words(words: Sequence[str], settings: Settings) -> list[str]:
    """The words with the model in front, where vLLM expects it: as told, else by variable, else where KServe mounts it.

    Raises:
        Refusal: there are two models, or the URI is no model of the hub.
    """
    places = strays(words)
    told = [words[i] for i in places]
    if len(told) > 1:
        raise Refusal(USAGE, f"{told[1]!r} belongs to no flag, and the model is {told[0]!r}", NO_VALUE)
    rest = [word for i, word in enumerate(words) if i not in places]
    for flag in FLAGS:
        if (found := value(rest, flag)) is not None:
            told.append(found)
            rest = without(rest, flag)
    if len(set(told)) > 1:
        raise Refusal(CONFIG, f"two models are named: {' and '.join(told)}", "name the model once")
    if not told and has(rest, "--config"):
        return rest
    model = told[0] if told else settings.model or MOUNT
    check_name(model)
    if not model.startswith(HUB):
        return [model, *rest]
    name, revision = hub_name(model)
    if revision and not has(rest, "--revision"):
        rest = [f"--revision={revision}", *rest]
    return [name, *rest]


def check_name(model: str) -> None:
    """Whether a text can name a model.

    Raises:
        Refusal: it is none, a flag, or where only KServe gets models from.
    """
    if not model or model.startswith("-"):
        raise Refusal(USAGE, f"{model!r} names no model", "name a folder or hf://OWNER/NAME; is a variable unset?")
    if model.startswith(OF_KSERVE):
        remedy = f"leave it to KServe, and name the folder where it mounts the model: {MOUNT}"
        raise Refusal(USAGE, f"vLLM cannot load {model}", remedy)


def hub_name(uri: str) -> tuple[str, str]:
    """Name and revision of `hf://owner/name[:revision]`, as KServe writes it.

    Raises:
        Refusal: it is written in another way.
    """
    name, _, revision = uri.removeprefix(HUB).partition(":")
    if not _is_hub_name(name):
        raise Refusal(USAGE, f"{uri} is no model of the hub", "write hf://OWNER/NAME or hf://OWNER/NAME:REVISION")
    return name, revision


def check_model(words: Sequence[str]) -> None:
    """Whether a model that is a path is there, whole enough to be read, and readable.

    Raises:
        Refusal: it is not.
    """
    if not words or flag_of(words[0]) is not None:
        return
    path = Path(words[0])
    if not words[0].startswith(("/", "./", "../")) and not os.path.exists(path):
        return
    remedy = "look at the log of the container storage-initializer, and at what is mounted there"
    if not os.path.exists(path):
        raise Refusal(NO_INPUT, f"there is no model at {path}", remedy)
    if not os.path.isdir(path):
        check_readable(path)
        check_file(path)
    else:
        check_folder(path, words, remedy)


def check_folder(path: Path, words: Sequence[str], remedy: str) -> None:
    """Whether a folder holds a model."""
    if not os.access(path, os.R_OK | os.X_OK):
        raise Refusal(NO_INPUT, f"user {os.getuid()} may not read {path}", "give the files to group 0, or set fsGroup")
    names = sorted(entry.name for entry in path.iterdir())
    if not names:
        raise Refusal(NO_INPUT, f"{path} is empty", remedy)
    if not {"config.json", "params.json"} & set(names) and not has(words, "--hf-config-path"):
        if any(name.endswith(GGUF) for name in names):
            raise Refusal(NO_INPUT, f"{path} is a folder of GGUF files", "name the file itself as the model")
        shown = ", ".join(names[:5])
        raise Refusal(NO_INPUT, f"{path} has no config.json, but {shown}", "point at the folder that holds config.json")
    loads = value(words, "--load-format")
    if loads not in LOADS_NO_FILES and not any(name.endswith(SUFFIXES) for name in names):
        raise Refusal(NO_INPUT, f"{path} has no weights ({', '.join(SUFFIXES)})", remedy)
    for name in names:
        check_readable(path / name)
    for name in sorted({"config.json", "params.json"} & set(names)):
        json_file(path / name)
    if loads not in LOADS_NO_FILES:
        check_weights(path, names, loads)
