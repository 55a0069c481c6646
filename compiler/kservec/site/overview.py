"""The pages of an environment and of its namespaces: units in tables, totals, images, and what must exist.

Decides which table holds what. The index of units for the search is a script of its own, since a page that is opened
from a disk may read nothing else.
"""

from __future__ import annotations

import json
from collections import defaultdict
from itertools import groupby
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.lock import DEFAULT_TAG, read_image
from kservec.site.amounts import Amounts, count_text, cpu_text, memory_text, replicas_of, total
from kservec.site.names import namespace_stem, page_of
from kservec.site.paging import sheets
from kservec.site.subject import Counts, counts_of
from kservec.site.writer import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from kservec.core.diagnostics import ObjectRef
    from kservec.site.changes import UnitChanges
    from kservec.site.subject import Gathered, UnitFacts
    from kservec.site.writer import Writer

INDEX_SCRIPT = "units.js"
MOST_USERS = 12
"""Units that are named where one thing is used by many."""


class UnitRow(NamedTuple):
    """A unit in a table."""

    ref: ObjectRef
    page: str
    replicas: str
    amounts: Amounts
    counts: Counts
    change: str


class NamespaceRow(NamedTuple):
    """A namespace in the table of all."""

    name: str
    page: str
    units: int
    amounts: Amounts
    counts: Counts


class Use(NamedTuple):
    """Something that units use: who uses it, and how many more there are than are named."""

    users: tuple[tuple[str, str], ...]
    more: int


class ImageRow(NamedTuple):
    """An image, how firmly it is pinned, and who uses it."""

    image: str
    pinned: str
    use: Use


class WantedRow(NamedTuple):
    """An object that must exist before the units that use it, and who uses it."""

    kind: str
    namespace: str
    name: str
    optional: bool
    use: Use


def unit_rows(units: Iterable[UnitFacts], changes: Mapping[ObjectRef, UnitChanges]) -> list[UnitRow]:
    """Units as rows."""
    return [
        UnitRow(
            facts.ref,
            facts.page,
            str(replicas_of(facts.workloads)) if facts.workloads else "",
            facts.amounts,
            facts.counts,
            change_word(changes.get(facts.ref)),
        )
        for facts in units
    ]


def change_word(changes: UnitChanges | None) -> str:
    """What changes of a unit, in a word or two; empty for nothing."""
    if changes is None or not changes.any:
        return ""
    return changes.worst or "changed"


def namespace_rows(units: Sequence[UnitFacts]) -> list[NamespaceRow]:
    """The namespaces, in the order of their names, as units are."""
    rows: list[NamespaceRow] = []
    for namespace, members in groupby(units, key=lambda facts: facts.ref.namespace):
        own = list(members)
        amounts = total(facts.amounts for facts in own)
        rows.append(
            NamespaceRow(
                namespace, page_of(namespace_stem(namespace)), len(own), amounts, together(f.counts for f in own)
            )
        )
    return rows


def together(each: Iterable[Counts]) -> Counts:
    """Counts of findings together."""
    return Counts(*map(sum, zip(Counts(), *each, strict=True)))


def overview_pages(gathered: Gathered, rows: Sequence[UnitRow], writer: Writer) -> Iterator[Page]:
    """The overview: totals, namespaces, and the units over as many pages as they need."""
    amounts = total(facts.amounts for facts in gathered.units)
    kinds = sorted({row.ref.kind for row in rows})
    namespaces = namespace_rows(gathered.units)
    objects = len(gathered.objects) + sum(len(facts.objects) for facts in gathered.units)
    counts = together((*(facts.counts for facts in gathered.units), counts_of(gathered.findings)))
    for sheet, part in sheets("index", rows):
        yield writer.page(
            "index", sheet.path, sheet=sheet, rows=part, total=len(rows), amounts=amounts, kinds=kinds,
            namespaces=namespaces, counts=counts, objects=objects,
        )  # fmt: skip
    yield Page(INDEX_SCRIPT, index_script(rows).encode())


