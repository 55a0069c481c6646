"""The pages of a unit: what it is, what it takes, where it is reached, and its objects line by line.

Objects that are too long for one page go on the next ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.explain.addresses import address_of
from kservec.explain.choice import choices
from kservec.explain.smoke_test import curl
from kservec.site.amounts import replicas_of
from kservec.site.findings import finding_rows
from kservec.site.lines import Provenance, lines_elsewhere, lines_later, lines_of
from kservec.site.names import namespace_stem, page_of, unit_stem
from kservec.site.paging import MOST_LINES, sheet
from kservec.site.rows import Origins, object_rows
from kservec.site.writer import picture

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markupsafe import Markup

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Origin, Path
    from kservec.explain.addresses import Address
    from kservec.gitops.rendered import Rendered
    from kservec.site.atlas import Atlas
    from kservec.site.changes import UnitChanges
    from kservec.site.lines import Lines
    from kservec.site.pictures import Pictures
    from kservec.site.subject import Subject, UnitFacts
    from kservec.site.writer import Page, Writer

UNIT_ROOT = "../../"
"""What leads from the page of a unit to the site's folder."""
PATCH, GITOPS, INCLUDED = "patch", "gitops", "included"


class ObjectPart(NamedTuple):
    """An object, or what of it is on one page, as rows of a table.

    `key` begins the ids of its lines, `first` is the number of the first. `file` is its file in the rendered tree.
    """

    ref: ObjectRef
    file: str
    key: str
    rows: Markup
    first: int
    lines: int
    whole: int


class Listed(NamedTuple):
    """An object in the list of a unit's, and where it is shown."""

    ref: ObjectRef
    page: str
    lines: int


class Answer(NamedTuple):
    """How a service is asked in a protocol."""

    protocol: str
    command: str


class Tools(NamedTuple):
    """What the pages of all units are made with. `known` is what was told of origins already."""

    subject: Subject
    atlas: Atlas
    pictures: Pictures
    writer: Writer
    origins: Origins
    known: dict[tuple[Origin, Path], Provenance]


def unit_pages(tools: Tools, facts: UnitFacts, changes: UnitChanges) -> Iterator[Page]:
    """The pages of one unit."""
    stem = unit_stem(facts.ref)
    spread = spread_over([(o.ref, o.path, lines) for o, lines in object_lines(tools, facts)], tools.origins)
    listed = [
        Listed(part.ref, f"{page_of(stem.rpartition('/')[2], number)}#{part.key}", part.whole)
        for number, parts in enumerate(spread, 1)
        for part in parts
        if part.first == 1
    ]
    drawn = tools.pictures.picture_of(facts.ref, {listed.ref: listed.page for listed in listed}, UNIT_ROOT)
    for number, parts in enumerate(spread, 1):
        yield tools.writer.page(
            "unit" if number == 1 else "unit_more",
            page_of(stem, number),
            sheet=sheet(stem, number, len(spread)),
            unit=facts,
            namespace_page=page_of(namespace_stem(facts.ref.namespace)),
            parts_here=parts,
            changes=changes,
            listed=listed,
            picture=picture(drawn),
            **(summary(facts, tools.atlas) if number == 1 else {}),
        )


def summary(facts: UnitFacts, atlas: Atlas) -> dict[str, object]:
    """What else stands above the objects."""
    address = address_of(facts.unit, facts.env)
    source = facts.unit.source.span("metadata", "name")
    return {
        "mode": facts.unit.mode.value if facts.unit.components else "",
        "replicas": replicas_of(facts.workloads),
        "address": address,
        "answers": answers(address) if address else (),
        "choices": tuple(choices(facts.unit, facts.env)),
        "findings": finding_rows(facts.findings, atlas),
        "source": (f"{source.file}:{source.line}", atlas.place(source.file, source.line)),
    }


def answers(address: Address) -> tuple[Answer, ...]:
    """How a service is asked in each protocol."""
    url = address.external or address.internal
    return tuple(
        Answer(question.protocol or "its own", curl(url, question.ask, question.body) if url and question.ask else "")
        for question in address.questions
    )


def object_lines(tools: Tools, facts: UnitFacts) -> Iterator[tuple[Rendered, Lines]]:
    """The objects of a unit with their lines."""
    made = {manifest.ref: manifest.body for manifest in facts.unit.bundle.manifests}
    later = later_source(tools.subject)
    for rendered in facts.objects:
        body = made.get(rendered.ref)
        if body is None:
            yield rendered, lines_elsewhere(rendered.text, later)
        else:
            unchanged = "" if tools.subject.patches or tools.subject.tool else rendered.text
            yield rendered, lines_later(lines_of(body, tools.known, unchanged), rendered.text, later)


def later_source(subject: Subject) -> Provenance:
    """What lines come from that were written after compiling."""
    return Provenance(PATCH, subject.patches) if subject.patches else Provenance(GITOPS, subject.tool)


def spread_over(
    objects: Iterable[tuple[ObjectRef, str, Lines]], origins: Origins, room: int = MOST_LINES
) -> list[list[ObjectPart]]:
    """Objects, each with its file, over pages of so many lines at most."""
    pages: list[list[ObjectPart]] = [[]]
    left = room
    for number, (ref, file, lines) in enumerate(objects, 1):
        key, start, whole = f"o{number}", 0, len(lines.texts)
        while start < whole:
            if not left or (whole - start > left and left < room // 2):
                pages.append([])
                left = room
            end = min(whole, start + left)
            rows = object_rows(key, lines, start, end, origins)
            pages[-1].append(ObjectPart(ref, file, key, rows, start + 1, end - start, whole))
            left -= end - start
            start = end
    return pages
