"""The rules of a service that is merged with its presets and base configs: what KServe refuses, and what cannot work.

Decides where findings about a merged spec are located. KServe blames the service for what is merged into it, so they
are shown there, with the place in the config beside it.
KServe: pkg/controller/v1alpha2/llmisvc/config_merge.go, validateRenderedConfig
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity, has_errors
from kservec.core.llm.merging import INLINE
from kservec.core.llm.rules.before_gpu.all import before_gpu
from kservec.core.llm.rules.subject import NO_LABELS, Place, Subject
from kservec.core.llm.rules.validity import service_errors
from kservec.core.tree import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from kservec.core.diagnostics import Span
    from kservec.core.registry import Env
    from kservec.core.tree import Json, Path, Tree
    from kservec.core.unit import Unit

MISFIT = Code(
    "llm/merged-misfit",
    Severity.ERROR,
    "a merged spec that does not fit the schema of services",
    "Presets and base configs are checked loosely, since they hold templates. What is merged of them and the service "
    "has to fit the schema of an LLMInferenceService; KServe tries that by creating one for a moment.",
)
STORED = "serving.kserve.io/v1alpha2"


def merged_findings(unit: Unit, spec: Tree, env: Env) -> tuple[Diagnostic, ...]:
    """What there is to say about a merged spec whose templates are filled in and whose scheduler config is found.

    Args:
        unit: the service.
        spec: its merged spec; its paths begin below `spec`.
        env: what all units share.
    """
    if misfits := structure_findings(unit, spec, env):
        return misfits
    subject = merged_subject(unit, spec, env)
    errors = once(service_errors(subject))
    return errors if has_errors(errors) else tuple(before_gpu(subject))


def structure_findings(unit: Unit, spec: Tree, env: Env) -> tuple[Diagnostic, ...]:
    """What the schema of services says against a merged spec: that of configs has fewer rules, and templates fill in.

    The scheduler's configuration is left out: a ConfigMap has it as text. Of the metadata nothing is merged.
    """
    metadata = {"name": unit.name, "namespace": unit.namespace}
    value = {"apiVersion": STORED, "kind": unit.ref.kind, "metadata": metadata, "spec": without_config_text(spec.value)}
    if env.schemas.fits(value, STORED, unit.ref.kind):
        return ()
    found = []
    for path, message in env.schemas.output_errors(value, STORED, unit.ref.kind):
        place = place_of(unit, spec, path)
        found.append(
            Diagnostic(
                code=MISFIT,
                message=f"merged with its configs, {unit.ref} is wrong: {message}",
                span=place.span,
                related=place.related,
                help="correct the value, in the service or in the config that it comes from",
                subject=unit.ref,
            )
        )
    return tuple(found)


def without_config_text(spec: Json) -> Json:
    """A spec without the configuration of its scheduler, if that is a text."""
    if not isinstance(lookup(spec, INLINE), str):
        return spec
    router = spec["router"]
    scheduler = {name: part for name, part in router["scheduler"].items() if name != "config"}
    return {**spec, "router": {**router, "scheduler": scheduler}}


def merged_subject(unit: Unit, spec: Tree, env: Env) -> Subject:
    """A service with its merged spec, as rules look at it."""
    value = {"metadata": unit.spec.json["metadata"], "spec": spec.value}
    labels = env.cluster.namespaces.get(unit.namespace) or NO_LABELS

    guarded = env.additions is not None and env.additions.network is not None
    policies = tuple(p for p in env.cluster.others.get("NetworkPolicy", ()) if is_of(p, unit.namespace))
    return Subject(
        ref=unit.ref,
        value=value,
        locate=lambda path: place_of(unit, spec, path),
        platform=env.platform,
        plugs=env.plugs,
        namespace_labels=labels,
        is_guarded=guarded,
        network_policies=policies,
    )


def is_of(body: Json, namespace: str) -> bool:
    """Whether a NetworkPolicy, of the version that is checked, lies in a namespace."""
    if body["apiVersion"] != "networking.k8s.io/v1":
        return False
    written: str = body["metadata"].get("namespace") or "default"
    return written == namespace


def place_of(unit: Unit, spec: Tree, path: Path) -> Place:
    """Where a finding at a path of the merged object is shown.

    It is the nearest part of the service that holds the path, else the base reference that brings it, else the
    service's name. Where the value itself comes from a config, that is shown beside.
    """
    if path[:1] != ("spec",):
        return Place(unit.source.span(*path))
    first: tuple[str, Span] | None = None
    for length in range(len(path), 1, -1):
        found = spec.origin(path[1:length])
        span = found[0].span(found[1]) if found is not None else None
        if found is None or span is None:
            continue
        if found[0].doc is unit.source.document:
            return Place(span, beside(first))
        first = first or (found[0].by, span)
    return Place(unit.source.span(*brought(unit, first[0] if first else "")), beside(first))


def brought(unit: Unit, config: str) -> Path:
    """The place in the service of what a config brings: its base reference, or for presets the service's name."""
    bases = unit.spec.json["spec"].get("baseRefs") or ()
    at = next((i for i, base in enumerate(bases) if base.get("name") == config), None)
    return ("metadata", "name") if at is None else ("spec", "baseRefs", at)


def beside(first: tuple[str, Span] | None) -> tuple[tuple[Span, str], ...]:
    """The place of a value in a config, if it comes from one, and what is said of it."""
    return () if first is None else ((first[1], f"in LLMInferenceServiceConfig {first[0]}"),)


def once(found: Iterable[Diagnostic]) -> tuple[Diagnostic, ...]:
    """The first finding of each code at each place: one name in a preset can spoil many rules of a route."""
    first: dict[tuple[str, Span | None], Diagnostic] = {}
    for diagnostic in found:
        first.setdefault((diagnostic.code.slug, diagnostic.span), diagnostic)
    return tuple(first.values())
