"""Compile examples/ and show the result: the tree, one Deployment, and the URL of every service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kservec import compile_tree

ROOT = Path(__file__).parents[1]
SERVICES, PLATFORM, OUTPUT = "examples/services", "examples/platform", "out/demo"
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
    return 0


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
