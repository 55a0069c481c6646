"""Devices that are asked for by annotations and claimed by Kubernetes (dynamic resource allocation).

KServe: pkg/validation/managed_dra.go
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Severity
from kservec.core.names import GROUP
from kservec.core.schemas.object_meta import is_label_name, is_subdomain

if TYPE_CHECKING:
    from kservec.core.diagnostics import Diagnostic
    from kservec.core.llm.rules.subject import Subject

DEVICE_CLASS: Final = f"{GROUP}/exp-dra-device-class"
DEVICE_COUNT: Final = f"{GROUP}/exp-dra-device-count"
SELECTOR: Final = f"{GROUP}/exp-dra-cel-selector"
CONTAINER: Final = f"{GROUP}/exp-dra-container-name"
DETAILS: Final = (DEVICE_COUNT, SELECTOR, CONTAINER)

CLASS = Code(
    "llm/dra-class",
    Severity.ERROR,
    "devices of no class, or of a class that cannot be",
    f"{DEVICE_CLASS} names a DeviceClass of the cluster, such as gpu.nvidia.com. The other annotations only say which "
    "and how many of its devices.",
)
COUNT = Code(
    "llm/dra-count",
    Severity.ERROR,
    "a number of devices that is no number",
    f"{DEVICE_COUNT} is a whole number of at least 1; it is 1 where it is left out.",
)
EMPTY_SELECTOR = Code(
    "llm/dra-selector",
    Severity.ERROR,
    "a selector of devices that is empty",
    f"{SELECTOR} holds a CEL expression on each line. Leave the annotation out to take any device of the class.",
)
CONTAINER_NAME = Code(
    "llm/dra-container",
    Severity.ERROR,
    "devices for a container that cannot be",
    f"{CONTAINER} names the container that gets the devices. Leave it out for the first one.",
)
_is_whole = re.compile(r"[-+]?[0-9]+").fullmatch


def check_devices(subject: Subject) -> Iterator[Diagnostic]:
    """The annotations that ask for devices."""
    given = subject.annotations
    for key in (DEVICE_CLASS, *DETAILS):
        problem = PROBLEMS[key](given[key].strip()) if key in given else ""
        if problem:
            yield subject.finding(CODES[key], f"{key} {problem}", ("metadata", "annotations", key), HELP[key])
    first = next((key for key in DETAILS if key in given), None)
    if first is not None and DEVICE_CLASS not in given:
        message = f"{first} says nothing without {DEVICE_CLASS}"
        help_text = f"add {DEVICE_CLASS}, or remove it"
        yield subject.finding(CLASS, message, ("metadata", "annotations", first), help_text)


def problem_of_class(text: str) -> str:
    """What is wrong with the name of a device class; empty if nothing is."""
    return "" if is_subdomain(text) else f"is {text!r}, which is no name of a DeviceClass" if text else "is empty"


def problem_of_count(text: str) -> str:
    """What is wrong with the number of devices. Go: strconv.Atoi."""
    if not text or (_is_whole(text) and len(text) < 20 and int(text) >= 1):
        return ""
    return f"is {text!r}"


def problem_of_selector(text: str) -> str:
    """What is wrong with the selector."""
    return "" if text else "is empty"


def problem_of_container(text: str) -> str:
    """What is wrong with the name of the container."""
    return "" if is_label_name(text) else f"is {text!r}, which is no name of a container" if text else "is empty"


PROBLEMS: Final = {
    DEVICE_CLASS: problem_of_class,
    DEVICE_COUNT: problem_of_count,
    SELECTOR: problem_of_selector,
    CONTAINER: problem_of_container,
}
CODES: Final = {DEVICE_CLASS: CLASS, DEVICE_COUNT: COUNT, SELECTOR: EMPTY_SELECTOR, CONTAINER: CONTAINER_NAME}
HELP: Final = {
    DEVICE_CLASS: "name a DeviceClass, such as gpu.nvidia.com",
    DEVICE_COUNT: "write a number of at least 1",
    SELECTOR: "write a CEL expression, or remove it",
    CONTAINER: "name a container, or remove it",
}
