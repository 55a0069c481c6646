"""Containers that KServe injects: image and resources, as a section of the platform's configuration gives them.

Decides when such a section is fit for use. Must not know what the containers are for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity
from kservec.core.quantity import misfit
from kservec.core.tree import Layer, Origin

if TYPE_CHECKING:
    from kservec.core.diagnostics import Span
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json
    from kservec.spec.configuration import ContainerResources

S = TypeVar("S", bound="ContainerResources")

MISSING_SECTION = Code(
    "platform/section-missing",
    Severity.ERROR,
    "KServe's configuration lacks a section that is needed",
    "The ConfigMap inferenceservice-config has no section for a container that the service needs, so its image and "
    "resources are unknown; KServe would refuse the pods. Copy the section from the ConfigMap that KServe ships.",
)


def broken_quantity(config: ContainerResources) -> tuple[str, str]:
    """The first setting that is no quantity, and why; both empty if all are."""
    wanted = {
        "cpuRequest": config.cpu_request,
        "cpuLimit": config.cpu_limit,
        "memoryRequest": config.memory_request,
        "memoryLimit": config.memory_limit,
    }
    return next(((name, reason) for name, text in wanted.items() if (reason := misfit(text))), ("", ""))


def check_quantities(platform: PlatformConfig, key: str, config: ContainerResources | None) -> None:
    """Check the quantities of a section, if there is one.

    Raises:
        Reject: one is missing or malformed. KServe refuses every pod then, whether or not it needs the section.
    """
    setting, reason = broken_quantity(config) if config is not None else ("", "")
    if reason:
        raise Reject(platform.broken(key, f"{setting} {reason}", setting))


def needed(platform: PlatformConfig, key: str, config: S | None) -> S:
    """A section that is about to be used.

    Raises:
        Reject: the platform's configuration does not have it.
    """
    if config is None:
        raise Reject(missing_section(platform, key))
    return config


def missing_section(platform: PlatformConfig, key: str) -> Diagnostic:
    """The diagnostic for a section that is not there, at the document that others stand in, if there are any."""
    span = platform.texts[min(platform.texts)].document.span(("metadata", "name")) if platform.texts else None
    return Diagnostic(
        code=MISSING_SECTION,
        message=f"inferenceservice-config has no section {key}",
        span=span,
        help=f"add data.{key} to the ConfigMap inferenceservice-config",
        rests_on=(Needed("ConfigMap", platform.kserve_namespace, "inferenceservice-config"),),
    )


def resources(config: ContainerResources) -> Json:
    """The resources of an injected container."""
    return {
        "limits": {"cpu": config.cpu_limit, "memory": config.memory_limit},
        "requests": {"cpu": config.cpu_request, "memory": config.memory_request},
    }


def setting_span(platform: PlatformConfig, key: str, setting: str) -> Span | None:
    """Where a setting of a section is written; None where there is no such section."""
    section = platform.texts.get(key)
    return section.setting(setting) if section is not None else None


def section_origin(platform: PlatformConfig, key: str) -> Origin:
    """The origin of what a section gives."""
    section = platform.texts.get(key)
    if section is None:
        return Origin(Layer.KSERVE_DEFAULT, key)
    return Origin(Layer.PLATFORM, key, section.document, section.at or ("data", key))
