"""Objects of an LLMInferenceService that lead nowhere: what selects no pods, and pools that ask at a port nobody has.

Decides from the objects alone: labels and selectors, ports and references. Must not know who made them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.pods.pod_sets import PodSet, pod_sets
from kservec.core.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from kservec.core.bundle import Bundle, Manifest
    from kservec.core.tree import Json, Path
    from kservec.core.unit import Unit

NOTHING: Final = Code(
    "llm/selects-nothing",
    Severity.WARNING,
    "an object that selects none of the pods",
    "Labels of the spec are also those of its pods, and may replace the ones that Services and InferencePools select "
    "by; a selector of a pool may ask for labels that no pod has. Requests then reach nobody.",
)
PICKER_PORT: Final = Code(
    "llm/picker-port",
    Severity.WARNING,
    "a pool that asks its scheduler at a port which the Service does not have",
    "The pool's reference to its endpoint picker names the scheduler's Service and one of its ports. At another port "
    "the gateway finds nobody, and requests fail or are spread without a choice.",
)
POOL: Final = "InferencePool"
SELECTING: Final = ("Service", POOL)
SELECTOR: Final[Path] = ("spec", "selector")
EXACT: Final = "matchLabels"
PICKERS: Final[tuple[tuple[Path, Path], ...]] = (
    (("spec", "endpointPickerRef"), ("port", "number")),
    (("spec", "extensionRef"), ("portNumber",)),
)
"""Where the versions of the kind name the picker, and its port below that."""


def loose_ends(unit: Unit, bundle: Bundle) -> Iterator[Diagnostic]:
    """Warnings about what leads nowhere in the bundle of a service, each object once whatever versions it has."""
    pods = list(pod_sets(bundle))
    found = {(m.ref.kind, m.ref.name): m for m in reversed(bundle.manifests) if m.ref.kind in SELECTING}
    for made in reversed(found.values()):
        selector = selector_of(made)
        if not any(selector.items() <= {**one.labels, **one.selector}.items() for one in pods):
            yield nothing_selected(unit, made, selector, pods)
        yield from picker_port(unit, made, found)


def selector_of(made: Manifest) -> Mapping[str, str]:
    """The labels that an object selects by; empty if it selects nothing."""
    stated: Json = made.body.get(*SELECTOR) or {}
    labels: Mapping[str, str] = stated.get(EXACT, stated)
    return labels


def nothing_selected(unit: Unit, made: Manifest, selector: Mapping[str, str], pods: Sequence[PodSet]) -> Diagnostic:
    """The warning, at the label of the pods that differs, or at the selector."""
    nearest = max(pods, key=lambda one: len(selector.items() & one.labels.items()))
    key = next(key for key, value in selector.items() if nearest.labels.get(key) != value)
    label = nearest.made.body.span((*nearest.at, "metadata", "labels", key))
    wanted = f"{key}: {visible(selector[key])}"
    asked = (*SELECTOR, EXACT, key) if made.body.get(*SELECTOR, EXACT) else (*SELECTOR, key)
    return Diagnostic(
        code=NOTHING,
        message=f"{made.ref.kind} {made.ref.name} selects pods with {wanted}, and no pod has that label",
        span=label or made.body.span(asked) or unit.source.span("metadata", "name"),
        help="give the pods the label, or take it out of the selector",
        subject=unit.ref,
    )


def picker_port(unit: Unit, made: Manifest, found: Mapping[tuple[str, str], Manifest]) -> Iterator[Diagnostic]:
    """The warning about a pool whose picker is a Service of the bundle, if that lacks the port."""
    for at, number in PICKERS if made.ref.kind == POOL else ():
        service = found.get(("Service", made.body.get(*at, "name") or ""))
        port = made.body.get(*at, *number)
        ports = [one["port"] for one in service.body.get("spec", "ports") or ()] if service is not None else []
        # A Service without any port is refused anyway.
        if service is not None and port is not None and ports and port not in ports:
            asks = f"{POOL} {made.ref.name} asks Service {service.ref.name} at port {port}"
            yield Diagnostic(
                code=PICKER_PORT,
                message=f"{asks}, which it does not have",
                span=made.body.span((*at, *number)) or unit.source.span("metadata", "name"),
                help=f"name one of its ports: {', '.join(map(str, ports))}",
                subject=unit.ref,
            )
