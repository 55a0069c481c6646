"""Surveying: whether an environment fits onto the nodes of its cluster and into the quotas of its namespaces.

Decides when an environment is rendered for that once more: where the project has rules about capacity that are off,
nothing was looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.capacity.survey import asking, survey
from kservec.core.records import evolve
from kservec.environments import render
from kservec.judging import placed_in_patches, plain_documents

if TYPE_CHECKING:
    from kservec.capacity.report import Report
    from kservec.environments import Rendering
    from kservec.io.workspace import Workspace


def asked(workspace: Workspace, name: str) -> Workspace:
    """A project that looks at the capacity of one of its environments, be its rules on or off."""
    settings = workspace.environments[name]
    settings = evolve(settings, policy=asking(settings.policy))
    project = workspace.project._replace(environments={**workspace.environments, name: settings})
    return workspace._replace(project=project)


def capacity_of(workspace: Workspace, rendering: Rendering) -> Report | None:
    """The capacity of an environment without errors; None where neither nodes nor quotas are stated.

    Raises:
        OSError: a file of the project cannot be read.
    """
    judge, name = rendering.judge, rendering.settings.name
    if judge is None or not (judge.site.node_pools or judge.bounds):
        return None
    if asking(judge.policy) != judge.policy:
        rendering = render(asked(workspace, name), name)
    report = surveyed(workspace, rendering)
    return report if report.is_bounded else None


def surveyed(workspace: Workspace, rendering: Rendering, *, surges: bool = False) -> Report:
    """The report about an environment without errors; what only its patches explain is found in them.

    Raises:
        OSError: a file of the project cannot be read.
    """
    assert rendering.judge is not None
    _, documents = plain_documents(rendering, workspace)
    report = survey(rendering.judge, rendering.objects, documents, surges=surges)
    found = (f._replace(diagnostic=placed_in_patches(f.diagnostic, rendering, workspace)) for f in report.findings)
    return report._replace(findings=tuple(found))
