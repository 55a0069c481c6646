"""Names of containers that are not those that were meant. Rules of ours: KServe takes every name, and replaces some."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import ROLES
from kservec.core.diagnostics import Code, Severity
from kservec.core.names import KSERVE_CONTAINER, STORAGE_INITIALIZER, TRANSFORMER_CONTAINER
from kservec.core.pods.container_names import NEARLY, meant_container, misnamed
from kservec.core.schemas.object_meta import is_label_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.tree import Json, Path

RENAMED = Code(
    "implementation/renamed",
    Severity.WARNING,
    "a container that gets another name than was written",
    "The only container of a custom predictor, and the first one of a transformer or explainer, is always called "
    "kserve-container. The name that is written is nearly that, or one that no container can have: nobody finds the "
    "container by it.",
)
IN_PODS = (KSERVE_CONTAINER, TRANSFORMER_CONTAINER)


def check_container_names(subject: Subject) -> Iterator[Diagnostic]:
    """Containers that are renamed although their name was a slip, and those that are taken for further ones."""
    spec, defaulted = subject.original["spec"], subject.value["spec"]
    for role in ROLES:
        component = spec.get(role)
        if component:
            yield from _check_component(subject, component, defaulted[role], ("spec", role))
    for i, canary in enumerate(spec.get("canary") or ()):
        predictor = canary.get("predictor")
        if predictor:
            yield from _check_component(subject, predictor, predictor, ("spec", "canary", i, "predictor"))


def _check_component(subject: Subject, component: Json, defaulted: Json, path: Path) -> Iterator[Diagnostic]:
    """The same for one component as it was written and as KServe's webhook leaves it."""
    containers = component.get("containers")
    if containers:
        renamed = defaulted["containers"][0].get("name") != containers[0].get("name")
        if renamed:
            yield from _check_renamed(subject, containers[0].get("name") or "", (*path, "containers", 0, "name"))
        for i, name, meant in misnamed(containers, IN_PODS):
            if i or not renamed:
                yield _nearly(subject, name, meant, (*path, "containers", i, "name"))
    for i, name, meant in misnamed(component.get("initContainers") or (), (STORAGE_INITIALIZER,)):
        yield _nearly(subject, name, meant, (*path, "initContainers", i, "name"))


def _check_renamed(subject: Subject, name: str, path: Path) -> Iterator[Diagnostic]:
    if name and (not is_label_name(name) or meant_container(name, (KSERVE_CONTAINER,))):
        message = f"the container that serves is called {KSERVE_CONTAINER}, not {name!r}"
        yield subject.finding(RENAMED, message, path, f"write name: {KSERVE_CONTAINER}")


def _nearly(subject: Subject, name: str, meant: str, path: Path) -> Diagnostic:
    message = f"container {name!r} is taken for one more beside {meant}"
    return subject.finding(NEARLY, message, path, f"did you mean {meant}?")
