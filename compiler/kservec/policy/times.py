"""Time budgets: a pod must be able to start before its rollout is called failed, and that before a sync gives up."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Severity
from kservec.core.golang.duration import seconds_of
from kservec.core.paths import lookup
from kservec.core.pods.start_up import DEADLINE, start_up
from kservec.core.schemas.faults import Fault
from kservec.policy.demands import whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.tree import Path
    from kservec.policy.scene import Scene

START_UP_TIME = Code(
    "policy/start-up-time",
    Severity.WARNING,
    "pods that may start for longer than their rollout waits",
    "A startup probe lets a container take initialDelaySeconds + periodSeconds x failureThreshold. A Deployment whose "
    "pods need longer than progressDeadlineSeconds (600) counts as failed while they load their model, and so does a "
    "Knative revision after its progress deadline (10 minutes). Deployments of a project get a deadline that fits "
    "unless rollout.progressDeadline is kserve; Knative's is the annotation serving.knative.dev/progress-deadline.",
)
SYNC_TIMEOUT = Code(
    "policy/sync-timeout",
    Severity.WARNING,
    "a rollout that may take longer than the sync waits",
    "Flux waits for objects to become ready as long as `timeout` of its Kustomization says, and calls the sync failed "
    "then. Set gitops.flux.timeout to more than the longest rollout.",
)
KNATIVE_DEADLINE = "serving.knative.dev/progress-deadline"
REVISION_METADATA = ("spec", "template", "metadata", "annotations")
PATCH, ANNOTATE = "by rollout.progressDeadline: fit in kservec.yaml", "as an annotation of the service"
SPARE = 60


def check_times(scene: Scene) -> Iterator[Fault]:
    """The start-up of a workload against its deadline, and that against what a sync waits."""
    found = deadline_of(scene)
    if found is None:
        return
    deadline, path, setting, how = found
    servers = [container for pod in scene.pods for container in pod.servers]
    longest = max(servers, key=lambda container: start_up(container.body).seconds, default=None)
    if longest is not None and (start := start_up(longest.body)).seconds >= deadline:
        seconds = start.seconds
        message = (
            f"container {longest.name} may take {seconds}s to start ({start.sum_of}), and the rollout of "
            f"{scene.ref.name} fails after {deadline}s"
        )
        place = (*longest.path, start.probe)
        related = ((path, f"{deadline}s are given here"),)
        hint = f"give {setting} {seconds + SPARE}s, {how}; or let the probe give up earlier"
        yield Fault(START_UP_TIME, place, message, help=hint, related=related)
    timeout = scene.site.policy.sync_timeout
    if timeout is not None and deadline >= timeout:
        message = f"the rollout of {scene.ref.name} may take {deadline}s, and the sync gives up after {timeout}s"
        yield Fault(SYNC_TIMEOUT, path, message, help=f"set gitops.flux.timeout to more than {deadline}s")


class Deadline(NamedTuple):
    """How many seconds a rollout has, where that is said, by which setting, and how that is set."""

    seconds: int
    path: Path
    setting: str
    how: str


def deadline_of(scene: Scene) -> Deadline | None:
    """How long the rollout of an object may take; None for kinds without a rollout."""
    if scene.ref.kind == "Deployment":
        path: Path = ("spec", "progressDeadlineSeconds")
        said = lookup(scene.body, path)
        return Deadline(whole(said, DEADLINE), path, "progressDeadlineSeconds", PATCH)
    if scene.pods and scene.ref.kind == "Service":
        said = (lookup(scene.body, REVISION_METADATA) or {}).get(KNATIVE_DEADLINE)
        path = (*REVISION_METADATA, KNATIVE_DEADLINE)
        return Deadline(int(seconds_of(str(said or "")) or DEADLINE), path, KNATIVE_DEADLINE, ANNOTATE)
    return None
