"""Sizes that a cluster does not take: of objects, of annotations of pods, of ConfigMaps, and of single arguments.

Decides from the texts of an object. Hardly any object needs a look: who has it as text compares that with
`SURELY_SMALL` first.
Kubernetes: pkg/apis/core/validation/validation.go, ValidateConfigMap; etcd: --max-request-bytes; Linux: execve(2)
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Severity
from kservec.core.paths import item_key, lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.schemas.faults import Fault, field_path
from kservec.core.schemas.object_meta import SURELY_SMALL, annotation_size_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.tree import Json, Path

TOO_LARGE = Code(
    "output/too-large",
    Severity.ERROR,
    "an object that is too large for a cluster",
    "etcd takes requests of 1.5 MiB, so an API server stores no object that is larger; the data of a ConfigMap may "
    "have 1 MiB. Keep what is that long in a file of the image, in a volume, or where models are.",
)
LONG_ARGUMENT = Code(
    "pod/long-argument",
    Severity.WARNING,
    "an argument that no program can be started with",
    "Linux starts no program with a single argument or variable of 128 KiB or more, unless its pages are larger than "
    "4 KiB: the container fails each time. Hand over a file instead, from a ConfigMap.",
)
MOST = 1536 * 1024
MOST_DATA = 1024 * 1024
MOST_OF_ONE = 128 * 1024


def size_faults(body: Json, ref: ObjectRef) -> Iterator[Fault]:
    """Everything in an object that is too large, each at the longest text of it."""
    sizes = [(size_of(text), path) for path, text in texts(body, ())]
    total = sum(size for size, _ in sizes)
    if total < SURELY_SMALL:
        return
    if total > MOST:
        _, longest = max(sizes, key=itemgetter(0))
        message = f"the texts of the object have {total} bytes, more than the {MOST} that a cluster takes"
        yield Fault(TOO_LARGE, longest, message, help=f"shorten {field_path(longest)}")
    elif (ref.group, ref.kind) == ("", "ConfigMap"):
        yield from data_faults(body)
    for path in TEMPLATES.get((ref.group, ref.kind), ()):
        of_template: Path = (*path, "metadata", "annotations")
        yield from annotation_size_faults(lookup(body, of_template) or {}, of_template)
        yield from long_arguments(lookup(body, (*path, "spec")) or {}, (*path, "spec"))


def data_faults(body: Json) -> Iterator[Fault]:
    """The data of a ConfigMap, which has a limit of its own."""
    sizes = {key: size_of(text) for key, text in (body.get("data") or {}).items()}
    total = sum(sizes.values())
    if total > MOST_DATA:
        message = f"the data of the ConfigMap have {total} bytes, more than the {MOST_DATA} that are allowed"
        longest = max(sizes, key=lambda key: sizes[key])
        yield Fault(TOO_LARGE, ("data", longest), message, help=f"shorten data.{longest}")


def long_arguments(pod: Json, at: Path) -> Iterator[Fault]:
    """Arguments and variables of containers that no program can be started with."""
    for field in ("containers", "initContainers"):
        for container in pod.get(field) or ():
            where = (*at, field, container["name"])
            listed = ((f, i, text) for f in ("command", "args") for i, text in enumerate(container.get(f) or ()))
            given = [((*where, f, i), text) for f, i, text in listed]
            given += [((*where, "env", e["name"], "value"), e.get("value") or "") for e in container.get("env") or ()]
            for path, text in given:
                size = size_of(text) + 1
                if size > MOST_OF_ONE:
                    message = f"{field_path(path[len(at) :])} has {size - 1} bytes, and Linux takes {MOST_OF_ONE - 1}"
                    yield Fault(LONG_ARGUMENT, path, message, help="hand it over in a file", once=text)


def texts(value: Json, at: Path, field: str = "") -> Iterator[tuple[Path, str]]:
    """Every text in a value, with its path."""
    if value.__class__ is str:
        yield at, value
    elif value.__class__ is dict:
        for key, child in value.items():
            yield from texts(child, (*at, key), key)
    elif value.__class__ is list:
        for i, item in enumerate(value):
            key = item_key(item, field)
            yield from texts(item, (*at, key if isinstance(key, str | int) else i), field)


def size_of(text: str) -> int:
    """The bytes of a text in a request."""
    return len(text.encode("utf-8", "surrogatepass"))
