"""Compile examples/ and show the result: the tree, one Deployment, the URL of every service, three environments."""

from __future__ import annotations

import difflib
import subprocess
import sys
from pathlib import Path

from kservec import compile_tree
from kservec.io.kustomize import HOW_TO, tools

ROOT = Path(__file__).parents[1]
SERVICES, PLATFORM, OUTPUT = "examples/services", "examples/platform", "out/demo"
COMPARED = "payments/fraud-detector/horizontalpodautoscaler-fraud-detector-predictor.yaml"
SHOWN = "assistants/llama-chat/deployment-llama-chat-predictor.yaml"
BOLD, RESET = ("\x1b[1m", "\x1b[0m") if sys.stdout.isatty() else ("", "")


def main() -> int:
    """Build with the command line, as a user would, then show what was written."""
    arguments = ["build", SERVICES, "--platform", PLATFORM, "--output", OUTPUT]
    say(f"$ kservec {' '.join(arguments)}")
    command = [sys.executable, "-m", "kservec", *arguments]
    status = subprocess.run(command, cwd=ROOT, check=False).returncode  # noqa: S603 - our own program
    if status:
        return status
    title("The rendered tree, one folder a service, to be committed to git")
    for line in drawn(ROOT / OUTPUT):
        say(line)
    title(f"{OUTPUT}/{SHOWN}")
    say((ROOT / OUTPUT / SHOWN).read_text().rstrip())
    title("Where the services are reached")
    urls = compile_tree([ROOT / SERVICES], platform=[ROOT / PLATFORM]).urls
    width = max(len(f"{ref.namespace}/{ref.name}") for ref in urls)
    for ref, url in urls.items():
        say(f"{f'{ref.namespace}/{ref.name}'.ljust(width)}  {url}")
    return environments()


def environments() -> int:
    """Build the three environments of kservec.yaml, whose overlays kustomize runs, and show how two of them differ."""
    title("The same services in three environments, by the overlays that kservec.yaml names")
    if next(tools(), None) is None:
        say(f"left out, for there is no kustomize here: {HOW_TO}")
        return 0
    say("$ kservec build")
    status = subprocess.run([sys.executable, "-m", "kservec", "build"], cwd=ROOT, check=False).returncode
    for line in () if status else differing("out/dev", "out/prod", COMPARED):
        say(line)
    return status


def differing(one: str, other: str, name: str) -> list[str]:
    """How a file differs between two folders."""
    texts = [(ROOT / folder / name).read_text().splitlines() for folder in (one, other)]
    return ["", *difflib.unified_diff(*texts, f"{one}/{name}", f"{other}/{name}", n=1, lineterm="")]


def drawn(folder: Path, lead: str = "") -> list[str]:
    """A folder as a tree of lines."""
    lines = [f"{OUTPUT}/"] if not lead and folder == ROOT / OUTPUT else []
    entries = sorted(folder.iterdir(), key=lambda path: (path.is_file(), path.name))
    for path in entries:
        last = path is entries[-1]
        lines.append(f"{lead}{'└── ' if last else '├── '}{path.name}{'/' if path.is_dir() else ''}")
        if path.is_dir():
            lines += drawn(path, lead + ("    " if last else "│   "))
    return lines


def title(text: str) -> None:
    """Write a heading."""
    say(f"\n{BOLD}{text}{RESET}\n")


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
