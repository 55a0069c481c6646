"""Devices that the service's annotations ask for: a claim for each pod, and the template that claims are made from.

Decides which container gets the devices. Must not know what drivers make of claims.
KServe: pkg/controller/v1alpha2/llmisvc/managed_dra.go; pkg/validation/managed_dra.go
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.bundle import Manifest
from kservec.core.diagnostics import ObjectRef
from kservec.core.llm.names import DEVICE_CLAIM, child_name
from kservec.core.llm.rules.devices import CONTAINER, DEVICE_CLASS, DEVICE_COUNT, SELECTOR
from kservec.core.pods.containers import find
from kservec.core.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.tree import Json
    from kservec.core.unit import Unit

API_VERSION, KIND = "resource.k8s.io/v1", "ResourceClaimTemplate"
CLAIM, REQUEST = "managed-device", "device"


def with_device_claim(pod: Tree, unit: Unit) -> Tree:
    """A pod with the claim, and one container that uses it: the named one, else the first; with none only the claim."""
    if DEVICE_CLASS not in unit.annotations:
        return pod
    origin = unit.source.origin("metadata", "annotations", DEVICE_CLASS)
    if find(pod.get("resourceClaims") or (), CLAIM) is None:
        template = child_name(unit.name, DEVICE_CLAIM)
        pod = pod.append(("resourceClaims",), {"name": CLAIM, "resourceClaimTemplateName": template}, origin)
    container = user_of(pod.value, unit.annotations.get(CONTAINER, "").strip())
    if container is None:
        return pod
    at = ("containers", container, "resources", "claims")
    claims = pod.get(*at) or []
    return pod if find(claims, CLAIM) is not None else pod.put(at, [*claims, {"name": CLAIM}], origin)


def user_of(pod: Json, wanted: str) -> str | None:
    """The container that uses the claim; None if the pod has no such container."""
    containers = pod.get("containers") or []
    if wanted:
        return wanted if find(containers, wanted) is not None else None
    name: str | None = containers[0].get("name") if containers else None
    return name


def claim_template(unit: Unit) -> Manifest | None:
    """The template of the claims; None if the service asks for no devices. It carries no labels."""
    if DEVICE_CLASS not in unit.annotations:
        return None
    name = child_name(unit.name, DEVICE_CLAIM)
    body = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": name, "namespace": unit.namespace},
        "spec": {"spec": {"devices": {"requests": [{"name": REQUEST, "exactly": devices(unit.annotations)}]}}},
    }
    origin = unit.source.origin("metadata", "annotations", DEVICE_CLASS)
    return Manifest(ObjectRef(API_VERSION, KIND, unit.namespace, name), Tree.of(body, origin))


def devices(annotations: Mapping[str, str]) -> Json:
    """Which devices are asked for: their class, how many, and expressions that they must fulfil.

    The API server would fill in how they are counted, and the list of requests is compared as a whole: it is written.
    """
    asked: dict[str, Json] = {
        "deviceClassName": annotations[DEVICE_CLASS].strip(),
        "allocationMode": "ExactCount",
        "count": int(annotations.get(DEVICE_COUNT, "").strip() or 1),
    }
    lines = [line.strip() for line in annotations.get(SELECTOR, "").split("\n")]
    if any(lines):
        asked["selectors"] = [{"cel": {"expression": line}} for line in lines if line]
    return asked
