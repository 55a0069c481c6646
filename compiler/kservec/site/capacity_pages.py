"""The page of capacity: what the node pools have, what is used of it, and what does not fit.

What is counted and how it is said is decided by `capacity`, here only that it stands in tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.survey import SLUGS
from kservec.capacity.text import HEADER, pool_rows
from kservec.site.findings import told_findings, told_rows
from kservec.site.paging import sheets

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.capacity.report import Report
    from kservec.site.atlas import Atlas
    from kservec.site.findings import Told
    from kservec.site.subject import Gathered
    from kservec.site.writer import Page, Writer

MOST_REMARKS = 20
"""Remarks that are shown: there may be one about each workload."""


def misfits(gathered: Gathered) -> list[Told]:
    """The findings about what does not fit."""
    return [told for told in told_findings(gathered) if told.finding.code.slug in SLUGS]


def capacity_pages(report: Report, gathered: Gathered, atlas: Atlas, writer: Writer) -> Iterator[Page]:
    """The pools, a row for each resource, and what does not fit; that goes on on further pages."""
    pools = [list(pool_rows([room])) for room in report.rooms]
    found = misfits(gathered)
    for sheet, part in sheets("capacity", found):
        yield writer.page(
            "capacity", sheet.path, sheet=sheet, header=HEADER, pools=pools, rows=told_rows(part, atlas),
            total=len(found), remarks=report.remarks[:MOST_REMARKS], more=len(report.remarks[MOST_REMARKS:]),
        )  # fmt: skip
