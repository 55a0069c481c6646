"""The policy of one environment: rules and limits of the environment before those of its project, waivers of both."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kservec.core.diagnostics import Severity
from kservec.core.golang.duration import seconds_of
from kservec.core.policy import RESTRICTED, Policy, Waiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Path
    from kservec.project.gitops import GitOpsSettings
    from kservec.spec.policy import Rules
    from kservec.spec.project import Environment, Options, Project

T = TypeVar("T")

SEVERITIES = {"error": Severity.ERROR, "warning": Severity.WARNING}


def policy_of(project: Project, name: str, own: Environment, gitops: GitOpsSettings) -> Policy:
    """What is demanded of the objects of an environment, and excused.

    The level of the Pod Security Standards is that of `security` unless `policy` says another one: what kservec writes
    settings for is what is expected of the pods.
    """
    mine, theirs = own.policy, project.policy
    written = own.security.pod_security or project.security.pod_security or RESTRICTED
    rules = {**given(theirs.rules), **given(mine.rules)}
    level = either(mine.pod_security.level, theirs.pod_security.level)
    levels = {**theirs.pod_security.namespaces, **mine.pod_security.namespaces}
    return Policy(
        severities=rules,
        level=level or written,
        levels=levels,
        asks_level=level is not None or bool(levels),
        waivers=(*waivers_in(project, ()), *waivers_in(own, ("environments", name))),
        annotations_waive=either(mine.annotation_waivers, theirs.annotation_waivers) is not False,
        max_restarts=either(mine.max_restarts, theirs.max_restarts),
        max_gpus=either(mine.max_gpus, theirs.max_gpus),
        max_services=either(mine.max_services, theirs.max_services),
        sync_timeout=sync_timeout(gitops),
    )


def sync_timeout(gitops: GitOpsSettings) -> int | None:
    """How many seconds Flux waits for what it applies; None where there are no objects for it, or it does not wait."""
    if not gitops.for_flux or not gitops.flux.wait:
        return None
    return int(seconds_of(gitops.flux.timeout) or 0) or None


def given(rules: Rules) -> dict[str, Severity | None]:
    """The severities that are stated, by codes; None for a rule that is off."""
    from kservec.spec.policy import code_of  # noqa: PLC0415 - loads pydantic

    stated = {name: getattr(rules, name) for name in sorted(rules.model_fields_set)}
    return {code_of(name): SEVERITIES.get(severity) for name, severity in stated.items() if severity is not None}


def waivers_in(options: Options, at: Path) -> Iterator[Waiver]:
    """The waivers of a project, or of one environment."""
    for i, waiver in enumerate(options.policy.waivers):
        place = (*at, "policy", "waivers", i)
        yield Waiver(waiver.code, waiver.object, waiver.reason, waiver.expires or "", place)


def either(own: T | None, other: T | None) -> T | None:
    """The environment's own value, or else the project's."""
    return other if own is None else own
