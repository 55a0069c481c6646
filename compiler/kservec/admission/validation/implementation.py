"""What serves a component: exactly one model, framework or container, with settings that fit it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.subject import EXPLAINER, MODEL_FIELDS, PREDICTOR, Part
from kservec.core.diagnostics import Code, Severity
from kservec.core.names import KSERVE_CONTAINER
from kservec.core.pods.containers import find, variable
from kservec.core.records import evolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.admission.subject import Subject
    from kservec.core.diagnostics import Diagnostic

MISSING = Code(
    "implementation/missing",
    Severity.ERROR,
    "a component that nothing serves",
    "A predictor needs a `model`, a framework such as `sklearn`, or `containers`; a transformer needs `containers`; "
    "an explainer needs `art` or `containers`. KServe's webhook refuses such a component, or crashes on it.",
)
SEVERAL = Code(
    "implementation/several",
    Severity.ERROR,
    "a component with more than one implementation",
    "A component is served by one thing: a model, one framework, or one container named kserve-container. "
    "Sidecars beside a model or a kserve-container are fine under any other name.",
)
NAMED_MODEL = Code(
    "implementation/named-model",
    Severity.ERROR,
    "a name on a model",
    "The container of a `model` or framework always has the name of the runtime's container, kserve-container, so "
    "KServe refuses a `name` there.",
)
PROTOCOL = Code(
    "implementation/protocol",
    Severity.ERROR,
    "a protocol that a custom predictor cannot have",
    "The variable PROTOCOL of a custom predictor's first container tells KServe which protocol it speaks: v1 or v2.",
)
UNNAMED = Code(
    "implementation/no-kserve-container",
    Severity.ERROR,
    "several containers and none of them serves",
    "Of several containers of a custom predictor the one named kserve-container serves the model; KServe's controller "
    "crashes where there is none. A single container is given the name.",
)
PROTOCOL_VARIABLE = "PROTOCOL"
PROTOCOLS = frozenset({"v1", "v2"})


CHOICES = {
    PREDICTOR: "a model, a framework or containers",
    EXPLAINER: "art or containers",
}


def check_implementations(subject: Subject) -> Iterator[Diagnostic]:
    """The rules for what serves each component, and for the containers of a custom predictor."""
    for part in subject.parts:
        yield from check_implementation(subject, part)
    predictor = subject.predictor
    if predictor.implementations == (("containers", 0),):
        yield from _check_containers(subject, predictor)


def check_implementation(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: component.go, validateExactlyOneImplementation; predictor_custom.go, validateCustomProtocol."""
    count = len(part.implementations)
    if count == 0:
        choices = CHOICES.get(part.role, "containers")
        message = f"nothing serves this {part.role}: it needs {choices}"
        yield subject.finding(MISSING, message, part.path, "give it exactly one of them")
    elif count > 1:
        yield _several(subject, part)
    elif part.role == PREDICTOR and part.model is None:
        yield from _check_protocol(subject, part)


def check_model_names(subject: Subject) -> Iterator[Diagnostic]:
    """KServe: inference_service_validation.go, validatePredictor; canaries must have a name there."""
    predictor = subject.predictor
    for step in predictor.implementations:
        if step[0] in MODEL_FIELDS and predictor.spec[step[0]].get("name"):
            message = "the model's container cannot be named: it is always kserve-container"
            yield subject.finding(NAMED_MODEL, message, (*predictor.path, *step, "name"), "remove the name")


def _several(subject: Subject, part: Part) -> Diagnostic:
    first, second, *_ = part.implementations
    shown = " and by ".join(_shown(subject, part, step) for step in part.implementations)
    sidecar = part.role == PREDICTOR and part.implementations[-1][0] == "containers"
    finding = subject.finding(
        SEVERAL,
        f"this {part.role} is served by {shown}; it takes exactly one",
        (*part.path, *second),
        f"a sidecar needs another name than {KSERVE_CONTAINER}; else keep one of them"
        if sidecar
        else "keep one of them",
    )
    return evolve(finding, related=((subject.source.span(*part.path, *first), "the first one"),))


def _shown(subject: Subject, part: Part, step: tuple[str | int, ...]) -> str:
    """An implementation as the user wrote it: `sklearn` rather than the model it was turned into."""
    if step[0] == "containers":
        return f"the container {part.spec['containers'][step[1]].get('name') or KSERVE_CONTAINER}"
    written = subject.source.written((*part.path, *step))
    return str(written[-1])


def _check_containers(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    """KServe: predictor_custom.go, GetContainer finds nothing, and the controller does not expect that."""
    if find(part.spec["containers"], KSERVE_CONTAINER) is None:
        message = f"none of the containers is called {KSERVE_CONTAINER}, so KServe cannot tell which one serves"
        help_text = f"call the container that serves the model {KSERVE_CONTAINER}"
        yield subject.finding(UNNAMED, message, (*part.path, "containers"), help_text)


def _check_protocol(subject: Subject, part: Part) -> Iterator[Diagnostic]:
    protocol = variable(part.spec["containers"][0], PROTOCOL_VARIABLE)
    if protocol is not None and protocol not in PROTOCOLS:
        path = (*part.path, "containers", 0, "env", PROTOCOL_VARIABLE)
        message = f"a custom predictor speaks v1 or v2; PROTOCOL is {protocol!r}"
        yield subject.finding(PROTOCOL, message, path, "set it to v1 or v2, or remove the variable (v1)")
