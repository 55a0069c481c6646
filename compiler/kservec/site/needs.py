"""What pods need from elsewhere: images, Secrets, ServiceAccounts, ConfigMaps and claims, by name; and models.

Decides where an object names them. Values of Secrets are not looked at, for there are none in what is rendered.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.paths import lookup
from kservec.core.text.confidential import without_passwords
from kservec.policy.images import images_in
from kservec.policy.scene import pods_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.diagnostics import ObjectRef
    from kservec.core.paths import Json
    from kservec.core.unit import Unit
    from kservec.policy.scene import Pod

SECRET, CONFIG_MAP, ACCOUNT, CLAIM = "Secret", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim"
DEFAULT_ACCOUNT = "default"
URI_FIELDS = ("storageUri", "sourceModelUri")


class Wanted(NamedTuple):
    """An object that has to be there. `optional`: pods start without it."""

    kind: str
    namespace: str
    name: str
    optional: bool = False


def images_of(objects: Iterable[tuple[ObjectRef, Json]]) -> tuple[str, ...]:
    """The images that pods are made of, each once, in the order of their names."""
    found = (image for ref, body in objects for pod in pods_of(ref, body) for _, image in images_in(pod))
    return tuple(sorted({image for image in found if image}))


def wanted_by(objects: Iterable[tuple[ObjectRef, Json]]) -> tuple[Wanted, ...]:
    """What the pods of objects name, each once; what any of them cannot do without is not optional."""
    found: dict[tuple[str, str, str], bool] = {}
    for ref, body in objects:
        for pod in pods_of(ref, body):
            for kind, name, optional in named_by(pod):
                key = (kind, ref.namespace, name)
                found[key] = found.get(key, True) and optional
    return tuple(Wanted(*key, optional) for key, optional in sorted(found.items()))


def named_by(pod: Pod) -> Iterator[tuple[str, str, bool]]:
    """The kind and name of each object that a pod names, and whether it can do without."""
    if (account := pod.spec.get("serviceAccountName")) and account != DEFAULT_ACCOUNT:
        yield ACCOUNT, account, False
    for secret in pod.spec.get("imagePullSecrets") or ():
        yield SECRET, secret.get("name", ""), False
    for volume in pod.spec.get("volumes") or ():
        yield from named_by_volume(volume)
    for container in pod.containers:
        yield from named_by_container(container.body)


def named_by_volume(volume: Json) -> Iterator[tuple[str, str, bool]]:
    """What a volume names."""
    if secret := volume.get("secret"):
        yield SECRET, secret.get("secretName", ""), bool(secret.get("optional"))
    if config := volume.get("configMap"):
        yield CONFIG_MAP, config.get("name", ""), bool(config.get("optional"))
    if claim := volume.get("persistentVolumeClaim"):
        yield CLAIM, claim.get("claimName", ""), False
    if reference := lookup(volume, ("csi", "nodePublishSecretRef")):
        yield SECRET, reference.get("name", ""), False
    for source in lookup(volume, ("projected", "sources")) or ():
        yield from by_reference(source, ("secret", "configMap"))


def named_by_container(container: Json) -> Iterator[tuple[str, str, bool]]:
    """What the variables of a container name."""
    for source in container.get("envFrom") or ():
        yield from by_reference(source, ("secretRef", "configMapRef"))
    for variable in container.get("env") or ():
        if source := variable.get("valueFrom"):
            yield from by_reference(source, ("secretKeyRef", "configMapKeyRef"))


def by_reference(source: Json, fields: tuple[str, str]) -> Iterator[tuple[str, str, bool]]:
    """What a reference to a Secret or a ConfigMap names."""
    for kind, field in zip((SECRET, CONFIG_MAP), fields, strict=True):
        if reference := source.get(field):
            yield kind, reference.get("name", ""), bool(reference.get("optional"))


def models_of(unit: Unit) -> tuple[str, ...]:
    """The models that a unit serves, by their URIs, without passwords."""
    spec = unit.resolved.value if unit.resolved is not None else (unit.source.document.value or {}).get("spec")
    return tuple(dict.fromkeys(without_passwords(uri) for uri in uris_in(spec)))


def uris_in(value: Json, field: str = "") -> Iterator[str]:
    """The URIs of models in a spec: `storageUri`, the entries of `storageUris`, `uri` of a model, keys of a storage."""
    if isinstance(value, list):
        for item in value:
            yield from uris_in(item, field)
    if not isinstance(value, dict):
        return
    for key in sorted(value):
        below = value[key]
        if isinstance(below, str) and (key in URI_FIELDS or (key == "uri" and field in ("model", "storageUris"))):
            yield below
        elif key == "storage" and isinstance(below, dict):
            yield from (f"{below.get('key') or 'storage'}:{path}" for path in (below.get("path"),) if path)
        else:
            yield from uris_in(below, "model" if field == "model" and key in ("lora", "adapters") else key)
