"""Canaries in Standard mode: what they inherit, how many replicas and which traffic they get, what is refused."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml

from kservec.api import Target, compile_text
from kservec.core.serving.canary import replicas_of
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.api import Compilation

SERVER = "kserve-container"
CLASS = "serving.kserve.io/autoscalerClass"
INGRESS = {
    "enableGatewayApi": True,
    "kserveIngressGateway": "kserve/gw",
    "ingressGateway": "knative-serving/knative-ingress-gateway",
    "ingressDomain": "example.com",
}
CLUSTER = {
    "apiVersion": "kservec.dev/v1alpha1",
    "kind": "Cluster",
    "gateways": [{"namespace": "kserve", "name": "gw"}],
}


def runtime(name: str, fmt: str, server_type: str = "", **container: Any) -> dict[str, Any]:
    """A ServingRuntime of one format, which goes before those of the cluster."""
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime",
        "metadata": {"name": name, "namespace": "ml", "annotations": {"serving.kserve.io/server-type": server_type}},
        "spec": {
            "supportedModelFormats": [{"name": fmt, "version": "1", "autoSelect": True}],
            "protocolVersions": ["v1", "v2"],
            "containers": [{"name": SERVER, "image": f"{name}:1", "args": ["--serve"], **container}],
        },
    }


CLASS_OF = {"name": "CLASS", "value": "{{.Labels.modelClass}}"}
RUNTIMES = (
    runtime("plain", "sklearn"),
    runtime("boost", "xgboost"),
    runtime("torch", "pytorch", "torchserve"),
    runtime("many", "lightgbm", "mlserver", env=[CLASS_OF]),
    runtime("more", "mlflow", "mlserver", env=[CLASS_OF]),
)


def model(uri: str = "s3://models/v3", fmt: str = "sklearn", **more: Any) -> dict[str, Any]:
    """The `model` of the stable predictor."""
    return {"modelFormat": {"name": fmt}, "storageUri": uri, **more}


def canary(percent: int = 20, name: str = "next", **fields: Any) -> dict[str, Any]:
    """An entry of `spec.canary` that takes another version of the model, unless `fields` say something else."""
    if not fields.keys() & {"model", "sklearn", "storageUris", "containers"}:
        fields["model"] = {**model("s3://models/v4"), "name": SERVER}
    return {"trafficPercent": percent, "predictor": {"name": name, **fields}}


def target(*, gateway: bool = True) -> Target:
    """A cluster that runs services in Standard mode."""
    sections = {"deploy": {"defaultDeploymentMode": "Standard"}, "ingress": {**INGRESS, "enableGatewayApi": gateway}}
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {key: json.dumps(value) for key, value in sections.items()},
    }
    return Target(platform=[File("platform.yaml", libyaml.dump_all([config, CLUSTER, *RUNTIMES]).encode())])


def compiled(
    predictor: Mapping[str, Any],
    *canaries: Mapping[str, Any],
    annotations: Mapping[str, str] | None = None,
    gateway: bool = True,
    **parts: Any,
) -> Compilation:
    """A service named churn in the namespace ml."""
    service = {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {"name": "churn", "namespace": "ml", "annotations": dict(annotations or {})},
        "spec": {"predictor": predictor, "canary": list(canaries), **parts},
    }
    return compile_text(libyaml.dump(service, sort_keys=False), target=target(gateway=gateway))


def objects(result: Compilation) -> dict[tuple[str, str], Any]:
    """The objects of a service by kind and name."""
    assert result.ok, [str(d.message) for d in result.diagnostics]
    return {(o.ref.kind, o.ref.name): libyaml.load(o.text) for o in result.objects}


def findings(result: Compilation) -> list[str]:
    """The codes of the findings, in order."""
    return [d.code.slug for d in result.diagnostics]


def pod(made: Mapping[tuple[str, str], Any], name: str = "churn-next-predictor") -> Any:
    """The pod of a Deployment."""
    return made["Deployment", name]["spec"]["template"]["spec"]


def weights(made: Mapping[tuple[str, str], Any], route: str) -> list[list[tuple[str, int | None]]]:
    """The backends of each rule of a route with their weights."""
    rules = made["HTTPRoute", route]["spec"]["rules"]
    return [[(b["name"], b.get("weight")) for b in rule["backendRefs"]] for rule in rules]


@pytest.mark.parametrize(
    ("own", "percent", "stable", "expected"),
    [
        (None, 20, 4, 1),
        (None, 30, 10, 3),
        (None, 34, 3, 2),
        (None, 5, None, 1),
        (None, 0, 4, 0),
        (None, 100, 2, 2),
        (None, 50, 0, 0),
        (2, 20, 4, 2),
        (0, 50, 4, 0),
    ],
)
def test_replicas_follow_the_traffic(own, percent, stable, expected):
    """A canary has its own number of replicas, or its share of the stable predictor's, rounded up."""
    assert replicas_of(own, percent, stable) == expected


