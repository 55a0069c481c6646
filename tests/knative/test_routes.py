"""The VirtualService of an InferenceService, and the Service that stands for the local gateway."""

from __future__ import annotations

import pytest

INSIDE = {
    "authority": {"regex": r"^churn\.ml\.svc\.cluster\.local(?::\d{1,5})?$"},
    "gateways": ["knative-serving/knative-local-gateway", "mesh"],
}
OUTSIDE = {
    "authority": {"regex": r"^churn\.ml\.example\.com(?::\d{1,5})?$"},
    "gateways": ["knative-serving/knative-ingress-gateway"],
}
LOCAL_GATEWAY = "knative-local-gateway.istio-system.svc.cluster.local"


def to(component, *matches, **more):
    """A route to a component."""
    headers = {
        "Host": f"churn-{component}.ml.svc.cluster.local",
        "KServe-Isvc-Name": "churn",
        "KServe-Isvc-Namespace": "ml",
    }
    destination = {"host": LOCAL_GATEWAY, "port": {"number": 80}}
    return {
        "match": list(matches),
        "headers": {"request": {"set": headers}},
        "route": [{"destination": destination, "weight": 100}],
        **more,
    }


def three(predictor):
    """A service with all components."""
    part = predictor()["predictor"]
    return {"predictor": part, "transformer": part, "explainer": part}


def test_the_whole_spec(knative, predictor):
    """A predictor alone: one route, by both names."""
    assert knative(predictor()).routes() == {
        "hosts": ["churn.ml.svc.cluster.local", "churn.ml.example.com"],
        "gateways": [
            "knative-serving/knative-local-gateway",
            "mesh",
            "knative-serving/knative-ingress-gateway",
        ],
        "http": [to("predictor", INSIDE, OUTSIDE)],
    }


def test_the_local_gateway(knative, predictor):
    """The service's own name is another name of the local gateway."""
    body = knative(predictor(), metadata={"labels": {"team": "risk"}}).objects["", "churn"]
    assert body["metadata"] == {"name": "churn", "namespace": "ml"}
    assert body["spec"] == {"type": "ExternalName", "externalName": LOCAL_GATEWAY, "sessionAffinity": "None"}


def test_transformer_and_explainer(knative, predictor):
    """Explanations go to the explainer, all else to the transformer."""
    explain = {"uri": {"regex": r"^/v1/models/[\w-]+:explain$"}}
    assert knative(three(predictor)).routes()["http"] == [
        to("explainer", {**INSIDE, **explain}, {**OUTSIDE, **explain}),
        to("transformer", INSIDE, OUTSIDE),
    ]


@pytest.mark.parametrize("template", ["/models/{{ .Name }}", "/models/{{ .Name }}/"])
def test_paths(knative, predictor, template):
    """Under the ingress domain each service has a path, which its server does not see."""
    outcome = knative(three(predictor), ingress={"pathTemplate": template})
    shared = {
        "authority": {"regex": r"^example\.com(?::\d{1,5})?$"},
        "gateways": ["knative-serving/knative-ingress-gateway"],
    }
    expression = r"/models/churn(/v1/models/[\w-]+:explain)$"
    assert outcome.routes()["http"][2:] == [
        to(
            "explainer",
            {"uri": {"regex": expression}, **shared},
            rewrite={"uriRegexRewrite": {"match": expression, "rewrite": r"\1"}},
        ),
        to(
            "transformer",
            {"uri": {"prefix": "/models/churn/"}, **shared},
            {"uri": {"exact": "/models/churn"}, **shared},
            rewrite={"uri": "/"},
        ),
    ]
    assert outcome.routes()["hosts"][2] == "example.com"
    assert list(outcome.compilation.urls.values()) == [f"http://example.com{template.replace('{{ .Name }}', 'churn')}"]


def test_additional_domains(knative, predictor):
    """Further domains are further names, each once."""
    outcome = knative(predictor(), ingress={"additionalIngressDomains": ["example.net", "example.com", "example.net"]})
    further = {**OUTSIDE, "authority": {"regex": r"^churn\.ml\.example\.net(?::\d{1,5})?$"}}
    assert outcome.routes()["hosts"][2:] == ["churn.ml.example.net"]
    assert outcome.routes()["http"][0]["match"] == [INSIDE, OUTSIDE, further]


def test_additional_domains_go_by_the_domain_of_knative(knative, predictor):
    """The part before the domain that Knative has put the service under, whatever KServe's ingressDomain is."""
    outcome = knative(
        predictor(),
        ingress={"additionalIngressDomains": ["example.net"], "ingressDomain": "other.example.org"},
    )
    assert outcome.routes()["hosts"][2:] == ["churn.ml.example.net"]


def test_additional_domains_that_do_not_fit(knative, predictor):
    """An entry that makes no host name is named in a warning."""
    outcome = knative(predictor(), ingress={"additionalIngressDomains": ["Example_Net"]})
    assert outcome.slugs == ["exposure/additional-domain"]


def test_gateways_of_the_platform(knative, predictor):
    """All gateways come from KServe's configuration."""
    ingress = {
        "ingressGateway": "edge/public",
        "localGateway": "edge/private",
        "localGatewayService": "private.edge.svc.cluster.local",
        "knativeLocalGatewayService": "kn.edge.svc.cluster.local",
    }
    outcome = knative(predictor(), ingress=ingress)
    assert outcome.routes()["gateways"] == ["edge/private", "mesh", "edge/public"]
    assert outcome.routes()["http"][0]["route"][0]["destination"]["host"] == "kn.edge.svc.cluster.local"
    assert outcome.objects["", "churn"]["spec"]["externalName"] == "private.edge.svc.cluster.local"


def test_metadata_of_the_routes(knative, predictor):
    """Labels of the service, and its annotations but for those that are kept back."""
    metadata = {"labels": {"team": "risk"}, "annotations": {"tier": "gold", "modelFormat": "x"}}
    made = knative(predictor(), metadata=metadata).objects["networking.istio.io", "churn"]["metadata"]
    assert (made["labels"], made["annotations"]) == ({"team": "risk"}, {"tier": "gold"})


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        ({}, {"", "networking.istio.io", "serving.knative.dev"}),
        ({"absent": ("VirtualService",)}, {"", "serving.knative.dev"}),
        ({"ingress": {"disableIstioVirtualHost": True}}, {"serving.knative.dev"}),
    ],
)
def test_clusters_without_istio(knative, predictor, options, kinds):
    """Without the kind there is no VirtualService; a platform that wants none has no Service either."""
    assert {group for group, _ in knative(predictor(), **options).objects} == kinds


@pytest.mark.parametrize(
    ("ingress", "url"),
    [
        ({}, "http://churn.ml.example.com"),
        ({"urlScheme": "https"}, "https://churn.ml.example.com"),
        ({"disableIstioVirtualHost": True, "urlScheme": "https"}, "https://churn-predictor.ml.example.com"),
        ({"pathTemplate": "/m/{{ .Name }}", "urlScheme": "https"}, "https://example.com/m/churn"),
    ],
)
def test_urls(knative, predictor, ingress, url):
    """Where a service is reached, as KServe writes it into the status."""
    assert list(knative(predictor(), ingress=ingress).compilation.urls.values()) == [url]


def test_timeouts_are_honoured_by_the_revision(knative, predictor):
    """A timeout is no warning: the revision limits requests, not the route."""
    outcome = knative(predictor(timeout=60))
    assert outcome.slugs == []
    assert "timeout" not in outcome.routes()["http"][0]
