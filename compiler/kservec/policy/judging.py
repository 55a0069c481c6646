"""Judging: the rules that a rendered object is held against, and what they find in it.

Objects are judged when they are written, while it is still known where each value comes from. What is changed after
that is judged again, from its text.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Diagnostic
from kservec.core.records import evolve
from kservec.policy.apis import API_DEPRECATED, API_NOT_SERVED, check_api
from kservec.policy.demands import demand_of, scaled, scaling_of
from kservec.policy.exposure import UNAUTHENTICATED, check_exposure
from kservec.policy.fit import GPU_FIT, MEMORY_FIT, SHARED_MEMORY, check_fit
from kservec.policy.images import IMAGE_DIGEST, IMAGE_TAG, LOCK_MISSING, check_images
from kservec.policy.inline_secrets import INLINE_SECRET, check_inline_secrets
from kservec.policy.models import MODEL_REVISION, check_models
from kservec.policy.pod_security import ENFORCED, POD_SECURITY, check_pod_security
from kservec.policy.remote_code import TRUST_REMOTE_CODE, UNPINNED, check_remote_code
from kservec.policy.resources import RESOURCES_MISSING, check_resources
from kservec.policy.scene import LISTS
from kservec.policy.times import START_UP_TIME, SYNC_TIMEOUT, check_times

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from kservec.capacity.needs import Standing
    from kservec.core.diagnostics import Code, ObjectRef, Severity, Span
    from kservec.core.policy import Policy, Waiver
    from kservec.core.schemas.faults import Fault
    from kservec.core.tree import Json, Path
    from kservec.policy.demands import Demand, Scaling
    from kservec.policy.scene import Check, Scene, Site

CHECKS: tuple[tuple[Check, tuple[Code, ...]], ...] = (
    (check_api, (API_NOT_SERVED, API_DEPRECATED)),
    (check_images, (IMAGE_TAG, IMAGE_DIGEST, LOCK_MISSING)),
    (check_models, (MODEL_REVISION, LOCK_MISSING)),
    (check_inline_secrets, (INLINE_SECRET,)),
    (check_remote_code, (TRUST_REMOTE_CODE, UNPINNED)),
    (check_exposure, (UNAUTHENTICATED,)),
    (check_pod_security, (POD_SECURITY, ENFORCED)),
    (check_resources, (RESOURCES_MISSING,)),
    (check_times, (START_UP_TIME, SYNC_TIMEOUT)),
    (check_fit, (GPU_FIT, SHARED_MEMORY, MEMORY_FIT)),
)
"""Every check of single objects, and the codes that it finds; where node pools are stated there are more."""
OF_ANY_OBJECT = (check_api, check_inline_secrets)
"""Those that look at more than pods."""
BUILTIN = "builtin/"
OFF_UNLESS_ASKED = frozenset(code.slug for code in (IMAGE_DIGEST, MODEL_REVISION, POD_SECURITY, RESOURCES_MISSING))
"""Rules that are on only where a project turns them on."""


class Located(NamedTuple):
    """A fault of an object, and where in the input it is."""

    fault: Fault
    span: Span | None
    related: tuple[tuple[Span, str], ...] = ()

    @property
    def spans(self) -> tuple[Span, ...]:
        """Every place that it names."""
        first = () if self.span is None else (self.span,)
        return (*first, *(span for span, _ in self.related))


class Judged(NamedTuple):
    """What was found in an object when it had this text, and what was said about it then.

    `waivers` are those that the user's object states; `demand` and `scaling` are there where the namespace has bounds
    or the cluster has node pools, `standing` where it has pools, and `places` say where the resources of the containers
    are. `model_facts` are what the user's object says about its model.
    """

    text: str
    found: tuple[Located, ...] = ()
    exposed: bool = False
    waivers: tuple[Waiver, ...] = ()
    demand: Demand | None = None
    scaling: Scaling | None = None
    standing: Standing | None = None
    model_facts: Json = None
    places: tuple[tuple[Path, Span | None], ...] = ()

    @property
    def spans(self) -> Iterator[Span]:
        """Every place that findings about the object may name."""
        yield from (span for located in self.found for span in located.spans)
        yield from (span for _, span in self.places if span is not None)


class Places(NamedTuple):
    """What tells where in the input a value comes from: `near` the value or what holds it, `exact` that value only.

    `home` is the user's object that all of it is made for.
    """

    near: Callable[[Path], Span | None]
    exact: Callable[[Path], Span | None]
    home: Span | None = None

    def own(self, path: Path) -> Span | None:
        """Where a value comes from; if that is in a document that ships with kservec, where its object is made."""
        span = self.near(path)
        return self.home if is_builtin(span) and self.home is not None else span


def judged(scene: Scene, text: str, places: Places) -> Judged:
    """Everything that the rules find in an object.

    Args:
        scene: the object.
        text: what it is written as.
        places: where in the input the values come from.
    """
    found = tuple(located(fault, places) for fault in faults_in(scene))
    bounded = scene.ref.namespace in scene.site.bounded
    needy = [(*c.path, "resources") for pod in scene.pods for c in pod.containers] if bounded else []
    counted = bounded or bool(scene.site.node_pools)
    return Judged(
        text=text,
        found=found,
        exposed=scene.exposed,
        waivers=scene.waivers,
        demand=demand_of(scene.ref, scene.body) if counted else None,
        scaling=scaling_of(scene.ref, scene.body) if counted else None,
        standing=standing_in(scene),
        model_facts=scene.model_facts,
        places=tuple((path, places.own(path)) for path in needy),
    )


def faults_in(scene: Scene) -> Iterator[Fault]:
    """What the rules that are on find. Most objects have no pods, and most checks are about those."""
    of_pods, of_objects = rules_on(scene.site)
    for check, on in of_pods if scene.pods else of_objects:
        yield from (fault for fault in check(scene) if fault.code.slug in on)


@lru_cache(maxsize=16)
def rules_on(site: Site) -> tuple[Sequence[tuple[Check, frozenset[str]]], Sequence[tuple[Check, frozenset[str]]]]:
    """The checks with the rules of theirs that are on: those of objects with pods, and those of all other objects."""
    slugs = (
        (check, frozenset(c.slug for c in codes if severity_of(c, site.policy) is not None))
        for check, codes in checks_for(site)
    )
    on = [(check, rules) for check, rules in slugs if rules]
    return on, [(check, rules) for check, rules in on if check in OF_ANY_OBJECT]


def checks_for(site: Site) -> Sequence[tuple[Check, tuple[Code, ...]]]:
    """The checks of single objects of a site."""
    if not site.node_pools:
        return CHECKS
    from kservec.policy.pools import POOL_CHECKS  # noqa: PLC0415 - most clusters state no node pools

    return (*CHECKS, *POOL_CHECKS)


def demands_of(heard: Iterable[Judged]) -> list[Demand]:
    """What workloads need, with the replicas that their autoscalers set."""
    several = list(heard)
    return scaled((j.demand for j in several if j.demand), (j.scaling for j in several if j.scaling))


def standing_in(scene: Scene) -> Standing | None:
    """What a workload says about its pods beside what they need; None where no node pools are stated."""
    if not scene.site.node_pools:
        return None
    from kservec.capacity.needs import standing_of  # noqa: PLC0415 - most clusters state no node pools

    return standing_of(scene)


def severity_of(code: Code, policy: Policy) -> Severity | None:
    """How much findings of a code count; None if the rule is off."""
    if code.slug in policy.severities:
        return policy.severities[code.slug]
    is_asked = code.slug == POD_SECURITY.slug and policy.asks_level
    return None if code.slug in OFF_UNLESS_ASKED and not is_asked else code.severity


def located(fault: Fault, places: Places) -> Located:
    """A fault with its places in the input."""
    related = tuple((span, text) for path, text in fault.related if (span := places.exact(path)) is not None)
    near, own = places.near(fault.path), places.own(fault.path)
    if near is not None and near != own:
        related = ((near, "the value is written here"), *related)
    return Located(fault, own, related)


def is_builtin(span: Span | None) -> bool:
    """Whether a place is in a document that ships with kservec, which users cannot change."""
    return span is not None and span.file.startswith(BUILTIN)


def diagnostic_of(found: Located, refs: Sequence[ObjectRef], policy: Policy) -> Diagnostic:
    """A fault as it is reported, as severe as the project's rules say.

    Args:
        found: the fault.
        refs: the object, and last the one that it is made of.
        policy: the project's rules.
    """
    fault, span, related = found
    severity = severity_of(fault.code, policy)
    code = fault.code if severity is None else fault.code._replace(severity=severity)
    message = (
        fault.message
        if len(refs) == 1 or str(refs[0]) in fault.message
        else f"{where(refs[0], fault)}: {fault.message}"
    )
    return Diagnostic(code=code, message=message, span=span, help=fault.help, related=related, subject=refs[-1])


def where(ref: ObjectRef, fault: Fault) -> str:
    """The object of a fault as waivers name it, and its container unless the message says which."""
    path = fault.path
    names = [path[i + 1] for i, step in enumerate(path[:-1]) if step in LISTS]
    return f"{ref}, container {names[0]}" if names and f" {names[0]} " not in f" {fault.message} " else str(ref)


def graded(found: Iterable[Diagnostic], policies: Sequence[Policy], *, worst: Severity | None) -> Iterator[Diagnostic]:
    """Findings that concern several environments, as severe as the strictest of them says, but `worst` at most."""
    for diagnostic in found:
        severities = [s for policy in policies if (s := severity_of(diagnostic.code, policy)) is not None]
        if severities:
            severity = max(severities) if worst is None else min(worst, max(severities))
            yield evolve(diagnostic, code=diagnostic.code._replace(severity=severity))
