"""Whatever an object names is in the output, is declared for the cluster, or a finding says that it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .declared import Declared, Reference, references_in
from .output import Object, Output, name, namespace, title

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTER_WIDE = {"ClusterRole", "PriorityClass", "RuntimeClass", "StorageClass", "DeviceClass", "ClusterIssuer"}
"""Kinds without a namespace."""


def mounts_have_volumes(output: Output) -> Iterator[str]:
    """Every mount names a volume of its pod, and no container mounts two things at one path."""
    for pods in output.pods:
        volumes = {volume["name"] for volume in pods.spec.get("volumes") or ()}
        for container in pods.containers:
            mounts = container.get("volumeMounts") or []
            for mount in mounts:
                if mount["name"] not in volumes:
                    yield f"{title(pods.workload)}: no volume {mount['name']}"
            if len({mount["mountPath"] for mount in mounts}) < len(mounts):
                yield f"{title(pods.workload)}: {container['name']} mounts two volumes at one path"


def claims_of_containers_are_of_their_pod(output: Output) -> Iterator[str]:
    """A device that a container claims is one that its pod claims."""
    for pods in output.pods:
        claimed = {claim["name"] for claim in pods.spec.get("resourceClaims") or ()}
        for container in pods.containers:
            for claim in (container.get("resources") or {}).get("claims") or ():
                if claim["name"] not in claimed:
                    yield f"{title(pods.workload)}: no claim {claim['name']}"


def pods_name_what_is_there(output: Output) -> Iterator[str]:
    """ConfigMaps, Secrets, claims, service accounts, priority and runtime classes of pods are there."""
    for pods in output.pods:
        yield from missing(output, pods.workload, references_in(pods.spec, pods.namespace))


def volumes_and_claims_find_each_other(output: Output) -> Iterator[str]:
    """A claim of a certain volume names one that is there, and that offers what the claim asks for."""
    volumes = {name(volume): volume["spec"] for volume in output.of("PersistentVolume")}
    for claim in output.of("PersistentVolumeClaim"):
        asked = claim["spec"]
        yield from missing(output, claim, references_in(asked, ""))
        volume = volumes.get(asked.get("volumeName"))
        if asked.get("volumeName") and volume is None:
            yield f"{title(claim)}: no PersistentVolume {asked['volumeName']}"
        if volume is not None and not set(asked["accessModes"]) <= set(volume["accessModes"]):
            yield f"{title(claim)}: its volume lacks an access mode"
        if volume is not None and asked.get("storageClassName", "") != volume.get("storageClassName", ""):
            yield f"{title(claim)}: its volume is of another class"


def roles_are_bound(output: Output) -> Iterator[str]:
    """A binding names a role and service accounts that are there."""
    for binding in output.of("RoleBinding", "ClusterRoleBinding"):
        role = binding["roleRef"]
        asked = [Reference(role["kind"], namespace(binding), role["name"])]
        asked += [Reference(s["kind"], s.get("namespace", ""), s["name"]) for s in binding["subjects"]]
        yield from missing(output, binding, asked)


def companions_name_what_is_there(output: Output) -> Iterator[str]:
    """Issuers of certificates, credentials of scalers and monitors, and claims of devices are there."""
    for body in output.objects:
        yield from missing(output, body, companions(body))


def companions(body: Object) -> Iterator[Reference]:
    """What an object that runs no pods names, routes left out."""
    place, spec = namespace(body), body.get("spec") or {}
    if body["kind"] == "Certificate":
        yield Reference(spec["issuerRef"].get("kind", "Issuer"), place, spec["issuerRef"]["name"])
    if body["kind"] == "ScaledObject":
        for trigger in spec["triggers"]:
            held = trigger.get("authenticationRef")
            yield from [Reference(held.get("kind", "TriggerAuthentication"), place, held["name"])] if held else []
    if body["kind"] == "TriggerAuthentication":
        yield from (Reference("Secret", place, s["name"]) for s in spec.get("secretTargetRef") or ())
    if body["kind"] == "PodMonitor":
        for endpoint in spec["podMetricsEndpoints"]:
            held = (endpoint.get("authorization") or {}).get("credentials") or {}
            yield from [Reference("Secret", place, held["name"])] if held else []
    if body["kind"] == "ResourceClaimTemplate":
        yield from references_in(spec, place)


def owners_are_inputs(output: Output) -> Iterator[str]:
    """Whoever an object is said to come from is among the users' documents."""
    known = {(str(body.get("kind")), namespace(body) or "default", name(body)) for body in output.inputs}
    for kind, place, called in output.owners:
        if (kind, place or "default", called) not in known:
            yield f"no {kind} {place}/{called} among the inputs"


def missing(output: Output, body: Object, asked: Iterator[Reference] | list[Reference]) -> Iterator[str]:
    """What of references is not there."""
    declared = declared_in(output)
    for reference in asked:
        at = reference._replace(namespace="") if reference.kind in CLUSTER_WIDE else reference
        if not declared.has(at):
            yield f"{title(body)}: no {at}"


def declared_in(output: Output) -> Declared:
    """What an output may refer to, found once."""
    found: Declared = output.__dict__.setdefault("declared", None) or Declared(output)
    output.__dict__["declared"] = found
    return found


INVARIANTS = (
    mounts_have_volumes,
    claims_of_containers_are_of_their_pod,
    pods_name_what_is_there,
    volumes_and_claims_find_each_other,
    roles_are_bound,
    companions_name_what_is_there,
    owners_are_inputs,
)
