"""The deployment mode of an InferenceGraph: Standard, or else Knative.

KServe reads the annotation whether or not the platform keeps it from InferenceServices, and makes a Knative service in
every mode but Standard.
KServe: pkg/controller/v1alpha1/inferencegraph/controller.go, Reconcile
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kservec.admission.mode import (
    AT,
    IGNORED_MODE,
    MODES,
    ModeChoice,
    default_mode,
    fallback,
    no_default,
    old_name,
    unavailable,
)
from kservec.core.names import DEPLOYMENT_MODE
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from kservec.admission.subject import Site
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json


def choose_graph_mode(site: Site, value: Json, platform: PlatformConfig) -> ModeChoice:
    """The deployment mode of a graph, and what is to be said about it.

    Raises:
        Reject: the platform's configuration names no usable default.
    """
    default = default_mode(platform)
    text = (value["metadata"].get("annotations") or {}).get(DEPLOYMENT_MODE)
    mode = default if text is None else MODES.get(text)
    if mode is None:
        unknown = no_default(site) if text is None else fallback(site, text, default, known=False)
        return ModeChoice(None, (unknown,))
    found = tuple(old_name(site, text)) if text is not None else ()
    if mode is Mode.MODELMESH:
        mode = Mode.KNATIVE
        message = "a graph has no ModelMesh mode: KServe makes a Knative service of it"
        found = (site.finding(IGNORED_MODE, message, AT, f"set the annotation {DEPLOYMENT_MODE} to Knative"),)
    missing = unavailable(site, platform, mode) if mode is Mode.KNATIVE else ()
    return ModeChoice(mode, (*found, *missing))