def index_script(rows: Iterable[UnitRow]) -> str:
    """The units for the search, as a script that holds nothing but text and numbers.

    A unit is a list: namespace, name, kind, page, replicas, CPU, memory, GPUs, whether it has any, findings by
    severity, and what changes.
    """
    units = [
        [row.ref.namespace, row.ref.name, row.ref.kind, row.page, row.replicas, cpu_text(row.amounts.cpu),
         memory_text(row.amounts.memory), count_text(row.amounts.gpus), row.amounts.gpus.most != 0, *row.counts,
         row.change]
        for row in rows
    ]  # fmt: skip
    lines = ",\n".join(json.dumps(unit, separators=(",", ":")).replace("<", "\\u003c") for unit in units)
    return f"window.kservecUnits = [\n{lines}\n];\n"


def namespace_pages(gathered: Gathered, changes: Mapping[ObjectRef, UnitChanges], writer: Writer) -> Iterator[Page]:
    """A page for each namespace, or several where it has many units."""
    for namespace, members in groupby(gathered.units, key=lambda facts: facts.ref.namespace):
        units = list(members)
        images = sorted({image for facts in units for image in facts.images})
        for sheet, part in sheets(namespace_stem(namespace), unit_rows(units, changes)):
            yield writer.page(
                "namespace", sheet.path, sheet=sheet, rows=part, namespace=namespace, total=len(units),
                amounts=total(facts.amounts for facts in units), counts=together(f.counts for f in units),
                images=len(images), objects=sum(len(facts.objects) for facts in units),
            )  # fmt: skip


def used_by(units: Sequence[UnitFacts]) -> Use:
    """Who uses something."""
    named = tuple((f"{facts.ref.namespace}/{facts.ref.name}", facts.page) for facts in units[:MOST_USERS])
    return Use(named, len(units) - len(named))


def image_rows(units: Iterable[UnitFacts]) -> list[ImageRow]:
    """The images of an environment, in the order of their names."""
    users: dict[str, list[UnitFacts]] = defaultdict(list)
    for facts in units:
        for image in facts.images:
            users[image].append(facts)
    return [ImageRow(image, pinned_by(image), used_by(users[image])) for image in sorted(users)]


def pinned_by(image: str) -> str:
    """How firmly the name of an image says which one it is: by `digest`, `tag`, or not at all (`moves`)."""
    parts = read_image(image)
    return "digest" if parts.digest else "tag" if parts.tag not in ("", DEFAULT_TAG) else "moves"


def image_pages(units: Sequence[UnitFacts], writer: Writer) -> Iterator[Page]:
    """The images to mirror: a table, and a plain list for programs that copy them."""
    rows = image_rows(units)
    for sheet, part in sheets("images", rows):
        yield writer.page("images", sheet.path, sheet=sheet, rows=part, total=len(rows))
    yield Page("images.txt", "".join(f"{row.image}\n" for row in rows).encode())


def wanted_rows(units: Iterable[UnitFacts]) -> list[WantedRow]:
    """What must exist and is not among what is rendered. It is optional only if every unit can do without."""
    users: dict[tuple[str, str, str], list[UnitFacts]] = defaultdict(list)
    needed: set[tuple[str, str, str]] = set()
    for facts in units:
        for *names, optional in facts.wanted:
            kind, namespace, name = names
            users[kind, namespace, name].append(facts)
            needed |= set() if optional else {(kind, namespace, name)}
    return [WantedRow(*key, key not in needed, used_by(users[key])) for key in sorted(users)]


def wanted_pages(units: Iterable[UnitFacts], writer: Writer) -> Iterator[Page]:
    """The Secrets, ServiceAccounts and the like that must exist."""
    rows = wanted_rows(units)
    for sheet, part in sheets("requirements", rows):
        yield writer.page("requirements", sheet.path, sheet=sheet, rows=part, total=len(rows))
