"""Services, HTTPRoutes and Ingresses, and how the style is chosen."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Reject
from kservec.core.intents import CanaryIntent, ExposeIntent
from kservec.core.records import evolve
from kservec.core.registry import Exposed, Style
from kservec.core.routing.services import entry_address
from kservec.core.serving.stopping import is_down
from kservec.core.tree import Layer, Origin
from kservec.exposure.gateway_api import duration
from kservec.passes.expose import choose_style, expose

GATEWAY = "kserve/kserve-ingress-gateway"
BY_INGRESS = {"ingressGateway": "a/b", "ingressDomain": "example.com", "ingressClassName": "istio"}
BY_GATEWAY = {"enableGatewayApi": True, "kserveIngressGateway": GATEWAY, "ingressGateway": "a/b"}
H2C = "kubernetes.io/h2c"
HERE = Origin(Layer.SPEC, "test")


def part(*ports, **fields):
    """A component of one custom container with the given (name, number) ports."""
    listed = [{"containerPort": number, **({"name": name} if name else {})} for name, number in ports]
    container = {"name": "kserve-container", "image": "registry.example.com/scorer:1"}
    return {"containers": [{**container, **({"ports": listed} if listed else {})}], **fields}


def matches(route):
    """Path, backend, port and time limit of each rule of a route."""
    return [
        (
            rule["matches"][0]["path"]["value"],
            rule["backendRefs"][0]["name"],
            rule["backendRefs"][0]["port"],
            rule.get("timeouts", {}).get("request"),
        )
        for rule in route["spec"]["rules"]
    ]


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ((), [{"name": "churn-predictor", "port": 80, "targetPort": 8080, "protocol": "TCP"}]),
        ((("", 9000),), [{"port": 80, "targetPort": 9000, "protocol": "TCP"}]),
        (
            (("http1", 8080), ("grpc", 9000)),
            [
                {"name": "http1", "port": 80, "targetPort": 8080, "protocol": "TCP"},
                {"name": "grpc", "port": 9000, "targetPort": 9000, "protocol": "TCP", "appProtocol": H2C},
            ],
        ),
        ((("h2c", 9000),), [
            {"name": "h2c", "port": 80, "targetPort": 9000, "protocol": "TCP", "appProtocol": H2C},
        ]),
        ((("GRPC", 9000),), [{"name": "GRPC", "port": 80, "targetPort": 9000, "protocol": "TCP"}]),
    ],
)  # fmt: skip
def test_service_ports_come_from_the_container(bench, ports, expected):
    """The first container port is port 80 of the Service; names with grpc or h2c in lower case are HTTP/2."""
    b = bench()
    step = expose(b.unit({"predictor": part(*ports)}), b.env)
    service = b.objects(step, "Service")["churn-predictor"]
    assert service["spec"] == {"selector": {"app": "isvc.churn-predictor"}, "ports": expected}


def test_service_has_the_metadata_of_its_component(bench):
    """A Service carries the component's labels and annotations and the label that pods are found by."""
    b = bench()
    predictor = part(labels={"team": "risk"}, annotations={"note": "own"})
    step = expose(b.unit({"predictor": predictor}, metadata={"labels": {"a": "b"}, "annotations": {"c": "d"}}), b.env)
    assert b.objects(step, "Service")["churn-predictor"]["metadata"] == {
        "name": "churn-predictor",
        "namespace": "ml",
        "labels": {
            "a": "b",
            "team": "risk",
            "component": "predictor",
            "serving.kserve.io/inferenceservice": "churn",
            "app": "isvc.churn-predictor",
        },
        "annotations": {"c": "d", "note": "own"},
    }


def test_service_origins_lead_to_the_users_labels(bench):
    """Where a label of a Service comes from is known, as far as the line in the user's file."""
    b = bench()
    step = expose(b.unit({"predictor": part(labels={"team": "risk"})}), b.env)
    service = next(m for m in step.unit.bundle.manifests if m.ref.kind == "Service")
    span = service.body.span(("metadata", "labels", "team"))
    assert span is not None
    assert span.file == "isvc.yaml"


def test_service_of_a_collocated_transformer_has_its_ports(bench):
    """Where a pod holds a transformer-container, the Service leads to that."""
    b = bench()
    transformer = {"name": "transformer-container", "image": "t", "ports": [{"containerPort": 9090}]}
    spec = {"predictor": {"containers": [*part(("", 8081))["containers"], transformer]}}
    service = b.objects(expose(b.unit(spec), b.env), "Service")["churn-predictor"]
    assert service["spec"]["ports"][0]["targetPort"] == 9090


