"""Recovery: what else is wrong with a unit that has an error, so that one run tells as much as it can. Pure.

Decides what is left out of such a unit so that the rest of its passes make sense, and which of their findings count:
errors alone, at places that no earlier error is about, and never for what was left out. Must not know what a pass does.
Units without errors never come here, and nothing that comes of it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from kservec.core.diagnostics import Reject
from kservec.core.intents import (
    BatcherIntent,
    Intent,
    LoggerIntent,
    ModelIntent,
    PullerIntent,
    ScaleIntent,
    TrainedModelIntent,
)
from kservec.core.records import evolve
from kservec.core.validity.field_rules import MISSING
from kservec.core.validity.object_validity import LONG_LABEL, LONG_SERVICE_NAME
from kservec.core.validity.pod_validity import NO_VOLUME
from kservec.passes.choose_presets import TEMPLATE
from kservec.passes.seal import FORGOTTEN, REFUSED

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic, Span
    from kservec.core.registry import Env
    from kservec.core.tree import Path
    from kservec.core.unit import Component, Step, Unit

Work: TypeAlias = "Callable[[Unit, Env], Step]"

WISHES: Mapping[str, tuple[type[Intent], ...]] = {
    "attach_models": (ModelIntent,),
    "add_sidecars": (LoggerIntent, BatcherIntent, PullerIntent, TrainedModelIntent),
    "attach_images": (ModelIntent,),
    "scale": (ScaleIntent,),
}
"""Passes that honour wishes which a component can do without, and those wishes."""
APART = frozenset({
    "choose_runtime", "merge_pods", "plan_parallelism", "default_pods", "select_accelerator", "attach_models",
    "add_sidecars", "attach_images", "secure_pods", "rewrite_images", "pin_versions", "spread_pods", "withhold_tokens",
    "scale", "render_workloads", "judge_pods", "keep_to_namespaces", "finish", "seal",
})  # fmt: skip
"""Passes that look at one component, or one object, after the other, whatever others there are."""
SHAPING = frozenset(("choose_presets",))
"""Passes that return errors about the shape of what they make, so that the next ones may not rely on it."""
OPTIONAL = frozenset({
    "split_canaries", "expose", "attach_artifacts", "schedule_requests", "route_models", "scale_llminferenceservice",
})  # fmt: skip
"""Passes that those after them can do without."""
CONFINED: Mapping[str, tuple[str, ...]] = {
    "canary/": ("split_canaries",),
    "confidential/": ("claim_copies", "attach_models", "attach_images"),
    "env/": (),
    "exposure/": ("expose",),
    "framework/": (),
    "graph/": (),
    "knative/deployment-strategy": (),
    "logger/": ("add_sidecars",),
    "scaling/": ("scale",),
    "storage/": ("claim_copies", "attach_models", "attach_images"),
    "llm/confidential-": ("attach_artifacts",),
    "llm/empty-reference": ("schedule_requests", "route_models"),
    "llm/kv-cache-": (),
    "llm/lora-name": (),
    "llm/lora-too-many": (),
    "llm/lora-": ("attach_artifacts", "route_models"),
    "llm/model-uri-": ("attach_artifacts",),
    "llm/name": (),
    "llm/parallelism-": (),
    "llm/pool-": ("schedule_requests", "route_models"),
    "llm/rollout-": (),
    "llm/route-": (),
    "llm/runtime-": (),
    "llm/scaling-": ("scale_llminferenceservice",),
    "llm/scheduler-replicas": (),
    "llm/scheduler-": ("schedule_requests", "route_models"),
    "llm/template": (),
    "llm/traffic-": (),
}
"""How codes begin whose errors leave a unit what it is, though found before it has parts: the passes they concern."""
ATTACHING = frozenset({"attach_models", "add_sidecars", "attach_images", "attach_artifacts"})
"""Passes that bring volumes into pods."""
SECONDARY = frozenset((FORGOTTEN, REFUSED, LONG_LABEL, LONG_SERVICE_NAME))
"""Codes of what most likely follows from an error: gaps where something was left out, and names made of a wrong one.

