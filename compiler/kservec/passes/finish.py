"""finish: manifests come into the form that they are written in."""

from __future__ import annotations

from operator import is_
from typing import TYPE_CHECKING

from kservec.core.bundle import Bundle, Manifest
from kservec.core.names import INTERNAL
from kservec.core.records import evolve
from kservec.core.tree import Tree
from kservec.core.unit import Step

if TYPE_CHECKING:
    from kservec.core.registry import Env
    from kservec.core.tree import Json
    from kservec.core.unit import Unit


def finish(unit: Unit, env: Env) -> Step:
    """Bring the manifests into their final form.

    Takes:   nothing
    Writes:  manifests: without KServe's internal annotations, in the form that keeps a sync clean
    Reports: nothing
    """
    manifests = unit.bundle.manifests
    written = tuple([finished(made, env) for made in manifests])
    return Step(unit if all(map(is_, written, manifests)) else evolve(unit, bundle=Bundle(written)))


def finished(made: Manifest, env: Env) -> Manifest:
    """A manifest as it is written."""
    body = made.body.value
    written = env.schemas.as_stored(without_internal(body), made.ref.api_version, made.ref.kind)
    return made if written is body else Manifest(made.ref, Tree(written, made.body.journal), made.shared)


def without_internal(body: Json) -> Json:
    """An object whose annotations, and those of its pod template, do not speak to KServe's webhooks."""
    body = stripped(body)
    template = (body.get("spec") or {}).get("template")
    if isinstance(template, dict) and "metadata" in template:
        changed = stripped(template)
        if changed is not template:
            return {**body, "spec": {**body["spec"], "template": changed}}
    return body


def stripped(owner: Json) -> Json:
    """An object, or a template, without internal annotations in its metadata."""
    metadata = owner.get("metadata") or {}
    annotations = metadata.get("annotations")
    if not annotations or INTERNAL not in " ".join(annotations):  # as in nearly all, and quickly told
        return owner
    kept = {k: v for k, v in annotations.items() if not k.startswith(INTERNAL)}
    return {**owner, "metadata": {**metadata, "annotations": kept}}
