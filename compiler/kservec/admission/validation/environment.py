"""Environment variables that KServe does not let a service set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

BLOCKED = frozenset({"PYTHONPATH"})
CONTAINER_LISTS = ("containers", "initContainers")

BLOCKED_VARIABLE = Code(
    "env/blocked",
    Severity.ERROR,
    "an environment variable that KServe does not allow",
    "KServe refuses PYTHONPATH in every container of a service or runtime: with it a service could make the model "
    "server run other code. Build what you need into an image instead.",
)


def check_environment(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validateBlockedEnvVars; canaries are not looked at there either."""
    for part in subject.parts:
        for at in blocked_in_pod(part.spec):
            yield _finding(subject, (*part.path, *at))
        for step in part.implementations:
            if len(step) == 1:
                for i in blocked(part.spec[step[0]]):
                    yield _finding(subject, (*part.path, *step, "env", i))
    for at in blocked_in_pod(subject.predictor.spec.get("workerSpec") or {}):
        yield _finding(subject, (*subject.predictor.path, "workerSpec", *at))


def _finding(subject: Subject, path: Path) -> Diagnostic:
    message = "PYTHONPATH may not be set: it could make the model server run other code"
    help_text = "remove the variable and put the code into the image"
    return subject.finding(BLOCKED_VARIABLE, message, (*path, "name"), help_text)


def blocked_in_pod(pod: Mapping[str, Json]) -> list[Path]:
    """Where below a pod there are variables that are not allowed."""
    return [
        (field, i, "env", j)
        for field in CONTAINER_LISTS
        for i, container in enumerate(pod.get(field) or ())
        for j in blocked(container)
    ]


def blocked(container: Mapping[str, Json]) -> Sequence[int]:
    """The indices of a container's variables that are not allowed. KServe: pkg/validation/env_policy.go."""
    return [i for i, entry in enumerate(container.get("env") or ()) if entry.get("name") in BLOCKED]
