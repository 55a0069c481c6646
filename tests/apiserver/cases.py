"""Where the manifests come from: the golden output that is committed, and recorded cases, compiled here."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

from tests import libyaml

from kservec import Target, compile_files
from kservec.core.diagnostics import Severity
from kservec.gitops.layout import INDEX
from kservec.io.reading import read_files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec import Compilation

    from .client import Object

ROOT = Path(__file__).parents[2]
RECORDED = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
SETS = ("isvc", "isvc-random", "corpus-standard", "graph", "graph-random", "llm", "llm-random")
SAMPLE = int(os.environ.get("KSERVEC_APISERVER_SAMPLE", "200"))
"""How many of the recorded cases are applied. All of them take some minutes."""

NOT_FOR_THE_CLUSTER = frozenset({"kustomize.config.k8s.io/v1beta1"})
MAX_BYTES = 16 << 20


def golden_trees() -> list[Path]:
    """The trees of all golden cases that have output: one of a case, or one of each environment of a project."""
    whole = sorted((ROOT / "golden").glob("*/expect"))
    return [tree for case in whole for tree in (environments(case) or [case])]


def environments(case: Path) -> list[Path]:
    """The trees of a project's environments, which are those that have an index."""
    return sorted(index.parent for index in case.rglob(INDEX))


def tree_name(tree: Path) -> str:
    """How a test is called after a tree."""
    case, _, environment = tree.relative_to(ROOT / "golden").as_posix().partition("/expect")
    return f"{case}{environment}"


def golden_manifests(tree: Path) -> list[Object]:
    """The manifests of a golden case's committed output."""
    texts = (path.read_text() for path in sorted(tree.rglob("*.yaml")) if "_gitops" not in path.parts)
    return [m for text in texts for m in parsed(text) if m["apiVersion"] not in NOT_FOR_THE_CLUSTER]


def recorded_cases() -> list[Path]:
    """A sample of the cases that KServe made objects of: always the same, spread over all of them."""
    folders = [folder for name in SETS for folder in sorted((RECORDED / "cases" / name).glob("*")) if is_made(folder)]
    spread = sorted(folders, key=lambda f: hashlib.sha256(f"{f.parent.name}/{f.name}".encode()).digest())
    return sorted(spread[:SAMPLE])


def is_made(folder: Path) -> bool:
    """Whether KServe took the input of a case, and an API server could take what it made of it."""
    meta = json.loads((folder / "meta.json").read_text())
    return not any(meta.get(key) for key in ("rejected", "failed", "panic", "unknownFields"))


def compiled(folder: Path) -> Compilation:
    """Compile the input of a recorded case for the cluster that it was recorded in."""
    described = [RECORDED / "platform", *folder.glob("platform.yaml")]
    oracle = folder / "oracle.json"
    absent = json.loads(oracle.read_text())["absent"] if oracle.exists() else ()
    target = Target(platform=read_files([str(p) for p in described], MAX_BYTES), catalog="none", absent=absent)
    return compile_files(read_files([str(folder / "input.yaml")], MAX_BYTES), target=target)


def parsed(text: str) -> Iterator[Object]:
    """The documents of a text, read as any YAML 1.1 reader does."""
    return (document for document in libyaml.load_all(text) if document is not None)


def case_name(folder: Path) -> str:
    """How a test is called after a case."""
    return f"{folder.parent.name}/{folder.name}"


def slugs(compilation: Compilation) -> Iterable[str]:
    """The codes of the errors, each once."""
    return sorted({d.code.slug for d in compilation.diagnostics if d.code.severity is Severity.ERROR})
