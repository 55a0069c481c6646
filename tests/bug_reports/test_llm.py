"""LLMInferenceServices: their configs, encryption, schedulers, rights, labels, autoscalers and probes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests import libyaml

from .making import GROUP, POD, built, deployment, dig, found, made

if TYPE_CHECKING:
    from kservec.api import Compilation

GATEWAYS = [{"namespace": "kserve", "name": "kserve-ingress-gateway"}]
ROUTER: dict[str, Any] = {"route": {}, "gateway": {}, "scheduler": {}}
MAIN = (*POD, "containers", "main")
ONE_GPU = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
POOL, ALPHA_POOL = "inference.networking.k8s.io", "inference.networking.x-k8s.io"
READ = ["get", "list", "watch"]


def llm(name: str = "chat", uri: str = "hf://acme/tiny-chat", **spec: Any) -> dict[str, Any]:
    """A service; `labels` of its metadata are given as `own_labels`."""
    metadata = {"name": name, "namespace": "ml", "labels": spec.pop("own_labels", {})}
    full = {"model": {"uri": uri, "name": name}, **spec}
    return {"apiVersion": f"{GROUP}/v1alpha2", "kind": "LLMInferenceService", "metadata": metadata, "spec": full}


def config(name: str, **spec: Any) -> dict[str, Any]:
    """A base config."""
    kind, metadata = "LLMInferenceServiceConfig", {"name": name, "namespace": "ml"}
    return {"apiVersion": f"{GROUP}/v1alpha2", "kind": kind, "metadata": metadata, "spec": spec}


def compiled(*documents: dict[str, Any], **cluster: Any) -> Compilation:
    """Services built for a cluster that has the gateway of the presets."""
    return built(*documents, gateways=GATEWAYS, **cluster)


def scheduler(compilation: Compilation, *path: str | int, name: str = "chat") -> Any:
    """What stands at a path of the main container of a scheduler."""
    return deployment(compilation, *MAIN, *path, name=f"{name}-kserve-router-scheduler")


def script(compilation: Compilation, name: str = "chat-kserve") -> str:
    """The command of a Deployment's server in one text."""
    server = deployment(compilation, *MAIN, name=name)
    return " ".join([*server["command"], *server.get("args", [])])


def test_configs_compose() -> None:
    """Later configs lie over earlier ones, the service over all, and presets are chosen by what that gives."""
    quiet = {"containers": [{"name": "main", "env": [{"name": "VLLM_LOGGING_LEVEL", "value": "WARNING"}]}]}
    loud = {"containers": [{"name": "main", "env": [{"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"}]}]}
    base = config("team-base", model={"uri": "hf://acme/mid-30b", "name": "shared-alias"}, template=loud)
    route = config("team-route", model={"uri": "hf://acme/mid-30b"}, router=ROUTER)
    service = llm("composed", baseRefs=[{"name": "team-base"}, {"name": "team-route"}], template=quiet)
    del service["spec"]["model"]["name"]
    compilation = compiled(base, route, service)
    objects = made(compilation)
    levels = [
        e["value"]
        for e in deployment(compilation, *MAIN, "env", name="composed-kserve")
        if e["name"] == "VLLM_LOGGING_LEVEL"
    ]
    assert levels == ["WARNING"]
    assert "HTTPRoute/composed-kserve-route" in objects
    assert "Deployment/composed-kserve-router-scheduler" in objects
    named = deployment(compilation, *MAIN, "env", "SERVED_MODEL_NAME", "value", name="composed-kserve")
    assert named == "shared-alias"
    route_text = libyaml.dump(objects["HTTPRoute/composed-kserve-route"])
    assert "publishers/ml/models/shared-alias" in route_text


