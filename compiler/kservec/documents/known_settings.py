"""Known settings: every section and setting of `inferenceservice-config` that KServe reads, as it is spelt.

KServe ignores a setting that it does not know, so a misspelt one is silently lost: it gets a warning. Settings of parts
that are not compiled here are known all the same. What a setting means is the sections' knowledge.

KServe: pkg/apis/serving/v1beta1/configmap.go, pkg/types/config.go, pkg/credentials, pkg/webhook/admission/pod,
pkg/controller/v1alpha1/inferencegraph/controller.go, pkg/controller/v1alpha2/llmisvc/config_loader.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeAlias

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.core.golang.decoding import decode
from kservec.core.spelling import closest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from kservec.core.section_text import SectionText
    from kservec.core.tree import Json

UNKNOWN_SETTING = Code(
    "platform/unknown-setting",
    Severity.WARNING,
    "a setting that KServe does not know",
    "KServe passes over keys of inferenceservice-config that it does not know, be they misspelt, of another version or "
    "in the wrong section: they have no effect. Letter case counts in the keys of the ConfigMap, not inside sections.",
)

Settings: TypeAlias = "Mapping[str, Settings | None]"
"""Settings by name: those inside, or None where the administrator's own keys or a plain value stand."""


def plain(*names: str) -> Settings:
    """Settings without others inside."""
    return dict.fromkeys(names)


def groups(**settings: Settings) -> Settings:
    """Settings with others inside."""
    return settings


RESOURCES = plain("cpuLimit", "memoryLimit", "cpuRequest", "memoryRequest")
CONTAINER: Settings = {"image": None, **RESOURCES}
EXPLAINERS: Settings = {"art": plain("image", "defaultImageVersion")}
SECTIONS: Settings = {
    "agent": CONTAINER,
    "autoscaler": plain("scaleUpStabilizationWindowSeconds", "scaleDownStabilizationWindowSeconds"),
    "autoscaling-wva-controller-config": {
        "prometheus": plain("url", "tlsInsecureSkipVerify", "authModes", "triggerAuthName", "triggerAuthKind")
    },
    "batcher": {**CONTAINER, **plain("maxBatchSize", "maxLatency")},
    "credentials": {
        **plain("storageSpecSecretName", "storageSecretNameAnnotation"),
        **groups(
            gcs=plain("gcsCredentialFileName"),
            s3=plain(
                "s3AccessKeyIDName",
                "s3SecretAccessKeyName",
                "s3Endpoint",
                "s3UseHttps",
                "s3Region",
                "s3VerifySSL",
                "s3UseVirtualBucket",
                "s3UseAccelerate",
                "s3UseAnonymousCredential",
                "s3CABundleConfigMap",
                "s3CABundle",
            ),
        ),
    },
    "deploy": {
        "defaultDeploymentMode": None,
        "deploymentRolloutStrategy": {"defaultRollout": plain("maxSurge", "maxUnavailable")},
    },
    "explainers": EXPLAINERS,
    "inferenceService": {
        "explainers": EXPLAINERS,
        "resource": RESOURCES,
        **plain("serviceAnnotationDisallowedList", "serviceLabelDisallowedList"),
    },
    "ingress": plain(
        "enableGatewayApi",
        "kserveIngressGateway",
        "ingressGateway",
        "knativeLocalGatewayService",
        "localGateway",
        "localGatewayService",
        "ingressDomain",
        "ingressClassName",
        "additionalIngressDomains",
        "domainTemplate",
        "urlScheme",
        "enableLLMInferenceServiceTLS",
        "disableIstioVirtualHost",
        "pathTemplate",
        "disableIngressCreation",
        "disableHTTPRouteTimeout",
        "modelBasedRoutingHeaderName",
        "modelBasedRoutingMode",
    ),
    "localModel": plain(
        "enabled",
        "jobNamespace",
        "defaultJobImage",
        "fsGroup",
        "jobTTLSecondsAfterFinished",
        "reconcilationFrequencyInSecs",
        "disableVolumeManagement",
    ),
    "logger": {
        **CONTAINER,
        "storage": plain("path", "parameters", "key", "serviceAccountName"),
        **plain("defaultUrl", "caBundle", "caCertFile", "tlsSkipVerify", "marshallerUrl", "batchSize", "batchInterval"),
    },
    "metricsAggregator": plain("enableMetricAggregation", "enablePrometheusScraping"),
    "multiNode": plain("customGPUResourceTypeList"),
    "opentelemetryCollector": {
        "resource": RESOURCES,
        **plain("scrapeInterval", "metricReceiverEndpoint", "metricScalerEndpoint"),
    },
    "resource": RESOURCES,
    "router": {**CONTAINER, **plain("headers", "imagePullPolicy", "imagePullSecrets")},
    "scheduler": plain("expirationAnnotations"),
    "security": plain("autoMountServiceAccountToken"),
    "service": plain("serviceClusterIPNone"),
    "storageInitializer": {
        **CONTAINER,
        **plain(
            "cpuModelcar",
            "memoryModelcar",
            "uidModelcar",
            "enableModelcar",
            "enableOciModelSupport",
            "ociModelMode",
            "ociInsecureRegistry",
            "caBundleConfigMapName",
            "caBundleVolumeMountPath",
        ),
    },
}

MOST_HOMES = 3
"""Sections that a setting is said to belong to; one that many have belongs to none in particular."""


def unknown_settings(sections: Iterable[SectionText]) -> Iterator[Diagnostic]:
    """A warning for each section or setting that KServe does not know. Text that is no JSON is passed over."""
    for section in sections:
        if section.key not in SECTIONS:
            if not section.key.startswith("_"):  # `_example` and the like document
                yield unknown(section, (), section.key, SECTIONS)
            continue
        known = SECTIONS[section.key]
        try:
            value = decode(section.text)
        except ValueError:
            continue
        yield from unknown_in(section, (), value, known)


def unknown_in(section: SectionText, at: tuple[str, ...], value: Json, known: Settings | None) -> Iterator[Diagnostic]:
    """The warnings about one JSON object of a section."""
    if known is None or not isinstance(value, dict):
        return
    folded = {name.lower(): below for name, below in known.items()}
    for name, inner in value.items():
        if name.lower() not in folded:
            yield unknown(section, at, name, known)
        else:
            yield from unknown_in(section, (*at, name), inner, folded[name.lower()])


def unknown(section: SectionText, at: tuple[str, ...], name: str, known: Settings) -> Diagnostic:
    """The warning about one key, with what it was meant to be or where it belongs."""
    meant = closest(name, known)
    if section.key == name and not at:
        return Diagnostic(
            code=UNKNOWN_SETTING,
            message=f"KServe knows no section {name} of inferenceservice-config",
            span=section.document.key_span(section.at or ("data", name)),
            help=f"did you mean {meant}?" if meant else "remove it; it has no effect",
        )
    homes = [home for home, inner in SECTIONS.items() if inner is not None and name in inner and home != section.key]
    elsewhere = f"it is a setting of {' and of '.join(homes)}" if 0 < len(homes) <= MOST_HOMES else ""
    place = ".".join((section.key, *at))
    return Diagnostic(
        code=UNKNOWN_SETTING,
        message=f"KServe knows no setting {name} in {place} of inferenceservice-config",
        span=section.setting_key(*at, name),
        help=f"did you mean {meant}?" if meant else elsewhere or "remove it; it has no effect",
    )
