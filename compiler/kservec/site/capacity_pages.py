"""The page of capacity: what node pools and quotas have, what is used of it, and what does not fit.

What is counted and how it is said is decided by `capacity`, here only that it stands in tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.text import HEADER, QUOTA_HEADER, excuse_text, pool_rows, quota_rows, statement
from kservec.report.words import NAMES
from kservec.site.findings import finding_row
from kservec.site.paging import sheets

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.capacity.report import Finding, Report
    from kservec.site.atlas import Atlas
    from kservec.site.findings import FindingRow
    from kservec.site.subject import Gathered, UnitFacts
    from kservec.site.writer import Page, Writer

MOST_REMARKS = 20
"""Remarks that are shown: there may be one about each workload."""


def capacity_pages(report: Report, gathered: Gathered, atlas: Atlas, writer: Writer) -> Iterator[Page]:
    """What there is, a row for each resource, and what does not fit; that goes on on further pages."""
    pools = [list(pool_rows([room])) for room in report.rooms]
    quotas = [list(quota_rows([quota])) for quota in report.quotas]
    tables = [("Node pools", HEADER, pools), ("Quotas", QUOTA_HEADER, quotas)]
    for sheet, part in sheets("capacity", report.findings):
        yield writer.page(
            "capacity", sheet.path, sheet=sheet, tables=[table for table in tables if table[2]],
            statement=statement(report), rows=misfit_rows(part, gathered, atlas), total=len(report.findings),
            remarks=report.remarks[:MOST_REMARKS], more=len(report.remarks[MOST_REMARKS:]),
        )  # fmt: skip


def misfit_rows(
    found: Iterable[Finding], gathered: Gathered, atlas: Atlas
) -> Iterator[tuple[FindingRow, UnitFacts | None]]:
    """What does not fit, each with its excuse, and the unit that it is about, if it is about one."""
    units = {ref: facts for facts in gathered.units for ref in (facts.ref, *(made.ref for made in facts.objects))}
    for finding in found:
        row = finding_row(finding.diagnostic, atlas)
        excused = row._replace(severity=NAMES[finding.severity], excuse=excuse_text(finding))
        subject = finding.diagnostic.subject
        yield excused, units.get(subject) if subject is not None else None
