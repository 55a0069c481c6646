"""A program that stands in for `vllm`: it takes what the pinned version takes, refuses the rest, and tells what it got.

STANDIN_RECORD names the file that it writes: its words, its variables, signals that came, each a line of JSON.
STANDIN_DOES says what it does then: `exit N`, `wait` until it is told to end, `ignore` signals, `die` by SIGKILL,
`orphan` a child that outlives its parent.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

LIST = Path(__file__).with_name("arguments.json")
ARITY: dict[str, dict[str, Any]] = {
    "one": {},
    "optional": {"nargs": "?"},
    "any": {"nargs": "*"},
    "some": {"nargs": "+"},
    "none": {"action": "store_true"},
}
TYPES = {"int": int, "float": float, "loads": json.loads}
COMMANDS = (["serve"], ["launch", "render"])


def parser() -> argparse.ArgumentParser:
    """The pinned version's parser, made from the list of its arguments."""
    made = argparse.ArgumentParser(prog="vllm", allow_abbrev=False)
    for name, entry in json.loads(LIST.read_text())["arguments"].items():
        settings = dict(ARITY[entry["values"]])
        if entry["values"] != "none":
            settings["type"] = TYPES.get(entry.get("type", "str"), str)
        if "choices" in entry:
            settings["choices"] = [settings["type"](choice) for choice in entry["choices"]]
        made.add_argument(*entry.get("names", [name]), **settings)
    return made


def spelt(word: str) -> str:
    """A word with the flag in its plain spelling; vLLM takes underscores, too."""
    return re.sub(r"^--[^=.]+", lambda m: m[0].replace("_", "-"), word)


def parse(argv: list[str]) -> None:
    """Take the words, or exit with 2 as vLLM does."""
    command = next((c for c in COMMANDS if argv[: len(c)] == c), None)
    if command is None:
        sys.exit(f"vllm: no command in {argv}")
    parser().parse_args([spelt(word) for word in argv[len(command) :]])


def record(**entry: Any) -> None:
    """Write a line."""
    if name := os.environ.get("STANDIN_RECORD"):
        with Path(name).open("a") as file:
            file.write(json.dumps(entry) + "\n")


def note(number: int, _frame: object) -> None:
    """Write that a signal came, and end by it if it is to be."""
    record(signal=signal.Signals(number).name)
    if os.environ["STANDIN_DOES"] == "wait" and number in (signal.SIGTERM, signal.SIGINT):
        sys.exit(0)


def act(what: str) -> NoReturn:
    """Do what is asked."""
    if what in ("wait", "ignore"):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2):
            signal.signal(number, note)
        record(ready=True)
        time.sleep(60)
    elif what == "die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif what == "orphan":
        subprocess.Popen(["/bin/sh", "-c", 'sleep 0.2 & echo $! >> "$STANDIN_RECORD.orphan"'])
        time.sleep(1.0)
    sys.exit(int(what.partition(" ")[2] or 0))


if __name__ == "__main__":
    parse(sys.argv[1:])
    record(words=sys.argv[1:], environment=dict(os.environ), pid=os.getpid(), group=os.getpgrp())
    act(os.environ.get("STANDIN_DOES", "exit 0"))
