"""Predictors over several nodes: their workers, what both kinds of pods are told, how they find each other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests import libyaml

from kservec.api import Target, compile_text
from kservec.core.diagnostics import Severity
from kservec.io.reading import File

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kservec.api import Compilation

GPU = "nvidia.com/gpu"
CLASS = "serving.kserve.io/autoscalerClass"
MODE = "serving.kserve.io/deploymentMode"
TYPES = "serving.kserve.io/gpu-resource-types"
BACKEND = "multinode/executor-backend"
SIDES = {"head": ("chat-predictor", "kserve-container"), "worker": ("chat-predictor-worker", "worker-container")}


PLATFORM = {
    "deploy": {"defaultDeploymentMode": "Standard"},
    "ingress": {
        "disableIngressCreation": True,
        "ingressDomain": "example.com",
        "ingressGateway": "knative-serving/gw",
        "kserveIngressGateway": "kserve/gw",
    },
    "metricsAggregator": {"enableMetricAggregation": "false", "enablePrometheusScraping": "false"},
    "storageInitializer": {
        "cpuRequest": "1",
        "cpuLimit": "1",
        "memoryRequest": "1Gi",
        "memoryLimit": "1Gi",
        "enableModelcar": True,
    },
}


def runtime(worker: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """A ServingRuntime for several nodes. `worker` is laid over its workerSpec, `more` over its spec."""
    container = {
        "name": "worker-container",
        "image": "worker:1",
        "args": ["--join"],
        "env": [{"name": "A", "value": "1"}],
    }
    spec: dict[str, Any] = {
        "supportedModelFormats": [{"name": "chatfmt", "autoSelect": True}],
        "containers": [{"name": "kserve-container", "image": "server:1"}],
        "workerSpec": {"containers": [container], **(worker or {})},
        **more,
    }
    return {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "ServingRuntime",
        "metadata": {"name": "mn", "namespace": "ml"},
        "spec": {field: value for field, value in spec.items() if value is not None},
    }


def service(worker: Mapping[str, Any], *, model: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """An InferenceService over several nodes. `metadata` is laid over its own, `more` are fields of the predictor."""
    metadata = more.pop("metadata", {})
    annotations = {MODE: "Standard", CLASS: "none", **metadata.pop("annotations", {})}
    metadata = {"generation": 1, **metadata}
    format_and_place = {"modelFormat": {"name": "chatfmt"}, "storageUri": "pvc://weights/chat", "runtime": "mn"}
    return {
        "apiVersion": "serving.kserve.io/v1beta1",
        "kind": "InferenceService",
        "metadata": {
            "name": "chat",
            "namespace": "ml",
            "annotations": annotations,
            **{field: value for field, value in metadata.items() if value is not None},
        },
        "spec": {"predictor": {"model": {**format_and_place, **(model or {})}, "workerSpec": worker, **more}},
    }


def compiled(worker: Mapping[str, Any], given: Mapping[str, Any] | None = None, **more: Any) -> Compilation:
    """The compilation of a service with a runtime of several nodes, for a platform with more `sections` if given."""
    sections = PLATFORM | more.pop("sections", {})
    config = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "inferenceservice-config", "namespace": "kserve"},
        "data": {key: json.dumps(section) for key, section in sections.items()},
    }
    platform = (File("config.json", json.dumps(config).encode()),)
    target = Target(catalog="none", platform=platform, names_revisions=more.pop("names_revisions", False))
    documents = [service(worker, **more), given or runtime()]
    return compile_text("\n---\n".join(json.dumps(d) for d in documents), target=target)


def objects(compilation: Compilation, kind: str) -> dict[str, Any]:
    """The objects of a kind by name."""
    assert compilation.ok, [d.message for d in compilation.diagnostics]
    made = (libyaml.load(o.text) for o in compilation.objects)
    return {o["metadata"]["name"]: o for o in made if o["kind"] == kind}


def container(compilation: Compilation, side: str) -> dict[str, Any]:
    """The container of the head or of a worker that computes."""
    workload, name = SIDES[side]
    pod = objects(compilation, "Deployment")[workload]["spec"]["template"]["spec"]
    return next(c for c in pod["containers"] if c["name"] == name)


def variables(compilation: Compilation, side: str) -> dict[str, str]:
    """The variables of the head or of a worker, in order."""
    return {e["name"]: e["value"] for e in container(compilation, side)["env"]}


def slugs(compilation: Compilation, least: Severity = Severity.WARNING) -> list[str]:
    """The codes of what was found, notes aside."""
    return [d.code.slug for d in compilation.diagnostics if d.code.severity >= least]


def test_both_sides_know_the_plan() -> None:
    """Head and worker are told sizes, nodes and their own GPUs in the variables that KServe gives them."""
    made = compiled({"pipelineParallelSize": 2, "tensorParallelSize": 3})
    assert list(variables(made, "head").items()) == [
        ("INFERENCE_SERVICE_NAME", "chat"),
        ("PIPELINE_PARALLEL_SIZE", "2"),
        ("TENSOR_PARALLEL_SIZE", "3"),
        ("RAY_NODE_COUNT", "6"),
        ("REQUEST_GPU_COUNT", "1"),
        ("MODEL_NAME", "chat"),
        ("MODEL_DIR", "/mnt/models"),
    ]
    assert list(variables(made, "worker").items()) == [
        ("A", "1"),
        ("RAY_NODE_COUNT", "6"),
        ("REQUEST_GPU_COUNT", "1"),
        ("PIPELINE_PARALLEL_SIZE", "2"),
        ("TENSOR_PARALLEL_SIZE", "3"),
        ("ISVC_NAME", "chat"),
        ("HEAD_SVC", "chat-head-1"),
        ("WORKER_SVC", "chat-workers-1"),
    ]
    for side in SIDES:
        assert container(made, side)["resources"] == {"limits": {GPU: "1"}, "requests": {GPU: "1"}}


def test_one_stage_a_node() -> None:
    """A runtime whose processes share the GPUs of a host gets a node for each stage."""
    made = compiled({"pipelineParallelSize": 3, "tensorParallelSize": 4}, runtime(annotations={BACKEND: "mp"}))
    assert variables(made, "worker")["RAY_NODE_COUNT"] == "3"
    assert container(made, "head")["resources"]["limits"][GPU] == "4"
    assert objects(made, "Deployment")["chat-predictor-worker"]["spec"]["replicas"] == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "nodes"),
    [
        ({}, {}, "1"),
        ({}, {"pipelineParallelSize": 3}, "3"),
        ({"pipelineParallelSize": 2}, {"pipelineParallelSize": 3}, "2"),
    ],
)
def test_sizes_come_from_the_service_first(ours: dict[str, Any], theirs: dict[str, Any], nodes: str) -> None:
    """A size of the service goes before that of the runtime, which goes before 1."""
    assert variables(compiled(ours, runtime(theirs)), "head")["RAY_NODE_COUNT"] == nodes


def test_workers_are_merged_over_the_runtime() -> None:
    """The service's worker is laid over the runtime's: arguments follow, variables merge, pod fields are added."""
    own = {
        "name": "worker-container",
        "image": "other:2",
        "args": ["--more"],
        "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "0"}],
    }
    made = compiled({"containers": [own], "nodeSelector": {"pool": "gpu"}}, runtime({"schedulerName": "batch"}))
    worker = container(made, "worker")
    assert (worker["image"], worker["args"]) == ("other:2", ["--join", "--more"])
    assert [e["name"] for e in worker["env"]][:2] == ["B", "A"]
    pod = objects(made, "Deployment")["chat-predictor-worker"]["spec"]["template"]["spec"]
    assert (pod["nodeSelector"], pod["schedulerName"]) == ({"pool": "gpu"}, "batch")
    assert "nodeSelector" not in objects(made, "Deployment")["chat-predictor"]["spec"]["template"]["spec"]


def test_metadata_of_workers() -> None:
    """Workers have the runtime's labels and annotations for workers, the head the others, and both the service's."""
    given = runtime(
        {"labels": {"side": "worker"}, "annotations": {"note": "worker"}},
        labels={"side": "head"},
        annotations={"note": "head", "prometheus.io/x": "1"},
    )
    made = objects(compiled({}, given, metadata={"labels": {"team": "a"}}), "Deployment")
    head, worker = made["chat-predictor"], made["chat-predictor-worker"]
    for body, side in ((head, "head"), (worker, "worker")):
        for metadata in (body["metadata"], body["spec"]["template"]["metadata"]):
            assert (metadata["labels"]["side"], metadata["annotations"]["note"]) == (side, side)
            assert (metadata["labels"]["team"], metadata["labels"]["isvc.generation"]) == ("a", "1")
    assert "prometheus.io/x" not in worker["metadata"]["annotations"]
    assert worker["metadata"]["labels"]["app"] == "isvc.chat-predictor-worker"
    assert worker["spec"]["selector"]["matchLabels"] == {"app": "isvc.chat-predictor-worker"}


def test_pods_tell_where_their_metrics_are() -> None:
    """The switches of metrics stand on the pods of workers too, by the annotations of the workers."""
    given = runtime(annotations={"serving.kserve.io/enable-prometheus-scraping": "true"})
    made = objects(compiled({}, given), "Deployment")
    head, worker = (made[name]["spec"]["template"]["metadata"]["annotations"] for name, _ in SIDES.values())
    assert head["prometheus.io/port"] == "9091"
    assert worker["serving.kserve.io/enable-prometheus-scraping"] == "false"
    assert "prometheus.io/port" not in worker


def test_nodes_find_each_other() -> None:
    """Two Services without ports and address stand for the head and the workers of a generation, ready or not."""
    made = objects(compiled({}), "Service")
    assert set(made) == {"chat-predictor", "chat-head-1", "chat-workers-1"}
    for name, role, app in (
        ("chat-head-1", "head", "isvc.chat-predictor"),
        ("chat-workers-1", "worker", "isvc.chat-predictor-worker"),
    ):
        assert made[name]["metadata"]["labels"]["multinode/role"] == role
        assert made[name]["spec"] == {
            "clusterIP": "None",
            "publishNotReadyAddresses": True,
            "selector": {"app": app, "isvc.generation": "1"},
        }


@pytest.mark.parametrize(
    ("service_name", "predictor", "head", "workers"),
    [
        ("chat", "", "chat-head-1", "chat-workers-1"),
        ("chat", "blue", "chat-blue-head-1", "chat-blue-workers-1"),
        ("chat-predictor", "", "chat-predictor-head-1", "chat-predictor-workers-1"),
    ],
)
def test_workers_are_told_services_that_exist(service_name: str, predictor: str, head: str, workers: str) -> None:
    """The names that workers are told are those of the two Services, whatever the service and predictor are called."""
    named = {"name": predictor} if predictor else {}
    made = compiled({}, metadata={"name": service_name}, **named)
    pod = objects(made, "Deployment")[f"{service_name}-predictor-worker"]["spec"]["template"]["spec"]
    told = {e["name"]: e["value"] for e in pod["containers"][0]["env"]}
    assert (told["HEAD_SVC"], told["WORKER_SVC"]) == (head, workers)
    assert {head, workers} <= set(objects(made, "Service"))


def test_the_generation_is_that_of_the_file() -> None:
    """metadata.generation is in labels, names and variables; without it 1 is, with a warning."""
    made = compiled({}, metadata={"generation": 7})
    assert variables(made, "worker")["HEAD_SVC"] == "chat-head-7"
    assert "chat-workers-7" in objects(made, "Service")
    labels = [d["spec"]["template"]["metadata"]["labels"] for d in objects(made, "Deployment").values()]
    assert [each["isvc.generation"] for each in labels] == ["7", "7"]
    assert "multi-node/generation" not in slugs(made, Severity.WARNING)
    assert "multi-node/generation" in slugs(compiled({}, metadata={"generation": None}), Severity.WARNING)


def version(**more: Any) -> str:
    """The name of a version of a service, which all of its objects have to agree on."""
    metadata = {"generation": None, **more.pop("metadata", {})}
    made = compiled(more.pop("worker", {}), names_revisions=True, metadata=metadata, **more)
    assert "multi-node/generation" not in slugs(made)
    workloads, services = objects(made, "Deployment"), objects(made, "Service")
    (name,) = {d["spec"]["template"]["metadata"]["labels"]["isvc.generation"] for d in workloads.values()}
    told = variables(made, "worker")
    assert (told["HEAD_SVC"], told["WORKER_SVC"]) == (f"chat-head-{name}", f"chat-workers-{name}")
    for each in ("head", "workers"):
        assert services[f"chat-{each}-{name}"]["spec"]["selector"]["isvc.generation"] == name
    return name


def test_versions_named_by_content() -> None:
    """Where versions have names, every change of a pod gives another one, so that workers keep to their own head."""
    first, again = version(), version()
    others = [
        version(model={"args": ["--fast"]}),
        version(worker={"tolerations": [{"key": "gpu"}]}),
        version(metadata={"labels": {"team": "a"}}),
        version(given=runtime(annotations={"a": "b"})),
    ]
    assert first == again
    assert len({first, *others}) == len(others) + 1
    assert version(metadata={"generation": 7}) == "7"


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        (None, {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "0%"}}),
        ({"type": "Recreate"}, {"type": "Recreate"}),
        (
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "100%", "maxUnavailable": "0%"}},
        ),
        ({"rollingUpdate": {"maxSurge": 1}}, {"rollingUpdate": {"maxSurge": 1}}),
    ],
)
def test_workers_are_replaced_all_at_once(own: dict[str, Any] | None, expected: dict[str, Any]) -> None:
    """All new workers come before an old one goes, unless the service says in so many words that pods are recreated."""
    made = compiled({}, **({"deploymentStrategy": own} if own else {}))
    assert objects(made, "Deployment")["chat-predictor-worker"]["spec"]["strategy"] == expected


def test_models_reach_both_sides() -> None:
    """A claim is mounted into the head and into the workers."""
    for side in SIDES:
        mounted = container(compiled({}), side)["volumeMounts"]
        assert mounted == [
            {"name": "kserve-pvc-source", "mountPath": "/mnt/models", "subPath": "chat", "readOnly": True}
        ]


def test_images_reach_both_sides() -> None:
    """A model that comes as an image stands beside the head and beside the workers."""
    made = objects(compiled({}, model={"storageUri": "oci://registry.example.com/chat:1"}), "Deployment")
    for workload, _ in SIDES.values():
        pod = made[workload]["spec"]["template"]["spec"]
        assert [c["name"] for c in pod["initContainers"]] == ["modelcar-init"]
        assert "modelcar" in [c["name"] for c in pod["containers"]]


def test_only_the_head_is_probed() -> None:
    """Workers get a pull policy, but no readiness probe: no requests come to them."""
    made = compiled({})
    assert "readinessProbe" in container(made, "head")
    assert "readinessProbe" not in container(made, "worker")
    assert container(made, "worker")["imagePullPolicy"] == "IfNotPresent"


def test_gpus_of_an_annotated_type() -> None:
    """Types of GPUs that the annotation lists are written, though only KServe's own count in the plan."""
    made = compiled(
        {"tensorParallelSize": 2},
        model={"resources": {"limits": {"vendor.example.com/npu": 2}, "requests": {"vendor.example.com/npu": 2}}},
        metadata={"annotations": {TYPES: '["vendor.example.com/npu"]'}},
    )
    assert container(made, "head")["resources"]["requests"] == {"vendor.example.com/npu": "1"}
    assert container(made, "worker")["resources"]["requests"] == {GPU: "1"}
    assert slugs(made) == ["multi-node/overwritten"]


