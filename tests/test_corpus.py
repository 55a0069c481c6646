"""Specs that people published: each gives output or a located reason, whatever it holds."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from kservec import File, compile_files

ROOT = Path(__file__).parents[1]
RECORDED = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
CORPUS = RECORDED.parent / "corpus"
SPECS = sorted(path for folder in ("inferenceservice", "invalid") for path in (CORPUS / folder).glob("*"))


@pytest.mark.slow
@pytest.mark.skipif(not SPECS, reason=f"no corpus at {CORPUS}")
def test_published_specs_give_output_or_a_located_reason() -> None:
    """No file is a crash; what is refused is refused with an error that names a place in it."""
    silent = []
    for path in SPECS:
        compiled = compile_files([File(path.name, path.read_bytes())])
        errors = [d for d in compiled.diagnostics if d.is_error]
        placed = [d for d in errors if d.span is not None and d.span.file == path.name]
        if bool(errors) != bool(placed) or bool(errors) == bool(compiled.objects):
            silent.append(path.name)
    assert silent == []
