"""Host names and paths of services, from the templates of KServe's `ingress` configuration.

Decides what a service is called from outside and whether that can be a name at all. Must not know which objects route
to it: that is for the exposure styles.

KServe: pkg/controller/v1beta1/inferenceservice/reconcilers/ingress/{domain,path}.go;
pkg/apis/serving/v1beta1/configmap.go, NewIngressConfig
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from kservec.core.diagnostics import Code, Diagnostic, Reject, Severity
from kservec.core.golang.placeholders import TemplateError, render_text
from kservec.core.names import CLUSTER_LOCAL, CLUSTER_LOCAL_LABEL
from kservec.core.patterns import Pattern
from kservec.core.serving.name_length import longest_name
from kservec.core.unit import Mode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kservec.core.platform import PlatformConfig
    from kservec.core.unit import Component, Unit
    from kservec.spec.configuration import Ingress

SECTION = "ingress"
DEFAULT_TEMPLATE = "{{ .Name }}-{{ .Namespace }}.{{ .IngressDomain }}"
DEFAULT_DOMAIN = "example.com"
DEFAULT_SCHEME = "http"
CLUSTER_LOCAL_DOMAIN = "svc.cluster.local"
"""The `ingressDomain` that keeps all services inside; KServe compares with this text whatever the cluster's domain."""

NO_VALUE = "<no value>"
"""What a Go template writes for a label that is not there."""

MAX_HOST = 253
MAX_PART = 63

INVALID_DOMAIN = Code(
    "exposure/invalid-domain",
    Severity.ERROR,
    "a host name that is no domain name",
    "KServe makes each service's host name from domainTemplate in its configuration. The result must be a domain name: "
    "two or more parts of lower-case letters, digits and dashes, at most 63 characters each and 253 in all.",
)
ADDITIONAL_DOMAIN = Code(
    "exposure/additional-domain",
    Severity.WARNING,
    "an additional domain without effect",
    "additionalIngressDomains give further host names to services whose own ends with ingressDomain; an entry that "
    "makes no valid host name is left out, as in KServe.",
)

_LABEL = rf"(?!-)[-a-z0-9]{{1,{MAX_PART}}}(?<!-)"
_is_label = Pattern(_LABEL).fullmatch
_is_host = re.compile(rf"{_LABEL}(?:\.{_LABEL})+").fullmatch
_is_subdomain = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*").fullmatch
_find_plain = re.compile(r"\{\{ *\.(Name|Namespace|IngressDomain) *\}\}")
_find_name = re.compile(r"\{\{ *\.Name *\}\}")
_is_path = Pattern(r"/([^%\x00-\x1f\x7f]|%[0-9a-fA-F]{2})*").fullmatch


@lru_cache(maxsize=8)
def checked_ingress(platform: PlatformConfig) -> Ingress:
    """The `ingress` section, checked as KServe's controller does before it looks at any component.

    Raises:
        Reject: a setting is missing or malformed. Without the section there is nothing to check.
    """
    ingress = platform.ingress
    if SECTION in platform.texts:
        setting, reason = fault(ingress)
        if reason:
            raise Reject(platform.broken(SECTION, reason, setting))
    return ingress


def fault(ingress: Ingress) -> tuple[str, str]:
    """A setting, and what KServe finds wrong with it; both empty if nothing is.

    KServe: configmap.go, validateIngressGateway
    """
    if ingress.enable_gateway_api:
        reason = gateway_fault(ingress.kserve_ingress_gateway)
        if reason:
            return "kserveIngressGateway", reason
    if not ingress.ingress_gateway:
        return "ingressGateway", "ingressGateway is required"
    if not ingress.path_template:
        return "", ""
    if not ingress.ingress_domain:
        return "pathTemplate", "ingressDomain is required where pathTemplate is given"
    reason = template_fault(ingress.path_template)
    return ("pathTemplate", f"pathTemplate is no Go template: {reason}") if reason else ("", "")


@lru_cache(maxsize=16)
def template_fault(template: str) -> str:
    """Why a text cannot be read as a template; empty if it can."""
    from kservec.core.golang.template_functions import BUILTINS  # noqa: PLC0415 - few have templates of their own
    from kservec.core.golang.template_parse import parse  # noqa: PLC0415 - as above

    try:
        parse(template, BUILTINS)
    except TemplateError as error:
        return error.message
    return ""


def gateway_fault(gateway: str) -> str:
    """What is wrong with a reference to a Gateway; empty if nothing."""
    parts = gateway.split("/")
    if not gateway:
        return "kserveIngressGateway is required where enableGatewayApi is true"
    if len(parts) != 2:
        return f"kserveIngressGateway is {gateway!r}, not of the form namespace/name"
    for what, part in zip(("namespace", "name"), parts, strict=True):
        if not _is_label(part):
            return f"kserveIngressGateway has {part!r} as {what}, which cannot be one"
    return ""


