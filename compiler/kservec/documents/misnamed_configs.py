"""Misnamed config maps: those that look like KServe's or Knative's, and that nobody reads.

Decides by names and by which data keys a ConfigMap has. What its settings mean is the configuration's knowledge.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.spelling import closest
from kservec.documents.configuration import (
    KNATIVE_CONFIGS,
    KNATIVE_NAMESPACE,
    KSERVE_CONFIG,
    kserve_namespace,
    names_namespace,
)
from kservec.documents.entries import Rank
from kservec.documents.known_settings import SECTIONS
from kservec.documents.secrets import texts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.documents.entries import Entry

MISNAMED_CONFIG = Code(
    "platform/misnamed-configuration",
    Severity.WARNING,
    "a configuration under another name or in another namespace",
    "KServe reads the ConfigMap inferenceservice-config of its own namespace alone, and Knative those of namespace "
    "knative-serving, each under its own name. This one holds such settings under another name or in another place.",
)

KNATIVE_OTHERS = (
    "config-br-defaults",
    "config-certmanager",
    "config-contour",
    "config-gateway",
    "config-gc",
    "config-istio",
    "config-kourier",
    "config-leader-election",
    "config-logging",
    "config-observability",
    "config-tracing",
)
"""Config maps of Knative and its networking layers that say nothing about how services are compiled."""
TELLING = 3
"""So many sections make a ConfigMap one of KServe's, whatever its name."""


def misnamed_configs(config_maps: Iterable[Entry]) -> Iterator[Diagnostic]:
    """A warning for each ConfigMap that looks like one of KServe's or Knative's, and has another name or namespace.

    Only documents of the platform count for Knative: services may have a `config-features` of their own.
    """
    config_maps = list(config_maps)
    home = kserve_namespace(entry for entry in config_maps if entry.ref.name == KSERVE_CONFIG)
    for entry in config_maps:
        name, namespace = entry.ref.name, entry.ref.namespace
        if name == KSERVE_CONFIG:
            if namespace != home and names_namespace(entry):
                yield elsewhere(entry, home)
        elif is_like_kserve(entry):
            yield misnamed(entry, "name", KSERVE_CONFIG)
        elif entry.rank is Rank.PLATFORM and name in KNATIVE_CONFIGS and namespace != KNATIVE_NAMESPACE:
            yield misnamed(entry, "namespace", f"{KNATIVE_NAMESPACE}/{name}")
        elif entry.rank is Rank.PLATFORM and namespace == KNATIVE_NAMESPACE and name not in KNATIVE_OTHERS:
            meant = None if name in KNATIVE_CONFIGS else closest(name, KNATIVE_CONFIGS)
            if meant is not None:
                yield misnamed(entry, "name", meant)


def elsewhere(entry: Entry, home: str) -> Diagnostic:
    """The warning about a configuration in another namespace than the last one."""
    return Diagnostic(
        code=MISNAMED_CONFIG,
        message=f"{entry.ref} is not in namespace {home}, as the last of this name; KServe reads one of them alone",
        span=entry.document.span(("metadata", "namespace")),
        help=f"put it into namespace {home} if it belongs to the same KServe, else leave it out",
        subject=entry.ref,
    )


def is_like_kserve(entry: Entry) -> bool:
    """Whether a ConfigMap has sections of KServe's configuration: several, or one and a name that is nearly right."""
    written = texts(entry.document.value.get("data"))
    sections = [key for key, text in written.items() if key in SECTIONS and text.lstrip().startswith("{")]
    return len(sections) >= TELLING or (bool(sections) and closest(entry.ref.name, (KSERVE_CONFIG,)) is not None)


def misnamed(entry: Entry, field: str, meant: str) -> Diagnostic:
    """The warning about a ConfigMap that nobody reads because of its name or namespace."""
    return Diagnostic(
        code=MISNAMED_CONFIG,
        message=f"nobody reads {entry.ref}: its settings have no effect",
        span=entry.document.span(("metadata", field)),
        help=f"did you mean {meant}?",
        subject=entry.ref,
    )
