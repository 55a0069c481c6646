"""Pods below the level of the Pod Security Standards that is expected of them, or that their namespace enforces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.pods.security_level import Level, pod_security_level
from kservec.core.schemas.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.pods.security_level import Standing
    from kservec.policy.scene import Pod, Scene

POD_SECURITY = Code(
    "policy/pod-security",
    Severity.WARNING,
    "pods below the expected level of the Pod Security Standards",
    "The project expects a level (policy.podSecurity, or else security.podSecurity) that the pods do not pass. The "
    "finding names the strictest one that they pass. Change what it points at, set the level of the namespace under "
    "policy.podSecurity.namespaces, or waive it with a reason.",
)
ENFORCED = Code(
    "policy/pod-security-enforced",
    Severity.ERROR,
    "pods that their namespace refuses",
    "The namespace has the label pod-security.kubernetes.io/enforce, and the pods do not pass that level: their "
    "workload would be applied, and no pod of it would ever be made.",
)
SHOWN = 4
STRICTEST_FIRST = (Level.RESTRICTED, Level.BASELINE, Level.PRIVILEGED)


def check_pod_security(scene: Scene) -> Iterator[Fault]:
    """The level of the pods against what is expected, and what the namespace enforces."""
    policy, namespace = scene.site.policy, scene.ref.namespace
    enforced = scene.site.enforced.get(namespace, Level.PRIVILEGED)
    expected = policy.levels.get(namespace, policy.level) if scene.site.expects_levels else Level.PRIVILEGED
    for pod in scene.pods if {enforced, expected} != {Level.PRIVILEGED} else ():
        standing = pod_security_level(pod.spec, (pod.template.get("metadata") or {}).get("annotations") or {})
        if not standing.passes(Level(enforced)):
            yield shortfall(scene, pod, standing, (ENFORCED, enforced))
        elif not standing.passes(Level(expected)):
            yield shortfall(scene, pod, standing, (POD_SECURITY, expected))


def shortfall(scene: Scene, pod: Pod, standing: Standing, demand: tuple[Code, str]) -> Fault:
    """The finding about pods that do not pass a level, with every reason."""
    code, level = demand
    strictness = STRICTEST_FIRST.index(Level(level))
    reasons = [s for s in standing.shortfalls if STRICTEST_FIRST.index(s.level) >= strictness]
    rest = f"; and {len(reasons) - SHOWN} more" if len(reasons) > SHOWN else ""
    shown = "; ".join(reason.message for reason in reasons[:SHOWN])
    who = f"namespace {scene.ref.namespace} enforces {level}" if code is ENFORCED else f"{level} is expected"
    first = reasons[0].path if reasons else ()
    path = (*pod.spec_path, *first) if first else pod.path
    message = f"the pods of {scene.ref.name} pass {standing.level}, and {who}: {shown}{rest}"
    other = "the label of the namespace" if code is ENFORCED else "what policy.podSecurity expects of the namespace"
    return Fault(code, path, message, help=f"change that, or {other}")