def is_cluster_local(unit: Unit, platform: PlatformConfig) -> bool:
    """Whether a service in Standard mode is not to be reached from outside the cluster.

    KServe: kube_ingress_reconciler.go and httproute_reconciler.go, Reconcile
    """
    ingress = platform.ingress
    return (
        ingress.disable_ingress_creation
        or ingress.ingress_domain == CLUSTER_LOCAL_DOMAIN
        or unit.labels.get(CLUSTER_LOCAL_LABEL) == CLUSTER_LOCAL
    )


def stays_inside(unit: Unit, platform: PlatformConfig) -> bool:
    """Whether a unit in Standard mode gets no routes: its kind has none, or it is not to be reached from outside."""
    return not unit.routed or is_cluster_local(unit, platform)


def service_url(unit: Unit, platform: PlatformConfig) -> str:
    """The URL of a service, paths aside. KServe: httproute_reconciler.go, createRawURL."""
    return f"{platform.ingress.url_scheme or DEFAULT_SCHEME}://{service_host(unit, platform, unit.name)}"


def service_host(unit: Unit, platform: PlatformConfig, name: str, component: Component | None = None) -> str:
    """The host of a service, or of one of its parts by name, rendered with the service's metadata or a component's.

    Raises:
        Reject: the template cannot be rendered, or the result is no domain name.

    KServe: domain.go, GenerateDomainName
    """
    ingress = platform.ingress
    template, domain = ingress.domain_template or DEFAULT_TEMPLATE, ingress.ingress_domain or DEFAULT_DOMAIN
    if is_plain(template):
        rendered, reason = plain_host(template, name, unit.ref.namespace, domain)
    else:
        labels, annotations = unit.labels, unit.annotations
        if component is not None:
            labels, annotations = component.labels.value, component.annotations.value
        values = {"Name": name, "Namespace": unit.namespace, "IngressDomain": domain}
        try:
            rendered = render_text(template, {**values, "Annotations": annotations, "Labels": labels})
        except TemplateError as error:
            raise Reject(platform.broken(SECTION, f"domainTemplate: {error}", "domainTemplate")) from None
        reason = host_fault(rendered)
    if reason:
        raise Reject(invalid_host(unit, platform, rendered, reason))
    return rendered


@lru_cache(maxsize=16)
def is_plain(template: str) -> bool:
    """Whether a template only puts name, namespace and domain into a text. Nearly all do, and hosts are many."""
    return "{{" not in _find_plain.sub("", template)


@lru_cache(maxsize=64)
def plain_host(template: str, name: str, namespace: str, domain: str) -> tuple[str, str]:
    """What a plain template gives, and why that is no domain name; empty if it is one."""
    rendered = name.join(around_name(template, namespace, domain))
    return rendered, host_fault(rendered)


@lru_cache(maxsize=256)
def around_name(template: str, namespace: str, domain: str) -> tuple[str, ...]:
    """The texts between which a plain template puts the name: the same for all services of a namespace."""
    values = {"Namespace": namespace, "IngressDomain": domain}
    return tuple(_find_plain.sub(lambda found: values[found[1]], text) for text in _find_name.split(template))


def host_fault(name: str) -> str:
    """Why a text is no fully qualified domain name; empty if it is one.

    Kubernetes: apimachinery/pkg/util/validation/validation.go, IsFullyQualifiedDomainName
    """
    name = name.removesuffix(".")
    if len(name) <= MAX_HOST and _is_host(name):
        return ""
    if not name or len(name) > MAX_HOST:
        return f"has {len(name)} characters; 1 to {MAX_HOST} are allowed"
    if not _is_subdomain(name):
        return "may only have lower-case letters, digits, dashes and dots, a letter or digit at both ends of each part"
    parts = name.split(".")
    if len(parts) < 2:
        return "needs two or more parts with dots between them"
    longest = max(parts, key=len)
    return f"has a part of {len(longest)} characters, {longest!r}; {MAX_PART} are allowed"


