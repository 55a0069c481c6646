"""What an overlay breaks: references that it does not follow, credentials that it leaves behind, patches in vain.

Kustomize follows names in built-in kinds alone. A name in a KServe object that changes elsewhere would lead nowhere,
and the cluster would be the first to say so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.paths import lookup
from kservec.overlays.images import image_findings
from kservec.overlays.kustomization import Kustomization
from kservec.overlays.objects import DEFAULT_NAMESPACE, Gathered, Gathering
from kservec.overlays.operations import operation_findings
from kservec.overlays.vain import in_vain

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.paths import Json, Path
    from kservec.overlays.closure import Closure
    from kservec.overlays.result import Made

MERGED = Code(
    "overlay/namespaces-merged",
    Severity.WARNING,
    "several namespaces that become one",
    "`namespace:` of a kustomization sets the namespace of all objects, wherever they were. What is kept apart by its "
    "namespace (quotas, credentials, network rules) is no longer.",
)
REPLICAS = Code(
    "overlay/replicas",
    Severity.ERROR,
    "replicas of something that is scaled otherwise",
    "`replicas:` of a kustomization sets `spec.replicas` of Deployments and the like. A KServe object has minReplicas "
    "and maxReplicas, which a patch can set.",
)
BROKEN = Code(
    "overlay/reference-broken",
    Severity.ERROR,
    "a name that changes where it is defined, and not where it is used",
    "namePrefix, nameSuffix and the hashes of generated names change names of objects. Kustomize follows them in "
    "built-in kinds, and not in those of KServe.",
)
LEFT = Code(
    "overlay/service-account-left",
    Severity.ERROR,
    "a service account that stays behind in another namespace",
    "`namespace:` moves the services, and not what the platform's documents describe. The service account is there in "
    "the old namespace only, so downloads would have no credentials.",
)
REORDERED = Code(
    "overlay/containers-reordered",
    Severity.WARNING,
    "a patch that puts another container first",
    "Kustomize puts what a patch names before what it does not, and KServe takes the first container of a component "
    "for the one that serves. Name that one first in the patch, too.",
)
UNREACHED = Code(
    "overlay/unreached-source",
    Severity.WARNING,
    "a source that the overlay does not reach",
    "An overlay stands for the sources of the project: what it does not reach is not compiled. List the file in a "
    "kustomization that the overlay refers to.",
)

KSERVE = "serving.kserve.io"
SCALED = ("InferenceGraph", "InferenceService", "LLMInferenceService")
COMPONENTS = ("predictor", "transformer", "explainer")
RUNTIMES = ("ClusterServingRuntime", "ServingRuntime")
DIRECT: Mapping[str, tuple[str, ...]] = {
    "serviceName": ("InferenceService",),
    "inferenceService": ("InferenceService",),
    "runtime": RUNTIMES,
    "serviceAccountName": ("ServiceAccount",),
    "claimName": ("PersistentVolumeClaim",),
    "secretName": ("Secret",),
}
"""Fields of KServe's kinds whose value is the name of an object, and the kinds of that."""
NAMED: Mapping[str, tuple[str, ...]] = {
    "baseRefs": ("LLMInferenceServiceConfig",),
    "configMap": ("ConfigMap",),
    "configMapKeyRef": ("ConfigMap",),
    "configMapRef": ("ConfigMap",),
    "imagePullSecrets": ("Secret",),
    "secretKeyRef": ("Secret",),
    "secretRef": ("Secret",),
}
"""Fields that hold a map with the name of an object, or a list of such maps."""


class Named(NamedTuple):
    """A name in an object: where it stands, and the kinds of what may be meant."""

    path: Path
    kinds: tuple[str, ...]
    name: str


def names_in(value: Json, path: Path = (), kinds: tuple[str, ...] = ()) -> Iterator[Named]:
    """Every name of another object in a KServe object; `kinds` are those of what holds `value`."""
    if isinstance(value, list):
        for i, item in enumerate(value):
            yield from names_in(item, (*path, i), kinds)
    if not isinstance(value, dict):
        return
    for key, child in value.items():
        meant = kinds if key == "name" else DIRECT.get(key, ())
        if meant and isinstance(child, str):
            yield Named((*path, key), meant, child)
        elif isinstance(child, dict | list):
            yield from names_in(child, (*path, key), NAMED.get(key, ()))


def before_findings(closure: Closure, gathering: Gathering) -> Iterator[Diagnostic]:
    """What can be told before kustomize is run: patches in vain, replicas, namespaces that become one."""
    yield from operation_findings(patch for patches in closure.patches.values() for patch in patches)
    for patch, fit, there in gathering.laid:
        if not fit:
            yield in_vain(patch, there)
    for kustomization in closure.kustomizations.values():
        yield from replica_findings(kustomization, gathering.objects)
        yield from merged_findings(kustomization, gathering.objects)
    yield from image_findings(closure, gathering.objects)