def test_overwritten_values_are_reported() -> None:
    """What the plan changes of the user's own is reported once a name, and what it leaves as it was is not."""
    made = compiled(
        {"tensorParallelSize": 2},
        model={
            "env": [{"name": "MODEL_NAME", "value": "other"}, {"name": "MODEL_DIR", "value": "/mnt/models"}],
            "resources": {"limits": {GPU: 2}},
        },
    )
    found = [d for d in made.diagnostics if d.code.slug == "multi-node/overwritten"]
    assert [d.message.split(" ")[0] for d in found] == ["MODEL_NAME", GPU]
    assert variables(made, "head")["MODEL_NAME"] == "chat"


def test_overwritten_values_of_workers_are_reported() -> None:
    """The same holds for the container of the workers, as far as the service wrote it."""
    own = {
        "name": "worker-container",
        "env": [{"name": "ISVC_NAME", "value": "other"}, {"name": "LEVEL", "value": "1"}],
    }
    found = [
        d
        for d in compiled({"pipelineParallelSize": 2, "containers": [own]}).diagnostics
        if d.code.slug == "multi-node/overwritten"
    ]
    assert [d.message for d in found] == ["ISVC_NAME of worker-container becomes chat by the plan, not other"]


def test_workers_that_do_not_run_are_not_remarked_upon() -> None:
    """Where the head has all GPUs, the workers' number of them does not matter."""
    own = {"name": "worker-container", "resources": {"requests": {GPU: 2}, "limits": {GPU: 2}}}
    made = compiled(
        {"tensorParallelSize": 4, "containers": [own]}, model={"resources": {"requests": {GPU: 4}, "limits": {GPU: 4}}}
    )
    assert container(made, "worker")["resources"]["limits"] == {GPU: "0"}
    assert objects(made, "Deployment")["chat-predictor-worker"]["spec"]["replicas"] == 0
    assert slugs(made) == []