def invalid_host(unit: Unit, platform: PlatformConfig, rendered: str, reason: str) -> Diagnostic:
    """The diagnostic for a host name that is none, placed at the service or at the template, whichever is to blame."""
    section = platform.texts.get(SECTION)
    template = platform.ingress.domain_template or DEFAULT_TEMPLATE
    domain = platform.ingress.ingress_domain or DEFAULT_DOMAIN
    path, help_text = ("metadata", "name"), f"choose {shorter_names(unit, rendered)}; the template is {template}"
    span = unit.source.span(*path)
    if NO_VALUE in rendered:
        span = unit.source.span("metadata")
        help_text = f"set the labels or annotations that domainTemplate speaks of on the service: {template}"
    elif section is not None and blames_template(template, domain, rendered):
        span = section.setting("domainTemplate")
        help_text = f"correct domainTemplate ({template}) or ingressDomain ({domain})"
    there = None if section is None else section.setting("domainTemplate")
    return Diagnostic(
        code=INVALID_DOMAIN,
        message=f"the host name {rendered!r} {reason}",
        span=span,
        help=help_text,
        related=((there, "domainTemplate is set here"),) if there is not None and there != span else (),
        subject=unit.ref,
    )


def shorter_names(unit: Unit, rendered: str) -> str:
    """Which names to choose instead, as far as it can be said: one so short that the host's longest part fits."""
    part = max(rendered.split("."), key=len)
    # Each component has a host in Standard mode, and the longest name decides.
    names = [component.name for component in unit.components] if unit.mode is Mode.STANDARD else []
    named = max((name for name in names if name in part), key=len, default=unit.name)
    around = max(0, *map(len, names), len(named)) - len(named)
    fitting, longest = len(unit.name) + MAX_PART - len(part) - around, longest_name(unit)
    if len(part) <= MAX_PART or unit.name not in part or min(fitting, longest) < 1:
        return "other names"
    is_enough = unit.namespace in part.replace(unit.name, "") and len(unit.name) <= longest
    elsewhere = ", or another namespace" if is_enough else ""
    return f"a name of {min(fitting, longest)} characters or less{elsewhere}"


def blames_template(template: str, domain: str, rendered: str) -> bool:
    """Whether the template or the domain is at fault, because no name would do; for intricate templates a guess."""
    if is_plain(template):
        return bool(plain_host(template, "a", "a", domain)[1])
    return bool(host_fault(domain)) or "." not in rendered


def service_path(unit: Unit, platform: PlatformConfig) -> str:
    """The path of a service under the ingress domain, without a slash at its end.

    Raises:
        Reject: the template cannot be rendered, or the result is no path.
    """
    return request_path(unit, platform).removesuffix("/")


def request_path(unit: Unit, platform: PlatformConfig) -> str:
    """The path of a service under the ingress domain.

    Only a path of a request is taken: what stands before or after it in a URL is not, a query is dropped, and escapes
    are resolved. KServe: path.go, GenerateUrlPath.

    Raises:
        Reject: the template cannot be rendered, or the result is no path.
    """
    template = platform.ingress.path_template
    try:
        rendered = render_text(template, {"Name": unit.name, "Namespace": unit.namespace})
    except TemplateError as error:
        raise Reject(platform.broken(SECTION, f"pathTemplate: {error}", "pathTemplate")) from None
    path, _, _ = rendered.partition("?")
    if not _is_path(path):
        reason = f"pathTemplate gives {rendered!r} for {unit.ref}, which is no path: it must begin with a slash"
        raise Reject(platform.broken(SECTION, reason, "pathTemplate"))
    return unquote(path)


def additional_hosts(
    platform: PlatformConfig, own: str, endings: Sequence[str] = ()
) -> tuple[tuple[str, ...], tuple[Diagnostic, ...]]:
    """Further host names of a service whose own is `own`: its part before its domain, and each further domain.

    Args:
        platform: names the further domains.
        own: the host name of the service.
        endings: the domains that `own` may end with, by default the ingress domain; the first that fits counts.

    KServe: domain.go, GetAdditionalHosts
    """
    domains = dict.fromkeys(platform.ingress.additional_ingress_domains or ())
    if not domains:
        return (), ()
    endings = endings or (platform.ingress.ingress_domain or DEFAULT_DOMAIN,)
    prefix = next((own.removesuffix(domain) for domain in endings if own.endswith(domain)), "")
    if not prefix:
        message = f"{own} does not end with {' or '.join(endings)}: no additional domain applies"
        return (), (unused_domain(platform, message),)
    hosts = {d: f"{prefix}{d}" for d in domains}
    bad = [d for d, h in hosts.items() if len(h) > MAX_HOST or not _is_subdomain(h)]
    found = tuple(unused_domain(platform, f"the additional domain {d!r} makes no valid host name") for d in bad)
    return tuple(h for d, h in hosts.items() if d not in bad and h != own), found


def unused_domain(platform: PlatformConfig, message: str) -> Diagnostic:
    """The warning about `additionalIngressDomains`."""
    section = platform.texts.get(SECTION)
    return Diagnostic(
        code=ADDITIONAL_DOMAIN,
        message=message,
        span=section.setting("additionalIngressDomains") if section else None,
        help="correct additionalIngressDomains in the ingress section of inferenceservice-config",
    )
