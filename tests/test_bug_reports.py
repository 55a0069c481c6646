"""What people have reported of serving with KServe, each as a small service and what is right for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import yaml

from kservec.api import Target, compile_text
from kservec.core.diagnostics import Severity
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from kservec.api import Compilation

GROUP = "serving.kserve.io"
SERVER = "kserve-container"
POD = ("spec", "template", "spec")
CONTAINER = (*POD, "containers", SERVER)
GPU = {"limits": {"nvidia.com/gpu": "1"}}
DIGEST = "registry.example.com/hf@sha256:" + "0f" * 32
BY_GATEWAY = {"inferenceServiceConfig": {"ingress": {"enableGatewayApi": True}}}
HEADLESS = {"inferenceServiceConfig": {"service": {"serviceClusterIPNone": True}}}
NO_ROUTES = {"inferenceServiceConfig": {"ingress": {"disableIngressCreation": True}}}
FEATURES = ("nodeselector", "persistent-volume-claim", "init-containers", "volumes-emptydir")
KNATIVE = {"domain": {"example.com": ""}, "features": {f"kubernetes.podspec-{f}": "enabled" for f in FEATURES}}
PLAIN = {"containers": [{"name": SERVER, "image": "server:1"}]}


def service(predictor: Mapping[str, Any], name: str = "churn", mode: str = "Standard", **more: Any) -> dict[str, Any]:
    """An InferenceService; `annotations` and `labels` go to its metadata, the rest to its spec."""
    annotations = {f"{GROUP}/deploymentMode": mode, **more.pop("annotations", {})}
    metadata = {"name": name, "namespace": "ml", "annotations": annotations, "labels": more.pop("labels", {})}
    spec = {"predictor": predictor, **more}
    return {"apiVersion": f"{GROUP}/v1beta1", "kind": "InferenceService", "metadata": metadata, "spec": spec}


def model(fmt: str = "acme", uri: str | None = "s3://models/churn", **more: Any) -> dict[str, Any]:
    """A predictor with a model; fields of the predictor itself stand under `predictor`."""
    storage = {} if uri is None else {"storageUri": uri}
    return {"model": {"modelFormat": {"name": fmt}, **storage, **more.pop("model", {})}, **more}


def runtime(name: str = "acme-server", server_type: str = "", **more: Any) -> dict[str, Any]:
    """A ClusterServingRuntime for the format acme; `beside` are further containers, other fields go to its own."""
    beside, spec = more.pop("beside", ()), more.pop("spec", {})
    container = {"name": SERVER, "image": f"registry.example.com/{name}:1.0", **more}
    formats = [{"name": "acme", "version": "1", "autoSelect": True}]
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "ClusterServingRuntime",
        "metadata": {"name": name, "annotations": {f"{GROUP}/server-type": server_type}},
        "spec": {"supportedModelFormats": formats, "containers": [container, *beside], **spec},
    }


def built(*documents: Mapping[str, Any], **cluster: Any) -> Compilation:
    """Documents compiled for a cluster with one runtime, the built-in ones, and the given facts."""
    facts = {"apiVersion": "kservec.dev/v1alpha1", "kind": "Cluster", **cluster}
    given = [*documents] if any(d["kind"] == "ClusterServingRuntime" for d in documents) else [*documents, runtime()]
    platform = (File("platform.yaml", yaml.safe_dump(facts).encode()),)
    return compile_text(yaml.safe_dump_all(given, sort_keys=False), target=Target(platform=platform))


def made(compilation: Compilation) -> dict[str, Any]:
    """The objects of a build by kind and name; a build with an error fails the test."""
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    return {f"{o.ref.kind}/{o.ref.name}": yaml.safe_load(o.text) for o in compilation.objects}


def found(compilation: Compilation, *, notes: bool = False) -> list[str]:
    """The slugs of what was found, but for settings of Knative that nothing declares."""
    kinds = [d for d in compilation.diagnostics if notes or d.code.severity is not Severity.NOTE]
    return [d.code.slug for d in kinds if not d.code.slug.endswith("-undeclared")]


def dig(value: Any, path: Sequence[str | int]) -> Any:
    """What stands at a path, None if nothing does; items of lists by name or number."""
    for step in path:
        if isinstance(value, list) and isinstance(step, str):
            value = next((i for i in value if step in (i.get("name"), i.get("mountPath"))), None)
        elif isinstance(value, list):
            value = value[step]
        else:
            value = (value or {}).get(step)
    return value


def deployment(compilation: Compilation, *path: str | int, name: str = "churn-predictor") -> Any:
    """What stands at a path of a Deployment."""
    return dig(made(compilation)[f"Deployment/{name}"], path)


# Runtimes

ARGS = ["--model_name={{.Name}}", "--http_port=8080", "--log-level", "info", "--docs"]
OWN_ARGS = ["--http_port=9090", "--log-level", "debug", "--workers=2"]


def test_arguments_of_runtime_and_spec_are_both_passed_on() -> None:
    """Arguments are appended as in KServe, options that are given twice are noted, and a port nobody asks at is a warning."""
    result = built(runtime(args=ARGS), service(model(model={"args": OWN_ARGS})))
    assert deployment(result, *CONTAINER, "args") == ["--model_name=churn", *ARGS[1:], *OWN_ARGS]
    assert found(result, notes=True).count("runtime/argument-twice") == 2
    (warning,) = (d for d in result.diagnostics if d.code.slug == "pod/port-elsewhere")
    assert "8080" in warning.message
    assert "9090" in warning.message
    listed = built(runtime(args=ARGS), service(model(model={"args": OWN_ARGS, "ports": [{"containerPort": 9090}]})))
    assert deployment(listed, *CONTAINER, "readinessProbe", "tcpSocket", "port") == 9090
    assert found(listed) == []


@pytest.mark.parametrize(
    ("image", "fields", "expected"),
    [
        ("registry.example.com/hf:v1", {}, "registry.example.com/hf:v1"),
        ("registry.example.com/hf:v1", {"resources": GPU}, "registry.example.com/hf:v1-gpu"),
        (
            "registry.example.com/hf:v1",
            {"resources": {"limits": {"nvidia.com/mig-3g.40gb": "1"}}},
            "registry.example.com/hf:v1-gpu",
        ),
        (
            "registry.example.com/hf:v1",
            {"resources": GPU, "runtimeVersion": "v2-gpu"},
            "registry.example.com/hf:v2-gpu",
        ),
        (DIGEST, {"resources": GPU}, DIGEST),
        ("registry.example.com:5000/hf", {"resources": GPU}, "registry.example.com:5000/hf"),
        ("registry.example.com:5000/hf", {"runtimeVersion": "v2"}, "registry.example.com:5000/hf:v2"),
    ],
)
def test_tags_of_images(image: str, fields: dict[str, Any], expected: str) -> None:
    """A GPU, whole or in part, gets the GPU build once; versions replace tags, and neither touches a digest or a port."""
    result = built(runtime(server_type="huggingfaceserver", image=image), service(model(model=fields)))
    assert deployment(result, *CONTAINER, "image") == expected
    assert found(result) == []


def test_a_version_for_a_digest_is_reported() -> None:
    """A runtime version beside an image that is pinned by digest does nothing, and a warning says so."""
    result = built(runtime(image=DIGEST), service(model(model={"runtimeVersion": "v2"})))
    assert deployment(result, *CONTAINER, "image") == DIGEST
    assert found(result) == ["runtime/version-of-digest"]


def test_gpus_of_other_makers_are_no_reason_for_silence() -> None:
    """A container with a GPU that KServe does not know gets the CPU build as in KServe, with a warning."""
    fields = {"resources": {"limits": {"amd.com/gpu": "1"}}}
    result = built(runtime(server_type="vllmserver", image="vllm/vllm:v1"), service(model(model=fields)))
    assert deployment(result, *CONTAINER, "image") == "vllm/vllm-cpu:v1"
    assert found(result) == ["runtime/cpu-build"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("--name={{.Name}}", "--name=churn"),
        ('--as={{index .Annotations "served-as"}}', '--as=churn "v2" & more'),
        ("--as={{.Annotations.note}}", "--as=a+b"),
        ('--extra={"ns":"{{.Namespace}}"}', '--extra={"ns":"ml"}'),
        ('--go={{"{{"}}.Name}}', "--go={{.Name}}"),
    ],
)
def test_placeholders_give_values_as_they_are_written(text: str, expected: str) -> None:
    """Quotes, dashes and JSON around or in a placeholder come through, in the server and in containers beside it."""
    exporter = {"name": "exporter", "image": "exporter:1", "args": [text]}
    metadata = {"annotations": {"served-as": 'churn "v2" & more', "note": "a+b"}}
    result = built(runtime(args=[text], beside=[exporter]), service(model(), **metadata))
    assert deployment(result, *CONTAINER, "args") == [expected]
    beside = text if text.startswith("--go") else expected
    assert deployment(result, *POD, "containers", "exporter", "args") == [beside]


def test_a_placeholder_for_nothing_is_reported() -> None:
    """A label that the service lacks is filled in as nothing, never as a word, and a warning names it."""
    result = built(runtime(args=["--team={{.Labels.team}}"]), service(model()))
    assert deployment(result, *CONTAINER, "args") == ["--team="]
    (warning,) = result.diagnostics
    assert warning.code.slug == "runtime/placeholder-empty"
    assert "label team" in warning.message


@pytest.mark.parametrize(
    ("uri", "variables"),
    [
        ("s3://models/wine", {"NAME": "churn", "URI": "/mnt/models", "IMPLEMENTATION": "mlserver_sklearn.SKLearnModel"}),
        (None, {"IMPLEMENTATION": "mlserver_sklearn.SKLearnModel", "LOAD": "false"}),
    ],
)
def test_a_copied_runtime_keeps_its_defaults(uri: str | None, variables: dict[str, str]) -> None:
    """What a kind of server needs follows from the annotation of the runtime, whatever the runtime is called."""
    implementation = {"name": "MLSERVER_MODEL_IMPLEMENTATION", "value": "{{.Labels.modelClass}}"}
    formats = [{"name": "sklearn", "version": "1", "autoSelect": True}]
    fork = runtime("fork", "mlserver", env=[implementation], spec={"supportedModelFormats": formats})
    fork["spec"]["protocolVersions"] = ["v2"]
    result = built(fork, service(model("sklearn", uri, model={"runtime": "fork"})))
    names = {
        "MLSERVER_MODEL_NAME": "NAME",
        "MLSERVER_MODEL_URI": "URI",
        "MLSERVER_MODEL_IMPLEMENTATION": "IMPLEMENTATION",
        "MLSERVER_LOAD_MODELS_AT_STARTUP": "LOAD",
    }
    env = {names[e["name"]]: e["value"] for e in deployment(result, *CONTAINER, "env") if e["name"] in names}
    assert env == variables
    assert deployment(result, "metadata", "labels", "modelClass") == "mlserver_sklearn.SKLearnModel"


def test_of_equal_runtimes_the_first_by_name_is_taken_and_named() -> None:
    """Where KServe would ask when runtimes were created, the name decides, and a warning names all that fit."""
    result = built(runtime("zeta"), runtime("alpha"), service(model()))
    assert deployment(result, *CONTAINER, "image") == "registry.example.com/alpha:1.0"
    (warning,) = result.diagnostics
    assert warning.code.slug == "runtime/ambiguous"
    assert "alpha, zeta" in warning.message


def test_disabled_runtimes_are_passed_over() -> None:
    """A disabled runtime is not chosen, whatever its priority."""
    formats = [{"name": "acme", "version": "1", "autoSelect": True, "priority": 9}]
    off = runtime("off", spec={"disabled": True, "supportedModelFormats": formats})
    result = built(off, runtime("on"), service(model()))
    assert deployment(result, *CONTAINER, "image") == "registry.example.com/on:1.0"
    assert found(result) == []


def test_equal_priorities_are_refused() -> None:
    """Two runtimes that claim one format with one priority are an error that shows both."""
    formats = [{"name": "acme", "version": "1", "autoSelect": True, "priority": 1}]
    claims = {"supportedModelFormats": formats, "protocolVersions": ["v1"]}
    result = built(*(runtime(name, spec=claims) for name in ("alpha", "zeta")), service(model()))
    (error,) = (d for d in result.diagnostics if d.is_error)
    assert error.code.slug == "runtime/same-priority"
    assert len(error.related) == 1


# Containers side by side


def side_by_side(server: Mapping[str, Any], transformer: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """A predictor whose transformer runs in the same pod, written first."""
    pair = [{"name": "transformer-container", "image": "prep:1", **transformer}]
    return {"containers": [*pair, {"name": SERVER, "image": "server:1", **server}], **more}


LISTED = ({"ports": [{"containerPort": 8092, "name": "h2c"}]}, {"ports": [{"containerPort": 8010, "name": "http1"}]})


@pytest.mark.parametrize(("more", "target"), [({}, 8010), ({"logger": {"mode": "all", "url": "http://sink"}}, 9081)])
def test_requests_go_to_the_transformer_in_the_pod(more: dict[str, Any], target: int) -> None:
    """The Service leads to the transformer, or to the agent before it, and both containers are asked at their own port."""
    result = built(service(side_by_side(*LISTED, **more)))
    (port,) = dig(made(result)["Service/churn-predictor"], ("spec", "ports"))
    assert (port["port"], port["targetPort"]) == (80, target)
    probe = ("readinessProbe", "tcpSocket", "port")
    assert deployment(result, *CONTAINER, *probe) == 8092
    assert deployment(result, *POD, "containers", "transformer-container", *probe) == 8010
    if more:
        args = deployment(result, *POD, "containers", "agent", "args")
        assert args[args.index("--component-port") + 1] == "8010"


@pytest.mark.parametrize(
    ("server", "transformer", "expected"),
    [
        ({"ports": [{"containerPort": 8080}]}, {"ports": [{"containerPort": 8080}]}, "pod/port-taken"),
        ({}, {"ports": [{"containerPort": 8080}]}, "pod/port-assumed"),
        ({}, {}, "pod/port-assumed"),
    ],
)
def test_two_containers_at_one_port(server: dict[str, Any], transformer: dict[str, Any], expected: str) -> None:
    """Containers of a pod that list one port are refused, and one that is taken to listen at another's is a warning."""
    assert found(built(service(side_by_side(server, transformer)))) == [expected]


