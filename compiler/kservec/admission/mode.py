"""The deployment mode of an InferenceService: its annotation, else the platform's default.

Decides which mode counts and what to say about values that KServe does not know. The mode that KServe keeps in an
object's status is no input of a compiler.
KServe: pkg/controller/v1beta1/inferenceservice/utils/utils.go, GetDeploymentMode;
pkg/apis/serving/v1beta1/configmap.go, NewDeployConfig; pkg/constants/constants.go, ParseDeploymentMode
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.admission.subject import ROLES
from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.names import DEPLOYMENT_MODE
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from kservec.admission.subject import Site
    from kservec.core.platform import PlatformConfig
    from kservec.core.tree import Json, Path

MODES: Mapping[str, Mode] = {
    "Standard": Mode.STANDARD,
    "Knative": Mode.KNATIVE,
    "ModelMesh": Mode.MODELMESH,
    "RawDeployment": Mode.STANDARD,
    "Serverless": Mode.KNATIVE,
}
"""Spellings of the modes; the last two are older names."""

SPELLINGS = "Standard, Knative, RawDeployment (= Standard) or Serverless (= Knative)"
AT: Path = ("metadata", "annotations", DEPLOYMENT_MODE)

PLATFORM_MODE = Code(
    "platform/deployment-mode",
    Severity.ERROR,
    "KServe's configuration names no usable default deployment mode",
    "`defaultDeploymentMode` in the `deploy` section of inferenceservice-config is missing or none of Standard, "
    "Knative and ModelMesh. KServe refuses every InferenceService until it is corrected.",
)
UNKNOWN_MODE = Code(
    "mode/unknown",
    Severity.ERROR,
    "a deployment mode that KServe does not know",
    "KServe falls back to the platform's default: where that is Knative without a word, where it is Standard it then "
    "fails to build the workload, because the annotation says something else. Correct the annotation "
    "serving.kserve.io/deploymentMode or remove it.",
)
OLD_NAME = Code(
    "mode/old-name",
    Severity.NOTE,
    "an older name of a deployment mode",
    "RawDeployment is now called Standard, and Serverless Knative. The older names still count.",
)
IGNORED_MODE = Code(
    "mode/ignored",
    Severity.WARNING,
    "a deployment mode that KServe ignores",
    "The annotation serving.kserve.io/deploymentMode stands on a component instead of the InferenceService, or is "
    "filtered by the platform's configuration; the service takes the platform's default.",
)
COMPONENT_MODE = Code(
    "mode/on-component",
    Severity.ERROR,
    "a component asks for another deployment mode than its service",
    "All components of an InferenceService run in one mode. In Standard mode KServe fails to build a component whose "
    "own annotation names another one. Remove it from the component.",
)
MODELMESH = Code(
    "modelmesh/not-supported",
    Severity.ERROR,
    "ModelMesh services cannot be compiled",
    "In ModelMesh mode KServe makes no objects for a service: it leaves the predictor to the separate ModelMesh "
    "controller, which loads models into running pods over its own API. Nothing can be written to git for that. Use "
    "Standard or Knative mode, or keep such services out of the compiled sources.",
)
NO_KNATIVE = Code(
    "knative/not-installed",
    Severity.ERROR,
    "Knative mode on a cluster without Knative Serving",
    "The service resolves to Knative mode, but the target cluster is declared to have no Knative Service kind.",
)


class ModeChoice(NamedTuple):
    """The mode that counts, None if none can be told, and what was found on the way."""

    mode: Mode | None
    diagnostics: tuple[Diagnostic, ...] = ()


@lru_cache(maxsize=8)
def default_mode(platform: PlatformConfig) -> Mode | None:
    """The platform's default mode; None where its configuration has no `deploy` section.

    Raises:
        Reject: the section exists but names no mode that KServe knows, or cannot be read.
    """
    if "deploy" not in platform.texts:
        return None
    text = platform.deploy.default_deployment_mode
    mode = MODES.get(text)
    if mode is None:
        found = f"defaultDeploymentMode is {text!r}" if text else "defaultDeploymentMode is missing or empty"
        raise Reject(
            Diagnostic(
                code=PLATFORM_MODE,
                message=f"inferenceservice-config, deploy: {found}, so KServe refuses every InferenceService",
                span=platform.texts["deploy"].setting("defaultDeploymentMode"),
                help="set it to Standard or Knative",
            )
        )
    return mode


def choose_mode(site: Site, value: Json, platform: PlatformConfig) -> ModeChoice:
    """The deployment mode of a service, and what is to be said about it.

    Args:
        site: the service, for findings.
        value: the InferenceService, before or after defaulting.
        platform: gives the default mode, and the annotations that KServe's controller does not see.

    Raises:
        Reject: the platform's configuration names no usable default.
    """
    default = default_mode(platform)
    text = (value["metadata"].get("annotations") or {}).get(DEPLOYMENT_MODE)
    if text is None:
        return _judged(site, value, platform, default)
    if text in MODES and not is_filtered(platform):
        chosen = _judged(site, value, platform, MODES[text])
        named = tuple(old_name(site, text))
        return ModeChoice(chosen.mode, (*named, *chosen.diagnostics)) if named else chosen
    finding = fallback(site, text, default, known=text in MODES)
    if default is None or finding.is_error:
        return ModeChoice(None, (finding,))
    chosen = _judged(site, value, platform, default)
    return ModeChoice(chosen.mode, (finding, *chosen.diagnostics))


@lru_cache(maxsize=8)
def is_filtered(platform: PlatformConfig) -> bool:
    """Whether the platform keeps the annotation from KServe's controller of InferenceServices."""
    section = platform.inference_service
    return section is not None and DEPLOYMENT_MODE in section.service_annotation_disallowed_list