def test_a_canary_has_objects_of_its_own():
    """A canary is a Deployment, a Service and an autoscaler, named after service and canary; routes are shared."""
    made = objects(compiled({"model": model()}, canary()))
    own = [(kind, name) for kind, name in sorted(made) if "next" in name]
    assert own == [
        ("Deployment", "churn-next-predictor"),
        ("HorizontalPodAutoscaler", "churn-next-predictor"),
        ("Service", "churn-next-predictor"),
    ]
    assert made["Service", "churn-next-predictor"]["spec"]["selector"] == {"app": "isvc.churn-next-predictor"}


def test_it_inherits_the_stable_predictor():
    """What a canary does not override is the stable predictor's; lists are replaced as a whole, maps merged."""
    stable = {
        "model": model(env=[{"name": "A", "value": "1"}], args=["--x"], resources={"limits": {"memory": "3Gi"}}),
        "nodeSelector": {"pool": "cpu"},
        "serviceAccountName": "scorer",
        "labels": {"team": "a", "step": "stable"},
    }
    own = {**model("s3://models/v4"), "name": SERVER, "args": ["--y"], "resources": {"limits": {"cpu": "2"}}}
    made = objects(compiled(stable, canary(model=own, nodeSelector={"zone": "b"}, labels={"step": "canary"})))
    spec, (server, *_) = pod(made), pod(made)["containers"]
    assert spec["nodeSelector"] == {"pool": "cpu", "zone": "b"}
    assert spec["serviceAccountName"] == "scorer"
    assert spec["initContainers"][0]["args"][0] == "s3://models/v4"
    assert server["args"] == ["--serve", "--y"]
    assert {"name": "A", "value": "1"} in server["env"]
    assert server["resources"]["limits"] == {"memory": "3Gi", "cpu": "2"}
    labels = made["Deployment", "churn-next-predictor"]["metadata"]["labels"]
    assert (labels["team"], labels["step"]) == ("a", "canary")
    assert made["Deployment", "churn-predictor"]["metadata"]["labels"]["step"] == "stable"


def test_origins_of_inherited_values_are_the_stable_predictors():
    """A refused value that a canary inherits is located where the user wrote it, not at the canary."""
    stable = {"model": model(resources={"limits": {"cpu": "1"}, "requests": {"cpu": "2"}})}
    result = compiled(stable, canary())
    spans = {d.message.split(":")[0]: d.span for d in result.diagnostics if d.code.slug == "pod/request-over-limit"}
    assert set(spans) == {"Deployment churn-predictor", "Deployment churn-next-predictor"}
    assert len({span.line for span in spans.values()}) == 1


def test_the_rollout_strategy_is_not_inherited():
    """Deployments of canaries roll out by the default strategy, whatever the stable predictor's is."""
    made = objects(compiled({"model": model(), "deploymentStrategy": {"type": "Recreate"}}, canary()))
    strategies = [made["Deployment", f"churn{n}-predictor"]["spec"]["strategy"]["type"] for n in ("", "-next")]
    assert strategies == ["Recreate", "RollingUpdate"]


@pytest.mark.parametrize(
    ("scaler", "percent", "expected"),
    [
        ("", 30, {"HorizontalPodAutoscaler": ((7, 20), (3, 3)), "replicas": (None, None)}),
        ("", 0, {"HorizontalPodAutoscaler": ((10, 20), (1, 1)), "replicas": (None, None)}),
        ("", 100, {"HorizontalPodAutoscaler": ((1, 20), (10, 10)), "replicas": (None, None)}),
        ("none", 30, {"HorizontalPodAutoscaler": (None, None), "replicas": (7, 3)}),
        ("none", 0, {"HorizontalPodAutoscaler": (None, None), "replicas": (10, 0)}),
        ("external", 30, {"HorizontalPodAutoscaler": (None, None), "replicas": (None, None)}),
    ],
)
def test_replicas_under_each_autoscaler(scaler, percent, expected):
    """The stable predictor gives up what its canaries have; an HPA holds a canary at its number, at least at one."""
    stable = {"model": model(), "minReplicas": 10, "maxReplicas": 20}
    made = objects(compiled(stable, canary(percent), annotations={CLASS: scaler} if scaler else {}))
    names = ("churn-predictor", "churn-next-predictor")
    hpas = [made.get(("HorizontalPodAutoscaler", name)) for name in names]
    bounds = tuple(h and (h["spec"]["minReplicas"], h["spec"]["maxReplicas"]) for h in hpas)
    replicas = tuple(made["Deployment", name]["spec"].get("replicas") for name in names)
    assert {"HorizontalPodAutoscaler": bounds, "replicas": replicas} == expected