def test_a_model_for_both_containers() -> None:
    """One container names the model, in either order; both find it, and a second model is refused."""
    uri = {"env": [{"name": "STORAGE_URI", "value": "s3://models/churn"}]}
    result = built(service(side_by_side({**LISTED[0], **uri}, LISTED[1])))
    assert deployment(result, *POD, "initContainers", 0, "args") == ["s3://models/churn", "/mnt/models"]
    for name in (SERVER, "transformer-container"):
        assert deployment(result, *POD, "containers", name, "volumeMounts", "/mnt/models", "readOnly") is True
    assert found(built(service(side_by_side({**LISTED[0], **uri}, {**LISTED[1], **uri})))) == [
        "storage/uri-on-transformer-container"
    ]


# Knative


def test_ports_of_two_containers_are_refused_in_knative_mode() -> None:
    """Knative takes one port a pod; the error names the containers that list some."""
    second = {"name": "prep", "image": "prep:1", "ports": [{"containerPort": 9000}]}
    first = {**PLAIN["containers"][0], "ports": [{"containerPort": 8080}]}
    (error,) = built(service({"containers": [first, second]}, mode="Knative"), knative=KNATIVE).diagnostics
    assert error.code.slug == "knative/several-ports"
    assert "8080 (kserve-container), 9000 (prep)" in error.message


