"""What other commands make of an input: pictures, where values come from, differences between two builds, imports."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from fuzz.building import Built, Made, built_files, files_of, texts_in
from fuzz.inputs import BEFORE, DUMP, INPUT, PLATFORM, Input
from kservec.api import Target, builtin_files, front_of
from kservec.compare.inputs import altered, updates_of
from kservec.compare.json_report import json_report
from kservec.compare.markdown_report import markdown_report
from kservec.compare.objects import Side, owners_in
from kservec.compare.report import COMMITTED, Comparison, Report, compared
from kservec.compare.text_report import text_report
from kservec.compare.updates import refused_updates
from kservec.compilation import steps_of
from kservec.core.diagnostics import has_errors
from kservec.core.graphs.endpoints import GRAPH
from kservec.drawing.dot import dot
from kservec.drawing.mermaid import mermaid
from kservec.drawing.svg import svg
from kservec.explain.choice import choices
from kservec.explain.text import choices_text, values_text
from kservec.explain.values import explained
from kservec.gitops.layout import INDEX
from kservec.importer import import_dump
from kservec.io.packaged import packaged_schemas
from kservec.topology.environment import Fold, environment_topology
from kservec.topology.inventory import inventory_of, items_of
from kservec.topology.steps import graph_topologies

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.unit import Step
    from kservec.frontend import Front
    from kservec.topology.values import Topology


def imported(given: Input) -> Built:
    """The project that a dump becomes. Errors of what it describes are no reason to write none."""
    files = files_of(given.below(DUMP))
    result = import_dump(files)
    written = {path: text.encode() for path, text in result.files.items()}
    ok = not has_errors(result.diagnostics)
    sources = {**result.sources, **result.files}
    texts = {**texts_in((*files, *builtin_files(Target()))), **result.files}
    return Built((Made((), written),) if ok else (), result.diagnostics, sources, texts, ok)


def explained_faults(given: Input) -> Iterator[str]:
    """What must not be so when an input is drawn and explained: each value of each object has an origin or none."""
    target = Target(
        platform=files_of(given.below(PLATFORM)), absent=given.absent, names_revisions=given.names_revisions
    )
    front, _ = front_of(files_of(given.below(INPUT)), target=target)
    steps = list(steps_of(front))
    for drawn in pictures(front, steps):
        mermaid(drawn)
        dot(drawn)
        ElementTree.fromstring(svg(drawn))  # noqa: S314 - it is our own
    for step in steps:
        choices_text(tuple(choices(step.unit, front.env)))
        made = () if has_errors(step.diagnostics) else step.unit.bundle.manifests
        for manifest in made:
            if not explained(manifest.body, ()):
                yield f"explain: {manifest.ref} has no values"
            values_text(manifest.ref, explained(manifest.body, ()))


def pictures(front: Front, steps: Sequence[Step]) -> Iterator[Sequence[Topology]]:
    """What is drawn of an input: its graphs as they are written, and what is deployed, folded and not."""
    yield graph_topologies([unit for unit in front.units if unit.ref.kind == GRAPH], front.env)
    made = [step.unit for step in steps if not has_errors(step.diagnostics)]
    inventory = inventory_of([item for unit in made for item in items_of(unit)], {u.ref: u.source for u in made})
    for fold in Fold:
        yield environment_topology(inventory, "prod", fold)


def updated_faults(given: Input) -> Iterator[str]:
    """What must not be so when what was is compared with what is: no difference of a tree with itself."""
    old = built_files(given.with_files({**given.below(PLATFORM), **renamed(given, BEFORE)}))
    new = built_files(given.with_files({**given.below(PLATFORM), **given.below(INPUT)}))
    pairs = altered(renamed(given, BEFORE), given.below(INPUT), packaged_schemas())
    refused = tuple(refused_updates(updates_of(pairs)))
    for before, after in ((old, new), (new, old), (new, new)):
        if before.made and after.made:
            comparison = compared(
                Comparison("prod", "rendered", COMMITTED), side(before), side(after), after.objects, refused
            )
            report = Report("main", "abc", (comparison,))
            texts = (text_report(report), json_report(report), markdown_report(report))
            if not all(texts) or (before is after and comparison.changes):
                yield "diff: a tree differs from itself, or nothing is said"


def renamed(given: Input, folder: str) -> dict[str, bytes]:
    """The files of a folder as if they were in that of the input."""
    return {INPUT + path.removeprefix(folder): content for path, content in given.below(folder).items()}


def side(made: Built) -> Side:
    """A tree as one side of a comparison."""
    files = dict(made.made[0].tree)
    return Side(files, owners_in(files[INDEX], files))