What is said of a single value as somebody wrote it does not.
"""
LACKING = frozenset((NO_VOLUME, MISSING))
"""Codes of what a pod lacks, which a pass that attaches something may have brought."""
UNFILLED = frozenset((TEMPLATE,))
"""Codes of templates that stay as they are: what refers to a name that one gives seems to lead nowhere."""
STUMBLES: tuple[type[Exception], ...] = (Exception,)
"""What a pass may raise over a unit that is not as it has to be. It tells nothing about the unit, and ends it."""


class Rest(NamedTuple):
    """A unit after a pass, None if nothing is left of it, and what was found.

    `is_trimmed`: something was left out; `lost`: and that was a component. `short` are the components, by their paths,
    from which it was left out; none where it was left out of the whole unit.
    """

    unit: Unit | None
    found: tuple[Diagnostic, ...] = ()
    is_trimmed: bool = False
    lost: bool = False
    short: frozenset[Path] = frozenset()


def passes_concerned(errors: Iterable[Diagnostic]) -> frozenset[str] | None:
    """The passes that act on what some errors are about; None if one of them may concern everything."""
    begun = [next((start for start in CONFINED if e.code.slug.startswith(start)), None) for e in errors if e.is_error]
    return None if None in begun else frozenset(name for start in begun if start for name in CONFINED[start])


def errors_of(
    unit: Unit, works: Iterable[tuple[str, Work]], env: Env, admitted: Sequence[Diagnostic] = ()
) -> tuple[Diagnostic, ...]:
    """All errors that its passes have to find in a unit which was refused, as far as they can be told.

    Args:
        unit: the unit as it comes to the first of the passes.
        works: the passes of its kind by their names, in their order, without those before that found no error.
        env: what all units share.
        admitted: what was found before, if that is why it was refused.
    """
    known = tuple(d for d in admitted if d.is_error)
    trimmed, is_whole, before = passes_concerned(known) or frozenset(), True, len(known)
    short: frozenset[Path] | None = None if trimmed & ATTACHING else frozenset()
    for name, work in works:
        if name in trimmed or not (is_whole or name in APART):
            continue
        try:
            rest = rest_after(unit, name, work, env)
        except STUMBLES:
            break
        errors = [d for d in rest.found if not is_gap(d, unit, short)]
        found = own_errors(errors, known, is_trimmed=bool(trimmed))
        concerned = passes_concerned(rest.found) if name in SHAPING else frozenset[str]()
        known += found
        if rest.unit is None or concerned is None:
            break
        unit, is_whole = rest.unit, is_whole and not rest.lost
        left_out = concerned | ({name} if rest.is_trimmed else set())
        trimmed |= left_out
        if left_out & ATTACHING or any(error.code in UNFILLED for error in found):
            short = short | rest.short if short is not None and rest.short else None
    return known[before:]


def own_errors(
    found: Iterable[Diagnostic], known: Sequence[Diagnostic], *, is_trimmed: bool = False
) -> tuple[Diagnostic, ...]:
    """The errors among findings that are mistakes of their own, after others that are known; see `is_own`."""
    return tuple(once((d for d in found if d.is_error and is_own(d, known, is_trimmed=is_trimmed)), known))


def is_gap(found: Diagnostic, unit: Unit, short: frozenset[Path] | None) -> bool:
    """Whether an error may be about what was not attached.

    Args:
        found: the error.
        unit: the unit that it is about.
        short: the components that something was not attached to, by their paths; None for all.
    """
    if found.code not in LACKING or short == frozenset():
        return False
    others = [unit.source.span(*c.path) for c in unit.components if c.path not in short] if short is not None else []
    return found.span is None or not any(overlap(found.span, place) for place in others)


def is_own(found: Diagnostic, earlier: Sequence[Diagnostic], *, is_trimmed: bool) -> bool:
    """Whether an error is one of its own: not what follows from others, nor at a place that an earlier one is about.

    Args:
        found: the error.
        earlier: what earlier passes found.
        is_trimmed: whether something was left out of the unit.
    """
    if (is_trimmed or earlier) and found.code in SECONDARY and not found.as_written:
        return False
    if "{{" in found.message and any(error.code in UNFILLED for error in earlier):
        return False
    return not any(overlap(found.span, place) for error in earlier for place in error.spans or (None,))


def once(errors: Iterable[Diagnostic], earlier: Iterable[Diagnostic]) -> Iterator[Diagnostic]:
    """The errors of a pass, each once, and one alone of all that are about the same missing objects."""
    said: set[object] = {error.rests_on for error in earlier if error.rests_on}
    for error in errors:
        key = error.rests_on or error
        if key not in said:
            yield error
        said.add(key)


def overlap(one: Span | None, other: Span | None) -> bool:
    """Whether two places have text in common. What has no place might be anywhere."""
    if one is None or other is None:
        return True
    if one.file != other.file or not one.line or not other.line:
        return one.file == other.file
    return one[1:3] <= other[3:5] and other[1:3] <= one[3:5]


def rest_after(unit: Unit, name: str, work: Work, env: Env) -> Rest:
    """A unit after one pass more, without what that rejects: wishes or whole components if it knows them, or itself."""
    tried = attempt(unit, work, env)
    if not tried.is_trimmed:
        return tried
    if name not in APART:
        return tried if name in OPTIONAL else tried._replace(unit=None)
    is_one = len(unit.components) == 1
    alone = [(c, tried if is_one else attempt(unit.with_components((c,)), work, env)) for c in unit.components]
    wishes = WISHES.get(name, ())
    reduced = [(without(c, wishes) if wishes else None) if one.is_trimmed else c for c, one in alone]
    kept = tuple(component for component in reduced if component is not None)
    done = attempt(unit.with_components(kept), work, env)
    found = (*tried.found, *(d for _, one in alone if one.is_trimmed for d in one.found), *done.found)
    left = done.unit if kept and (wishes or not done.is_trimmed) else None
    short = frozenset(component.path for component, one in alone if one.is_trimmed)
    return Rest(left, found, is_trimmed=True, lost=len(kept) < len(unit.components), short=short)


def attempt(unit: Unit, work: Work, env: Env) -> Rest:
    """A unit after a pass; trimmed, and as it was, if that rejects it."""
    try:
        made = work(unit, env)
    except Reject as reject:
        return Rest(unit, reject.diagnostics, is_trimmed=True)
    return Rest(made.unit, made.diagnostics)


def without(component: Component, kinds: tuple[type[Intent], ...]) -> Component:
    """A component without its wishes of some kinds."""
    return evolve(component, intents=tuple(i for i in component.intents if not isinstance(i, kinds)))
