"""Recorded clusters: what is imported compiles to the very objects that the input compiles to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from tests.apiserver.cases import MAX_BYTES, RECORDED, case_name, recorded_cases

from kservec.api import Target, compile_files
from kservec.importer import import_dump
from kservec.io.reading import File, read_files

from .dumps import documents, dump_of

if TYPE_CHECKING:
    from pathlib import Path


@cache
def platform() -> tuple[dict[str, Any], ...]:
    """The cluster of all recorded cases."""
    return tuple(d for path in sorted((RECORDED / "platform").rglob("*.yaml")) for d in documents(path))


def usable(case: Path) -> bool:
    """Whether a case is of one cluster, in one state."""
    return not (case / "oracle.json").exists() and not (case / "update.yaml").exists()


def chosen() -> list[Path]:
    """The cases that are imported."""
    return [case for case in recorded_cases() if usable(case)]


def facts_of(case: Path) -> list[File]:
    """The Cluster documents of a case: facts that no object of a cluster states."""
    files = [path for path in (case / "platform.yaml",) if path.exists()]
    return [File(str(p), p.read_bytes()) for p in files if b"kind: Cluster\n" in p.read_bytes()]


@pytest.mark.slow
@pytest.mark.parametrize("case", chosen(), ids=case_name)
def test_the_import_compiles_to_the_same_objects(case: Path) -> None:
    """Byte for byte, from a dump with server fields, notes of tools, and what KServe made."""
    described = [str(RECORDED / "platform"), *map(str, case.glob("platform.yaml"))]
    target = Target(platform=read_files(described, MAX_BYTES))
    source = compile_files(read_files([str(case / "input.yaml")], MAX_BYTES), target=target)
    if not source.ok:
        pytest.skip("not compiled")
    more = [d for path in case.glob("platform.yaml") for d in documents(path)]
    made = documents(case / "expected.yaml")
    imported = import_dump([dump_of([*platform(), *more, *documents(case / "input.yaml")], made)])
    files = [File(path, text.encode()) for path, text in imported.files.items()]
    specs = [file for file in files if file.name.startswith("services/")]
    described_again = [*(file for file in files if file.name.startswith("platform/")), *facts_of(case)]
    again = compile_files(specs, target=Target(platform=described_again))
    assert again.yaml == source.yaml