@pytest.mark.parametrize(("size", "found"), [(1, []), (2, ["multi-node/several-heads"])])
def test_several_heads(size: int, found: list[str]) -> None:
    """Several heads are reported where there are workers, and are fine without."""
    made = compiled({"pipelineParallelSize": size}, minReplicas=2)
    assert objects(made, "Deployment")["chat-predictor"]["spec"]["replicas"] == 2
    assert slugs(made) == found


TWO_EACH = {"requests": {GPU: 2}, "limits": {GPU: 2}}
ONE = {"requests": {GPU: 1}, "limits": {GPU: 1}}
FOUR_ON_TWOS = {
    "pipelineParallelSize": 2,
    "tensorParallelSize": 2,
    "containers": [{"name": "worker-container", "resources": TWO_EACH}],
}
OTHER_NAME = runtime({"containers": [{"name": "mate", "image": "m:1"}]})


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ({"worker": FOUR_ON_TWOS, "model": {"resources": ONE}}, "multi-node/too-few-gpus"),
        ({"worker": {"containers": [{"name": "mate"}]}}, "multi-node/worker-container-name"),
        ({"worker": {}, "given": OTHER_NAME}, "multi-node/worker-container-name"),
        ({"worker": {}, "given": runtime(workerSpec=None)}, "multi-node/runtime-without-workers"),
        ({"worker": {}, "metadata": {"annotations": {MODE: "Knative"}}}, "multi-node/needs-standard-mode"),
        ({"worker": {}, "annotations": {TYPES: "npu"}}, "multi-node/gpu-annotation"),
    ],
)
def test_what_cannot_be_spread_is_refused(arguments: dict[str, Any], code: str) -> None:
    """Too few GPUs, containers of other names, runtimes for one node, other modes and malformed lists are errors."""
    made = compiled(**arguments)
    assert (slugs(made, Severity.ERROR), made.yaml) == ([code], "")


