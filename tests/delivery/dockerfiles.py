"""Dockerfiles as lists of instructions, and what is wrong with one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

WITH_A_DIGEST = re.compile(r"\$\{BASE\}@\$\{DIGEST\}|\S+@sha256:[0-9a-f]{64}")
SECRET = re.compile(r"(?i)token|password|passwd|secret|credential|api_?key|private_?key")
ARGUMENTS = ("BASE", "DIGEST", "VERSION", "REVISION")
LABELS = ("title", "description", "licenses", "source", "base.name", "base.digest", "version", "revision")
OF_THE_CONTEXT = re.compile(r" --no-deps (?:--no-build-isolation (?:--wheel-dir \S+ )?\.|\S+\.whl)\s*$")
PIPED = re.compile(r"(?:curl|wget)[^|;&]*\|\s*(?:ba)?sh")


class Instruction(NamedTuple):
    """One instruction, its continued lines joined."""

    name: str
    rest: str


def read(text: str) -> list[Instruction]:
    """The instructions of a Dockerfile."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [Instruction(*line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


def faults(path: Path, top: Path) -> list[str]:
    """What is wrong with a Dockerfile that is built from a folder."""
    found = read(path.read_text())
    return [
        *base_faults(found),
        *run_faults(found),
        *copy_faults(found, top),
        *start_faults(found[last_stage(found) :]),
        *setting_faults(found),
    ]


def last_stage(found: Sequence[Instruction]) -> int:
    """Where the stage begins that becomes the image."""
    return max(index for index, instruction in enumerate(found) if instruction.name == "FROM")


def base_faults(found: Sequence[Instruction]) -> Iterator[str]:
    """Bases without a digest, but for stages of the same file; arguments and labels that are not there."""
    stages: set[str] = set()
    for _, rest in (each for each in found if each.name == "FROM"):
        words = [word for word in rest.split() if not word.startswith("--")]
        if words[0] not in stages and not WITH_A_DIGEST.fullmatch(words[0]):
            yield f"FROM {rest}: it has no digest"
        stages |= set(words[2:])
    declared = {rest.partition("=")[0] for name, rest in found if name == "ARG"}
    yield from (f"there is no argument {name}" for name in ARGUMENTS if name not in declared)
    labels = " ".join(rest for name, rest in found if name == "LABEL")
    yield from (f"there is no label {name}" for name in LABELS if f"org.opencontainers.image.{name}=" not in labels)


def run_faults(found: Sequence[Instruction]) -> Iterator[str]:
    """Packages that are not pinned, what apt leaves behind, programs that are run as they come from the network."""
    for _, rest in (each for each in found if each.name == "RUN"):
        if "apt-get install" in rest and "--no-install-recommends" not in rest:
            yield f"RUN {rest}: apt installs what is only recommended"
        if "apt-get update" in rest and "rm -rf /var/lib/apt/lists" not in rest:
            yield f"RUN {rest}: apt leaves its lists"
        for command in re.split(r"&&|;", rest):
            if re.search(r"\bpip3? .*\b(?:install|wheel)\b", command) and not is_pinned(command):
                yield f"RUN {command.strip()}: packages are not pinned by hashes"
        if PIPED.search(rest):
            yield f"RUN {rest}: runs what it downloads"


def is_pinned(command: str) -> bool:
    """Whether pip installs by hashes, or nothing but what is in the context already."""
    return "--require-hashes" in command or OF_THE_CONTEXT.search(command) is not None


def copy_faults(found: Sequence[Instruction], top: Path) -> Iterator[str]:
    """What is fetched from elsewhere, copied whole, or not there."""
    for name, rest in found:
        if name == "ADD":
            yield f"ADD {rest}: COPY says what comes from here, and nothing is to come from elsewhere"
        if name != "COPY" or "--from=" in rest:
            continue
        *sources, _ = (word for word in rest.split() if not word.startswith("--"))
        for source in sources:
            if source in (".", "./", "/"):
                yield f"COPY {source}: takes all there is"
            elif not list(top.glob(source)):
                yield f"COPY {source}: there is no such file"


def start_faults(stage: Sequence[Instruction]) -> Iterator[str]:
    """What is wrong with how the image starts: as whom, and by a shell or not."""
    last = dict(stage)
    user, _, group = last.get("USER", "").partition(":")
    if not (re.fullmatch(r"[1-9]\d*", user) and re.fullmatch(r"\d+", group)):
        yield f"USER {last.get('USER')}: no numbers, or root"
    if not is_list(last.get("ENTRYPOINT", "")):
        yield "ENTRYPOINT: no list of words, so signals would end in a shell"
    if "CMD" in last and not is_list(last["CMD"]):
        yield "CMD: no list of words"


def is_list(text: str) -> bool:
    """Whether a text is a list of words as JSON."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, list) and all(isinstance(word, str) for word in value)


def setting_faults(found: Sequence[Instruction]) -> Iterator[str]:
    """Secrets, which stay readable in the image, and tags that move."""
    for name, rest in found:
        if name in ("ARG", "ENV"):
            keys = [pair.partition("=")[0] for pair in rest.split()]
            yield from (f"{name} {key}: a secret stays in the image" for key in keys if SECRET.search(key))
        if ":latest" in rest:
            yield f"{name} {rest}: latest is not always the same"