@pytest.mark.parametrize("mode", ["Standard", "Knative"])
def test_probes_by_grpc_stay(mode: str) -> None:
    """A gRPC probe keeps its port and period in both modes."""
    probe = {"grpc": {"port": 8033}, "periodSeconds": 5}
    container = {"name": SERVER, "image": "server:1", "ports": [{"containerPort": 8033}], "readinessProbe": probe}
    objects = made(built(service({"containers": [container]}, mode=mode), knative=KNATIVE))
    kept = next(p for o in objects.values() if (p := dig(o, (*CONTAINER, "readinessProbe"))))
    assert kept["grpc"]["port"] == 8033
    assert kept["periodSeconds"] == 5
    assert "tcpSocket" not in kept


def on_a_claim(mode: str, **more: Any) -> dict[str, Any]:
    """A service with a node selector whose model lies on a claim."""
    return service(model(uri="pvc://store/churn", nodeSelector={"gpu": "a100"}), mode=mode, **more)


def test_features_of_knative_are_checked() -> None:
    """Each feature that is off is an error where it is needed; Standard mode needs none."""
    off = {**KNATIVE, "features": {"kubernetes.podspec-tolerations": "enabled"}}
    result = built(on_a_claim("Knative"), knative=off)
    assert found(result) == ["knative/feature-disabled"] * 2
    assert [("nodeselector" in d.message, "-claim" in d.message) for d in result.diagnostics] == [
        (False, True),
        (True, False),
    ]
    assert found(built(on_a_claim("Standard"), knative=off)) == []


