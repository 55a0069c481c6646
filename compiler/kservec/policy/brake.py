"""The brake: how much one build does to the pods of a tree, against what the project allows at once. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.compare.forecast import INTERRUPTING
from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from kservec.compare.report import Comparison
    from kservec.core.diagnostics import Span
    from kservec.core.policy import Policy

BRAKE = Code(
    "policy/too-much-at-once",
    Severity.ERROR,
    "a build that touches more than the project allows at once",
    "policy.maxRestarts bounds how many workloads get new pods, policy.maxGpus how many GPUs the pods have that "
    "restart, start or go, policy.maxServices how many services have objects that change. Mostly a change of the "
    "platform or a runtime reaches further than was meant: `kservec diff` shows it. If it is meant, build with "
    "--accept-restarts N or --accept-restarts all, or make the change in several steps (`upgrade` in "
    "kservec.yaml).",
)
SHOWN = 3
OWNER_PARTS = 3


class Touched(NamedTuple):
    """What a build touches: the workloads that restart, GPUs, and the services whose objects change."""

    restarts: tuple[str, ...]
    gpus: int
    services: tuple[str, ...]


def touched(comparison: Comparison) -> Touched:
    """What a change touches. Of workloads that an autoscaler sizes the least number of GPUs counts.

    An owner is `namespace/Kind/name`; what has none belongs to no service.
    """
    restarts = sorted(f"{e.ref.namespace}/{e.ref.name}" for e in comparison.effects if e.verb in INTERRUPTING)
    owners = {change.owner for change in comparison.changes if len(change.owner.split("/")) == OWNER_PARTS}
    return Touched(tuple(restarts), sum(effect.gpus.least for effect in comparison.effects), tuple(sorted(owners)))


def brake_findings(
    output: str, found: Touched, policy: Policy, accepted: int, locate: Callable[[str], Span | None]
) -> Iterator[Diagnostic]:
    """Errors about a build that touches too much.

    Args:
        output: the tree that is built.
        found: what the build touches.
        policy: what is allowed at once.
        accepted: how many restarts the user accepts whatever the project says.
        locate: where a limit of the project is written.
    """
    limits = (
        ("maxRestarts", policy.max_restarts, len(found.restarts), "workload", found.restarts),
        ("maxGpus", policy.max_gpus, found.gpus, "GPU", ()),
        ("maxServices", policy.max_services, len(found.services), "service", found.services),
    )
    for name, allowed, count, noun, names in limits:
        enough = accepted if name == "maxRestarts" else 0
        if allowed is not None and count > max(allowed, enough):
            verb = "would restart" if name == "maxRestarts" else "would be touched"
            shown = f": {', '.join(names[:SHOWN])}{' ...' if len(names) > SHOWN else ''}" if names else ""
            message = f"{output}: {plural(count, noun)} {verb}, and policy.{name} is {allowed}{shown}"
            wanted = str(count) if name == "maxRestarts" else "all"
            hint = f"look at kservec diff; --accept-restarts {wanted} builds it"
            yield Diagnostic(code=BRAKE, message=message, span=locate(name), help=hint)
