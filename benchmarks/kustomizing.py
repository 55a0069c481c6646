"""How long `kubectl kustomize` takes to read a rendered tree: what a GitOps tool does with it at every sync."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from benchmarks.services import services, target
from kservec import compile_files
from kservec.io.tree_writer import write_tree


def has_kubectl() -> bool:
    """Whether there is a kubectl here."""
    return shutil.which("kubectl") is not None


def kustomize_seconds(count: int) -> float:
    """Seconds of a processor of one `kubectl kustomize` over the tree of so many services."""
    compiled = compile_files(services(count), target=target())
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "rendered"
        write_tree(tree, compiled.tree, force=False)
        command = [str(shutil.which("kubectl")), "kustomize", str(tree)]
        begun = sum(os.times()[2:4])
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)  # noqa: S603 - a known program
        return sum(os.times()[2:4]) - begun
