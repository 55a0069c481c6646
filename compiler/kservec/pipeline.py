"""The pipeline: which passes a kind goes through, in which order, and the short fold that runs them.

This screen is the architecture. `frontend.py` comes before it and `emit.py` after it, once a run; what stands here runs
once a unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from kservec import passes
from kservec.core.diagnostics import Reject, has_errors
from kservec.core.unit import Step, Unit

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.registry import Env

Work: TypeAlias = "Callable[[Unit, Env], Step]"

PASSES: dict[str, tuple[str, ...]] = {
    "InferenceService": (
        "split_inferenceservice",
        "choose_runtime",
        "split_canaries",
        "merge_pods",
        "plan_parallelism",
        "default_pods",
        "select_accelerator",
        "claim_copies",
        "attach_models",
        "add_sidecars",
        "attach_images",
        "name_generation",
        "scale",
        "expose",
        "render_workloads",
        "finish",
        "seal",
    ),
    "InferenceGraph": ("split_inferencegraph", "scale", "expose", "render_workloads", "finish", "seal"),
    "LLMInferenceService": (
        "choose_presets",
        "split_llminferenceservice",
        "claim_copies",
        "attach_artifacts",
        "trace_requests",
        "schedule_requests",
        "route_models",
        "scale_llminferenceservice",
        "render_llminferenceservice",
        "finish",
        "seal",
    ),
    "LocalModelCache": ("render_localmodelcache", "finish", "seal"),
    "LocalModelNamespaceCache": ("render_localmodelcache", "finish", "seal"),
}
"""The passes of each kind by their names, which are those of their files, too."""
POD_ADDITIONS: tuple[str, ...] = ("secure_pods", "rewrite_images", "pin_versions", "spread_pods", "withhold_tokens")
"""The passes with which a project changes pods: as soon as those are complete, and before anything is named by them."""
ADDITIONS: tuple[str, ...] = (
    "fit_deadlines",
    "judge_pods",
    "budget_disruptions",
    "monitor_pods",
    "restrict_networks",
    "keep_to_namespaces",
)
"""The passes that a project adds to those of every kind, before the last two."""
BEFORE = "finish"
COMPLETE = {"InferenceService": "name_generation", "InferenceGraph": "scale"}
"""The pass before which the pods of a kind are complete; of other kinds that is the last but one."""
REFERRING = frozenset({"InferenceGraph"})
"""Kinds whose units need to know what others of the run have become, and so come after them."""


@cache
def pass_of(name: str) -> Work:
    """A pass by its name. It is loaded when it is first needed: most runs have one kind."""
    work: Work = getattr(import_module(f"{passes.__name__}.{name}"), name)
    return work


def run(units: Sequence[Unit], env: Env) -> list[Step]:
    """Take units of one kind through the passes of their kind, all of them through a pass before the next one begins.

    So they take a fifth less time than one by one, for a processor keeps the code at hand that it has just run.
    A unit stops after the pass that reported an error; others go on. What else is wrong with it is found afterwards.
    """
    steps = [Step(unit) for unit in units]
    for number, name in enumerate(passes_of(units[0].ref.kind, env) if units else ()):
        work = pass_of(name)
        steps = [step if step.__class__ is Stopped else advanced(step, work, env, number) for step in steps]
    return [recovered(step, env) if isinstance(step, Stopped) else step for step in steps]


class Stopped(Step):
    """A unit that a pass refused: as it came to that pass, too, the number of the pass, and what that returned."""

    __slots__ = ("before", "made", "number")

    def __init__(self, step: Step, found: tuple[Diagnostic, ...], number: int, made: Step | None) -> None:
        super().__init__(step.unit if made is None else made.unit, (*step.diagnostics, *found))
        self.before, self.number, self.made = step.unit, number, made

    def works(self, env: Env) -> list[tuple[str, Work]]:
        """The pass that refused the unit and those after it. The passes before have found no error."""
        names, made = passes_of(self.before.ref.kind, env)[self.number :], self.made
        works = [(name, pass_of(name)) for name in names]
        return works if made is None else [(names[0], lambda _unit, _env: made), *works[1:]]


def recovered(step: Stopped, env: Env) -> Step:
    """A refused unit with all that was found in it."""
    found = errors_in(step.before, env, (), step.works(env))
    return Step(step.unit, tuple(dict.fromkeys((*step.diagnostics, *found))))


def errors_in(
    unit: Unit, env: Env, admitted: Sequence[Diagnostic] = (), works: Sequence[tuple[str, Work]] | None = None
) -> tuple[Diagnostic, ...]:
    """The errors that passes find in a unit which was refused, by one of them or by admission (`admitted`).

    `works` are the passes that are left of it, all of its kind if nothing is said.
    """
    from kservec.recovery import errors_of  # noqa: PLC0415 - most runs have no errors

    if works is None:
        works = [(name, pass_of(name)) for name in passes_of(unit.ref.kind, env)]
    return errors_of(unit, works, env, admitted)


def passes_of(kind: str, env: Env) -> tuple[str, ...]:
    """The passes of a kind in their order; with what a project adds, where there is one."""
    names = PASSES[kind]
    if env.additions is None:
        return names
    complete, end = names.index(COMPLETE.get(kind, BEFORE)), names.index(BEFORE)
    return (*names[:complete], *POD_ADDITIONS, *names[complete:end], *ADDITIONS, *names[end:])


def advanced(step: Step, work: Work, env: Env, number: int) -> Step:
    """A unit after one pass more, with all that was found; what a bug raises says which unit it was."""
    returned = None
    try:
        made = returned = work(step.unit, env)
    except Reject as reject:
        made = Step(step.unit, reject.diagnostics)
    except Exception as error:
        error.add_note(f"compiling {step.unit.ref}")
        raise
    if made.diagnostics and has_errors(made.diagnostics):
        return Stopped(step, made.diagnostics, number, returned)
    return Step(made.unit, (*step.diagnostics, *made.diagnostics)) if step.diagnostics else made