def test_a_stable_predictor_without_a_number_keeps_its_one():
    """Where minReplicas is not written there is nothing to lower, and nothing is said about it."""
    result = compiled({"model": model()}, canary(50))
    assert objects(result)["HorizontalPodAutoscaler", "churn-predictor"]["spec"]["minReplicas"] == 1
    assert findings(result) == []


def test_the_lowered_number_is_noted():
    """A build says that the stable predictor has fewer replicas than its minReplicas, and why."""
    result = compiled({"model": model(), "minReplicas": 4}, canary(50))
    assert findings(result) == ["canary/stable-lowered"]
    assert "at least 2 of 4 replicas" in result.diagnostics[0].message


def test_keda_gives_canaries_a_fixed_number():
    """KServe's ScaledObject for a canary has nothing to scale by, which KEDA refuses; the number stands instead."""
    held = {"type": "Utilization", "averageUtilization": 60}
    metrics = [{"type": "Resource", "resource": {"name": "cpu", "target": held}}]
    stable = {"model": model(), "minReplicas": 4, "maxReplicas": 8, "autoScaling": {"metrics": metrics}}
    made = objects(compiled(stable, canary(50), annotations={CLASS: "keda"}))
    assert [name for kind, name in made if kind == "ScaledObject"] == ["churn-predictor"]
    assert made["Deployment", "churn-next-predictor"]["spec"]["replicas"] == 2


@pytest.mark.parametrize("percents", [(10, 34), (0, 100), (50, 50)])
def test_routes_share_the_traffic(percents):
    """The routes of predictor and service name the stable Service with what is left, then each canary in order."""
    made = objects(compiled({"model": model()}, canary(percents[0], "one"), canary(percents[1], "two")))
    shares = [
        ("churn-predictor", 100 - sum(percents)),
        ("churn-one-predictor", percents[0]),
        ("churn-two-predictor", percents[1]),
    ]
    assert weights(made, "churn") == [shares]
    assert weights(made, "churn-predictor") == [shares]


def test_without_canaries_routes_have_no_weights():
    """A service whose canary was removed looks as if it never had one: its only backend has the default weight."""
    made = objects(compiled({"model": model()}))
    assert weights(made, "churn") == [[("churn-predictor", 1)]]


def test_a_canary_without_pods_gets_no_traffic():
    """Without an autoscaler a canary can have no replicas; it has no weight then, and a lost share is reported."""
    stable = {"model": model(), "minReplicas": 2}
    result = compiled(stable, canary(0, "dark"), canary(30, "none", minReplicas=0), annotations={CLASS: "none"})
    assert weights(objects(result), "churn") == [[("churn-predictor", 100)]]
    (found,) = (d for d in result.diagnostics if d.code.slug == "spec/without-effect")
    assert "spec.canary[1].trafficPercent" in found.message


def test_an_ingress_sends_canaries_nothing():
    """Without the Gateway API a canary gets no traffic; that is reported where its share stands, if it wants any."""
    result = compiled({"model": model()}, canary(20), canary(0, "dark"), gateway=False)
    (rules,) = (o["spec"]["rules"] for (kind, _), o in objects(result).items() if kind == "Ingress")
    services = {r["http"]["paths"][0]["backend"]["service"]["name"] for r in rules}
    assert services == {"churn-predictor"}
    assert findings(result) == ["spec/without-effect"]
    assert "spec.canary[0].trafficPercent" in result.diagnostics[0].message


def test_a_canary_behind_a_transformer_gets_no_share_of_the_service():
    """Requests for the transformer all go there, and that the canary gets none of them is reported."""
    prep = {"containers": [{"name": "prep", "image": "prep:1"}]}
    result = compiled({"model": model()}, canary(25), transformer=prep)
    assert weights(objects(result), "churn") == [[("churn-transformer", 1)]]
    assert weights(objects(result), "churn-predictor") == [[("churn-predictor", 75), ("churn-next-predictor", 25)]]
    assert findings(result) == ["exposure/canary-behind-transformer"]
    assert findings(compiled({"model": model()}, canary(0), transformer=prep)) == []


