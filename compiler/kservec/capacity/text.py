"""The report as text for people and as JSON for programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.gpu_memory import UNKNOWN
from kservec.core.nodes import CPU, MEMORY, MILLI, base_of, shown_units
from kservec.report.json import entry, identity
from kservec.report.words import NAMES, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec.capacity.gpu_memory import Figure
    from kservec.capacity.report import Finding, Model, Quota, Report, Room, Row, Workload
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json

HEADER = ("pool", "nodes", "resource", "has", "at min", "at max", "head room")
QUOTA_HEADER = ("namespace", "quota", *HEADER[2:])
WORKLOAD_HEADER = ("workload", "replicas", "may run on", "pods of one", "cpu of one", "memory of one", "gpus of one")
LEFT_COLUMNS = 3
"""The columns that hold names; numbers stand on the right."""
NO_POOLS = "no node pools are stated: write them under nodePools of a Cluster document\n"


def capacity_text(report: Report, *, workloads: bool = False) -> str:
    """The report for people: the pools, the workloads if asked for, what does not fit, models, what was not counted."""
    parts = [table([HEADER, *pool_rows(report.rooms)]) if report.rooms else NO_POOLS]
    if report.quotas:
        parts.append(table([QUOTA_HEADER, *quota_rows(report.quotas)]))
    if workloads and report.workloads:
        parts.append(table([WORKLOAD_HEADER, *workload_rows(report.workloads)]))
    if report.is_bounded:
        parts.append(f"{statement(report)}\n" + "".join(map(finding_text, report.findings)))
    if report.models:
        parts.append("models\n" + "".join(map(model_text, report.models)))
    if report.remarks:
        parts.append("remarks\n" + "".join(f"  {remark}\n" for remark in report.remarks))
    return printable_lines("\n".join(parts))


def printable_lines(text: str) -> str:
    """A text whose lines move no cursor."""
    return "".join(f"{printable(line)}\n" for line in text.splitlines())


def table(rows: Sequence[Sequence[str]]) -> str:
    """Rows as columns of equal width."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    return "".join(f"{line(row, widths)}\n" for row in rows)


def line(row: Sequence[str], widths: Sequence[int]) -> str:
    """One row."""
    cells = (f"{c:<{w}}" if i < LEFT_COLUMNS else f"{c:>{w}}" for i, (c, w) in enumerate(zip(row, widths, strict=True)))
    return "  ".join(cells).rstrip()


def pool_rows(rooms: Iterable[Room]) -> Iterator[tuple[str, ...]]:
    """The rows of pools; the first of each has its name."""
    for room in rooms:
        name, nodes = room.pool.name, room.pool.nodes
        for row in room.rows:
            yield (name, nodes, row.resource, *numbers(row))
            name = nodes = ""


def quota_rows(quotas: Iterable[Quota]) -> Iterator[tuple[str, ...]]:
    """The rows of quotas; the first of each has its names."""
    for quota in quotas:
        names = quota.namespace, quota.name
        for row in quota.rows:
            yield (*names, row.resource, *numbers(row))
            names = "", ""


def numbers(row: Row) -> tuple[str, ...]:
    """What is there, what is used, and what is left."""
    units = (row.has, row.at_min, row.at_max, row.head_room)
    return tuple(shown_units(base_of(row.resource), number) for number in units)


def workload_rows(workloads: Iterable[Workload]) -> Iterator[tuple[str, ...]]:
    """The rows of workloads: what a replica of each needs, and where it may run."""
    for need, pools in workloads:
        fewest, most = need.replicas
        replicas = "every node" if need.is_everywhere else str(most) if fewest == most else f"{fewest}..{most}"
        amounts = need.amounts
        devices = ", ".join(f"{amount} {name}" for name, amount in sorted(amounts.items()) if "/" in name)
        cpu, memory = (shown_units(name, amounts.get(name, 0)) for name in (CPU, MEMORY))
        yield str(need.ref), replicas, ", ".join(pools) or "-", str(need.size), cpu, memory, devices or "-"


def statement(report: Report) -> str:
    """Whether everything fits, in words."""
    if report.fits:
        return "everything fits"
    return "fits with the fewest replicas, not with the most" if report.fits_at_min else "does not fit"


def finding_text(finding: Finding) -> str:
    """One thing that does not fit: how bad it is and where, and below that why, and what excuses it."""
    diagnostic, excuse = finding.diagnostic, excuse_text(finding)
    lines = [f"  {NAMES[finding.severity]}  {place_of(diagnostic)}", f"    {diagnostic.message}"]
    return "".join(f"{part}\n" for part in (*lines, *([f"    {excuse}"] if excuse else [])))


def excuse_text(finding: Finding) -> str:
    """What excuses something that does not fit, in words; empty if nothing does."""
    return f"excused ({finding.excuse})" if finding.excuse else ""


def place_of(finding: Diagnostic) -> str:
    """Where the value is that leads to a finding."""
    span = finding.span
    if span is None:
        return "(rendered)"
    return f"{span.file}:{span.line}:{span.column}" if span.line else span.file


