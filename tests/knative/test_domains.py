"""Host names of Knative services, and the one that KServe derives from them."""

from __future__ import annotations

import pytest

SELECTOR = "selector:\n  team: risk\n"


def hosts(outcome):
    """The names of a service."""
    return outcome.routes()["hosts"]


def public(outcome):
    """The name from outside; empty for a service that stays inside."""
    return (*hosts(outcome)[1:], "")[0]


@pytest.mark.parametrize(
    ("config", "labels", "host"),
    [
        ({"example.com": ""}, {}, "churn.ml.example.com"),
        ({"b.example.com": "", "a.example.com": ""}, {}, "churn.ml.a.example.com"),
        ({"example.com": "", "risk.example.com": SELECTOR}, {"team": "risk"}, "churn.ml.risk.example.com"),
        ({"example.com": "", "risk.example.com": SELECTOR}, {"team": "ads"}, "churn.ml.example.com"),
        ({"risk.example.com": SELECTOR}, {"team": "ads"}, ""),
        ({"example.com": "", "svc.cluster.local": "selector:\n  app: secret\n"}, {}, "churn.ml.example.com"),
        ({}, {}, ""),
    ],
)
def test_domains(knative, predictor, config, labels, host):
    """The domain whose labels fit best; without one for all services they stay inside the cluster."""
    outcome = knative(predictor(), metadata={"labels": labels}, config={"domain": config})
    assert public(outcome) == host


def test_an_undeclared_domain(knative, predictor):
    """Where config-domain is not declared, KServe's ingressDomain stands for it, with a warning."""
    outcome = knative(predictor(), ingress={"ingressDomain": "models.example.com"}, config={"domain": None})
    assert public(outcome) == "churn.ml.models.example.com"
    assert outcome.slugs == ["knative/domain-undeclared"]


@pytest.mark.parametrize(
    ("network", "host"),
    [
        ({"domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}"}, "churn-ml.example.com"),
        ({"domainTemplate": "{{.Name}}.{{.Domain}}"}, "churn.example.com"),
        ({"domainTemplate": "x.{{.Domain}}", "domain-template": "{{.Name}}.{{.Domain}}"}, "churn.example.com"),
        ({"domain-template": '{{.Name}}.{{index .Labels "team"}}.{{.Domain}}'}, "churn.risk.example.com"),
        ({"domain-template": '{{.Name}}.{{index .Labels "serving.knative.dev/service"}}.{{.Domain}}'},
         "churn.churn-predictor.example.com"),
    ],
)  # fmt: skip
def test_templates(knative, predictor, network, host):
    """Knative's own template makes the host name of a component; KServe takes the component's name out of it."""
    outcome = knative(predictor(), metadata={"labels": {"team": "risk"}}, config={"network": network})
    assert public(outcome) == host


@pytest.mark.parametrize("where", ["service", "component"])
def test_cluster_local(knative, predictor, where):
    """The visibility label keeps a service inside, whatever template and domain say."""
    labels = {"labels": {"networking.knative.dev/visibility": "cluster-local"}}
    spec = predictor(**labels) if where == "component" else predictor()
    metadata = labels if where == "service" else {}
    outcome = knative(spec, metadata=metadata, config={"network": {"domain-template": "{{.Name}}.x.{{.Domain}}"}})
    assert hosts(outcome) == ["churn.ml.svc.cluster.local"]
    assert outcome.routes()["gateways"] == ["knative-serving/knative-local-gateway", "mesh"]


@pytest.mark.parametrize(
    ("name", "namespace", "host"),
    [
        ("churn", "default", "churn.default.example.com"),
        ("churn", "ml-default", "churn-predictor.ml-default.example.com"),
        ("a-predictor-b", "ml", "a-b-predictor.ml.example.com"),
        ("a-transformer-b", "ml", "a-transformer-b.ml.example.com"),
    ],
)
def test_the_name_of_the_component_is_cut_out_by_its_text(knative, predictor, name, namespace, host):
    """KServe cuts the first match, and none where `-default` occurs; the same host is made here."""
    outcome = knative(predictor(), metadata={"name": name}, namespace=namespace)
    routes = outcome.objects["networking.istio.io", name]["spec"]
    assert routes["hosts"][1] == host


@pytest.mark.parametrize(
    ("config", "slug"),
    [
        ({"network": {"domain-template": "{{.Name"}}, "knative/configuration"),
        ({"network": {"domain-template": "{{.Nome}}"}}, "knative/configuration"),
        ({"network": {"domain-template": "{{.Name}}_x.{{.Domain}}"}}, "exposure/invalid-domain"),
        ({"domain": {"example.com": "selector: ["}}, "knative/configuration"),
        ({"domain": {"example.com": "just text"}}, "knative/configuration"),
        ({"domain": {"example.com": "selector: all"}}, "knative/configuration"),
    ],
)
def test_broken_configuration(knative, predictor, config, slug):
    """A configuration that gives no host name is an error that names it."""
    outcome = knative(predictor(), config=config)
    assert outcome.slugs == [slug]
    assert outcome.objects == {}
