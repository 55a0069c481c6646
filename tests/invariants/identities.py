"""Every object is there once, in a namespace unless its kind has none, and every part of it that has a name once."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from kservec.api import packaged_schemas

from .output import Object, Output, group, name, namespace, title

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def objects_are_there_once(output: Output) -> Iterator[str]:
    """No two objects have one group, kind, namespace and name, whatever their versions."""
    for identity, count in Counter((group(o), o["kind"], namespace(o), name(o)) for o in output.objects).items():
        if count > 1:
            yield f"{count} times {' '.join(identity)}"


def objects_are_where_their_kind_lives(output: Output) -> Iterator[str]:
    """Kinds with a namespace state theirs, the others none."""
    kinds = packaged_schemas().kinds()
    for body in output.objects:
        known = kinds.get((body["apiVersion"], body["kind"]))
        if known is not None and known.is_namespaced != bool(namespace(body)):
            yield f"{title(body)}: {'no' if known.is_namespaced else 'a'} namespace"


def parts_are_named_once(output: Output) -> Iterator[str]:
    """Containers, volumes, and the variables of a container have names of their own."""
    for pods in output.pods:
        found = [("container", pods.containers), ("volume", pods.spec.get("volumes") or ())]
        found += [("variable", container.get("env") or ()) for container in pods.containers]
        found += [("port", [p for p in container.get("ports") or () if p.get("name")]) for container in pods.containers]
        for what, parts in found:
            for called in repeated(parts):
                yield f"{title(pods.workload)}: two {what}s {called}"
    for service in output.of("Service"):
        for called in repeated(service["spec"].get("ports") or ()):
            yield f"{title(service)}: two ports {called}"


def repeated(parts: Iterable[Object]) -> list[str]:
    """The names that several parts have."""
    return sorted(str(called) for called, count in Counter(part.get("name") for part in parts).items() if count > 1)


def texts_hold_one_object(output: Output) -> Iterator[str]:
    """No text holds two objects, so that no object can hide behind another one."""
    for text in output.texts:
        if text.count("\n---\n"):
            yield "two documents in one object's text"


INVARIANTS = (objects_are_there_once, objects_are_where_their_kind_lives, parts_are_named_once, texts_hold_one_object)