def test_parallelism_of_a_config() -> None:
    """What a config says of parallelism reaches vLLM, and a false of the service wins over its true."""
    tensor = config("team-base", model={"uri": "hf://acme/a"}, parallelism={"tensor": 4})
    compilation = compiled(tensor, llm("composed", baseRefs=[{"name": "team-base"}]))
    assert "--tensor-parallel-size=4" in script(compilation, "composed-kserve")
    worker = {"containers": [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": "1"}}}]}
    ranks = {"data": 2, "dataLocal": 1, "expert": True}
    base = config("dp-base", model={"uri": "hf://acme/a"}, parallelism=ranks, worker=worker)
    for own, is_expert in (({"expert": False}, False), ({}, True), (None, True)):
        parallelism = {} if own is None else {"parallelism": own}
        compilation = compiled(base, llm("dense", baseRefs=[{"name": "dp-base"}], template=worker, **parallelism))
        group = made(compilation)["LeaderWorkerSet/dense-kserve-mn"]["spec"]["leaderWorkerTemplate"]
        assert group["size"] == 2
        assert ("--enable-expert-parallel" in libyaml.dump(group)) is is_expert
        assert "llm/parallelism-not-told" not in found(compilation)


def test_a_config_that_is_missing() -> None:
    """The error says where it was looked for."""
    compilation = compiled(llm(baseRefs=[{"name": "team-base"}]))
    assert found(compilation) == ["llm/config-not-found"]
    assert "ml" in compilation.diagnostics[0].message
    assert "kserve" in compilation.diagnostics[0].message


def test_without_encryption() -> None:
    """Nothing is left of TLS: no https, no certificate that nobody makes, no empty arguments."""
    compilation = compiled(llm(router=ROUTER))
    objects = made(compilation)
    (port,) = objects["Service/chat-kserve-workload-svc"]["spec"]["ports"]
    assert (port["name"], port["appProtocol"], port["port"]) == ("http", "http", 8000)
    server = deployment(compilation, *MAIN, name="chat-kserve")
    assert {server[p]["httpGet"]["scheme"] for p in ("livenessProbe", "readinessProbe", "startupProbe")} == {"HTTP"}
    assert scheduler(compilation, "command") == [
        "/app/epp", "--pool-name", "chat-inference-pool", "--pool-namespace", "ml", "--zap-encoder", "json",
        "--grpc-port", "9002", "--grpc-health-port", "9003",
    ]  # fmt: skip
    assert "" not in scheduler(compilation, "args")
    text = libyaml.dump(list(objects.values()))
    assert "--ssl-" not in text
    assert not any(line.strip() == "\\" for line in script(compilation).splitlines())
    for name in ("chat-kserve", "chat-kserve-router-scheduler"):
        volume = deployment(compilation, *POD, "volumes", "tls-certs", name=name)
        assert volume["secret"]["optional"] is True


def test_a_certificate_comes_from_somewhere() -> None:
    """With TLS it is issued or declared; where neither can be, the build stops."""
    tls = {"inferenceServiceConfig": {"ingress": {"enableLLMInferenceServiceTLS": True}}}
    assert any(name.startswith("Certificate/") for name in made(compiled(llm(router=ROUTER), certificates={}, **tls)))
    assert found(compiled(llm(), absent=["Certificate"], **tls))[0] == "llm/no-certificate"


def test_flags_of_an_older_scheduler() -> None:
    """The image of 0.2 gets its own spelling, each flag once, nothing that it lacks, and a warning about two copies."""
    args = ["--poolName", "chat-inference-pool", "--configText", "{}"]
    image = "ghcr.io/llm-d/llm-d-inference-scheduler:v0.2.0"
    own = {"replicas": 2, "template": {"containers": [{"name": "main", "image": image, "args": args}]}}
    compilation = compiled(llm(router={**ROUTER, "scheduler": own}))
    assert found(compilation) == ["llm/scheduler-without-leader"]
    assert scheduler(compilation, "image") == image
    assert scheduler(compilation, "args") == args
    assert scheduler(compilation, "command") == [
        "/app/epp", "--poolNamespace", "ml", "--zap-encoder", "json", "--grpcPort", "9002", "--grpcHealthPort", "9003",
    ]  # fmt: skip
    assert scheduler(compilation, "resources", "limits", "cpu") == "6"


def test_a_scheduler_that_nobody_knows() -> None:
    """Another image is passed through, with a warning that nothing says what version it is."""
    own = {"template": {"containers": [{"name": "main", "image": "acme/picker:1", "args": ["--poolName", "x"]}]}}
    compilation = compiled(llm(router={**ROUTER, "scheduler": own}))
    assert found(compilation) == ["llm/scheduler-version-unknown"]
    assert scheduler(compilation, "args")[:2] == ["--poolName", "x"]


def test_several_schedulers_elect_a_leader() -> None:
    """Where the version can, it is asked to, and may write leases."""
    compilation = compiled(llm(router={**ROUTER, "scheduler": {"replicas": 2}}))
    assert found(compilation) == []
    assert "--ha-enable-leader-election" in scheduler(compilation, "args")
    rules = made(compilation)["Role/chat-epp-role"]["rules"]
    assert {"coordination.k8s.io"} & {group for rule in rules for group in rule["apiGroups"]}


def test_prefill_and_decode_hand_over_the_cache() -> None:
    """Without a connector a warning says so; roles, sidecar and profiles tell the two workloads apart."""
    prefill = {"replicas": 3, "template": ONE_GPU}
    compilation = compiled(llm(replicas=2, template=ONE_GPU, prefill=prefill, router=ROUTER))
    assert "llm/pd-without-kv-connector" in found(compilation)
    objects = made(compilation)
    role = ("spec", "template", "metadata", "labels", "llm-d.ai/role")
    decode, other = objects["Deployment/chat-kserve"], objects["Deployment/chat-kserve-prefill"]
    assert (dig(decode, role), dig(other, role)) == ("decode", "prefill")
    assert (decode["spec"]["replicas"], other["spec"]["replicas"]) == (2, 3)
    sidecar = dig(decode, (*POD, "initContainers", "llm-d-routing-sidecar"))
    assert "--kv-connector=nixlv2" in sidecar["command"]
    assert dig(other, (*POD, "initContainers", "llm-d-routing-sidecar")) is None
    selected = objects["InferencePool/chat-inference-pool"]["spec"]["selector"]
    common = selected.get("matchLabels", selected)
    for workload in (decode, other):
        assert common.items() <= workload["spec"]["template"]["metadata"]["labels"].items()
    text = scheduler(compilation, "args")[-1]
    assert {p["name"] for p in libyaml.load(text)["schedulingProfiles"]} == {"prefill", "decode"}
    alone = compiled(llm(template=ONE_GPU, router=ROUTER))
    assert deployment(alone, *role, name="chat-kserve") == "both"


def test_a_connector_is_one_argument() -> None:
    """What the user says of the connector reaches both servers, and nothing is warned about."""
    connector = '--kv-transfer-config \'{"kv_connector":"NixlConnector","kv_role":"kv_both"}\''
    env = [{"name": "VLLM_ADDITIONAL_ARGS", "value": connector}]
    template = {"containers": [{**ONE_GPU["containers"][0], "env": env}]}
    compilation = compiled(llm(template=template, prefill={"template": template}, router=ROUTER))
    assert "llm/pd-without-kv-connector" not in found(compilation)
    for name in ("chat-kserve", "chat-kserve-prefill"):
        values = {e["name"]: e.get("value") for e in deployment(compilation, *MAIN, "env", name=name)}
        assert values["VLLM_ADDITIONAL_ARGS"] == connector


def test_what_a_scheduler_may_do() -> None:
    """Its Role is of the namespace alone, and has the API groups of its version; the user's account is bound to it."""
    objects = made(compiled(llm(router=ROUTER)))
    rules = [
        (group, resource, rule["verbs"])
        for rule in objects["Role/chat-epp-role"]["rules"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
    ]
    experimental = ("inferencepools", "inferenceobjectives", "inferencemodels", "inferencemodelrewrites")
    for expected in (
        ("", "pods", READ),
        (POOL, "inferencepools", READ),
        *((ALPHA_POOL, resource, READ) for resource in (*experimental, "inferencepoolimports")),
        *(("llm-d.ai", resource, READ) for resource in ("inferenceobjectives", "inferencemodelrewrites")),
        ("discovery.k8s.io", "endpointslices", READ),
    ):
        assert expected in rules
    leases = {verb for group, _, verbs in rules if group == "coordination.k8s.io" for verb in verbs}
    assert {"get", "create", "update"} <= leases
    (bound,) = objects["RoleBinding/chat-epp-rb"]["subjects"]
    assert (bound["name"], bound["namespace"]) == ("chat-epp-sa", "ml")
    assert not any(name.startswith("ClusterRole/") for name in objects)
    own = {"template": {"serviceAccountName": "picker", "containers": [{"name": "main"}]}}
    accounts = [{"namespace": "ml", "name": "picker"}]
    objects = made(compiled(llm(router={**ROUTER, "scheduler": own}), serviceAccounts=accounts))
    assert objects["RoleBinding/chat-epp-rb"]["subjects"][0]["name"] == "picker"


def test_accounts_of_several_nodes() -> None:
    """Leaders and workers run as the user's account, with its pull secrets and its credentials."""
    pod = {
        "serviceAccountName": "reader", "imagePullSecrets": [{"name": "regcred"}], "containers": [{"name": "main"}],
    }  # fmt: skip
    account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "reader", "namespace": "ml"}}
    secret = {
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s3", "namespace": "ml"},
        "data": {"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""},
    }  # fmt: skip
    ranks = {"data": 4, "dataLocal": 2}
    service = llm(uri="s3://llm/mid-30b", parallelism=ranks, template=pod, worker=pod)
    compilation = compiled(service, {**account, "secrets": [{"name": "s3"}]}, secret)
    objects = made(compilation)
    group = objects["LeaderWorkerSet/chat-kserve-mn"]["spec"]["leaderWorkerTemplate"]
    assert group["size"] == 2
    for template in ("leaderTemplate", "workerTemplate"):
        spec = group[template]["spec"]
        assert spec["serviceAccountName"] == "reader"
        assert spec["imagePullSecrets"] == [{"name": "regcred"}]
        keys = {e["name"] for e in dig(spec, ("initContainers", "storage-initializer", "env"))}
        assert {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"} <= keys
    assert "ServiceAccount/chat-kserve-mn" not in objects
    bindings = [o for name, o in objects.items() if name.startswith("RoleBinding/")]
    assert all(subject["name"] == "reader" for binding in bindings for subject in binding["subjects"])


def test_labels_for_quotas_and_dashboards() -> None:
    """Few of the service's own labels reach pods, and a note names the others; those of the spec all do."""
    own = {"cost-center": "42", "kueue.x-k8s.io/queue-name": "gpu-q", "app.kubernetes.io/name": "custom"}
    network = {"k8s.v1.cni.cncf.io/networks": "rdma-net"}
    compilation = compiled(llm(own_labels=own, labels={"tier": "gold"}, annotations=network, router=ROUTER))
    notes = [d for d in compilation.diagnostics if d.code.slug == "llm/metadata-not-passed-on"]
    assert [("cost-center" in n.message, "kueue" in n.message) for n in notes] == [(True, False)]
    objects = made(compilation)
    workload, service = objects["Deployment/chat-kserve"], objects["Service/chat-kserve-workload-svc"]
    pod = workload["spec"]["template"]["metadata"]
    assert workload["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpu-q"
    for made_of in (pod, service["metadata"]):
        assert made_of["labels"]["tier"] == "gold"
        assert made_of["annotations"].items() >= network.items()
    for labels in (workload["metadata"]["labels"], pod["labels"], service["metadata"]["labels"]):
        assert labels["app.kubernetes.io/name"] == "chat"
        assert labels["app.kubernetes.io/part-of"] == "llminferenceservice"
        assert "cost-center" not in labels
    assert pod["labels"]["kserve.io/component"] == "workload"


def scaling(query: str = 'avg(inference_pool_average_queue_size{name="chat-inference-pool"})') -> dict[str, Any]:
    """Scaling by KEDA with one query."""
    metadata = {"serverAddress": "http://prometheus.monitoring.svc:9090", "query": query, "threshold": "5"}
    keda = {
        "pollingInterval": 15, "cooldownPeriod": 300, "triggers": [{"type": "prometheus", "metadata": metadata}],
    }  # fmt: skip
    return {"minReplicas": 1, "maxReplicas": 8, "keda": keda}


def test_scaling_by_keda() -> None:
    """The ScaledObject has what the service says, and owns the number of pods."""
    compilation = compiled(llm(scaling=scaling(), router=ROUTER))
    assert found(compilation) == []
    objects = made(compilation)
    spec = objects["ScaledObject/chat-kserve-keda"]["spec"]
    assert spec == {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "chat-kserve"},
        "minReplicaCount": 1, "maxReplicaCount": 8, **scaling()["keda"],
    }  # fmt: skip
    assert "replicas" not in objects["Deployment/chat-kserve"]["spec"]


def test_what_is_wrong_with_scaling() -> None:
    """A number of pods beside it, limits in the wrong order, two ways at once, and queries for pools that are not."""
    for service, code in (
        (llm(scaling=scaling(), replicas=2, router=ROUTER), "llm/scaling-and-replicas"),
        (llm(scaling={**scaling(), "minReplicas": 9}, router=ROUTER), "llm/scaling-bounds"),
        (llm(scaling={**scaling(), "wva": {"variantCost": "1", "keda": {}}}, router=ROUTER), "llm/scaling-mechanism"),
        (llm(scaling=scaling('avg(inference_pool_q{name="chat-inference-pol"})'), router=ROUTER), "llm/query-pool"),
        (llm(scaling=scaling()), "llm/query-pool"),
    ):
        assert found(compiled(service)) == [code]


def test_large_models_have_time_to_start() -> None:
    """Part of a probe keeps the rest of the preset's; another handler takes its place; the Deployment waits longer."""

    def start(**probe: Any) -> dict[str, Any]:
        container = {"name": "main", "resources": {"limits": {"nvidia.com/gpu": "8"}}, "startupProbe": probe}
        compilation = compiled(llm(parallelism={"tensor": 8}, template={"containers": [container]}))
        return made(compilation)["Deployment/chat-kserve"]

    patient = start(failureThreshold=360)
    probe = dig(patient, (*MAIN, "startupProbe"))
    assert probe["httpGet"] == {"path": "/health", "port": 8000, "scheme": "HTTP"}
    assert (probe["periodSeconds"], probe["failureThreshold"]) == (10, 360)
    assert patient["spec"]["progressDeadlineSeconds"] > 3600
    assert "progressDeadlineSeconds" not in start(periodSeconds=5)["spec"]
    other = dig(start(exec={"command": ["true"]}), (*MAIN, "startupProbe"))
    assert "httpGet" not in other
    assert other["exec"] == {"command": ["true"]}
