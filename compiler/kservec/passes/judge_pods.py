"""judge_pods: which level of the Pod Security Standards the pods of a unit pass, and what their namespace demands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity
from kservec.core.pods.pod_sets import pod_sets
from kservec.core.pods.security_level import Level, pod_security_level
from kservec.core.records import evolve
from kservec.core.tree import Layer, Origin, Tree
from kservec.core.unit import Step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.additions import Additions
    from kservec.core.diagnostics import Span
    from kservec.core.pods.pod_sets import PodSet
    from kservec.core.pods.security_level import Shortfall
    from kservec.core.registry import Env
    from kservec.core.unit import Unit

LABELLED = Origin(Layer.PASS, "judge_pods")
LABEL = "pod-security.kubernetes.io/"
ENFORCED = "enforce"
KEPT = {
    "argocd.argoproj.io/sync-options": "Delete=confirm,Prune=confirm",
    "kustomize.toolkit.fluxcd.io/prune": "disabled",
}
"""Annotations of a namespace: whatever else is in it goes with it."""
REASONS_SHOWN = 4

LEVEL_MISSED = Code(
    "security/level-missed",
    Severity.NOTE,
    "pods that do not pass the level of Pod Security",
    "The project asks for a level of the Pod Security Standards (security.podSecurity), and a pod has settings, or "
    "lacks some, that keep it from the level. Containers that kservec adds have them; those of a user's image or "
    "runtime are left alone unless security.securityContexts is `all`, for only the user knows what the image needs.",
)
LEVEL_REFUSED = Code(
    "security/level-refused",
    Severity.ERROR,
    "pods that their namespace would refuse",
    "The project labels its namespaces so that the cluster refuses pods below a level of the Pod Security Standards "
    "(security.namespaceLabels: [enforce]), and a pod does not pass it: its workload would never start.",
)


def judge_pods(unit: Unit, env: Env) -> Step:
    """Hold pods against the project's level, and label their namespaces with it where the project asks for that.

    Takes:   nothing
    Writes:  Namespaces
    Reports: security/level-missed, security/level-refused
    """
    additions = env.additions
    if additions is None:
        return Step(unit)
    sets = tuple(pod_sets(unit.bundle))
    namespaces = sorted({pods.made.ref.namespace for pods in sets}) if additions.namespace_labels else ()
    labelled = [namespace(name, additions) for name in namespaces]
    step_unit = evolve(unit, bundle=unit.bundle.add(*labelled)) if labelled else unit
    return Step(step_unit, tuple(f for pods in sets for f in findings(unit, pods, additions)))


def findings(unit: Unit, pods: PodSet, additions: Additions) -> Iterator[Diagnostic]:
    """What keeps pods from the level, in one finding."""
    wanted = Level(additions.pod_security)
    standing = pod_security_level(pods.pod, pods.annotations)
    if standing.passes(wanted):
        return
    reasons = [s for s in standing.shortfalls if wanted is Level.RESTRICTED or s.level is wanted]
    texts = list(dict.fromkeys(s.message for s in reasons))
    shown = "; ".join((*texts[:REASONS_SHOWN], *(("...",) if len(texts) > REASONS_SHOWN else ())))
    passed = f"it is {standing.level}"
    yield Diagnostic(
        code=LEVEL_REFUSED if ENFORCED in additions.namespace_labels else LEVEL_MISSED,
        message=f"{pods.made.ref} does not pass the Pod Security level {wanted}, {passed}: {shown}",
        span=place(pods, reasons[0]) or unit.source.span("metadata", "name"),
        help="write these settings into the spec or the runtime, or ask for another level in security.podSecurity",
        subject=unit.ref,
    )


def place(pods: PodSet, shortfall: Shortfall) -> Span | None:
    """The source text of what is at fault, as near as it is known."""
    body, path = pods.made.body, (*pods.at, "spec", *shortfall.path)
    return next((span for end in range(len(path), len(pods.at), -1) if (span := body.span(path[:end]))), None)


def namespace(name: str, additions: Additions) -> Manifest:
    """A namespace whose labels say which pods it takes; all units of the namespace make the same one."""
    labels = {f"{LABEL}{mode}": additions.pod_security for mode in additions.namespace_labels}
    metadata = {"annotations": KEPT, "labels": labels, "name": name}
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}
    return Manifest(ObjectRef("v1", "Namespace", "", name), Tree.of(body, LABELLED), shared=True)
