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
        yield from _check_pod(subject, part.spec, part.path)
        for step in part.implementations:
            if len(step) == 1:
                yield from _check_container(subject, part.spec[step[0]], (*part.path, *step))
    worker = subject.predictor.spec.get("workerSpec")
    if worker:
        yield from _check_pod(subject, worker, (*subject.predictor.path, "workerSpec"))


def _check_pod(subject: Subject, pod: Json, path: Path) -> Iterator[Diagnostic]:
    for field in CONTAINER_LISTS:
        for i, container in enumerate(pod.get(field) or ()):
            yield from _check_container(subject, container, (*path, field, i))


def _check_container(subject: Subject, container: Json, path: Path) -> Iterator[Diagnostic]:
    for i in blocked(container):
        message = "PYTHONPATH may not be set: it could make the model server run other code"
        help_text = "remove the variable and put the code into the image"
        yield subject.finding(BLOCKED_VARIABLE, message, (*path, "env", i, "name"), help_text)


def blocked(container: Mapping[str, Json]) -> Sequence[int]:
    """The indices of a container's variables that are not allowed. KServe: pkg/validation/env_policy.go."""
    return [i for i, entry in enumerate(container.get("env") or ()) if entry.get("name") in BLOCKED]
