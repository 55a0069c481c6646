"""Names, labels, annotations and sizes are within what Kubernetes takes. The rules are written here anew."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from .output import KNATIVE, Object, Output, group, maps, name, namespace, title

if TYPE_CHECKING:
    from collections.abc import Iterator

_is_label = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_is_service_name = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?").fullmatch
_is_subdomain = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*").fullmatch
_is_value = re.compile(r"(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?").fullmatch
_is_port_name = re.compile(r"(?=.*[a-z])[a-z0-9]([a-z0-9]|-(?!-)){0,13}(?<!-)[a-z0-9]|[a-z]").fullmatch
_is_path_name = re.compile(r"(?!\.\.?\Z)[^/%]+").fullmatch
MOST_BYTES_OF_ANNOTATIONS = 256 << 10
MOST_BYTES_OF_AN_OBJECT = 1 << 20
LONGEST_SUBDOMAIN = 253
NAMED_AS_PATHS = {"Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding"}
SETS, LONGEST_SET = {"StatefulSet", "LeaderWorkerSet"}, 52
"""The name of a StatefulSet, and of a LeaderWorkerSet, which makes some: pods get a label of it with a hash."""


def names_are_taken(output: Output) -> Iterator[str]:
    """The name of each object has the form and the length that its kind takes."""
    for body in output.objects:
        called, kind = name(body), body["kind"]
        is_label = kind in {"Namespace"} or (kind == "Service")
        if kind in NAMED_AS_PATHS:
            is_fine = bool(_is_path_name(called))
        elif is_label:
            is_fine = bool((_is_service_name if group(body) in {"", KNATIVE} else _is_label)(called))
        else:
            is_fine = bool(_is_subdomain(called)) and len(called) <= LONGEST_SUBDOMAIN
        is_short = kind not in SETS or len(called) <= LONGEST_SET or output.says("llm/name-of-group", called)
        if not is_fine or not is_short:
            yield f"{title(body)}: no name that its kind takes"
        if namespace(body) and not _is_label(namespace(body)):
            yield f"{title(body)}: no name of a namespace"


def labels_are_taken(output: Output) -> Iterator[str]:
    """Keys and values of labels and of selectors have the form and the length that Kubernetes takes."""
    for body in output.objects:
        for part in maps({key: value for key, value in body.items() if key != "data"}):
            for field in ("labels", "matchLabels"):
                held = part.get(field)
                for key, value in held.items() if isinstance(held, dict) else ():
                    if not is_key(key) or not isinstance(value, str) or not _is_value(value):
                        yield f"{title(body)}: label {key}: {value!r}"


def is_key(key: str) -> bool:
    """Whether a key of a label or an annotation has the right form."""
    prefix, slash, called = key.rpartition("/")
    is_prefixed = bool(_is_subdomain(prefix)) and len(prefix) <= LONGEST_SUBDOMAIN
    return bool(called) and bool(_is_value(called)) and (is_prefixed if slash else True)


def annotations_are_taken(output: Output) -> Iterator[str]:
    """Keys of annotations have the right form, values are texts, and all of an object are within 256 KiB."""
    for body in output.objects:
        for part in maps(body):
            held = part.get("annotations")
            if not isinstance(held, dict):
                continue
            for key, value in held.items():
                if not is_key(key.lower()) or not isinstance(value, str):
                    yield f"{title(body)}: annotation {key}: {value!r}"
            if sum(len(f"{key}{value}".encode()) for key, value in held.items()) > MOST_BYTES_OF_ANNOTATIONS:
                yield f"{title(body)}: annotations of more than 256 KiB"


def parts_are_named_as_taken(output: Output) -> Iterator[str]:
    """Names of containers, volumes, ports and variables have the form and the length that Kubernetes takes."""
    for pods in output.pods:
        for part in (*pods.containers, *(pods.spec.get("volumes") or ())):
            if not _is_label(part["name"]):
                yield f"{title(pods.workload)}: the name {part['name']}"
        for container in pods.containers:
            yield from (
                f"{title(pods.workload)}: the name of the port {port['name']}"
                for port in container.get("ports") or ()
                if port.get("name") and not _is_port_name(port["name"])
            )
            yield from (
                f"{title(pods.workload)}: the name of the variable {one['name']!r}"
                for one in container.get("env") or ()
                if not one["name"] or "=" in one["name"] or not one["name"].isprintable()
            )


def objects_are_small_enough(output: Output) -> Iterator[str]:
    """No object is larger than what the store of a cluster takes."""
    for body in output.objects:
        if size(body) > MOST_BYTES_OF_AN_OBJECT:
            yield f"{title(body)}: {size(body):,} bytes"


def size(body: Object) -> int:
    """The bytes of an object as JSON."""
    return len(json.dumps(body).encode())


INVARIANTS = (
    names_are_taken,
    labels_are_taken,
    annotations_are_taken,
    parts_are_named_as_taken,
    objects_are_small_enough,
)
