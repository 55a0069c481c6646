"""Keys of Secrets and ConfigMaps that pods refer to, held against those that are declared.

Decides which keys a pod cannot do without. Says nothing of objects that nobody declares, or declares without keys: most
clusters have more than is written down. What the compiler itself refers to is judged where it is made (`credentials`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.names import PULL_KEYS
from kservec.core.paths import lookup
from kservec.core.pods.templates import TEMPLATES
from kservec.core.remembering import once_a_run
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from kservec.core.bundle import Manifest
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

KEY_MISSING = Code(
    "pod/key-missing",
    Severity.WARNING,
    "a reference to a key that is not there",
    "The Secret or ConfigMap is declared with all its keys, and the one that the pod refers to is not among them. The "
    "kubelet starts no container whose variable or volume needs a key that is missing, unless the reference says "
    "`optional: true`; a pull secret without its key is passed over. Secrets and ConfigMaps that are declared without "
    "any keys, or to which a controller adds some, are not looked at.",
)
SECRET, CONFIG_MAP = "Secret", "ConfigMap"
VARIABLES = (("secretKeyRef", SECRET), ("configMapKeyRef", CONFIG_MAP))
VOLUMES = (("secret", SECRET, "secretName"), ("configMap", CONFIG_MAP, "name"))
FILES = ("secret", "configMap", "projected")
"""The sources of volumes that may list keys."""


class Reference(NamedTuple):
    """A key that a pod refers to, or several of which any will do; `by` is what refers to it, `at` where."""

    kind: str
    name: str
    keys: tuple[str, ...]
    by: str
    at: Path


@once_a_run
def lacks(env: Env, namespace: str, kind: str, name: str, key: str) -> bool:
    """Whether an object is known not to have a key. The pods of a fleet refer to few."""
    known = known_keys(env, namespace, kind, name)
    return bool(known) and key not in known


def known_keys(env: Env, namespace: str, kind: str, name: str) -> frozenset[str]:
    """The keys of an object that is declared; none if they are not all known."""
    cluster, declared = env.cluster, (namespace, name)
    if kind == CONFIG_MAP and declared in cluster.open_maps:
        return frozenset()
    if kind == CONFIG_MAP:
        return frozenset((*cluster.config_maps.get(declared, ()), *cluster.binary_keys.get(declared, ())))
    secret = cluster.secrets.get(declared)
    return secret.keys if secret is not None and secret.all_known else frozenset()


def missing_keys(unit: Unit, made: Manifest, env: Env) -> list[Diagnostic]:
    """Warnings about keys that pods of an object refer to, of objects whose keys are known and do not have them."""
    found = []
    for path in TEMPLATES.get((made.ref.group, made.ref.kind), ()):
        for reference in lacking(lookup(made.body.value, (*path, "spec")) or {}, made.ref.namespace, env):
            at = (*path, "spec", *reference.at)
            if is_written(made, at):
                found.append(missing(unit, made, reference._replace(at=at), env))
    return found


def is_written(made: Manifest, at: Path) -> bool:
    """Whether somebody wrote what stands at a path, letter by letter; the compiler makes its own references of less."""
    found = made.body.origin(at)
    if found is None or found[0].doc is None:
        return False
    return bool(lookup(found[0].doc.value, (*found[0].at, *found[1])) == made.body.get(*at))


def missing(unit: Unit, made: Manifest, reference: Reference, env: Env) -> Diagnostic:
    """The warning about one reference."""
    kind, name, keys = reference.kind, reference.name, reference.keys
    namespace = made.ref.namespace
    shown, wanted = f"{kind} {namespace}/{name}", " or ".join(keys)
    meant = closest(wanted, known_keys(env, namespace, kind, name)) if keys is not PULL_KEYS else None
    secret = env.cluster.secrets.get((namespace, name)) if kind == SECRET else None
    return Diagnostic(
        code=KEY_MISSING,
        message=f"{shown} has no key {wanted}, which {reference.by} refers to",
        span=made.body.span(reference.at),
        help=f"did you mean {meant}?" if meant is not None else f"add {keys[0]} to {shown}",
        related=((secret.span, "declared here"),) if secret is not None and secret.span is not None else (),
        subject=unit.ref,
    )


def lacking(pod: Json, namespace: str, env: Env) -> list[Reference]:
    """The keys that a pod cannot do without, and that are not there."""
    found: list[Reference] = []
    for field in ("containers", "initContainers"):
        for container in pod.get(field) or ():
            for variable in container.get("env") or ():
                if "valueFrom" in variable:
                    at = (field, container["name"], "env", variable["name"])
                    found += of_variable(variable, at, namespace, env)
    for volume in pod.get("volumes") or ():
        if not volume.keys().isdisjoint(FILES):
            found += of_volume(volume, namespace, env)
    for i, secret in enumerate(pod.get("imagePullSecrets") or ()):
        if all(lacks(env, namespace, SECRET, secret.get("name", ""), key) for key in PULL_KEYS):
            found.append(
                Reference(SECRET, secret["name"], PULL_KEYS, "the pull of images", ("imagePullSecrets", i, "name"))
            )
    return found


def of_variable(variable: Json, at: Path, namespace: str, env: Env) -> list[Reference]:
    """The key that a variable gets its value of, if it is needed and not there; `at` leads to the variable."""
    found = []
    for source, kind in VARIABLES:
        key = variable["valueFrom"].get(source)
        if key and lacks(env, namespace, kind, key["name"], key["key"]) and not key.get("optional"):
            by = f"{variable['name']} of container {at[1]}"
            found.append(Reference(kind, key["name"], (key["key"],), by, (*at, "valueFrom", source, "key")))
    return found


def of_volume(volume: Json, namespace: str, env: Env) -> Iterator[Reference]:
    """The keys that a volume is to have files of, where it lists them."""
    at: Path = ("volumes", volume["name"])
    sources = [(volume.get(field), kind, named, (*at, field)) for field, kind, named in VOLUMES]
    for i, part in enumerate((volume.get("projected") or {}).get("sources") or ()):
        places = (("secret", SECRET), ("configMap", CONFIG_MAP))
        sources += [(part.get(field), kind, "name", (*at, "projected", "sources", i, field)) for field, kind in places]
    for source, kind, named, place in sources:
        for i, item in enumerate((source or {}).get("items") or ()):
            if lacks(env, namespace, kind, source[named], item["key"]) and not source.get("optional"):
                path = (*place, "items", i, "key")
                yield Reference(kind, source[named], (item["key"],), f"volume {volume['name']}", path)
