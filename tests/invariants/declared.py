"""What is there: made by the run, declared for the cluster, named by the users' own files, or part of every cluster."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from tests import libyaml

from .output import Object, Output, maps, name, namespace

if TYPE_CHECKING:
    from collections.abc import Iterator

ANYWHERE = "*"
SETTINGS = "inferenceservice-config"
"""KServe's configuration: sections of JSON as texts."""
ALWAYS_THERE = {
    ("ServiceAccount", "default"),
    ("ConfigMap", "kube-root-ca.crt"),
    ("PriorityClass", "system-cluster-critical"),
    ("PriorityClass", "system-node-critical"),
    ("ClusterRole", "system:auth-delegator"),
    ("ClusterRole", "system:openshift:scc:openshift-ai-llminferenceservice-multi-node-scc"),
    ("Gateway", "mesh"),
    ("AppProject", "default"),
    ("DeviceClass", "gpu.nvidia.com"),
}
"""What every cluster has, or the platform that is compiled for by default, drivers of devices included."""
BY_DEFAULT = {
    ("kserve", "kserve-ingress-gateway"),
    ("knative-serving", "knative-ingress-gateway"),
    ("knative-serving", "knative-local-gateway"),
}
"""Gateways that KServe's own configuration names."""
LISTS_OF_CLUSTER = {
    "secrets": "Secret",
    "serviceAccounts": "ServiceAccount",
    "gateways": "Gateway",
    "configMaps": "ConfigMap",
}
MAKERS_OF_SECRETS = {
    "Certificate": ("secretName",),
    "ExternalSecret": ("target", "name"),
    "SealedSecret": ("template", "metadata", "name"),
}
USERS_LISTS = {"parentRefs": "Gateway", "refs": "Gateway", "backendRefs": "Service"}
"""Fields of users' files that list references, and the kind that is meant where none is written."""
USERS_FIELDS = {
    ("backendRef", ""): "Service",
    ("endpointPickerRef", ""): "Service",
    ("extensionRef", ""): "Service",
    ("authenticationRef", ""): "TriggerAuthentication",
    ("pool", "ref"): "InferencePool",
    ("pvc", "ref"): "PersistentVolumeClaim",
    ("token", ""): "Secret",
}
"""Fields of users' files that hold a reference, some below a field of their own, and the kind that is meant."""
DEVICE_CLASS = "serving.kserve.io/exp-dra-device-class"
_find_bundles = re.compile(r"cabundle[_-]configmap[\\\\\": ]+([\w.-]+)").findall
_find_words = re.compile(r"[\w/-]+(?:[.:][\w/-]+)*").findall
_find_claims = re.compile(r"pvc://([^/\s\"']+)").findall