def test_a_canary_gets_no_explanations():
    """What is to be explained goes to the explainer alone; predictions are split."""
    result = compiled({"model": model()}, canary(25), explainer={"containers": [{"name": "why", "image": "why:1"}]})
    explained, predicted = weights(objects(result), "churn")
    assert explained == [("churn-explainer", 1)]
    assert predicted == [("churn-predictor", 75), ("churn-next-predictor", 25)]
    assert not findings(result)


def test_the_percentage_of_knative_does_nothing_here():
    """In Standard mode canaryTrafficPercent is reported as useless, and canaries do not inherit it."""
    result = compiled({"model": model(), "canaryTrafficPercent": 10}, canary(20))
    assert weights(objects(result), "churn") == [[("churn-predictor", 80), ("churn-next-predictor", 20)]]
    assert findings(result) == ["spec/without-effect"]


def test_a_stopped_service_has_no_canaries():
    """Stopping a service stops its canaries."""
    result = compiled({"model": model()}, canary(), annotations={"serving.kserve.io/stop": "true"})
    assert objects(result) == {}


def test_the_runtime_is_inherited():
    """A canary keeps the chosen runtime, so another format needs another runtime by name."""
    other = {**model("s3://models/v4", "xgboost"), "name": SERVER}
    result = compiled({"model": model()}, canary(model=other))
    assert findings(result) == ["runtime/format"]
    found = result.diagnostics[0]
    assert "runtime plain does not support model format xgboost" in found.message
    assert "a canary keeps the stable predictor's runtime" in found.help
    assert "xgboost" in result.sources["input.yaml"].splitlines()[found.span.line - 1]
    made = objects(compiled({"model": model()}, canary(model={**other, "runtime": "boost"})))
    assert pod(made)["containers"][0]["image"] == "boost:1"


def test_labels_of_a_canarys_own_runtime_are_its_own():
    """The class that MLServer loads follows the canary's format, in its label and where the runtime asks for it."""
    own = {**model("s3://models/v4", "mlflow"), "name": SERVER, "runtime": "more"}
    made = objects(compiled({"model": model(fmt="lightgbm")}, canary(model=own)))
    for name, expected in (("churn", "LightGBMModel"), ("churn-next", "MLflowRuntime")):
        deployment = made["Deployment", f"{name}-predictor"]
        env = {e["name"]: e["value"] for e in pod(made, f"{name}-predictor")["containers"][0]["env"]}
        classes = {deployment["metadata"]["labels"]["modelClass"], env["CLASS"]}
        assert {text.rpartition(".")[2] for text in classes} == {expected}


def test_defaults_of_the_runtime_do_not_pile_up():
    """A variable that a runtime's defaults append stands once in a canary; KServe appends it to the inherited one."""
    own = {**model("s3://models/v4", "pytorch"), "name": SERVER, "protocolVersion": "v2"}
    made = objects(compiled({"model": model(fmt="pytorch")}, canary(model=own)))
    env = pod(made)["containers"][0]["env"]
    assert [e["value"] for e in env if e["name"] == "PROTOCOL_VERSION"] == ["v2"]


def test_canaries_load_several_models():
    """A canary inherits storageUris and loads them, which KServe forgets, or has its own."""
    stable = {"model": {"modelFormat": {"name": "sklearn"}}, "storageUris": [{"uri": "s3://a", "mountPath": "/mnt/a"}]}
    same = {"modelFormat": {"name": "sklearn"}, "name": SERVER}
    inherits = pod(objects(compiled(stable, canary(model=same))))
    assert inherits["initContainers"][0]["args"] == ["s3://a", "/mnt/a"]
    own = pod(objects(compiled(stable, canary(model=same, storageUris=[{"uri": "s3://b", "mountPath": "/mnt/b"}]))))
    assert own["initContainers"][0]["args"] == ["s3://b", "/mnt/b"]


def test_one_model_and_several_take_each_others_place():
    """What a canary says about where its models lie takes the place of what the stable predictor says."""
    several = [{"uri": "s3://a", "mountPath": "/mnt/a"}]
    bare = {"modelFormat": {"name": "sklearn"}}
    one = pod(objects(compiled({"model": bare, "storageUris": several}, canary())))
    assert [c["args"] for c in one["initContainers"]] == [["s3://models/v4", "/mnt/models"]]
    result = compiled({"model": model()}, canary(model={**bare, "name": SERVER}, storageUris=several))
    assert [c["args"] for c in pod(objects(result))["initContainers"]] == [["s3://a", "/mnt/a"]]
    both = compiled({"model": model()}, canary(model={**model("s3://b"), "name": SERVER}, storageUris=several))
    assert findings(both) == ["spec/without-effect"]
    assert both.diagnostics[0].message == (
        "spec.canary[0].predictor.storageUris has no effect: the canary names its model in another place too"
    )
    assert [c["args"] for c in pod(objects(both))["initContainers"]] == [["s3://b", "/mnt/models"]]


