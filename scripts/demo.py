"""Compile examples/ and show the result: the tree, one Deployment, and the URL of every service."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from kservec import compile_tree

ROOT = Path(__file__).parents[1]
OUTPUT = ROOT / "out" / "demo"
SHOWN = "deployment-llama-3-8b-predictor.yaml"


def main() -> int:
    """Build with the command line, as a user would, then show what was written."""
    arguments = ["build", "examples/services", "--platform", "examples/platform", "--output", str(OUTPUT)]
    say(f"$ kservec {' '.join(arguments).replace(str(ROOT) + '/', '')}")
    status = subprocess.run([sys.executable, "-m", "kservec", *arguments], cwd=ROOT, check=False).returncode
    if status:
        return status
    say("\nThe rendered tree:\n")
    for path in sorted(OUTPUT.rglob("*")):
        depth = len(path.relative_to(OUTPUT).parts) - 1
        say(f"  {'  ' * depth}{path.name}{'/' if path.is_dir() else ''}")
    shown = next(OUTPUT.rglob(SHOWN))
    say(f"\n{shown.relative_to(ROOT)}:\n")
    say(shown.read_text())
    say("Where the services are reached:\n")
    compiled = compile_tree([ROOT / "examples" / "services"], platform=[ROOT / "examples" / "platform"])
    for ref, url in compiled.result.urls.items():
        say(f"  {ref.namespace}/{ref.name:24} {url}")
    return 0


def say(text: str) -> None:
    """Write a line."""
    sys.stdout.write(text + "\n")


if __name__ == "__main__":
    sys.exit(main())
