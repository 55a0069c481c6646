"""Delivery: a rendered tree becomes one that Argo CD and Flux can sync. Pure.

Decides what the objects carry for these tools, and adds the objects that the tools themselves read, below `_gitops/`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, ObjectRef, Severity
from kservec.emit import dump
from kservec.gitops.annotations import annotated
from kservec.gitops.argocd import argocd_objects, argocd_root
from kservec.gitops.flux import flux_objects, flux_root
from kservec.gitops.health import argocd_cm
from kservec.gitops.rendered import GITOPS_FOLDER, Rendered
from kservec.gitops.shards import is_for_tools, shards_of
from kservec.gitops.substitution import is_mixed, substitution
from kservec.gitops.waves import CLAIM, claimed, wave_annotation
from kservec.project.gitops import SETTING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from kservec.core.tree import Json
    from kservec.gitops.shards import Shard
    from kservec.project.settings import Settings

LARGE_SHARD = Code(
    "gitops/large-shard",
    Severity.WARNING,
    "an Application or Kustomization of very many objects",
    "Kustomize takes more than twice the time for twice the objects: a second for 500, more than ten for 3,000. Argo "
    "CD and Flux run it at every change. Let `gitops.shard` in kservec.yaml make smaller parts.",
)
MIXED = Code(
    "gitops/mixed-variables",
    Severity.WARNING,
    "an object in which Flux would replace too much or nothing",
    "The object holds variables of `gitops.flux.substitute` and other texts of the form ${...}, which Flux would make "
    "empty. So Flux is told to leave the object alone. Put the value into an overlay instead.",
)
MOST_OBJECTS = 1500
ARGOCD_FOLDER, FLUX_FOLDER, BOOTSTRAP_FOLDER, HEALTH_FOLDER = (
    f"{GITOPS_FOLDER}/{name}" for name in ("argocd", "flux", "bootstrap", "health")
)
CONFIRMED = {"argocd.argoproj.io/sync-options": "Delete=confirm,Prune=confirm"}
KEPT = {"kustomize.toolkit.fluxcd.io/prune": "disabled"}
HANDLE = "\n  volumeName: "
"""In a claim: the volume is there on its own, and the claim is but a handle, which nobody loses anything with."""


class Remark(NamedTuple):
    """Something to tell: the setting below `gitops` that it is about, the code, what is the matter, what to do."""

    setting: tuple[str, ...]
    code: Code
    message: str
    remedy: str


class Delivery(NamedTuple):
    """The objects of a tree with all that is for the tools, and what is to be told."""

    objects: tuple[Rendered, ...]
    remarks: tuple[Remark, ...] = ()


def delivered(objects: Sequence[Rendered], settings: Settings) -> Delivery:
    """A tree made ready for the tools of an environment. One without objects stays as it is, without any for tools."""
    if settings.gitops.tool == "none" or not objects:
        return Delivery(tuple(objects))
    return with_tools(noted_objects(objects, settings), settings)


def noted_objects(objects: Sequence[Rendered], settings: Settings) -> tuple[Rendered, ...]:
    """Objects with what the tools of an environment are to know of them."""
    mounted = claimed(objects)
    return tuple(with_notes(o, settings, mounted) for o in objects)


def with_tools(noted: Sequence[Rendered], settings: Settings) -> Delivery:
    """All objects of a tree, which the tools know what they need of, with those that the tools themselves read."""
    shards = shards_of(noted, settings)
    added = tuple(tool_objects(noted, settings, shards))
    remarks = (*large_shards(shards, settings), *mixed(noted, settings), *made_twice(noted, settings))
    return Delivery((*noted, *added), remarks)


def with_notes(rendered: Rendered, settings: Settings, mounted: frozenset[tuple[str, str]]) -> Rendered:
    """An object with what the tools are to know of it."""
    gitops, notes = settings.gitops, dict[str, str]()
    protected = rendered.ref.kind in gitops.protect and not (rendered.ref.kind == CLAIM and HANDLE in rendered.text)
    if gitops.for_argocd:
        notes |= CONFIRMED if protected else {}
        notes |= wave_annotation(rendered, mounted) if gitops.argocd.waves else {}
    if gitops.for_flux:
        notes |= KEPT if protected else {}
        notes |= substitution(rendered, gitops.flux.substitute)
    return rendered._replace(text=annotated(rendered.text, notes)) if notes else rendered


def tool_objects(objects: Sequence[Rendered], settings: Settings, shards: Sequence[Shard]) -> Iterator[Rendered]:
    """The objects that the tools themselves read, in a stable order."""
    if settings.gitops.for_argocd:
        for body in argocd_objects(settings, shards, cluster_kinds(objects)):
            yield placed(body, settings, ARGOCD_FOLDER)
        yield placed(argocd_root(settings), settings, BOOTSTRAP_FOLDER)
        yield placed(argocd_cm(settings.gitops.argocd.namespace), settings, HEALTH_FOLDER)
    if settings.gitops.for_flux:
        for body in flux_objects(settings, shards, unbound_shards(objects, settings)):
            yield placed(body, settings, FLUX_FOLDER)
        yield placed(flux_root(settings), settings, BOOTSTRAP_FOLDER)


def placed(body: Json, settings: Settings, folder: str) -> Rendered:
    """An object for the tools in its folder; it belongs to the environment."""
    metadata = body["metadata"]
    ref = ObjectRef(body["apiVersion"], body["kind"], metadata["namespace"], metadata["name"])
    owner = ObjectRef("kservec.dev/v1alpha1", "Project", "", settings.name)
    return Rendered(ref, dump(body), owner, place=folder)


def cluster_kinds(objects: Sequence[Rendered]) -> list[Json]:
    """The kinds without namespace that are in a tree, sorted."""
    kinds = {(o.ref.group, o.ref.kind) for o in objects if not o.ref.namespace and not is_for_tools(o)}
    return [{"group": group, "kind": kind} for group, kind in sorted(kinds)]


def unbound_shards(objects: Sequence[Rendered], settings: Settings) -> tuple[Shard, ...]:
    """Shards with a claim that may stay unbound until a pod of another shard mounts it."""
    held = [o for o in objects if o.ref.kind == CLAIM and HANDLE not in o.text]
    steps = {shard.steps for shard in shards_of(held, settings)}
    return tuple(shard for shard in shards_of(objects, settings) if shard.steps in steps)


def large_shards(shards: Sequence[Shard], settings: Settings) -> Iterator[Remark]:
    """Warnings about shards that kustomize is slow with."""
    for shard in shards:
        if shard.objects > MOST_OBJECTS:
            finer = "unit" if shard.steps else "namespace"
            message = f"{shard.name} has {shard.objects:,} objects, more than {MOST_OBJECTS:,}; kustomize gets slow"
            remedy = "" if settings.gitops.shard == "unit" else f"set shard: {finer}"
            yield Remark(("shard",), LARGE_SHARD, message, remedy)


def made_twice(objects: Sequence[Rendered], settings: Settings) -> Iterator[Remark]:
    """Errors about namespaces that are in the tree, and that Argo CD is to make as well."""
    if settings.gitops.for_argocd and settings.gitops.argocd.create_namespace:
        for name in (o.ref.name for o in objects if o.ref.kind == "Namespace"):
            message = f"the tree holds the Namespace {name}, and createNamespace has Argo CD make it, too"
            yield Remark(("argocd", "createNamespace"), SETTING, message, "leave createNamespace out")


def mixed(objects: Sequence[Rendered], settings: Settings) -> Iterator[Remark]:
    """Warnings about objects in which variables are not replaced."""
    known = settings.gitops.flux.substitute
    if not settings.gitops.for_flux or not known:
        return
    for rendered in objects:
        if is_mixed(rendered, known):
            message = f"variables in {rendered.ref} are not replaced, for it holds other texts like them"
            yield Remark(("flux", "substitute"), MIXED, message, "put the value into the spec or an overlay")