def test_agent_stands_before_the_first_port(bench):
    """With a logger or batcher the first port of the Service leads to the agent, even if it is gRPC."""
    b = bench()
    unit = b.unit({"predictor": part(("grpc", 9000), ("http", 8080))})
    unit = unit.with_components(tuple(evolve(c, agent=True) for c in unit.components))
    ports = b.objects(expose(unit, b.env), "Service")["churn-predictor"]["spec"]["ports"]
    assert [p["targetPort"] for p in ports] == [9081, 8080]


def test_headless_services(bench):
    """With serviceClusterIPNone Services have no address, so inside addresses name the container's port."""
    b = bench(service={"serviceClusterIPNone": True})
    step = expose(b.unit({"predictor": part(("grpc", 9000), ("http", 8085))}), b.env)
    assert b.objects(step, "Service")["churn-predictor"]["spec"]["clusterIP"] == "None"
    assert entry_address(step.unit, b.env) == "http://churn-predictor.ml.svc.cluster.local:8085"


def test_routes_of_a_predictor(bench):
    """A predictor has a route of its own and the service one: parent, host, headers and time limit."""
    b = bench(ingress=BY_GATEWAY)
    routes = b.objects(expose(b.unit({"predictor": part()}), b.env), "HTTPRoute")
    assert sorted(routes) == ["churn", "churn-predictor"]
    assert routes["churn"] == {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "churn", "namespace": "ml"},
        "spec": {
            "parentRefs": [
                {
                    "group": "gateway.networking.k8s.io",
                    "kind": "Gateway",
                    "namespace": "kserve",
                    "name": "kserve-ingress-gateway",
                }
            ],
            "hostnames": ["churn-ml.example.com"],
            "rules": [
                {
                    "matches": [{"path": {"type": "RegularExpression", "value": "^/.*$"}}],
                    "filters": [
                        {
                            "type": "RequestHeaderModifier",
                            "requestHeaderModifier": {
                                "set": [
                                    {"name": "KServe-Isvc-Name", "value": "churn"},
                                    {"name": "KServe-Isvc-Namespace", "value": "ml"},
                                ]
                            },
                        }
                    ],
                    "backendRefs": [
                        {
                            "group": "",
                            "kind": "Service",
                            "name": "churn-predictor",
                            "namespace": "ml",
                            "port": 80,
                            "weight": 1,
                        }
                    ],
                    "timeouts": {"request": "60s"},
                }
            ],
        },
    }
    assert routes["churn-predictor"]["spec"]["hostnames"] == ["churn-predictor-ml.example.com"]


@pytest.mark.parametrize(
    ("ports", "expected"),
    [
        ((("grpc", 9000), ("http", 8080)), [("^/inference\\.GRPCInferenceService/.*$", 80), ("^/.*$", 8080)]),
        ((("http", 8080), ("GRPC", 9000)), [("^/inference\\.GRPCInferenceService/.*$", 9000), ("^/.*$", 80)]),
        ((("grpc", 9000),), [("^/.*$", 80)]),
        ((("a", 8080), ("b", 8081)), [("^/.*$", 80)]),
    ],
)
def test_grpc_and_http_are_told_apart(bench, ports, expected):
    """Two rules only where a Service has ports for both protocols; a lone gRPC port is routed as everything."""
    b = bench(ingress=BY_GATEWAY)
    route = b.objects(expose(b.unit({"predictor": part(*ports)}), b.env), "HTTPRoute")["churn-predictor"]
    assert [(path, port) for path, _, port, _ in matches(route)] == expected


def test_routes_of_all_components(bench):
    """The service's route asks the explainer first, then the transformer; each with its own time limit."""
    b = bench(ingress={**BY_GATEWAY, "ingressDomain": "example.com", "pathTemplate": "/s/{{ .Name }}"})
    spec = {"predictor": part(timeout=5), "transformer": part(timeout=7), "explainer": part(timeout=9)}
    routes = b.objects(expose(b.unit(spec), b.env), "HTTPRoute")
    explain = "/v1/models/[\\w-]+:explain"
    assert routes["churn"]["spec"]["hostnames"] == ["churn-ml.example.com", "example.com"]
    assert matches(routes["churn"]) == [
        (f"^{explain}$", "churn-explainer", 80, "9s"),
        ("^/.*$", "churn-transformer", 80, "7s"),
        (f"/s/churn({explain})$", "churn-explainer", 80, "9s"),
        ("/s/churn/", "churn-transformer", 80, "7s"),
    ]
    assert matches(routes["churn-predictor"]) == [("^/.*$", "churn-predictor", 80, "5s")]
    assert matches(routes["churn-explainer"]) == [("^/.*$", "churn-explainer", 80, "9s")]


