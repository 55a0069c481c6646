"""Host names that Knative gives to its services, and the one of an InferenceService that KServe derives from them.

Decides by Knative's `config-domain` and `config-network`, which KServe reads from the status of live objects. Must not
know which objects route to a host: that is for the exposure styles.

Knative: pkg/reconciler/route/config/domain.go, LookupDomainForLabels; pkg/reconciler/route/domains/domains.go,
DomainNameFromTemplate; networking/pkg/config/config.go
KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/ingress_reconciler.go, getServiceHost
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from kservec.core.diagnostics import Code, Diagnostic, Needed, Reject, Severity
from kservec.core.golang.placeholders import TemplateError, render_text
from kservec.core.knative.revisions import HASH_LENGTH
from kservec.core.names import CLUSTER_LOCAL, KNATIVE_VISIBILITY_LABEL
from kservec.core.routing.domains import DEFAULT_DOMAIN, INVALID_DOMAIN, host_fault, shorter_names
from kservec.core.routing.services import entry_component
from kservec.core.text.source import parse
from kservec.core.unit import finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.core.platform import PlatformConfig
    from kservec.core.unit import Component, Unit

DOMAIN_CONFIG, NETWORK_CONFIG = "config-domain", "config-network"
TEMPLATE_KEYS = ("domain-template", "domainTemplate")
"""Where `config-network` holds the template of host names: today's key and the former one."""

DEFAULT_TEMPLATE = "{{.Name}}.{{.Namespace}}.{{.Domain}}"
SERVICE_LABEL = "serving.knative.dev/service"

BROKEN_CONFIG = Code(
    "knative/configuration",
    Severity.ERROR,
    "Knative's configuration cannot be used",
    "A value of one of Knative's config maps among the platform's documents is not what Knative takes there.",
)
DOMAIN_UNDECLARED = Code(
    "knative/domain-undeclared",
    Severity.WARNING,
    "the domain of Knative services is not declared",
    "Knative's ConfigMap config-domain says under which domain its services are reached, and KServe makes the host "
    "name of an InferenceService from that. It is among none of the platform's documents, so ingressDomain of KServe's "
    "configuration is taken for it.",
)


class Domain(NamedTuple):
    """A domain, and the labels that a service must have to be under it."""

    name: str
    selector: tuple[tuple[str, str], ...] = ()


def component_host(unit: Unit, component: Component, platform: PlatformConfig) -> str:
    """The host name of a component's Knative service.

    Raises:
        Reject: Knative's configuration cannot be used, or gives no domain name.
    """
    labels = {**component.labels.value, SERVICE_LABEL: component.name}
    values = {"Name": component.name, "Namespace": unit.namespace, "Labels": labels, "Annotations": {}}
    if labels.get(KNATIVE_VISIBILITY_LABEL) == CLUSTER_LOCAL:
        template, domain = DEFAULT_TEMPLATE, f"svc.{platform.cluster_domain}"
    else:
        template, domain = host_template(platform), domain_of(labels, platform)
    try:
        rendered = render_text(template, {**values, "Domain": domain})
    except TemplateError as error:
        raise Reject(broken(platform, NETWORK_CONFIG, f"{TEMPLATE_KEYS[0]}: {error}")) from None
    if reason := host_fault(rendered):
        message = f"the host name {rendered!r} of {component.name} {reason}"
        names = shorter_names(unit, rendered)
        less = f" ({HASH_LENGTH + 1} less where revisions are named by their content)" if "characters" in names else ""
        hint = f"choose {names}{less}, or correct Knative's {DOMAIN_CONFIG} and {NETWORK_CONFIG}"
        raise Reject(finding(unit, INVALID_DOMAIN, message, ("metadata", "name"), hint))
    return rendered


def host_template(platform: PlatformConfig) -> str:
    """The template of host names."""
    config = platform.knative.get(NETWORK_CONFIG, {})
    return next((config[key] for key in TEMPLATE_KEYS if key in config), DEFAULT_TEMPLATE)


def domain_of(labels: Mapping[str, str], platform: PlatformConfig) -> str:
    """The domain of a service: the one with most labels in its selector, all of which fit; of equals the first by name.

    Raises:
        Reject: `config-domain` cannot be read.
    """
    fitting = (d for d in domains(platform) if all(labels.get(k) == v for k, v in d.selector))
    return min(fitting, key=lambda d: (-len(d.selector), d.name)).name


def domains(platform: PlatformConfig) -> tuple[Domain, ...]:
    """Every domain of Knative services; where none takes all services, the cluster's own does.

    Raises:
        Reject: `config-domain` cannot be read.
    """
    config = platform.knative.get(DOMAIN_CONFIG)
    if config is None:
        return (Domain(platform.ingress.ingress_domain or DEFAULT_DOMAIN),)
    selectors = {name: selector(text) for name, text in sorted(config.items())}
    for name, labels in selectors.items():
        if labels is None:
            raise Reject(broken(platform, DOMAIN_CONFIG, f"the value of {name} is no YAML with a selector"))
    read = tuple(Domain(name, labels or ()) for name, labels in selectors.items())
    return read if any(not d.selector for d in read) else (*read, Domain(f"svc.{platform.cluster_domain}"))


@lru_cache(maxsize=64)
def selector(text: str) -> tuple[tuple[str, str], ...] | None:
    """The labels that a value of `config-domain` asks for; None if it is no YAML with a `selector`."""
    documents, found = parse(text.encode(), DOMAIN_CONFIG)
    value = documents[0].value if documents and not found else {}
    labels = value.get("selector") or {} if isinstance(value, dict) else None
    if found or not isinstance(labels, dict):
        return None
    return tuple((key, str(label)) for key, label in labels.items())


def domain_endings(platform: PlatformConfig) -> tuple[str, ...]:
    """The domains that a host name may end with, longer ones first. KServe tries them in a random order.

    KServe: ingress_reconciler.go, getDomainList
    """
    config = platform.knative.get(DOMAIN_CONFIG)
    return tuple(sorted(config, key=lambda name: (-len(name), name))) if config else (domains(platform)[0].name,)


def public_host(unit: Unit, platform: PlatformConfig) -> str:
    """The host name of a service: that of its transformer or predictor without the component's name.

    The name is cut out by its text alone, so a host with `-default` in it stays whole, as in KServe.

    Raises:
        Reject: Knative's configuration cannot be used, or gives no domain name.
    """
    entry = entry_component(unit)
    host = component_host(unit, entry, platform)
    return host.replace(f"-{entry.role}-default" if "-default" in host else f"-{entry.role}", "", 1)


def undeclared_domain(platform: PlatformConfig) -> tuple[Diagnostic, ...]:
    """The warning that `config-domain` is not there; the same for every service."""
    if DOMAIN_CONFIG in platform.knative:
        return ()
    domain = domains(platform)[0].name
    return (
        Diagnostic(
            code=DOMAIN_UNDECLARED,
            message=f"no document declares Knative's {DOMAIN_CONFIG}: services are taken to be under {domain}",
            span=None,
            help=f"add the ConfigMap {DOMAIN_CONFIG} of namespace knative-serving to the platform's documents, or "
            "knative.domain to the Cluster document",
            rests_on=(Needed("ConfigMap", "knative-serving", DOMAIN_CONFIG),),
        ),
    )


def broken(platform: PlatformConfig, config: str, reason: str) -> Diagnostic:
    """The error about one of Knative's config maps."""
    return Diagnostic(
        code=BROKEN_CONFIG,
        message=f"{config}: {reason}",
        span=platform.knative_spans.get(config),
        help=f"correct the ConfigMap {config} of namespace knative-serving",
    )
