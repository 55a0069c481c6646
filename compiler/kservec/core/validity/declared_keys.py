"""Keys of Secrets and ConfigMaps that pods refer to, held against those that are declared.

Decides which keys a pod cannot do without. Says nothing of objects that nobody declares, or declares without keys: most
clusters have more than is written down. What the compiler itself refers to is judged where it is made (`credentials`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.cluster import Cluster
    from kservec.core.diagnostics import Span
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

KEY_MISSING = Code(
    "pod/key-missing",
    Severity.WARNING,
    "a reference to a key that is not there",
    "The Secret or ConfigMap is declared with all its keys, and the one that the pod refers to is not among them. The "
    "kubelet starts no container whose variable or volume needs a key that is missing, unless the reference says "
    "`optional: true`; a pull secret without its key is passed over. Secrets and ConfigMaps that are declared without "
    "any keys are not looked at.",
)
SECRET, CONFIG_MAP = "Secret", "ConfigMap"
VARIABLES = (("secretKeyRef", SECRET), ("configMapKeyRef", CONFIG_MAP))
VOLUMES = (("secret", SECRET, "secretName"), ("configMap", CONFIG_MAP, "name"))
PROJECTED = (("secret", SECRET, "name"), ("configMap", CONFIG_MAP, "name"))
PULL_KEYS = (".dockerconfigjson", ".dockercfg")
"""The keys of pull secrets, of which either will do."""


class Reference(NamedTuple):
    """A key that a pod refers to, or several of which any will do; `by` is what refers to it, `at` where."""

    kind: str
    name: str
    keys: tuple[str, ...]
    by: str
    at: Path


class Known(NamedTuple):
    """The keys of an object that is declared, and where."""

    keys: frozenset[str]
    span: Span | None = None


def missing_keys(unit: Unit, made: Manifest, cluster: Cluster) -> Iterator[Diagnostic]:
    """Warnings about keys that pods of an object refer to, of objects whose keys are known and do not have them."""
    for path in TEMPLATES.get((made.ref.group, made.ref.kind), ()):
        for reference in references(made.body.get(*path, "spec") or {}):
            known = known_keys(reference, made.ref.namespace, cluster)
            at = (*path, "spec", *reference.at)
            if known is not None and known.keys.isdisjoint(reference.keys) and is_written(made, at):
                yield missing(unit, made, reference._replace(at=at), known)


def known_keys(reference: Reference, namespace: str, cluster: Cluster) -> Known | None:
    """The keys of what is referred to; None if they are not all known."""
    if reference.kind == SECRET:
        secret = cluster.secrets.get((namespace, reference.name))
        return Known(secret.keys, secret.span) if secret is not None and secret.complete and secret.keys else None
    texts = cluster.config_maps.get((namespace, reference.name))
    keys = frozenset(texts or ()) | cluster.binary_keys.get((namespace, reference.name), frozenset())
    return Known(keys) if keys else None


def is_written(made: Manifest, at: Path) -> bool:
    """Whether somebody wrote what stands at a path, letter by letter; the compiler makes its own references of less."""
    found = made.body.origin(at)
    if found is None or found[0].doc is None:
        return False
    return bool(lookup(found[0].doc.value, (*found[0].at, *found[1])) == made.body.get(*at))


def missing(unit: Unit, made: Manifest, reference: Reference, known: Known) -> Diagnostic:
    """The warning about one reference."""
    shown, wanted = f"{reference.kind} {made.ref.namespace}/{reference.name}", " or ".join(reference.keys)
    meant = closest(wanted, known.keys) if reference.keys is not PULL_KEYS else None
    return Diagnostic(
        code=KEY_MISSING,
        message=f"{shown} has no key {wanted}, which {reference.by} refers to",
        span=made.body.span(reference.at),
        help=f"did you mean {meant}?" if meant is not None else f"add {reference.keys[0]} to {shown}",
        related=((known.span, "declared here"),) if known.span is not None else (),
        subject=unit.ref,
    )


def references(pod: Json) -> Iterator[Reference]:
    """The keys that a pod cannot do without."""
    for field in ("containers", "initContainers"):
        for container in pod.get(field) or ():
            for variable in container.get("env") or ():
                if "valueFrom" in variable:
                    by = f"{variable['name']} of container {container['name']}"
                    yield from of_variable(variable, by, (field, container["name"], "env", variable["name"]))
    for volume in pod.get("volumes") or ():
        yield from of_volume(volume, f"volume {volume['name']}", ("volumes", volume["name"]))
    for i, secret in enumerate(pod.get("imagePullSecrets") or ()):
        if "name" in secret:
            yield Reference(SECRET, secret["name"], PULL_KEYS, "the pull of images", ("imagePullSecrets", i, "name"))


def of_volume(volume: Json, by: str, at: Path) -> Iterator[Reference]:
    """The keys that a volume has files of."""
    for field, kind, named in VOLUMES:
        if field in volume:
            yield from of_items(volume[field], (kind, named), by, (*at, field))
    for i, part in enumerate(volume["projected"].get("sources") or ()) if "projected" in volume else ():
        for field, kind, named in PROJECTED:
            yield from of_items(part.get(field), (kind, named), by, (*at, "projected", "sources", i, field))


def of_variable(variable: Json, by: str, at: Path) -> Iterator[Reference]:
    """The key that gives a variable its value."""
    for field, kind in VARIABLES:
        source = (variable["valueFrom"] or {}).get(field)
        if source and not source.get("optional"):
            yield Reference(kind, source["name"], (source["key"],), by, (*at, "valueFrom", field, "key"))


def of_items(source: Json, what: tuple[str, str], by: str, at: Path) -> Iterator[Reference]:
    """The keys that a volume has files of, where it lists them. `what` is the kind, and the field with the name."""
    if not source or source.get("optional"):
        return
    for i, item in enumerate(source.get("items") or ()):
        yield Reference(what[0], source[what[1]], (item["key"],), by, (*at, "items", i, "key"))