def test_predictor_route_keeps_its_name(bench):
    """predictor.name changes the Service and not the route, so a promoted canary keeps its address."""
    b = bench(ingress=BY_GATEWAY)
    routes = b.objects(expose(b.unit({"predictor": part(name="v2")}), b.env), "HTTPRoute")
    assert matches(routes["churn-predictor"]) == [("^/.*$", "churn-v2-predictor", 80, "60s")]


def test_route_metadata_is_filtered(bench):
    """Routes carry the service's labels and annotations, less those that KServe and the administrator keep back."""
    lists = {"serviceAnnotationDisallowedList": ["b"], "serviceLabelDisallowedList": ["y"]}
    b = bench(ingress=BY_GATEWAY, inferenceService=lists)
    annotations = {"a": "1", "b": "2", "modelFormat": "m", "kservec.dev/stable-revision": "x"}
    labels = {"x": "1", "y": "2", "networking.knative.dev/visibility": "v"}
    unit = b.unit({"predictor": part()}, metadata={"labels": labels, "annotations": annotations})
    metadata = b.objects(expose(unit, b.env), "HTTPRoute")["churn"]["metadata"]
    assert metadata == {"name": "churn", "namespace": "ml", "labels": {"x": "1"}, "annotations": {"a": "1"}}


def test_timeouts_can_be_kept_out_of_routes(bench):
    """With disableHTTPRouteTimeout time limits are left out, and a limit that the user set is then reported."""
    b = bench(ingress={**BY_GATEWAY, "disableHTTPRouteTimeout": True})
    step = expose(b.unit({"predictor": part(timeout=5)}), b.env)
    assert matches(b.objects(step, "HTTPRoute")["churn"]) == [("^/.*$", "churn-predictor", 80, None)]
    assert b.slugs(step) == ["spec/without-effect"]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(None, "60s"), (0, "0s"), (99_999, "99999s"), (100_000, "27h46m40s")]
)
def test_durations_fit_the_gateway_api(seconds, expected):
    """A time limit has at most five digits in a part, so long ones are written in hours."""
    assert duration(seconds) == expected


def with_canary(unit, percent):
    """The unit with a canary beside its predictor."""
    stable = unit.components[0]
    intent = CanaryIntent(origin=HERE, percent=percent, name="next")
    canary = evolve(stable, name="churn-next-predictor", canary="next", intents=(*stable.intents, intent))
    return unit.with_components((*unit.components, canary))


def test_canaries_share_the_rules_of_the_predictor(bench):
    """A canary's share stands in every rule that leads to the predictor, and in no other."""
    b = bench(ingress=BY_GATEWAY)
    unit = with_canary(b.unit({"predictor": part(), "transformer": part()}), 20)
    step = expose(unit, b.env)
    routes = b.objects(step, "HTTPRoute")

    def shares(name):
        return [(r["name"], r.get("weight")) for r in routes[name]["spec"]["rules"][0]["backendRefs"]]

    assert shares("churn-predictor") == [("churn-predictor", 80), ("churn-next-predictor", 20)]
    assert shares("churn") == [("churn-transformer", 1)]
    assert shares("churn-transformer") == [("churn-transformer", 1)]
    assert b.slugs(step) == ["exposure/canary-behind-transformer"]
    assert not any(c.peek(CanaryIntent) for c in step.unit.components)


def test_ingress_cannot_split_traffic(bench):
    """An Ingress gives a canary no traffic, which is reported."""
    b = bench(ingress=BY_INGRESS)
    step = expose(with_canary(b.unit({"predictor": part()}), 20), b.env)
    assert b.slugs(step) == ["spec/without-effect"]
    assert "no traffic" in step.diagnostics[0].message


def test_canary_traffic_percent_is_for_knative(bench):
    """The field canaryTrafficPercent does nothing in Standard mode."""
    b = bench(ingress=BY_GATEWAY)
    step = expose(b.unit({"predictor": part(canaryTrafficPercent=10)}), b.env)
    assert "canaryTrafficPercent" in step.diagnostics[0].message
    assert not step.unit.components[0].peek(CanaryIntent)


