"""A comparison as JSON, for programs. Its schema is docs/schemas/diff.json; fields are added, never renamed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.compare.objects import Action
from kservec.compare.values import Change
from kservec.report.json import entry, identity
from kservec.report.words import json_text

if TYPE_CHECKING:
    from kservec.compare.forecast import Effect
    from kservec.compare.objects import Changed
    from kservec.compare.report import Comparison, Report
    from kservec.compare.scaling import Rescaled
    from kservec.compare.values import Difference
    from kservec.compare.weights import Traffic
    from kservec.compare.workloads import Bounds
    from kservec.core.paths import Json

API_VERSION = "kservec.dev/v1alpha1"


def json_report(report: Report) -> str:
    """A comparison as one document, in the order of the project's environments and of objects."""
    document = {
        "apiVersion": API_VERSION,
        "kind": "Diff",
        "base": {"ref": report.shown, "commit": report.commit},
        "differs": report.differs,
        "summary": {
            **{action.value: report.count(action) for action in Action},
            "restarts": len(report.interrupted),
            "gpus": sum(effect.gpus.least for effect in report.interrupted),
        },
        "environments": [environment(comparison) for comparison in report.environments],
    }
    return json_text(document)


def environment(comparison: Comparison) -> Json:
    """One environment."""
    return {
        "name": comparison.name,
        "output": comparison.output,
        "removed": comparison.gone,
        "before": comparison.origin,
        "files": comparison.files,
        "findings": [entry(finding) for finding in comparison.findings],
        "pods": [pods(effect) for effect in comparison.effects],
        "traffic": [traffic(row) for row in comparison.traffic],
        "replicas": [replicas(row) for row in comparison.scaling],
        "objects": [changed(change) for change in comparison.changes],
    }


def pods(effect: Effect) -> Json:
    """What happens to the pods of a workload."""
    return {
        "object": identity(effect.ref),
        "owner": effect.owner,
        "effect": effect.verb.value,
        "becomes": effect.becomes or None,
        "pods": bounds(effect.pods),
        "gpus": bounds(effect.gpus),
        "reasons": [field(reason) for reason in effect.reasons],
    }


def bounds(value: Bounds) -> Json:
    """A number at least and at most; null for no limit."""
    return {"least": value.least, "most": value.most}


def traffic(row: Traffic) -> Json:
    """The weights of a route that moved."""
    backends = [{"name": s.backend, "before": s.before, "after": s.after} for s in row.shifts]
    return {"object": identity(row.ref), "owner": row.owner, "rules": list(row.rules), "backends": backends}


def replicas(row: Rescaled) -> Json:
    """The bounds of a workload that changed."""
    named = {"object": identity(row.ref), "owner": row.owner}
    return {**named, "before": bounds(row.before), "after": bounds(row.after)}


def changed(change: Changed) -> Json:
    """An object that differs."""
    return {
        "object": identity(change.ref),
        "owner": change.owner,
        "file": change.path,
        "action": change.action.value,
        "fields": [field(difference) for difference in change.differences],
    }


def field(difference: Difference) -> Json:
    """A field that differs; without the value of a side that does not have it."""
    sides = {"before": difference.before, "after": difference.after}
    if difference.change is Change.ADDED:
        del sides["before"]
    if difference.change is Change.REMOVED:
        del sides["after"]
    return {"path": difference.path, "change": difference.change.value, **sides}
