"""PlatformConfig: what the compiler knows of the target cluster's configuration.

Holds KServe's own `inferenceservice-config` by section, Knative's settings, and the facts of a Cluster document.
A section is read when it is first asked for, so that a broken one only hurts what needs it, as in KServe.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.golang.decoding import decode, no_json
from kservec.core.records import entity, evolve, fresh
from kservec.spec import configuration as sections

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.diagnostics import Span
    from kservec.core.section_text import SectionText

NEWLINE = "\n"
TEXT_MAPS = ("parameters", "headers")
"""Fields that are maps of the administrator's own keys, which keep their case."""

S = TypeVar("S", bound=sections.Section)

BROKEN_SECTION = Code(
    "platform/configuration",
    Severity.ERROR,
    "KServe's configuration cannot be read",
    "A section of the ConfigMap inferenceservice-config is no JSON, or a field of it has another type or value than "
    "KServe takes.",
)


@entity
class PlatformConfig:
    """The target cluster's configuration. Each is equal to itself only, so what follows from it is worked out once.

    `absent` holds kinds that the cluster does not have. `knative` are Knative's config maps by name, as far as they are
    declared; `knative_spans` say where each was declared last. `certificate_issuer` refers to the issuer that
    cert-manager takes for LLM servers; empty for self-signed certificates.
    """

    texts: Mapping[str, SectionText] = fresh(factory=dict)
    kserve_namespace: str = "kserve"
    cluster_domain: str = "cluster.local"
    kubernetes_version: str = "1.35"
    absent: frozenset[str] = frozenset()
    knative: Mapping[str, Mapping[str, str]] = fresh(factory=dict)
    knative_spans: Mapping[str, Span] = fresh(factory=dict)
    certificate_issuer: Mapping[str, str] = fresh(factory=dict)

    def has(self, api_version: str, kind: str) -> bool:
        """Whether the cluster has a kind. `absent` names kinds as Kind, Kind.group or group/version/Kind."""
        if not self.absent:
            return True
        group = api_version.rpartition("/")[0]
        return not self.absent & {kind, f"{kind}.{group}", f"{api_version}/{kind}"}

    def section(self, key: str, model: type[S]) -> S | None:
        """A section of KServe's configuration, or None where the ConfigMap has no such key.

        Raises:
            Reject: the text is no JSON object, or a field has the wrong type.
        """
        text = self.texts.get(key)
        if text is None:
            return None
        try:
            value = decode(text.text)
        except ValueError as error:
            raise Reject(self.no_json(text, error)) from None
        try:
            return model.checked(lower_keys(value))
        except sections.SettingError as error:
            raise Reject(self.broken(key, str(error), *error.keys)) from None

    def broken(self, key: str, reason: str, *setting: str) -> Diagnostic:
        """The diagnostic for a section that cannot be used, because of one of its settings if that is named."""
        text = self.texts.get(key)
        return Diagnostic(
            code=BROKEN_SECTION,
            message=f"inferenceservice-config, {key}: {reason}",
            span=text.setting(*setting) if text else None,
            help=f"correct data.{key} of the ConfigMap inferenceservice-config",
        )

    def no_json(self, section: SectionText, error: ValueError) -> Diagnostic:
        """The diagnostic for a section that is no JSON."""
        found = self.broken(section.key, f"no valid JSON: {error}")
        if not isinstance(error, json.JSONDecodeError):
            return found
        reason, offset = no_json(section.text)
        place = section.character(offset)
        before = section.text[:offset]
        where = f" at line {before.count(NEWLINE) + 1}, column {offset - before.rfind(NEWLINE)} of the text"
        message = f"inferenceservice-config, {section.key}: no valid JSON: {reason}{'' if place else where}"
        return evolve(found, message=message, span=place or section.span)

    @cached_property
    def ingress(self) -> sections.Ingress:
        """The `ingress` section, with KServe's defaults. KServe: configmap.go, NewIngressConfig."""
        return self.section("ingress", sections.Ingress) or sections.Ingress()

    @cached_property
    def deploy(self) -> sections.Deploy:
        """The `deploy` section. KServe: configmap.go, NewDeployConfig."""
        return self.section("deploy", sections.Deploy) or sections.Deploy()

    @cached_property
    def inference_service(self) -> sections.InferenceServiceSection | None:
        """The `inferenceService` section; without it KServe filters no annotation and defaults no resource."""
        return self.section("inferenceService", sections.InferenceServiceSection)

    @cached_property
    def storage_initializer(self) -> sections.StorageInitializer:
        """The `storageInitializer` section. KServe: configmap.go, GetStorageInitializerConfigs."""
        found = self.section("storageInitializer", sections.StorageInitializer)
        return found or sections.StorageInitializer()

    @cached_property
    def credentials(self) -> sections.Credentials:
        """The `credentials` section."""
        return self.section("credentials", sections.Credentials) or sections.Credentials()

    @cached_property
    def agent(self) -> sections.ContainerResources | None:
        """The `agent` section. KServe: pkg/webhook/admission/pod/agent_injector.go, getAgentConfigs."""
        return self.section("agent", sections.ContainerResources)

    @cached_property
    def logger(self) -> sections.Logger | None:
        """The `logger` section. KServe: pkg/webhook/admission/pod/agent_injector.go, getLoggerConfigs."""
        return self.section("logger", sections.Logger)

    @cached_property
    def batcher(self) -> sections.Batcher | None:
        """The `batcher` section. KServe: pkg/webhook/admission/pod/batcher_injector.go, getBatcherConfigs."""
        return self.section("batcher", sections.Batcher)

    @cached_property
    def router(self) -> sections.Router | None:
        """The `router` section. KServe: pkg/controller/v1alpha1/inferencegraph/controller.go, getRouterConfigs."""
        return self.section("router", sections.Router)

    @cached_property
    def metrics_aggregator(self) -> sections.MetricsAggregator:
        """The `metricsAggregator` section."""
        return self.section("metricsAggregator", sections.MetricsAggregator) or sections.MetricsAggregator()

    @cached_property
    def security(self) -> sections.Security:
        """The `security` section; without it the token is not mounted, as in KServe."""
        return self.section("security", sections.Security) or sections.Security()

    @cached_property
    def autoscaler(self) -> sections.Autoscaler:
        """The `autoscaler` section."""
        return self.section("autoscaler", sections.Autoscaler) or sections.Autoscaler()

    @cached_property
    def service(self) -> sections.ServiceSection:
        """The `service` section."""
        return self.section("service", sections.ServiceSection) or sections.ServiceSection()

    @cached_property
    def multi_node(self) -> sections.MultiNode:
        """The `multiNode` section."""
        return self.section("multiNode", sections.MultiNode) or sections.MultiNode()

    @cached_property
    def explainers(self) -> sections.Explainers:
        """The `explainers` section."""
        return self.section("explainers", sections.Explainers) or sections.Explainers()

    @cached_property
    def variant_autoscaling(self) -> sections.VariantAutoscaling:
        """The `autoscaling-wva-controller-config` section."""
        found = self.section("autoscaling-wva-controller-config", sections.VariantAutoscaling)
        return found or sections.VariantAutoscaling()

    @cached_property
    def scheduler(self) -> sections.Scheduler:
        """The `scheduler` section. KServe: config_loader.go, NewSchedulerConfig."""
        return self.section("scheduler", sections.Scheduler) or sections.Scheduler()

    @cached_property
    def local_model(self) -> sections.LocalModel:
        """The `localModel` section."""
        return self.section("localModel", sections.LocalModel) or sections.LocalModel()


def lower_keys(value: Any) -> Any:
    """JSON with lower-case keys at every level: Go matches the keys of its structs without regard to case."""
    if isinstance(value, dict):
        return {k.lower(): v if k.lower() in TEXT_MAPS else lower_keys(v) for k, v in value.items()}
    if isinstance(value, list):
        return [lower_keys(v) for v in value]
    return value