@pytest.mark.parametrize(
    ("others", "expected"),
    [
        ((), [("churn", "predictor"), ("churn-predictor", "predictor")]),
        (
            ("transformer",),
            [("churn", "transformer"), ("churn-transformer", "predictor"), ("churn-predictor", "predictor")],
        ),
        (("explainer",), [("churn", "predictor"), ("churn-explainer", "explainer"), ("churn-predictor", "predictor")]),
        (
            ("transformer", "explainer"),
            [
                ("churn-transformer", "explainer"),
                ("churn", "transformer"),
                ("churn-transformer", "predictor"),
                ("churn-predictor", "predictor"),
            ],
        ),
    ],
)
def test_ingress_rules(bench, others, expected):
    """The hosts of an Ingress and the Services they lead to, in KServe's order."""
    b = bench(ingress=BY_INGRESS)
    step = expose(b.unit({"predictor": part(), **{role: part() for role in others}}), b.env)
    spec = b.objects(step, "Ingress")["churn"]["spec"]
    assert spec["ingressClassName"] == "istio"
    found = [(r["host"], r["http"]["paths"][0]["backend"]["service"]["name"]) for r in spec["rules"]]
    assert found == [(f"{host}-ml.example.com", f"churn-{service}") for host, service in expected]


def test_ingress_metadata(bench):
    """An Ingress carries all annotations of the service but kubectl's own, and no labels; no class means none."""
    b = bench(ingress={**BY_INGRESS, "ingressClassName": None})
    annotations = {"a": "1", "modelFormat": "m", "kubectl.kubernetes.io/last-applied-configuration": "{}"}
    unit = b.unit({"predictor": part()}, metadata={"labels": {"x": "1"}, "annotations": annotations})
    ingress = b.objects(expose(unit, b.env), "Ingress")["churn"]
    assert ingress["metadata"] == {
        "name": "churn",
        "namespace": "ml",
        "annotations": {"a": "1", "modelFormat": "m"},
    }
    assert "ingressClassName" not in ingress["spec"]


def test_ingress_ignores_timeouts(bench):
    """A component's timeout has no effect where an Ingress routes."""
    b = bench(ingress=BY_INGRESS)
    step = expose(b.unit({"predictor": part(timeout=3)}), b.env)
    assert b.slugs(step) == ["spec/without-effect"]


@pytest.mark.parametrize("section", [BY_INGRESS, BY_GATEWAY])
def test_cluster_local_services_have_no_route(bench, section):
    """A service that stays inside has its Service and nothing else, and its address is inside."""
    b = bench(ingress=section)
    unit = b.unit({"predictor": part()}, metadata={"labels": {"networking.kserve.io/visibility": "cluster-local"}})
    step = expose(unit, b.env)
    assert [m.ref.kind for m in step.unit.bundle.manifests] == ["Service"]
    assert choose_style(unit, b.env).url(unit, b.env) == "http://churn-predictor.ml.svc.cluster.local"


@pytest.mark.parametrize("section", [BY_INGRESS, BY_GATEWAY])
def test_url_of_an_exposed_service(bench, section):
    """A service that is reached from outside has the URL of its top host."""
    b = bench(ingress=section)
    unit = b.unit({"predictor": part()})
    assert choose_style(unit, b.env).url(unit, b.env) == "http://churn-ml.example.com"


def test_stopped_units_have_no_objects(bench):
    """A stopped service has neither Services nor routes, but its host names must still be names."""
    b = bench(ingress=BY_GATEWAY)
    step = expose(b.unit({"predictor": part()}, stopped=True), b.env)
    assert (step.unit.bundle.manifests, step.diagnostics, step.unit.intents) == ((), (), ())
    broken = bench(ingress={**BY_GATEWAY, "domainTemplate": "{{ .Name }}"})
    with pytest.raises(Reject):
        expose(broken.unit({"predictor": part()}, stopped=True), broken.env)


def stopped_part(value: str = "true"):
    """A component that says itself whether it is stopped."""
    return part(annotations={"serving.kserve.io/stop": value})


@pytest.mark.parametrize(
    ("section", "stopped", "names"),
    [
        (BY_GATEWAY, "transformer", ["Service/churn-predictor", "HTTPRoute/churn-predictor"]),
        (BY_GATEWAY, "predictor", ["Service/churn-transformer", "HTTPRoute/churn-transformer"]),
        (BY_INGRESS, "transformer", ["Service/churn-predictor"]),
    ],
)
def test_a_stopped_component_has_no_objects(bench, section, stopped, names):
    """A component that is stopped alone has no Service and no route, and the service as a whole has no route."""
    b = bench(ingress=section)
    step = expose(b.unit({"predictor": part(), "transformer": part(), stopped: stopped_part()}), b.env)
    assert sorted(f"{m.ref.kind}/{m.ref.name}" for m in step.unit.bundle.manifests) == sorted(names)
    assert "exposure/component-stopped" in {d.code.slug for d in step.diagnostics}


