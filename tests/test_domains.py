"""Host names and paths from the templates of the `ingress` section."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Reject, Severity
from kservec.core.routing.domains import (
    additional_hosts,
    checked_ingress,
    gateway_fault,
    host_fault,
    is_cluster_local,
    service_host,
    service_path,
    service_url,
)

CUSTOM = {"predictor": {"containers": [{"name": "kserve-container", "image": "registry.example.com/scorer:1"}]}}
SECTION = {"ingressGateway": "a/b", "ingressDomain": "example.com"}


def rejected(reject):
    """The one diagnostic of a Reject."""
    (diagnostic,) = reject.value.diagnostics
    return diagnostic


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("", "churn-ml.example.com"),
        ("{{ .Name }}.{{ .Namespace }}.{{ .IngressDomain }}", "churn.ml.example.com"),
        ('{{ printf "%s-%s" .Namespace .Name }}.{{ .IngressDomain }}', "ml-churn.example.com"),
        ("{{ .Name }}.{{ .Labels.team }}.{{ .Annotations.zone }}.org", "churn.risk.eu.org"),
        ("{{ .Name }}.fixed.org.", "churn.fixed.org."),
        ("{{.Namespace}}.{{.Name}}{{ .Name }}.org", "ml.churnchurn.org"),
        ("{{ .Namespace }}.{{ .IngressDomain }}", "ml.example.com"),
    ],
)
def test_host_is_rendered_from_the_template(bench, template, expected):
    """The domain template sees name, namespace, domain, labels and annotations of the service."""
    b = bench(ingress={**SECTION, "domainTemplate": template})
    unit = b.unit(CUSTOM, metadata={"labels": {"team": "risk"}, "annotations": {"zone": "eu"}})
    assert service_host(unit, b.env.platform, "churn") == expected


def test_host_without_a_section_has_the_defaults(bench):
    """Without an `ingress` section domain, template and scheme are KServe's defaults."""
    b = bench(ingress=None)
    unit = b.unit(CUSTOM)
    assert service_url(unit, b.env.platform) == "http://churn-ml.example.com"
    assert checked_ingress(b.env.platform).ingress_gateway == ""


def test_url_has_the_scheme_of_the_platform(bench):
    """The setting urlScheme is the scheme of a service's URL."""
    b = bench(ingress={**SECTION, "urlScheme": "https"})
    assert service_url(b.unit(CUSTOM), b.env.platform) == "https://churn-ml.example.com"


def test_component_metadata_counts_for_component_hosts(bench):
    """A label that only the component has helps its own host and not that of the service."""
    b = bench(ingress={**SECTION, "domainTemplate": "{{ .Name }}.{{ .Labels.team }}.org"})
    unit = b.unit({"predictor": {**CUSTOM["predictor"], "labels": {"team": "risk"}}})
    component = unit.components[0]
    assert service_host(unit, b.env.platform, component.name, component) == "churn-predictor.risk.org"
    with pytest.raises(Reject) as reject:
        service_host(unit, b.env.platform, unit.name)
    assert "<no value>" in rejected(reject).message


@pytest.mark.parametrize(
    ("section", "name", "file", "words"),
    [
        ({"domainTemplate": "{{ .Name }}.{{ .Labels.team }}.org"}, "churn", "isvc.yaml", "<no value>"),
        ({"domainTemplate": "{{ .Name }}"}, "churn", "platform.yaml", "two or more parts"),
        ({"domainTemplate": "{{ .Name }}_{{ .Namespace }}.org"}, "churn", "platform.yaml", "lower-case"),
        ({"ingressDomain": "Example.COM"}, "churn", "platform.yaml", "lower-case"),
        ({"domainTemplate": "{{ .Name }_{{ .Namespace }}"}, "churn", "platform.yaml", "domainTemplate"),
        ({"domainTemplate": "{{ upper .Name }}.org"}, "churn", "platform.yaml", "upper"),
        ({}, "a" * 61, "isvc.yaml", "64 characters"),
        ({}, "<your-name>", "isvc.yaml", "lower-case"),
    ],
)
def test_faulty_host_points_at_its_cause(bench, section, name, file, words):
    """A host that is no domain name is reported where the cause is: the service or the configuration."""
    b = bench(ingress={**SECTION, **section})
    unit = b.unit(CUSTOM, metadata={"name": name})
    with pytest.raises(Reject) as reject:
        service_host(unit, b.env.platform, unit.name)
    diagnostic = rejected(reject)
    assert diagnostic.span is not None
    assert diagnostic.span.file == file
    assert diagnostic.span.line > 0
    assert words in diagnostic.message