def test_two_kinds_of_places_are_refused():
    """A storageUri over an inherited storage.path makes two places, as in KServe; the remedy names the right field."""
    place = {"path": "v3", "parameters": {"type": "s3", "bucket": "b"}}
    stored = {"modelFormat": {"name": "sklearn"}, "storage": place}
    result = compiled({"model": stored}, canary())
    assert findings(result) == ["canary/two-places"]
    assert (
        result.diagnostics[0].message
        == "canary next has storageUri, and inherits storage.path from the stable predictor"
    )
    assert result.diagnostics[0].help == "name its model by storage.path too, or the stable predictor's by storageUri"
    result = compiled({"model": model()}, canary(model={**stored, "name": SERVER}))
    assert findings(result) == ["canary/two-places"]
    assert (
        result.diagnostics[0].message
        == "canary next has storage.path, and inherits storageUri from the stable predictor"
    )
    assert result.diagnostics[0].help == "name its model by storageUri too, or the stable predictor's by storage.path"


def test_a_framework_gives_the_place_of_the_model():
    """A framework in a canary says where the model lies and nothing else; the rest of it is reported."""
    own = {"name": SERVER, "storageUri": "s3://models/v4", "args": ["--lost"]}
    result = compiled({"sklearn": {"storageUri": "s3://models/v3"}}, canary(sklearn=own))
    spec = pod(objects(result))
    assert spec["initContainers"][0]["args"][0] == "s3://models/v4"
    assert spec["containers"][0]["args"] == ["--serve"]
    assert findings(result) == ["spec/without-effect"]
    assert "spec.canary[0].predictor.sklearn.args" in result.diagnostics[0].message


def test_containers_can_have_canaries():
    """A predictor of containers has canaries of other containers, which replace its own."""

    def container(version: str) -> list[dict[str, Any]]:
        uri = {"name": "STORAGE_URI", "value": f"s3://models/{version}"}
        return [{"name": SERVER, "image": f"mine:{version}", "env": [uri]}]

    spec = pod(objects(compiled({"containers": container("v3")}, canary(containers=container("v4")))))
    assert spec["containers"][0]["image"] == "mine:v4"
    assert spec["initContainers"][0]["args"][0] == "s3://models/v4"


def test_the_containers_name_must_be_kserves():
    """A canary's model has a name, by KServe's schema; only one name lets a model be mounted."""
    result = compiled({"model": model()}, canary(model={**model("s3://models/v4"), "name": "server"}))
    assert findings(result) == ["canary/container-name"]
    assert result.diagnostics[0].help == "write name: kserve-container"
    result = compiled({"model": model()}, canary(model=model("s3://models/v4")))
    assert findings(result) == ["schema/required"]
    assert "write `name: kserve-container`" in result.diagnostics[0].help


def test_any_name_will_do_without_a_model():
    """A canary that loads its model by itself has a container of the name that it wrote, as in KServe."""
    stable = {"model": {"modelFormat": {"name": "huggingface"}, "args": ["--model_id=a"]}}
    own = {"modelFormat": {"name": "huggingface"}, "name": "server", "args": ["--model_id=b"]}
    (server,) = pod(objects(compiled(stable, canary(model=own))))["containers"]
    assert server["name"] == "server"
    assert server["args"][-1] == "--model_id=b"


@pytest.mark.parametrize(("field", "value"), [("logger", {"mode": "all"}), ("batcher", {"maxBatchSize": 8})])
def test_the_agent_is_inherited_but_not_in_front(field, value):
    """Pods of a canary have the stable predictor's agent, but its Service leads past it, which is reported."""
    result = compiled({"model": model(), field: value}, canary())
    made = objects(result)
    assert "agent" in [c["name"] for c in pod(made)["containers"]]
    ports = [made["Service", f"churn{n}-predictor"]["spec"]["ports"][0]["targetPort"] for n in ("", "-next")]
    assert ports == [9081, 8080]
    assert findings(result) == ["canary/past-agent"]


def test_changes_are_no_business_of_a_build():
    """A new predictor.name with the old model is accepted: the build does not know what was there before."""
    for name in ("blue", "green"):
        made = objects(compiled({"name": name, "model": model()}))
        assert ("Deployment", f"churn-{name}-predictor") in made
        assert ("HTTPRoute", "churn-predictor") in made