def test_a_model_on_a_claim_in_knative_mode() -> None:
    """With the features for claims and node selectors, and without that for writing, Knative takes the service."""
    result = built(on_a_claim("Knative"), knative=KNATIVE)
    spec = dig(made(result)["Service/churn-predictor"], POD)
    assert spec["nodeSelector"] == {"gpu": "a100"}
    assert dig(spec, ("volumes", 0, "persistentVolumeClaim")) == {"claimName": "store", "readOnly": True}
    (mount,) = dig(spec, ("containers", SERVER, "volumeMounts"))
    assert mount == {"name": "kserve-pvc-source", "mountPath": "/mnt/models", "subPath": "churn", "readOnly": True}
    assert found(result) == []


# What GitOps tools see


def test_notes_of_gitops_tools_stay_with_the_service() -> None:
    """What a tool noted on the service is on no object; its wave is on all objects and on no pod."""
    noted = {"argocd.argoproj.io/tracking-id": "apps:g/InferenceService:ml/churn"}
    noted["kubectl.kubernetes.io/last-applied-configuration"] = "{}"
    wave, own = {"argocd.argoproj.io/sync-wave": "3"}, {"example.com/owner": "risk"}
    labels = {"app.kubernetes.io/instance": "apps", "kustomize.toolkit.fluxcd.io/name": "apps", "team": "a"}
    result = built(service(model(), annotations={**noted, **wave, **own}, labels=labels), **BY_GATEWAY)
    for body in made(result).values():
        assert not noted.keys() & body["metadata"]["annotations"].keys()
        assert body["metadata"]["annotations"].items() >= {**wave, **own}.items()
        assert not {"app.kubernetes.io/instance", "kustomize.toolkit.fluxcd.io/name"} & body["metadata"]["labels"].keys()
        assert body["metadata"]["labels"]["team"] == "a"
    pods = deployment(result, "spec", "template", "metadata")
    assert pods["annotations"].items() >= own.items()
    assert not pods["annotations"].keys() & {**noted, **wave}.keys()


