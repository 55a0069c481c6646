"""The hand-over from KServe, played: its objects are orphaned, then taken over by the tree of what was imported."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.importing.dumps import documents, dump_of, owned
from tests.importing.test_recorded import chosen, facts_of, platform

from kservec.api import Target, compile_files
from kservec.compare.workloads import workload_of
from kservec.core.diagnostics import ObjectRef
from kservec.core.paths import lookup
from kservec.importer import import_dump
from kservec.io.reading import File

from .cases import case_name, parsed
from .checks import identity, placed
from .client import RefusedError

if TYPE_CHECKING:
    from pathlib import Path

    from .client import ApiServer, Object

KSERVE = "kserve-controller-manager"
CASES = 60
OWNERLESS = {"metadata": {"ownerReferences": None}}


def templates(stored: Object) -> list[Object]:
    """What the pods of a stored object follow from, every byte of it."""
    workload = workload_of(ObjectRef(stored["apiVersion"], stored["kind"], "", ""))
    return [lookup(stored, part) for part in workload.parts] if workload is not None else []


@pytest.mark.parametrize("case", chosen()[::3][:CASES], ids=case_name)
def test_only_what_was_announced_restarts(server: ApiServer, case: Path, prefix: str) -> None:
    """No pod template changes but those that the recipe lists; and no object of KServe's refuses to be taken over."""
    more = [d for path in case.glob("platform.yaml") for d in documents(path)]
    made = list(documents(case / "expected.yaml"))
    imported = import_dump([dump_of([*platform(), *more, *documents(case / "input.yaml")], made)])
    files = [File(path, text.encode()) for path, text in imported.files.items()]
    described = [*(f for f in files if f.name.startswith("platform/")), *facts_of(case)]
    tree = compile_files([f for f in files if f.name.startswith("services/")], target=Target(platform=described))
    if not tree.ok or imported.hand_over is None:
        pytest.skip("not compiled")
    before = {identity(live): found for live in made if (found := created(server, live, prefix)) is not None}
    announced = {(t.ref.kind, t.ref.namespace, t.ref.name) for t in imported.hand_over.taken if t.restarts}
    for manifest in parsed(tree.yaml):
        taken = server.take_over(placed(server, manifest, prefix))
        live = before.get(identity(manifest))
        if live is not None:
            changed = templates(live) != templates(taken)
            assert changed == (identity(manifest) in announced), f"{manifest['kind']} {manifest['metadata']['name']}"


def created(server: ApiServer, live: Object, prefix: str) -> Object | None:
    """An object as KServe has made it, after it was orphaned; None for what no cluster can have had."""
    manifest = placed(server, owned(live), prefix)
    if "namespace" in manifest["metadata"]:
        server.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": manifest["metadata"]["namespace"]}})
    try:
        server.create(manifest, KSERVE)
    except RefusedError:
        return None
    return server.merge(manifest, OWNERLESS)