def fallback(site: Site, text: str, default: Mode | None, *, known: bool) -> Diagnostic:
    """The finding about an annotation whose value does not count."""
    if default is None:
        return no_default(site)
    if known:
        message = (
            f"the platform's configuration filters this annotation, so {text} does not count: the mode is {default}"
        )
        return site.finding(IGNORED_MODE, message, AT, "remove the annotation")
    return site.finding(UNKNOWN_MODE, f"there is no deployment mode {text!r}", AT, f"write {SPELLINGS}")


def old_name(site: Site, text: str) -> Iterator[Diagnostic]:
    """The note about a mode under an older name."""
    if text != MODES[text]:
        yield site.finding(OLD_NAME, f"{text} is an older name of {MODES[text]}", AT, f"write {MODES[text]}")


def no_default(site: Site) -> Diagnostic:
    """The error about an object whose mode nothing says."""
    message = "nothing says in which deployment mode this service runs"
    help_text = f"set the annotation {DEPLOYMENT_MODE}, or defaultDeploymentMode in `deploy` of inferenceservice-config"
    return site.finding(PLATFORM_MODE, message, ("metadata", "name"), help_text)


def _judged(site: Site, value: Json, platform: PlatformConfig, mode: Mode | None) -> ModeChoice:
    """A mode with the findings that it brings about."""
    if mode is None:
        return ModeChoice(None, (no_default(site),))
    found = tuple(unavailable(site, platform, mode)) if mode is not Mode.STANDARD else ()
    spec = value.get("spec") or {}
    for role in ROLES:
        if role in spec and "annotations" in spec[role]:
            found += tuple(_component_mode(site, role, spec[role]["annotations"] or {}, mode))
    return ModeChoice(mode, found)


def _component_mode(site: Site, role: str, annotations: Mapping[str, str], mode: Mode) -> Iterator[Diagnostic]:
    """A component whose own annotation names a mode.

    KServe: reconcilers/raw/raw_kube_reconciler.go, NewRawKubeReconciler parses the component's annotation again
    """
    text = annotations.get(DEPLOYMENT_MODE)
    if not text or MODES.get(text) is mode:
        return
    message = f"the {role} asks for deployment mode {text!r}, but the service runs in {mode} mode"
    code = COMPONENT_MODE if mode is Mode.STANDARD else IGNORED_MODE
    path = ("spec", role, "annotations", DEPLOYMENT_MODE)
    yield site.finding(code, message, path, "set the mode in metadata.annotations of the service")


def unavailable(site: Site, platform: PlatformConfig, mode: Mode) -> Iterator[Diagnostic]:
    """The error about a mode that cannot be had."""
    if mode is Mode.MODELMESH:
        message = "this service runs in ModelMesh mode, for which KServe makes no objects that could be written to git"
        help_text = (
            f"set the annotation {DEPLOYMENT_MODE} to Standard or Knative, or keep the service out of the sources"
        )
        yield site.finding(MODELMESH, message, AT, help_text)
    elif mode is Mode.KNATIVE and not platform.has("serving.knative.dev/v1", "Service"):
        message = "this service runs in Knative mode, but the cluster has no Knative Serving"
        yield site.finding(
            NO_KNATIVE,
            message,
            AT,
            f"set the annotation {DEPLOYMENT_MODE} to Standard, or install Knative Serving",
        )