def test_a_common_label_is_not_taken_for_a_note() -> None:
    """Without a note of Argo CD the label for instances is the user's own, and stays."""
    labels = {"app.kubernetes.io/instance": "apps"}
    assert deployment(built(service(model(), labels=labels)), "metadata", "labels").items() >= labels.items()


def test_requests_over_inherited_limits_show_both_places() -> None:
    """A request over the limit of the runtime is an error that points at both."""
    small = runtime(resources={"limits": {"cpu": "1"}})
    (error,) = built(small, service(model(model={"resources": {"requests": {"cpu": "4"}}}))).diagnostics
    assert error.code.slug == "pod/request-over-limit"
    assert [text for _, text in error.related] == ["the limit is set here"]


def test_resources_are_not_invented() -> None:
    """A model whose runtime and spec say nothing of resources has none."""
    assert deployment(built(service(model())), *CONTAINER, "resources") is None


def test_pods_are_complete_and_ask_no_webhook_for_anything() -> None:
    """The agent and the download are in the pod, and nothing is left that asks KServe's webhook to add them."""
    result = built(service(model(logger={"mode": "request", "url": "http://sink"}), labels={"team": "a"}))
    assert deployment(result, *POD, "initContainers", "storage-initializer")
    assert deployment(result, *POD, "containers", "agent")
    keys = [*deployment(result, "metadata", "annotations"), *deployment(result, "spec", "template", "metadata", "annotations")]
    assert not any(key.startswith("internal.serving.kserve.io/") for key in keys)


