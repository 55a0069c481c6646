"""Admission of an InferenceService: what KServe's two webhooks make of it.

Decides the order: the deployment mode, defaulting, the local model caches, then every rule on the defaulted value.
Knows no rule itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.defaulting import default_inferenceservice
from kservec.admission.local_model import with_local_model
from kservec.admission.mode import choose_mode
from kservec.admission.subject import Site, Subject, parts_of
from kservec.admission.validation.rules import broken_rules
from kservec.core.records import evolve
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.diagnostics import Diagnostic
    from kservec.core.models.local_models import LocalCache
    from kservec.core.platform import PlatformConfig
    from kservec.core.registry import Plugs
    from kservec.core.tree import Json
    from kservec.core.unit import Source


class Admitted(NamedTuple):
    """An InferenceService as KServe's controllers would see it, and everything that its webhooks would say.

    `value` shares the parts of the user's document that did not change; `source` knows where the user wrote those that
    moved. `mode` means nothing where the findings have an error.
    """

    value: Json
    mode: Mode
    source: Source
    diagnostics: tuple[Diagnostic, ...]


def admit_inferenceservice(
    site: Site, value: Json, platform: PlatformConfig, plugs: Plugs, local_caches: Sequence[LocalCache] = ()
) -> Admitted:
    """Default and validate an InferenceService.

    Args:
        site: the user's document, for the places of findings, and the object that it describes.
        value: the document's value, valid by the CRD's schema and with the schema's own defaults.
        platform: KServe's configuration.
        plugs: the autoscalers and storage schemes that there are.
        local_caches: the local model caches of the cluster.

    Returns:
        The defaulted value with all findings.

    Raises:
        Reject: a section of KServe's configuration cannot be used, so that KServe refuses every InferenceService.
    """
    chosen = choose_mode(site, value, platform)
    defaulted = default_inferenceservice(value, platform)
    new = with_local_model(defaulted.value, platform, local_caches)
    if defaulted.moved:
        site = Site(site.ref, evolve(site.source, moved=defaulted.moved))
    subject = Subject(
        site=site,
        original=value,
        value=new,
        mode=chosen.mode,
        platform=platform,
        plugs=plugs,
        annotations=new["metadata"].get("annotations") or {},
        parts=parts_of(new.get("spec") or {}),
    )
    found = (*chosen.diagnostics, *broken_rules(subject))
    return Admitted(new, chosen.mode or Mode.STANDARD, site.source, found)