@pytest.mark.parametrize(
    ("name", "is_valid"),
    [
        ("a.b", True),
        ("a.b.", True),
        ("a", False),
        ("", False),
        (".", False),
        ("a..b", False),
        ("-a.b", False),
        ("a_b.c", False),
        ("A.b", False),
        ("a" * 63 + ".b", True),
        ("a" * 64 + ".b", False),
        (".".join(["a" * 49] * 5) + ".bcd", True),
        (".".join(["a" * 49] * 5) + ".bcde", False),
    ],
)
def test_domain_names(name, is_valid):
    """A host is a domain name of two or more labels, within the limits of DNS."""
    assert (host_fault(name) == "") is is_valid


@pytest.mark.parametrize(
    ("gateway", "words"),
    [
        ("kserve/gw", ""),
        ("", "required"),
        ("gw", "namespace/name"),
        ("a/b/c", "namespace/name"),
        ("Kserve/gw", "namespace"),
        ("kserve/gw_1", "name"),
        ("/gw", "namespace"),
    ],
)
def test_gateway_reference(gateway, words):
    """The setting kserveIngressGateway is a namespace and a name, both DNS labels."""
    assert words in gateway_fault(gateway)
    assert bool(words) is bool(gateway_fault(gateway))


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ({"enableGatewayApi": True, "ingressGateway": "a/b"}, "kserveIngressGateway is required"),
        ({"ingressGateway": ""}, "ingressGateway is required"),
        ({"ingressGateway": "a/b", "pathTemplate": "/{{ .Name }}"}, "ingressDomain is required"),
        ({**SECTION, "pathTemplate": "/{{ .Name "}, "pathTemplate is no Go template"),
    ],
)
def test_faulty_configuration_points_at_the_section(bench, section, words):
    """What KServe's controller refuses in the section is reported there."""
    with pytest.raises(Reject) as reject:
        checked_ingress(bench(ingress=section).env.platform)
    diagnostic = rejected(reject)
    assert words in diagnostic.message
    assert diagnostic.span is not None
    assert diagnostic.span.file == "platform.yaml"


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("/serving/{{ .Namespace }}/{{ .Name }}", "/serving/ml/churn"),
        ("/{{ .Name }}/", "/churn"),
        ("//other.example.com/{{ .Name }}", "//other.example.com/churn"),
        ("/{{ .Name }}?x=1", "/churn"),
        ("/a%20{{ .Name }}", "/a churn"),
        ("/", ""),
    ],
)
def test_path_is_rendered_from_the_template(bench, template, expected):
    """The path template sees name and namespace; what is left is the path of a request, without a slash at its end."""
    b = bench(ingress={**SECTION, "pathTemplate": template})
    assert service_path(b.unit(CUSTOM), b.env.platform) == expected


@pytest.mark.parametrize(
    "template", ["{{ .Name }}", "http://h/{{ .Name }}", "/{{ .Labels.team }}", "/%zz", "/a\tb", "*"]
)
def test_faulty_path_points_at_the_section(bench, template):
    """A template that gives no path, or asks for what paths cannot see, is reported at the section."""
    b = bench(ingress={**SECTION, "pathTemplate": template})
    with pytest.raises(Reject) as reject:
        service_path(b.unit(CUSTOM), b.env.platform)
    span = rejected(reject).span
    assert span is not None
    assert span.file == "platform.yaml"


@pytest.mark.parametrize(
    ("domains", "own", "expected", "warnings"),
    [
        (None, "churn-ml.example.com", (), 0),
        (["a.org", "b.org", "a.org"], "churn-ml.example.com", ("churn-ml.a.org", "churn-ml.b.org"), 0),
        (["example.com"], "churn-ml.example.com", (), 0),
        (["a_b.org", "b.org"], "churn-ml.example.com", ("churn-ml.b.org",), 1),
        (["a.org"], "churn-ml.elsewhere.com", (), 1),
        (["a.org"], "example.com", (), 1),
    ],
)
def test_additional_hosts(bench, domains, own, expected, warnings):
    """Each further domain gives a host with the same part before it; what gives none is a warning."""
    platform = bench(ingress={**SECTION, "additionalIngressDomains": domains}).env.platform
    hosts, found = additional_hosts(platform, own)
    assert hosts == expected
    assert [d.code.severity for d in found] == [Severity.WARNING] * warnings


@pytest.mark.parametrize(
    ("section", "labels", "expected"),
    [
        ({}, {}, False),
        ({}, {"networking.kserve.io/visibility": "cluster-local"}, True),
        ({}, {"networking.kserve.io/visibility": "public"}, False),
        ({"ingressDomain": "svc.cluster.local"}, {}, True),
        ({"disableIngressCreation": True}, {}, True),
    ],
)
def test_cluster_local(bench, section, labels, expected):
    """A label, a domain or a switch of the platform keep a service inside the cluster."""
    b = bench(ingress={**SECTION, **section})
    assert is_cluster_local(b.unit(CUSTOM, metadata={"labels": labels}), b.env.platform) is expected