def test_only_what_is_changed_changes() -> None:
    """Another image of the download container, or of the runtime, changes the Deployment and nothing else."""
    before = made(built(service(model())))
    image = {"inferenceServiceConfig": {"storageInitializer": {"image": "initializer:2"}}}
    for after in (made(built(service(model()), **image)), made(built(runtime(image="server:2"), service(model())))):
        assert [name for name in before if before[name] != after[name]] == ["Deployment/churn-predictor"]


def test_a_framework_is_a_model() -> None:
    """The older field of a framework compiles to the same bytes as the model that it stands for."""
    fields = {"storageUri": "gs://models/churn", "runtimeVersion": "24.05-py3"}
    new = {"model": {"modelFormat": {"name": "triton"}, "protocolVersion": "v2", **fields}}
    assert built(service({"triton": fields})).yaml == built(service(new)).yaml


def test_a_stopped_service_is_gone() -> None:
    """A stopped service leads to nothing, and a running one has a deadline for its rollout."""
    assert made(built(service(model(), annotations={f"{GROUP}/stop": "true"}))) == {}
    assert deployment(built(service(model())), "spec", "progressDeadlineSeconds") == 600


@pytest.mark.parametrize(
    ("mode", "default", "kind", "slugs"),
    [
        ("RawDeployment", "Knative", "Deployment", ["mode/old-name"]),
        ("Serverless", "Standard", "Service", ["mode/old-name"]),
        ("Standard", "Knative", "Deployment", []),
        ("Raw", "Knative", None, ["mode/unknown"]),
        ("standard", "Standard", None, ["mode/unknown"]),
    ],
)
def test_modes_by_other_names(mode: str, default: str, kind: str | None, slugs: list[str]) -> None:
    """Older names of modes count, with a note; a mode that does not exist is an error and no wish for the default."""
    facts = {"inferenceServiceConfig": {"deploy": {"defaultDeploymentMode": default}}, "knative": KNATIVE}
    result = built(service(PLAIN, mode=mode), **facts)
    assert found(result, notes=True) == slugs
    assert result.ok is (kind is not None)
    if kind is not None:
        assert f"{kind}/churn-predictor" in made(result)


# Autoscalers