def test_no_autoscaler() -> None:
    """A service over several nodes has no autoscaler."""
    made = compiled({"pipelineParallelSize": 2})
    assert {libyaml.load(o.text)["kind"] for o in made.objects} <= {"Deployment", "Service", "Ingress", "HTTPRoute"}


def test_a_stopped_service_leaves_nothing() -> None:
    """A stopped service has no workers and no Services for them either."""
    made = compiled({}, metadata={"annotations": {"serving.kserve.io/stop": "true"}})
    assert made.ok
    assert made.objects == ()


def test_accelerators_reach_workers() -> None:
    """Workers, which have GPUs by the plan, go to nodes with the accelerator that the service names."""
    made = compiled({}, metadata={"annotations": {"serving.kserve.io/gke-accelerator": "a100"}})
    for body in objects(made, "Deployment").values():
        selector = body["spec"]["template"]["spec"]["nodeSelector"]
        assert selector == {"cloud.google.com/gke-accelerator": "a100"}


def test_custom_types_of_the_platform_count() -> None:
    """Types of GPUs that the platform's configuration lists count in the plan."""
    npus = {"vendor.example.com/npu": 3}
    made = compiled(
        {"tensorParallelSize": 4},
        model={"resources": {"requests": npus, "limits": npus}},
        sections={"multiNode": {"customGPUResourceTypeList": ["vendor.example.com/npu"]}},
    )
    assert variables(made, "head")["RAY_NODE_COUNT"] == "2"
    assert container(made, "head")["resources"]["requests"] == {"vendor.example.com/npu": "3"}