def replica_findings(kustomization: Kustomization, objects: Sequence[Gathered]) -> Iterator[Diagnostic]:
    """Errors about `replicas:` of KServe objects."""
    scaled = {name.name: name for known in objects for name in known.ids if name.kind in SCALED}
    for i, item in kustomization.items("replicas"):
        called = scaled.get(str(item.get("name"))) if isinstance(item, dict) else None
        if called is not None:
            field = "spec.predictor.minReplicas" if called.kind == "InferenceService" else "spec.minReplicas"
            field = "spec.replicas" if called.kind == "LLMInferenceService" else field
            yield Diagnostic(
                code=REPLICAS,
                message=f"replicas does not reach {called.kind} {called.name}",
                span=kustomization.span("replicas", i, "name"),
                help=f"write a patch that sets {field}",
            )


def merged_findings(kustomization: Kustomization, objects: Sequence[Gathered]) -> Iterator[Diagnostic]:
    """A warning about objects of several namespaces that a kustomization moves into one."""
    before = {known.first.namespace for known in objects if kustomization in known.layers and known.last.namespace} - {
        ""
    }
    if kustomization.text("namespace") and len(before) > 1:
        yield Diagnostic(
            code=MERGED,
            message=f"objects of {', '.join(sorted(before))} all move to {kustomization.text('namespace')}",
            span=kustomization.span("namespace"),
            help="set the namespaces by patches, or have an overlay for each namespace",
        )


def after_findings(made: Sequence[Made], accounts: Collection[tuple[str, str]]) -> Iterator[Diagnostic]:
    """What is wrong with the references of what kustomize made.

    Args:
        made: its objects.
        accounts: the service accounts of the platform, by namespace and name.
    """
    origins = [m for m in made if m.origin is not None]
    names = {(m.called.kind, m.called.name) for m in made}
    moved = {(m.called.kind, name): m for m in origins for name in former_names(m)}
    there = {(m.called.place, m.called.name) for m in made if m.called.kind == "ServiceAccount"} | set(accounts)
    for user in origins:
        if user.called.group != KSERVE:
            continue
        yield from reordered(user)
        for named in names_in(user.document.value.get("spec")):
            path = ("spec", *named.path)
            meant = [(kind, named.name) for kind in named.kinds]
            now = next((moved[one] for one in meant if one in moved), None)
            if now is not None and not names.intersection(meant):
                yield broken(user, path, named, now)
            elif named.kinds == ("ServiceAccount",):
                yield from left_behind(user, path, named.name, there)


def former_names(made: Made) -> list[str]:
    """The names that an object had, and has no more."""
    ids = made.origin.ids if made.origin is not None else ()
    return [called.name for called in ids if called.name != made.called.name]


def reordered(user: Made) -> Iterator[Diagnostic]:
    """Warnings about components whose first container is another one than in the file."""
    before = user.origin.document.value if user.origin is not None and user.origin.document is not None else {}
    for component in COMPONENTS if user.called.kind == "InferenceService" else ():
        at = ("spec", component, "containers")
        old, new = (lookup(value, (*at, 0, "name")) for value in (before, user.document.value))
        if old and new and old != new and lookup(user.document.value, (*at, old)) is not None:
            yield Diagnostic(
                code=REORDERED,
                message=f"a patch puts the container {new} of {user.called} before {old}, which serves",
                span=user.document.span((*at, 0, "name")),
                help=f"write `- name: {old}` before it in the patch",
            )


def broken(user: Made, path: Path, named: Named, moved: Made) -> Diagnostic:
    """The error about a name that changed elsewhere."""
    assert moved.origin is not None
    why = next(spans_of_affixes(moved), None)
    generated = moved.origin.document is None
    hint = "leave out namePrefix and nameSuffix: environments differ by namespace or cluster; or patch this name, too"
    if generated:
        also = ", and leave out namePrefix and nameSuffix" if why is not None else ""
        hint = f"write `generatorOptions: {{disableNameSuffixHash: true}}` into the kustomization{also}"
    return Diagnostic(
        code=BROKEN,
        message=f"{user.called.kind} {user.called.name} refers to {named.name}, now called {moved.called.name}",
        span=user.document.span(path),
        related=((why, "this changes its name"),) if why is not None else (),
        help=hint,
    )


def spans_of_affixes(moved: Made) -> Iterator[Span]:
    """Where the prefixes and suffixes stand that an object got."""
    layers = moved.origin.layers if moved.origin is not None else ()
    for layer in layers:
        if isinstance(layer, Kustomization):
            yield from (layer.span(field) for field in ("namePrefix", "nameSuffix") if layer.text(field))


def left_behind(user: Made, path: Path, name: str, there: Collection[tuple[str, str]]) -> Iterator[Diagnostic]:
    """The error about a service account that is in the namespace that a service came from, and not where it is."""
    assert user.origin is not None
    before, now = user.origin.first.namespace or DEFAULT_NAMESPACE, user.called.place
    if before != now and (now, name) not in there and (before, name) in there:
        why = next(
            (k.span("namespace") for k in user.origin.layers if isinstance(k, Kustomization) and k.text("namespace")),
            None,
        )
        yield Diagnostic(
            code=LEFT,
            message=f"service account {name} of {user.called.kind} {user.called.name} is in {before}, and not in {now}",
            span=user.document.span(path),
            related=((why, "this moves the service"),) if why is not None else (),
            help=f"describe it for {now} among the platform's documents of this environment",
        )