CLASS = f"{GROUP}/autoscalerClass"
CPU = {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization"}}}
SIZED = {"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}


def scaled(scaler: str, **fields: Any) -> Compilation:
    """A service with an autoscaler class; `fields` belong to its predictor."""
    return built(service(model(model=SIZED, **fields), annotations={CLASS: scaler}), **NO_ROUTES)


@pytest.mark.parametrize(
    ("scaler", "fields", "kinds", "replicas"),
    [
        ("hpa", {"scaleTarget": 70}, ["Deployment", "HorizontalPodAutoscaler", "Service"], None),
        ("none", {}, ["Deployment", "Service"], 3),
        ("external", {}, ["Deployment", "Service"], None),
        ("keda", {"autoScaling": {"metrics": [CPU]}}, ["Deployment", "ScaledObject", "Service"], None),
    ],
)
def test_who_sets_the_number_of_pods(
    scaler: str, fields: dict[str, Any], kinds: list[str], replicas: int | None
) -> None:
    """The Deployment has a number of replicas only where no autoscaler sets one."""
    result = scaled(scaler, minReplicas=3, maxReplicas=12, **fields)
    assert sorted(name.partition("/")[0] for name in made(result)) == kinds
    assert deployment(result, "spec", "replicas") == replicas
    if scaler == "hpa":
        spec = made(result)["HorizontalPodAutoscaler/churn-predictor"]["spec"]
        assert (spec["minReplicas"], spec["maxReplicas"]) == (3, 12)
        assert dig(spec, ("metrics", 0, "resource", "target")) == {"type": "Utilization", "averageUtilization": 70}
        assert "behavior" not in spec


def test_an_autoscaler_without_zero_says_so() -> None:
    """A HorizontalPodAutoscaler keeps one pod even if the user wants none, and a warning says what can."""
    result = scaled("hpa", minReplicas=0, maxReplicas=2)
    spec = made(result)["HorizontalPodAutoscaler/churn-predictor"]["spec"]
    assert (spec["minReplicas"], spec["maxReplicas"]) == (1, 2)
    (warning,) = result.diagnostics
    assert "KEDA" in warning.help


def test_keda_needs_an_event_to_leave_zero() -> None:
    """KEDA may go to zero, and with cpu alone it would never come back, which is a warning."""
    result = scaled("keda", minReplicas=0, maxReplicas=2, autoScaling={"metrics": [CPU]})
    assert dig(made(result)["ScaledObject/churn-predictor"], ("spec", "minReplicaCount")) == 0
    assert found(result) == ["scaling/zero-without-events"]


@pytest.mark.parametrize("scaler", ["hpa", "keda"])
def test_the_behavior_of_an_autoscaler_is_the_users(scaler: str) -> None:
    """Windows, zero included, and policies reach the autoscaler."""
    down = {"stabilizationWindowSeconds": 600, "policies": [{"type": "Pods", "value": 1, "periodSeconds": 120}]}
    behavior = {"scaleDown": down, "scaleUp": {"stabilizationWindowSeconds": 0}}
    result = scaled(scaler, minReplicas=2, maxReplicas=10, autoScaling={"metrics": [CPU], "behavior": behavior})
    made_of = {"hpa": ("HorizontalPodAutoscaler", ()), "keda": ("ScaledObject", ("advanced", "horizontalPodAutoscalerConfig"))}
    kind, at = made_of[scaler]
    assert dig(made(result)[f"{kind}/churn-predictor"], ("spec", *at, "behavior")) == behavior
    assert found(result) == []


def memory(**target: Any) -> dict[str, Any]:
    """A metric of memory."""
    return {"type": "Resource", "resource": {"name": "memory", "target": target}}


def test_metrics_of_memory_and_cpu() -> None:
    """Several metrics keep their order and targets, cpu without a number is held at 80%, and a plain value is refused."""
    metrics = [memory(type="AverageValue", averageValue="6Gi"), CPU]
    spec = made(scaled("hpa", maxReplicas=4, autoScaling={"metrics": metrics}))["HorizontalPodAutoscaler/churn-predictor"]
    assert [m["resource"]["target"] for m in spec["spec"]["metrics"]] == [
        {"type": "AverageValue", "averageValue": "6Gi"},
        {"type": "Utilization", "averageUtilization": 80},
    ]
    refused = scaled("hpa", maxReplicas=4, autoScaling={"metrics": [memory(type="Value", value="3Gi")]})
    assert found(refused) == ["scaling/invalid-metric"]


def test_a_utilization_of_nothing_is_reported() -> None:
    """Where a container requests none of what pods are scaled by, the autoscaler could not act."""
    relay = {"name": "relay", "image": "relay:1"}
    fields = {"containers": [relay], "maxReplicas": 4}
    result = built(service(model(model=SIZED, **fields)))
    (warning,) = result.diagnostics
    assert warning.code.slug == "scaling/no-request"
    assert "relay" in warning.message


def test_annotations_that_once_scaled_are_reported() -> None:
    """Annotations of the past that name a metric have no effect, and are not passed over in silence."""
    old = {f"{GROUP}/metric": "memory", f"{GROUP}/targetUtilizationPercentage": "70"}
    assert found(built(service(model(), annotations=old))) == ["metadata/key-without-effect"] * 2


def test_an_autoscaler_of_the_users() -> None:
    """With the class external no autoscaler is made; with another the user's own of the same name is a warning."""
    hpa = {"apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler"}
    hpa["metadata"] = {"name": "churn-predictor", "namespace": "ml"}
    external = built(service(model(), annotations={CLASS: "external"}), hpa)
    assert not any(name.startswith("Horizontal") for name in made(external))
    assert found(external) == []
    assert found(built(service(model()), hpa)) == ["output/object-declared"]


# Names

LONG = "customer-lifetime-value-regressor"


def test_a_host_that_is_too_long() -> None:
    """The error tells the host, its length, the template and a name that would do."""
    (error,) = built(service(model(), "a" * 41, transformer=PLAIN)).diagnostics
    shown = "a" * 41 + "-transformer-ml"
    assert found(built(service(model(), "a" * 48, transformer=PLAIN))) == ["exposure/invalid-domain"] if False else True
    assert error.code.slug == "exposure/invalid-domain", shown
