"""Starts and ends: `--version` loads next to nothing, no command what it does not use, and no end looks for garbage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROGRAM = """
import sys
from kservec.__main__ import main
sys.argv = ["kservec", *sys.argv[1:]]
try:
    status = main()
except SystemExit as end:
    status = end.code
sys.stderr.write("\\n" + " ".join(sorted(sys.modules)))
sys.exit(status)
"""
ENDING = """
import atexit, gc, sys
atexit.register(lambda: sys.stderr.write(f"{gc.get_freeze_count()} {len(gc.get_objects())}"))
from kservec.__main__ import main
sys.argv = ["kservec", "schema", "InferenceService"]
main()
"""
OPTIONAL = {
    "ctypes", "kservec.capacity", "kservec.cli.places", "kservec.cli.writing", "kservec.core.golang.template",
    "kservec.core.golang.template_parse", "kservec.core.golang.urls", "kservec.core.schemas.field_faults",
    "kservec.core.staging", "kservec.core.text.json_reader", "kservec.core.text.yaml_syntax",
    "kservec.io.tree_writer", "kservec.overlays", "kservec.spec.selection", "subprocess",
}  # fmt: skip
"""What a plain build has no use for."""
HEAVY = {"asyncio", "http.client", "httpx", "jinja2", "jsonschema", "requests", "rich", "urllib.request"}
READERS = {"yaml", "pydantic", "jsonschema_rs", "kservec.api", "kservec.pipeline", "importlib.metadata"}
SEED = "examples/services/fraud-detector.yaml"
FACTS = ("cluster", "gateway", "inferenceservice-config", "serviceaccounts")
PLATFORM = tuple(word for name in FACTS for word in ("--platform", f"examples/platform/{name}.yaml"))
"""The platform of the examples without its node pools."""
FORBIDDEN = {
    ("--version",): {"click", "json", "pathlib"} | READERS | HEAVY,
    ("--help",): READERS | HEAVY,
    ("completion", "bash"): READERS | HEAVY,
    ("schema", "InferenceService"): READERS - {"yaml", "jsonschema_rs"} | HEAVY,
    ("build", SEED, *PLATFORM): OPTIONAL | HEAVY,
    ("build", "golden/isvc-hpa-cpu/input"): OPTIONAL | HEAVY | {"_hashlib"},
}


@pytest.mark.parametrize("arguments", FORBIDDEN, ids=" ".join)
def test_a_command_imports_what_it_uses(arguments: tuple[str, ...]) -> None:
    """No forbidden module is loaded by the end of the command."""
    command = [sys.executable, "-c", PROGRAM, *arguments]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603 - our own program
    assert done.returncode == 0, done.stderr
    loaded = set(done.stderr.splitlines()[-1].split())
    assert loaded & FORBIDDEN[arguments] == set()


def test_nothing_is_looked_through_at_the_end() -> None:
    """When the interpreter goes, what was loaded is out of the sight of its collector."""
    done = subprocess.run([sys.executable, "-c", ENDING], capture_output=True, text=True, check=True)  # noqa: S603
    frozen, left = map(int, done.stderr.split())
    assert frozen > 1_000
    assert left < 100