class Reference(NamedTuple):
    """What something names: a kind, a namespace (`*` where it is not known, empty for none) and a name."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


ROLES = {
    "configMap": ("ConfigMap", "name"),
    "configMapRef": ("ConfigMap", "name"),
    "configMapKeyRef": ("ConfigMap", "name"),
    "secret": ("Secret", "secretName"),
    "secretRef": ("Secret", "name"),
    "secretKeyRef": ("Secret", "name"),
    "nodePublishSecretRef": ("Secret", "name"),
    "persistentVolumeClaim": ("PersistentVolumeClaim", "claimName"),
}
"""Fields whose value refers to an object, and the key of its name."""
NAMES = {
    "serviceAccountName": "ServiceAccount",
    "priorityClassName": "PriorityClass",
    "runtimeClassName": "RuntimeClass",
    "resourceClaimTemplateName": "ResourceClaimTemplate",
    "resourceClaimName": "ResourceClaim",
    "storageClassName": "StorageClass",
    "deviceClassName": "DeviceClass",
}
"""Fields whose value is the name of an object."""


def references_in(value: Any, place: str) -> Iterator[Reference]:
    """What a pod, or anything that pods are made of, refers to in a namespace. Optional references are left out."""
    for part in maps(value):
        for field, (kind, key) in ROLES.items():
            held = part.get(field)
            if isinstance(held, dict) and not held.get("optional"):
                asked = held.get(key) or (held.get("name") if field == "secret" else None)
                yield from [Reference(kind, place, asked)] if isinstance(asked, str) and asked else []
        for field, kind in NAMES.items():
            if isinstance(part.get(field), str) and part[field]:
                yield Reference(kind, place, part[field])
        for held in part.get("imagePullSecrets") or ():
            if isinstance(held, dict) and held.get("name"):
                yield Reference("Secret", place, held["name"])


class Said:
    """What a finding says."""

    def __init__(self, text: str) -> None:
        self.words = set(_find_words(text))
        self.plain = text.replace(" ", "").lower()

    def names(self, wanted: Reference) -> bool:
        """Whether it speaks of an object, by its kind and its name."""
        called = {wanted.name, f"{wanted.namespace}/{wanted.name}"}
        return wanted.kind.lower() in self.plain and bool(called & self.words)


class Declared:
    """All that an output may refer to."""

    def __init__(self, output: Output) -> None:
        documents = (*output.inputs, *output.cluster)
        self.known = {reference for body in (*output.objects, *documents) for reference in made_by(body)} | {
            reference for body in documents for reference in (*listed_by(body), *named_by(body))
        }
        self.settings = {text for body in documents for text in settings_of(body)}
        self.said = tuple(Said(finding.text) for finding in output.findings)
        self.generated = {n for body in output.objects for n in services_made_by(body)}

    def has(self, wanted: Reference) -> bool:
        """Whether something is there, or a finding says that it is not."""
        kind, place, called = wanted
        is_known = wanted in self.known or Reference(kind, ANYWHERE, called) in self.known
        is_set = f"{place}/{called}" in self.settings or called in self.settings
        is_default = (kind, called) in ALWAYS_THERE or (kind == "Gateway" and (place, called) in BY_DEFAULT)
        is_said = any(said.names(wanted) for said in self.said)
        return is_known or is_set or is_default or is_said


def made_by(body: Object) -> Iterator[Reference]:
    """The object itself, and the Secret that something will make of it."""
    kind = str(body.get("kind"))
    yield Reference(kind, namespace(body), name(body))
    if not namespace(body):
        yield Reference(kind, "default", name(body))
    if kind in MAKERS_OF_SECRETS:
        held: Any = body.get("spec") or {}
        for key in MAKERS_OF_SECRETS[kind]:
            held = held.get(key) or {}
        yield Reference("Secret", namespace(body) or "default", held or name(body))


def listed_by(body: Object) -> Iterator[Reference]:
    """What a Cluster document says that there is."""
    if body.get("kind") == "Cluster":
        for field, kind in LISTS_OF_CLUSTER.items():
            for entry in body.get(field) or ():
                yield Reference(kind, entry.get("namespace") or "default", entry["name"])
        issuer = (body.get("certificates") or {}).get("issuer")
        if issuer:
            yield Reference(issuer.get("kind", "Issuer"), ANYWHERE, issuer["name"])


def named_by(body: Object) -> frozenset[Reference]:
    """What users' files name in the very role in which the output names it: it is theirs to be there."""
    return named_in(json.dumps(body))


@cache
def named_in(text: str) -> frozenset[Reference]:
    """What the document of a text names. Runtimes and the configuration are the same ones in most outputs."""
    return frozenset(named_in_document(json.loads(text), text))


def named_in_document(body: Object, text: str) -> Iterator[Reference]:
    """What a document names, which is also given as text."""
    yield from references_in(body, ANYWHERE)
    yield from (Reference("PersistentVolumeClaim", ANYWHERE, claim) for claim in _find_claims(text))
    yield from (Reference("ConfigMap", ANYWHERE, bundle) for bundle in _find_bundles(text))
    for part in maps(body):
        for field, kind in USERS_LISTS.items():
            yield from (Reference(held.get("kind", kind), ANYWHERE, held["name"]) for held in named(part.get(field)))
        for (outer, inner), kind in USERS_FIELDS.items():
            held = part.get(outer) or {}
            yield from (
                Reference(one.get("kind", kind), ANYWHERE, one["name"])
                for one in named([held.get(inner) if inner and isinstance(held, dict) else held])
            )
        if isinstance(part.get(DEVICE_CLASS), str):
            yield Reference("DeviceClass", ANYWHERE, part[DEVICE_CLASS].strip())


def named(value: Any) -> list[Object]:
    """The maps of a list that have a name."""
    held = value if isinstance(value, list) else []
    return [part for part in held if isinstance(part, dict) and isinstance(part.get("name"), str)]


def settings_of(body: Object) -> Iterator[str]:
    """Every text in KServe's configuration, whether it stands in its ConfigMap or in a Cluster document."""
    if body.get("kind") == "ConfigMap" and name(body) == SETTINGS:
        for section in (body.get("data") or {}).values():
            yield from texts_in(libyaml.load(section))
    if body.get("kind") == "Cluster":
        yield from texts_in(body.get("inferenceServiceConfig") or {})


def texts_in(value: Any) -> Iterator[str]:
    """Every text of a value."""
    if isinstance(value, str):
        yield value
    for part in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_in(part)


def services_made_by(body: Object) -> Iterator[tuple[str, str]]:
    """The Services, by namespace and name, that a controller makes for an object."""
    if body["kind"] == "Service":
        yield namespace(body), name(body)
    if body["kind"] == "OpenTelemetryCollector":
        yield namespace(body), f"{name(body)}-collector"
