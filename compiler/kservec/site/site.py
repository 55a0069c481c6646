"""A whole site: every page of an environment, one after the other, so that they need not be held together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Severity
from kservec.drawing.style import STYLE
from kservec.gitops.rendered import GITOPS_FOLDER
from kservec.site.atlas import Atlas
from kservec.site.capacity_pages import capacity_pages
from kservec.site.changes import NO_CHANGES, change_pages, changes_by_owner, possessor
from kservec.site.findings import finding_pages, told_findings
from kservec.site.lines import Provenance, lines_elsewhere
from kservec.site.names import page_of
from kservec.site.overview import (
    image_pages,
    image_rows,
    namespace_pages,
    overview_pages,
    unit_rows,
    wanted_pages,
    wanted_rows,
)
from kservec.site.paging import sheet
from kservec.site.pictures import Pictures
from kservec.site.rows import Origins
from kservec.site.subject import gathered
from kservec.site.unit_pages import GITOPS, INCLUDED, UNIT_ROOT, Tools, spread_over, unit_pages
from kservec.site.writer import Link, Page, Writer

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.core.diagnostics import ObjectRef
    from kservec.gitops.rendered import Rendered
    from kservec.site.changes import UnitChanges
    from kservec.site.subject import Gathered, Subject

STYLE_SHEET = "style.css"


def site_pages(subject: Subject, templates: Mapping[str, str], assets: Mapping[str, bytes]) -> Iterator[Page]:
    """All files of the site of an environment.

    Args:
        subject: the environment.
        templates: the texts of the templates by their names.
        assets: the style and the script by their names.
    """
    found = gathered(subject)
    changes = changes_of(subject, found)
    atlas = Atlas(subject.files)
    writer = Writer(templates, subject.name, links_of(subject, found), compared=subject.compared is not None)
    yield from overview_pages(found, unit_rows(found.units, changes), writer)
    yield from namespace_pages(found, changes, writer)
    tools = Tools(subject, atlas, Pictures(found), writer, Origins(atlas, UNIT_ROOT), {})
    for facts in found.units:
        yield from unit_pages(tools, facts, changes.get(facts.ref, NO_CHANGES))
    yield from image_pages(found.units, writer)
    yield from wanted_pages(found.units, writer)
    yield from finding_pages(found, subject.excuses, atlas, writer)
    if subject.capacity is not None:
        yield from capacity_pages(subject.capacity, found, atlas, writer)
    if found.objects:
        yield from object_pages(subject, found, atlas, writer)
    if subject.compared is not None:
        yield from change_pages(subject.compared, {facts.ref: facts.page for facts in found.units}, writer)
    yield from atlas.pages(writer)
    yield from (Page(name, content) for name, content in sorted(assets.items()) if name != STYLE_SHEET)
    yield Page(STYLE_SHEET, assets[STYLE_SHEET] + STYLE.encode())


def changes_of(subject: Subject, found: Gathered) -> dict[ObjectRef, UnitChanges]:
    """What changes of each unit that is there."""
    if subject.compared is None:
        return {}
    owners = changes_by_owner(subject.compared.comparison)
    names = {facts.ref: possessor(facts.ref) for facts in found.units}
    return {ref: owners[name] for ref, name in names.items() if name in owners}


def links_of(subject: Subject, found: Gathered) -> tuple[Link, ...]:
    """What the navigation leads to."""
    told = sum(told.finding.code.severity is not Severity.NOTE for told in told_findings(found))
    links = [Link("index.html", "Overview"), Link("findings.html", "Findings", f"{told:,}" if told else "")]
    if subject.compared is not None:
        links.append(Link("changes.html", "Changes", f"{len(subject.compared.comparison.changes):,}"))
    if subject.capacity is not None:
        links.append(Link("capacity.html", "Capacity"))
    links += [
        Link("images.html", "Images", f"{len(image_rows(found.units)):,}"),
        Link("requirements.html", "Requirements", f"{len(wanted_rows(found.units)):,}"),
    ]
    if found.objects:
        links.append(Link("objects.html", "Other objects", f"{len(found.objects):,}"))
    return (*links, Link("sources.html", "Sources"))


def object_pages(subject: Subject, found: Gathered, atlas: Atlas, writer: Writer) -> Iterator[Page]:
    """The objects that belong to no unit: those for Argo CD and Flux, and manifests that are rendered as they are."""
    lines = [(o.ref, o.path, lines_elsewhere(o.text, source_of(subject, o))) for o in found.objects]
    spread = spread_over(lines, Origins(atlas, ""))
    for number, parts in enumerate(spread, 1):
        path = page_of("objects", number)
        yield writer.page("objects", path, sheet=sheet("objects", number, len(spread)), parts_here=parts)


def source_of(subject: Subject, rendered: Rendered) -> Provenance:
    """Where an object comes from that was not compiled."""
    for_tools = rendered.place.split("/")[0] == GITOPS_FOLDER
    return Provenance(GITOPS, subject.tool) if for_tools else Provenance(INCLUDED)
