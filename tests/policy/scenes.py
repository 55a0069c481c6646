"""Scenes for tests: an object from a few lines of YAML, on a site of one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import libyaml

from kservec.api import plugs
from kservec.core.diagnostics import ObjectRef
from kservec.core.policy import Policy
from kservec.policy.scene import Scene, Site, pods_of

if TYPE_CHECKING:
    from kservec.core.schemas.faults import Fault
    from kservec.policy.scene import Check

OWNER = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "ml", "chat")
SLUGS = "policy/"


def scene(body: Any, *, owner: ObjectRef = OWNER, exposed: bool = True, **site: Any) -> Scene:
    """The scene of an object, given as YAML or as a value."""
    value = libyaml.load(body) if isinstance(body, str) else body
    metadata = value["metadata"]
    ref = ObjectRef(value["apiVersion"], value["kind"], metadata.get("namespace", "ml"), metadata["name"])
    made = Site(**{"policy": Policy(), "plugs": plugs(), "gpus": ("nvidia.com/gpu",), **site})
    return Scene(ref=ref, owner=owner, body=value, pods=pods_of(ref, value), site=made, exposed=exposed)


def deployment(container: Any, pod: Any = None, spec: Any = None) -> dict[str, Any]:
    """A Deployment of one container, given without its name."""
    containers = [{"name": "server", **container}]
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "chat", "namespace": "ml"},
        "spec": {**(spec or {}), "template": {"spec": {**(pod or {}), "containers": containers}}},
    }


def found(check: Check, *args: Any, **site: Any) -> list[tuple[str, Any]]:
    """What a check finds in an object: the rule and the last step of the path of each fault."""
    return [(fault.code.slug.removeprefix(SLUGS), fault.path[-1]) for fault in faults(check, *args, **site)]


def faults(check: Check, *args: Any, **site: Any) -> list[Fault]:
    """What a check finds in an object."""
    return list(check(scene(*args, **site)))
