"""kservec capacity: whether what is rendered fits onto the nodes of the cluster, and models into their GPUs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import click

from kservec.api import compile_files
from kservec.capacity.survey import ALONE, SLUGS, survey
from kservec.capacity.text import capacity_json, capacity_text
from kservec.cli.findings import TEXT, entries, refused
from kservec.cli.inputs import inputs_of
from kservec.cli.options import paths_argument, revision_options, target_options
from kservec.cli.status import DIFFERENT
from kservec.cli.streams import write
from kservec.core.additions import Additions
from kservec.core.records import evolve
from kservec.report.words import json_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from kservec.api import Target
    from kservec.capacity.report import Report
    from kservec.cli.inputs import Inputs
    from kservec.core.diagnostics import Diagnostic

JSON = "json"


class Built(NamedTuple):
    """What was found in what was rendered in memory, what that points into, and what makes the report; None if none."""

    diagnostics: Sequence[Diagnostic]
    texts: Mapping[str, str]
    report: Callable[[], Report] | None


@click.command()
@paths_argument
@target_options
@revision_options
@click.option("--format", "layout", type=click.Choice((TEXT, JSON)), default=TEXT, show_default=True,
              help="How it is shown.")  # fmt: skip
@click.option("--surge", is_flag=True, help="Count what rollouts add, as if all workloads were rolled out at once.")
@click.option("--workloads", is_flag=True, help="List what each workload needs, and where it may run.")
def capacity(*, paths: tuple[str, ...], target: Target, layout: str, surge: bool, workloads: bool) -> int:
    """Say whether workloads fit onto the node pools of the Cluster document, and models into the memory of GPUs.

    PATHS are an environment, or files as for build. Shown are what each pool has and what is used of it with the fewest
    and the most replicas, what does not fit and why, and for each vLLM server an estimate of GPU memory with its
    formulas. The exit status is 3 where something does not fit that the project takes for an error.

    \b
      kservec capacity prod
      kservec capacity services/ --platform platform/ --format json
      kservec capacity prod --surge
    """  # noqa: D301
    inputs = inputs_of(paths, target, layout)
    built = (built_files if inputs.workspace is None else built_environment)(inputs, surges=surge)
    errors = [d for d in built.diagnostics if d.is_error and d.code.slug not in SLUGS]
    if errors or built.report is None:
        return refused(errors, built.texts, layout)
    report = built.report()
    if layout == TEXT:
        write(capacity_text(report, workloads=workloads))
    else:
        write(json_text({**capacity_json(report), "diagnostics": entries(built.diagnostics)}))
    return DIFFERENT if report.fails else 0


def built_environment(inputs: Inputs, *, surges: bool) -> Built:
    """An environment, rendered in memory with all its stages."""
    from kservec.environments import render  # noqa: PLC0415 - only with a project
    from kservec.surveying import asked, surveyed  # noqa: PLC0415 - as above

    assert inputs.workspace is not None
    workspace = asked(inputs.workspace, inputs.environment)
    made = render(workspace, inputs.environment, limits=inputs.target.limits)
    report = partial(surveyed, workspace, made, surges=surges) if made.judge is not None else None
    return Built(made.diagnostics, made.texts, report)


def built_files(inputs: Inputs, *, surges: bool) -> Built:
    """Files, compiled in memory; of the rules of a project only those about capacity and quotas hold."""
    additions = inputs.target.additions or Additions()
    target = evolve(inputs.target, additions=evolve(additions, policy=ALONE))
    made = compile_files(inputs.files, target=target)
    judge = made.result.judge
    report = partial(survey, judge, made.objects, {}, surges=surges) if judge is not None else None
    return Built(made.diagnostics, made.sources, report)
