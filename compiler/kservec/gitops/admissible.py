"""Admissible objects: what an API server would refuse in an object that no pass of the compiler has made. Pure.

Objects that patches changed, and manifests that are included, pass the schema of their kind first, and then the rules
that no schema states. Where there is no schema of a kind, its metadata and the pods in it are checked alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Severity
from kservec.core.paths import lookup, with_value
from kservec.core.pods.templates import TEMPLATE, TEMPLATES
from kservec.core.schemas.faults import DUPLICATE, Fault, field_path
from kservec.core.schemas.object_meta import metadata_faults
from kservec.core.schemas.structure import without_nulls
from kservec.core.validity.cross_rules import cross_faults
from kservec.core.validity.object_size import size_faults
from kservec.core.validity.object_validity import object_faults, template_faults

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.schemas.schema import Schemas
    from kservec.core.tree import Json, Path

HOLDER = ("apps/v1", "Deployment")
"""The kind by whose schema pods are checked where there is none of the kind that has them."""
SIBLINGS = {
    ("apps/v1", "ReplicaSet"): (HOLDER, ("replicas", "selector")),
    ("autoscaling/v1", "HorizontalPodAutoscaler"): (
        ("autoscaling/v2", "HorizontalPodAutoscaler"),
        ("maxReplicas", "minReplicas", "scaleTargetRef"),
    ),
}
"""Kinds without a schema that rules speak of, the kind by whose schema they are checked, and the fields they share."""


def refused(value: Json, ref: ObjectRef, schemas: Schemas) -> list[Fault]:
    """What an API server would refuse in an object; what rules say only where the structure is right."""
    if not schemas.knows(ref.api_version, ref.kind):
        return unknown_kind_faults(value, ref, schemas)
    faults = [*schemas.faults(value, ref.api_version, ref.kind), *repeated(value, ref, schemas)]
    whole = value if faults else decoded(value, ref, schemas)
    faults = faults or schemas.faults(whole, ref.api_version, ref.kind)
    if faults:
        return sorted(dict.fromkeys(faults), key=lambda fault: (field_path(fault.path), fault.message))
    return ruled_out(whole, ref)


def decoded(value: Json, ref: ObjectRef, schemas: Schemas) -> Json:
    """An object of the right structure as an API server decodes it: what is missing of a struct is empty.

    So every built-in kind that has the field has a spec, and so have its pods. Knative's types do the same with
    theirs; other custom resources are as they were written.
    """
    whole = without_nulls(value)
    fields = schemas.document(ref.api_version, ref.kind)["properties"]
    is_builtin = schemas.is_builtin(ref.api_version, ref.kind)
    paths: list[Path] = [("spec",)] if is_builtin and "spec" in fields else []
    paths += [(*path, "spec") for path in TEMPLATES.get((ref.group, ref.kind), ()) if path == TEMPLATE]
    for path in paths:
        whole = with_struct(whole, path)
    return whole


def with_struct(value: Json, path: Path) -> Json:
    """An object with something at a path, be it empty."""
    return value if lookup(value, path) is not None else with_value(value, path, {})


def ruled_out(value: Json, ref: ObjectRef) -> list[Fault]:
    """What rules find in an object of the right structure."""
    rules = (*cross_faults(ref.api_version, ref.kind, value), *object_faults(ref.api_version, ref.kind, value))
    return [*rules, *size_faults(value, ref)]


def repeated(value: Json, ref: ObjectRef, schemas: Schemas) -> Iterator[Fault]:
    """Items of lists that are told apart by keys, and have the same: server-side apply refuses them."""
    for repeat in schemas.repeated_items(value, ref.api_version, ref.kind):
        keys = ", ".join(f"{name}: {key}" for name, key in repeat.key if key is not None)
        message = f"{field_path(repeat.path[:-1])} has two items with {keys}"
        related = ((repeat.first, "the first is here"),)
        yield Fault(DUPLICATE, repeat.path, message, help="remove or change one of the two", related=related)


def unknown_kind_faults(value: Json, ref: ObjectRef, schemas: Schemas) -> list[Fault]:
    """What is wrong with an object of a kind without a schema: its metadata, its pods, and what rules speak of."""
    faults = [*metadata_faults(value["metadata"], takes_any_name=True), *sibling_misfits(value, ref, schemas)]
    for path in TEMPLATES.get((ref.group, ref.kind), ()):
        found = template_misfits(value, path, schemas)
        faults += found
        if not found and not faults:
            template = lookup(without_nulls(value), path)
            faults += template_faults(template, path) if template else ()
    whole = without_nulls(value)
    if not any(map(stops, faults)):
        faults += [*cross_faults(ref.api_version, ref.kind, whole), *size_faults(whole, ref)]
    return faults if any(map(stops, faults)) else [*faults, *left_out(whole, ref, schemas)]


def stops(fault: Fault) -> bool:
    """Whether an object cannot be rendered with a fault."""
    return fault.code.severity is Severity.ERROR


def left_out(value: Json, ref: ObjectRef, schemas: Schemas) -> list[Fault]:
    """What is wrong with pods that have no spec, which counts as an empty one."""
    paths = TEMPLATES.get((ref.group, ref.kind), ())
    return [fault for path in paths for fault in template_misfits(with_struct(value, (*path, "spec")), path, schemas)]


def sibling_misfits(value: Json, ref: ObjectRef, schemas: Schemas) -> list[Fault]:
    """What does not fit in the fields that a kind shares with another one, for rules take them to be in order."""
    sibling, fields = SIBLINGS.get((ref.api_version, ref.kind), (HOLDER, ()))
    spec = value.get("spec")
    if not fields or spec is None:
        return []
    shared = {name: spec[name] for name in fields if name in spec} if isinstance(spec, dict) else spec
    holder = {"apiVersion": sibling[0], "kind": sibling[1], "metadata": {"name": "sibling"}, "spec": shared}
    found = schemas.faults(holder, *sibling)
    return [fault for fault in found if not isinstance(spec, dict) or (fault.path[:1] == ("spec",) and fault.path[1:])]


def template_misfits(value: Json, path: Path, schemas: Schemas) -> list[Fault]:
    """What does not fit in a template of pods, which is checked as that of a Deployment."""
    template = lookup(value, path) if path else {"spec": value.get("spec")}
    if template is None:
        return []
    holder = {"apiVersion": HOLDER[0], "kind": HOLDER[1], "metadata": {"name": "pods"}}
    found = schemas.faults({**holder, "spec": {"selector": {}, "template": template}}, *HOLDER)
    inside = [fault for fault in found if fault.path[:2] == ("spec", "template")]
    return [moved(fault, path) for fault in inside]


def moved(fault: Fault, path: Path) -> Fault:
    """What is wrong with the pods of a Deployment, said of those at another path; a Pod is its own template."""
    at, due = (".".join((*map(str, steps), "")) for steps in (TEMPLATE, path))
    message = fault.message.replace(at, due)
    return fault._replace(path=(*path, *fault.path[2:]), message=message, related=())