@pytest.mark.parametrize(
    ("section", "others", "routes", "down"),
    [
        (BY_INGRESS, ("transformer",), ["Ingress/churn"], False),
        (BY_INGRESS, (), [], True),
        (BY_GATEWAY, ("transformer",), ["HTTPRoute/churn-predictor", "HTTPRoute/churn-transformer"], True),
        (BY_GATEWAY, (), ["HTTPRoute/churn-predictor"], True),
        ({**BY_INGRESS, "disableIngressCreation": True}, (), [], False),
    ],
    ids=["Ingress", "Ingress without a transformer", "Gateway API", "Gateway API without a transformer", "inside"],
)
def test_a_stopped_explainer(bench, section, others, routes, down):
    """KServe waits for it, but for an Ingress where there is a transformer, and where there are no routes at all."""
    b = bench(ingress=section)
    parts = {"predictor": part(), **dict.fromkeys(others, part()), "explainer": stopped_part()}
    step = expose(b.unit(parts), b.env)
    made = [f"{m.ref.kind}/{m.ref.name}" for m in step.unit.bundle.manifests if m.ref.kind != "Service"]
    (told,) = [d.message for d in step.diagnostics if d.code.slug == "exposure/component-stopped"]
    assert sorted(made) == routes
    assert is_down(step.unit, b.env) is down
    assert ("what leads to churn-explainer leads nowhere" in told) is not down


def test_a_component_of_a_stopped_service_may_run(bench):
    """What stands on a component counts for its objects: it runs, without routes, though the service is stopped."""
    b = bench(ingress=BY_GATEWAY)
    step = expose(b.unit({"predictor": stopped_part("false")}, stopped=True), b.env)
    assert [f"{m.ref.kind}/{m.ref.name}" for m in step.unit.bundle.manifests] == ["Service/churn-predictor"]
    assert not step.diagnostics


def test_stopping_works_where_nothing_is_exposed(bench):
    """A service can be stopped on a platform that makes no routes; KServe's controller fails there for ever."""
    b = bench(ingress={**BY_GATEWAY, "disableIngressCreation": True})
    step = expose(b.unit({"predictor": part()}, stopped=True), b.env)
    assert (step.unit.bundle.manifests, step.diagnostics) == ((), ())


def test_undeclared_gateway_is_a_warning(bench):
    """Routes to a Gateway that no document declares are written, with a warning that is the same for all services."""
    b = bench(ingress=BY_GATEWAY, gateways=(("other", "gw"),))
    found = [expose(b.unit({"predictor": part()}, metadata={"name": n}), b.env).diagnostics for n in ("a", "b")]
    assert found[0] == found[1]
    assert [d.code.slug for d in found[0]] == ["exposure/gateway-undeclared"]


def test_absent_httproute_is_an_error(bench):
    """The Gateway API cannot be used on a cluster without HTTPRoute."""
    b = bench(ingress=BY_GATEWAY, absent=("HTTPRoute",))
    with pytest.raises(Reject, match="HTTPRoute"):
        expose(b.unit({"predictor": part()}), b.env)


def style(name, *, selected):
    """A style that makes nothing."""
    nowhere = dict.fromkeys(("url", "address"), lambda *_: "")
    return Style(name=name, selects=lambda *_: selected, render=lambda *_: Exposed(), **nowhere)


@pytest.mark.parametrize(
    ("selected", "slug"), [((False,), "exposure/no-style"), ((True, True), "exposure/style-ambiguous")]
)
def test_exactly_one_style_fits(bench, plugs, selected, slug):
    """No style, or two, for one service is an error."""
    b = bench()
    styles = tuple(style(str(i), selected=s) for i, s in enumerate(selected))
    env = evolve(b.env, plugs=evolve(plugs, styles=styles))
    with pytest.raises(Reject) as reject:
        expose(b.unit({"predictor": part()}), env)
    assert [d.code.slug for d in reject.value.diagnostics] == [slug]


def test_expose_takes_its_intent(bench):
    """No ExposeIntent is left, and the input unit is not changed."""
    b = bench()
    unit = b.unit({"predictor": part()})
    step = expose(unit, b.env)
    assert not step.unit.take(ExposeIntent)[0]
    assert unit.take(ExposeIntent)[0]
    assert not unit.bundle.manifests
    assert expose(unit, b.env) == step