def model_text(model: Model) -> str:
    """The estimate of one model with its formulas."""
    served = model.served
    where = f"{served.gpu} of {served.pool}" if served.pool else served.gpu or "no GPU"
    lines = [f"  {model.ref}, container {served.server.container.name}: {served.model or 'a model without a name'}"]
    made = served.estimate
    if made is None:
        lack = "nothing is known of the model" if served.facts is None else "its container asks for no GPU"
        return f"{lines[0]}\n    {UNKNOWN}: {lack}\n"
    assert served.facts is not None
    lines.append(f"    facts          {served.facts.source}")
    lines.append(f"    weights        {made.weights}")
    lines.append(f"    cache a token  {made.token}")
    lines.append(f"    may use        {made.usable} ({where})")
    lines.append(f"    left for cache {made.rest}")
    lines.append(f"    holds          {held(made.tokens, made.length)}{asked(made.sequences)}")
    lines.append(f"    fits           {verdict(made.fits)}")
    return "".join(f"{part}\n" for part in lines)


def held(tokens: Figure, length: int | None) -> str:
    """How many tokens the cache holds, and how many sequences of full length these are."""
    if tokens.value is None:
        return f"{UNKNOWN} ({tokens.formula})"
    full = f", that is {tokens.value / length:.1f} sequences of {length:,}" if length else ""
    return f"{tokens.value:,} tokens = {tokens.formula}{full}"


def asked(sequences: int | None) -> str:
    """How many sequences the server takes at a time."""
    return f" (--max-num-seqs {sequences:,})" if sequences else ""


def verdict(fits: bool | None) -> str:
    """Whether a model fits."""
    return UNKNOWN if fits is None else "yes, as far as this tells" if fits else "no"


def capacity_json(report: Report) -> Json:
    """The report for programs: CPU in CPUs, memory in bytes, everything else in pieces."""
    return {
        "apiVersion": "kservec.dev/v1alpha1",
        "kind": "Capacity",
        "fits": report.fits,
        "fitsAtMin": report.fits_at_min,
        "pools": [pool_json(room) for room in report.rooms],
        "quotas": [quota_json(quota) for quota in report.quotas],
        "workloads": [workload_json(workload) for workload in report.workloads],
        "findings": [finding_json(finding) for finding in report.findings],
        "models": [model_json(model) for model in report.models],
        "remarks": list(report.remarks),
    }


def pool_json(room: Room) -> Json:
    """A pool and its resources."""
    pool = room.pool
    resources = [row_json(row) for row in room.rows]
    return {"name": pool.name, "nodes": {"min": pool.fewest, "max": pool.most}, "resources": resources}


def quota_json(quota: Quota) -> Json:
    """A quota and what is used of it."""
    rows = [row_json(row) for row in quota.rows]
    return {"namespace": quota.namespace, "name": quota.name, "resources": rows}


def row_json(row: Row) -> Json:
    """A resource, what there is of it, and what is used."""
    amounts = {"has": row.has, "atMin": row.at_min, "atMax": row.at_max, "headRoom": row.head_room}
    return {"resource": row.resource, **{key: plain(row.resource, units) for key, units in amounts.items()}}


def workload_json(workload: Workload) -> Json:
    """What a workload needs."""
    need, pools = workload
    return {
        "object": identity(need.ref),
        "owner": identity(need.owner),
        "replicas": {"min": need.replicas.fewest, "max": None if need.is_unbounded else need.replicas.most},
        "everyNode": need.is_everywhere,
        "podsOfReplica": need.size,
        "needsOfReplica": {name: plain(name, units) for name, units in sorted(need.amounts.items())},
        "pools": list(pools),
    }


def plain(resource: str, units: int) -> int | float:
    """An amount in the unit of its resource."""
    return units / MILLI if base_of(resource) == CPU else units


def finding_json(finding: Finding) -> Json:
    """What does not fit, and what excuses it."""
    found, excuse = finding
    return {**entry(found), "severity": NAMES[finding.severity], "excuse": excuse or None}


def model_json(model: Model) -> Json:
    """The estimate of one model; what is unknown is null, and its formula says why."""
    served, made = model.served, model.served.estimate
    figures = {} if made is None else {
        "weights": made.weights, "cacheOfToken": made.token, "cacheOfSequence": made.sequence,
        "usable": made.usable, "leftForCache": made.rest, "tokens": made.tokens,
    }  # fmt: skip
    return {
        "object": identity(model.ref),
        "container": served.server.container.name,
        "model": served.model or None,
        "facts": served.facts.source if served.facts is not None else None,
        "resource": served.gpu or None,
        "pool": served.pool or None,
        "contextLength": made.length if made is not None else None,
        "maxSequences": made.sequences if made is not None else None,
        "figures": {name: {"value": figure.value, "formula": figure.formula} for name, figure in figures.items()},
        "fits": made.fits if made is not None else None,
    }
