"""The agent: when a component gets one, what it is made of and told, and what of the user's wishes comes to nothing."""

from __future__ import annotations

import pytest

from kservec.core.cluster import Cluster, Secret, ServiceAccount
from kservec.core.diagnostics import Reject, Severity
from kservec.core.platform import PlatformConfig
from kservec.core.records import evolve
from kservec.core.routing.services import service_ports
from kservec.passes.add_sidecars import add_sidecars
from kservec.passes.default_pods import default_pods
from kservec.passes.merge_pods import merge_pods

QUANTITIES = {"cpuRequest": "100m", "cpuLimit": "1", "memoryRequest": "100Mi", "memoryLimit": "1Gi"}
AGENT = {"image": "registry.example.com/agent:1", **QUANTITIES}
LOGGER = {"defaultUrl": "http://broker", **QUANTITIES}
SERVER = {"name": "kserve-container", "image": "registry.example.com/server:1"}
LOG_ALL = {"logger": {"mode": "all"}}
MULTI_MODEL = {"name": "MULTI_MODEL_SERVER", "value": "true"}
LABELLED = {"labels": {"team": "risk"}}
TIMING = '"timeoutSeconds":1,"periodSeconds":10,"successThreshold":1,"failureThreshold":3'
IDENTITY = [
    "--inference-service", "churn", "--namespace", "ml", "--endpoint", "", "--component", "predictor",
]  # fmt: skip
TLS = ["--logger-tls-skip-verify", "false"]
PORT = ["--component-port", "8080"]


def predictor(*beside, server=SERVER, **fields):
    """A custom predictor with the given fields and further containers."""
    return {"predictor": {"containers": [server, *beside], **fields}}


def equipped(bench, spec, *, metadata=None, cluster=None, **sections):
    """The step of add_sidecars for a spec, on a platform with the usual sections."""
    made = bench(**{"agent": AGENT, "logger": LOGGER, **sections})
    env = made.env if cluster is None else evolve(made.env, cluster=cluster)
    unit = made.unit(spec, metadata=metadata)
    for work in (merge_pods, default_pods):
        unit = work(unit, env).unit
    return add_sidecars(unit, env)


def container(component, name="agent"):
    """A container of a component's pod; None if it has none of that name."""
    return next((c for c in component.pod.value["containers"] if c["name"] == name), None)


def agent_of(bench, spec, **more):
    """The agent of the first component."""
    return container(equipped(bench, spec, **more).unit.components[0])


def log_arguments(url, mode, *rest):
    """The arguments of an agent that logs, without those that all have."""
    return ["--log-url", url, "--source-uri", "", "--log-mode", mode, *IDENTITY, *rest, *TLS, *PORT]


@pytest.mark.parametrize(
    ("fields", "section", "args"),
    [
        (LOG_ALL, {}, log_arguments("http://broker", "all")),
        ({"logger": {"mode": "request", "url": "http://sink"}}, {}, log_arguments("http://sink", "request")),
        ({"logger": {"mode": "response", "url": ""}}, {}, log_arguments("", "response")),
        ({"logger": {"mode": "all", "metadataHeaders": []}}, {}, log_arguments("http://broker", "all")),
        (
            {"logger": {"mode": "all", "metadataHeaders": ["A", "B"]}},
            {},
            log_arguments("http://broker", "all", "--metadata-headers", "A,B"),
        ),
        (
            LOG_ALL,
            {"batchSize": 5, "batchInterval": "1s", "marshallerUrl": "http://m", "storage": {"path": "p"}},
            log_arguments("http://broker", "all", "--log-marshaller-url", "http://m", "--log-batch-size", "5",
                          "--log-batch-interval", "1s"),
        ),
        (
            {"logger": {"mode": "all", "batchSize": 0, "batchInterval": "2m", "marshallerUrl": "http://own"}},
            {"batchSize": 5, "batchInterval": "1s", "marshallerUrl": "http://m"},
            log_arguments("http://broker", "all", "--log-marshaller-url", "http://own", "--log-batch-interval", "2m"),
        ),
        (
            {"logger": {"mode": "all", "storage": {"path": "p", "key": "k", "parameters": {"format": "csv"}}}},
            {},
            log_arguments("http://broker", "all", "--log-store-path", "p", "--log-store-format", "csv"),
        ),
        ({"batcher": {}}, {}, ["--enable-batcher", *PORT]),
        ({"batcher": {"maxLatency": 9, "timeout": 3}}, {}, ["--enable-batcher", "--max-latency", "9", *PORT]),
        (
            {"batcher": {"maxBatchSize": 4}, **LOG_ALL},
            {},
            ["--enable-batcher", "--max-batchsize", "4", *log_arguments("http://broker", "all")],
        ),
    ],
)  # fmt: skip
def test_the_agent_is_told_what_the_spec_and_the_platform_say(bench, fields, section, args) -> None:
    """Arguments come in KServe's order: batcher, logger, port; the spec wins, and its logger replaces the storage."""
    assert agent_of(bench, predictor(**fields), logger={**LOGGER, **section})["args"] == args


def test_the_platforms_storage_counts_while_the_predictor_has_no_logger(bench) -> None:
    """A transformer's own storage says nothing: the predictor's logger counts for all, else the platform's settings."""
    storage = {"path": "p", "parameters": {"format": "parquet"}}
    spec = predictor() | {"transformer": {"containers": [SERVER], **LOG_ALL}}
    step = equipped(bench, spec, logger={**LOGGER, "storage": storage, "caCertFile": "ca.pem", "tlsSkipVerify": True})
    assert container(step.unit.components[0]) is None
    args = container(step.unit.components[1])["args"]
    assert args[args.index("--component") + 1 :] == [
        "transformer", "--log-store-path", "p", "--log-store-format", "parquet", "--logger-ca-cert-file", "ca.pem",
        "--logger-tls-skip-verify", "true", *PORT,
    ]  # fmt: skip


def test_annotations_are_passed_on_with_what_is_logged(bench) -> None:
    """Keys that the pods lack are left out with a warning; values that CSV would split are quoted."""
    keys = ["tier", "absent", "note"]
    spec = predictor(logger={"mode": "all", "metadataAnnotations": keys}, annotations={"note": 'a, "b"'})
    step = equipped(bench, spec, metadata={"annotations": {"tier": "gold"}})
    args = container(step.unit.components[0])["args"]
    assert args[args.index("--metadata-annotations") + 1] == 'tier=gold,"note=a, ""b"""'
    assert [d.code.slug for d in step.diagnostics] == ["logger/annotation-absent"]
    assert "absent" in step.diagnostics[0].message


def test_the_endpoint_label_reaches_the_agent(bench) -> None:
    """The label `endpoint` of the pod is what the agent calls itself."""
    args = agent_of(bench, predictor(**LOG_ALL), metadata={"labels": {"endpoint": "blue"}})["args"]
    assert args[args.index("--endpoint") + 1] == "blue"


@pytest.mark.parametrize(
    ("probe", "env"),
    [
        ({}, [{"name": "SERVING_READINESS_PROBE", "value": f'{{"tcpSocket":{{"port":8080}},{TIMING}}}'}]),
        ({"readinessProbe": {"exec": {"command": ["true"]}}}, [{"name": "SERVING_READINESS_PROBE"}]),
    ],
)
def test_the_agent_always_starts(bench, probe, env) -> None:
    """The agent exits without its variable; where it cannot run the probe it is empty, and the agent is ready."""
    assert agent_of(bench, predictor(server=SERVER | probe, **LOG_ALL))["env"] == env


def test_the_container_is_what_the_platform_and_the_first_container_say(bench) -> None:
    """Image and resources are the platform's, the security context is the first container's, each with its origin."""
    security = {"runAsUser": 5}
    step = equipped(bench, predictor(server=SERVER | {"securityContext": security}, **LOG_ALL))
    pod = step.unit.components[0].pod
    agent = pod.get("containers", "agent")
    assert agent["image"] == AGENT["image"]
    assert agent["resources"]["limits"] == {"cpu": "1", "memory": "1Gi"}
    assert agent["securityContext"] == security
    assert agent["ports"] == [{"name": "agent-port", "containerPort": 9081, "protocol": "TCP"}]
    assert agent["readinessProbe"]["httpGet"]["port"] == 9081
    assert pod.span(("containers", "agent", "image")).file == "platform.yaml"
    assert pod.span(("containers", "agent", "securityContext", "runAsUser")).file == "isvc.yaml"


@pytest.mark.parametrize(
    ("beside", "server", "port"),
    [
        ((), {}, "8080"),
        ((), {"ports": [{"containerPort": 9000}, {"containerPort": 9001}]}, "9000"),
        (({"name": "transformer-container", "ports": [{"containerPort": 7000}]},), {}, "7000"),
        (({"name": "transformer-container"},), {"ports": [{"containerPort": 9000}]}, "8080"),
    ],
)
def test_the_agent_stands_before_the_container_that_serves(bench, beside, server, port) -> None:
    """Behind the agent is the collocated transformer if there is one, else the server, at its first port."""
    agent = agent_of(bench, predictor(*beside, server=SERVER | server, **LOG_ALL))
    assert agent["args"][-2:] == ["--component-port", port]
    assert f'"port":{port}' in agent["env"][0]["value"]


@pytest.mark.parametrize(
    ("role", "fields", "port"),
    [
        ("transformer", {}, 8080),
        ("transformer", LOG_ALL, 9081),
        ("transformer", {"batcher": {}}, 9081),
        ("explainer", LOG_ALL, 9081),
        ("explainer", {"batcher": {}}, 8080),
        ("explainer", {"batcher": {}, **LOG_ALL}, 9081),
    ],
)
def test_the_service_leads_to_the_agent_if_there_is_one(bench, role, fields, port) -> None:
    """Explainers have no batcher: KServe lets their Service lead to a port where nobody listens."""
    step = equipped(bench, predictor() | {role: {"containers": [SERVER], **fields}})
    component = step.unit.components[1]
    assert service_ports(component)[0].target_port == port
    assert (container(component) is not None) == (port == 9081)
    assert ("--enable-batcher" in str(component.pod.value)) == (role == "transformer" and "batcher" in fields)


def test_a_puller_alone_does_not_stand_before_the_server(bench) -> None:
    """An agent that pulls models is not on the way of requests; it shares a volume with the server."""
    step = equipped(bench, {"predictor": {"containers": [SERVER | {"env": [MULTI_MODEL]}]}}, metadata=LABELLED)
    component = step.unit.components[0]
    assert service_ports(component)[0].target_port == 8080
    assert container(component)["args"] == [
        "--enable-puller", "--config-dir", "/mnt/configs", "--model-dir", "/mnt/models", *PORT,
    ]  # fmt: skip
    models = {"name": "model-dir", "mountPath": "/mnt/models"}
    assert container(component)["volumeMounts"] == [models, {"name": "model-config", "mountPath": "/mnt/configs"}]
    assert container(component, "kserve-container")["volumeMounts"] == [models]
    assert component.pod.value["volumes"] == [
        {"name": "model-dir", "emptyDir": {}},
        {"name": "model-config", "configMap": {"name": "modelconfig-churn-0"}},
    ]


def test_a_multi_model_server_has_a_list_of_models(bench) -> None:
    """The ConfigMap is there, with the service's labels, before any model is trained; also for stopped services."""
    step = equipped(bench, {"predictor": {"containers": [SERVER | {"env": [MULTI_MODEL]}]}}, metadata=LABELLED)
    (made,) = step.unit.bundle.manifests
    assert made.body.value == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "modelconfig-churn-0", "namespace": "ml", "labels": {"team": "risk"}},
        "data": {"models.json": "[]"},
    }


def test_pulled_models_need_the_place_that_a_volume_has(bench) -> None:
    """A volume of the user's at the path of the models is refused, with the way to name a model in a claim."""
    server = SERVER | {"env": [MULTI_MODEL], "volumeMounts": [{"name": "own", "mountPath": "/mnt/models"}]}
    with pytest.raises(Reject) as refused:
        equipped(bench, predictor(server=server))
    (found,) = refused.value.diagnostics
    assert found.code.slug == "storage/path-taken"
    assert "pvc://" in found.help


def test_a_queue_proxy_of_the_users_own_is_put_before_the_agent(bench) -> None:
    """Its variables go to the agent as they were; its own USER_PORT becomes the agent's port."""
    env = [{"name": "USER_PORT", "value": "8080"}, {"name": "SERVING_READINESS_PROBE", "value": "{}"}]
    step = equipped(bench, predictor({"name": "queue-proxy", "env": env}, **LOG_ALL))
    (component,) = step.unit.components
    named = [*env, {"name": "INFERENCE_SERVICE_NAME", "value": "churn"}]
    assert container(component)["env"] == named
    assert container(component, "queue-proxy")["env"] == [{"name": "USER_PORT", "value": "9081"}, *named[1:]]


@pytest.mark.parametrize(
    ("annotations", "values"),
    [
        ({}, ["8080", "/metrics", "9088"]),
        ({"prometheus.kserve.io/port": "9102", "prometheus.kserve.io/path": "/m"}, ["9102", "/m", "9088"]),
    ],
)
def test_a_queue_proxy_of_the_users_own_aggregates_metrics(bench, annotations, values) -> None:
    """Where metrics are aggregated queue-proxy is told where the server's are, and gets a port for all of them."""
    spec = predictor({"name": "queue-proxy"}, annotations=annotations)
    switch = {"annotations": {"serving.kserve.io/enable-metric-aggregation": "true"}}
    (component,) = equipped(bench, spec, metadata=switch).unit.components
    proxy = container(component, "queue-proxy")
    assert [e["value"] for e in proxy["env"][1:]] == values
    assert proxy["ports"] == [{"name": "aggr-metric", "containerPort": 9088, "protocol": "TCP"}]
    assert container(component) is None


def account(name, secret):
    """A ServiceAccount that lists one Secret."""
    return ServiceAccount(namespace="ml", name=name, secrets=(secret,))


def test_the_agent_has_the_credentials_of_the_pod_and_of_the_store(bench) -> None:
    """First come those of the pod's ServiceAccount, then those of the account that logs are stored with."""
    keys = {"token": frozenset({"HF_TOKEN"}), "bucket": frozenset({"awsAccessKeyID", "awsSecretAccessKey"})}
    cluster = Cluster(
        secrets={("ml", n): Secret(namespace="ml", name=n, keys=k) for n, k in keys.items()},
        service_accounts={("ml", a.name): a for a in (account("scorer", "token"), account("logger-sa", "bucket"))},
    )
    storage = {"path": "p", "key": "k", "parameters": {}}
    logger = {"mode": "all", "url": "s3://logs", "storage": storage}
    step = equipped(bench, predictor(logger=logger, serviceAccountName="scorer"), cluster=cluster)
    names = [e["name"] for e in container(step.unit.components[0])["env"]]
    assert names == ["SERVING_READINESS_PROBE", "HF_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]
    assert not step.diagnostics


def test_an_undeclared_store_account_is_named_where_it_is_asked_for(bench) -> None:
    """The warning points at the logger's storage, not at the pod's own ServiceAccount."""
    storage = {"path": "p", "key": "k", "parameters": {}, "serviceAccountName": "writer"}
    step = equipped(bench, predictor(logger={"mode": "all", "url": "gs://logs", "storage": storage}))
    (found,) = step.diagnostics
    assert found.code.slug == "serviceaccount/not-declared"
    assert found.span.end_column - found.span.column == len('"writer"')


def test_certificates_for_loggers_are_mounted_if_they_are_there(bench) -> None:
    """The ConfigMap is optional, and only agents that log get it."""
    section = {**LOGGER, "caBundle": "acme-ca"}
    logs = equipped(bench, predictor(**LOG_ALL), logger=section).unit.components[0]
    assert logs.pod.value["volumes"] == [
        {"name": "agent-ca-bundle", "configMap": {"name": "acme-ca", "optional": True}}
    ]
    assert container(logs)["volumeMounts"] == [
        {"name": "agent-ca-bundle", "mountPath": "/etc/tls/logger", "readOnly": True}
    ]
    assert "volumeMounts" not in agent_of(bench, predictor(batcher={}), logger=section)


def test_an_agent_of_the_users_own_stays(bench) -> None:
    """A container named agent is taken for the agent: none is added, the Service leads to it, and a note says so."""
    step = equipped(bench, predictor({"name": "agent", "image": "registry.example.com/mine:1"}, **LOG_ALL))
    (component,) = step.unit.components
    assert [c["name"] for c in component.pod.value["containers"]] == ["kserve-container", "agent"]
    assert container(component)["image"] == "registry.example.com/mine:1"
    assert service_ports(component)[0].target_port == 9081
    assert [(d.code.slug, d.code.severity) for d in step.diagnostics] == [("agent/own-container", Severity.NOTE)]


def test_workers_have_no_agent(bench) -> None:
    """No request comes to the workers of several nodes; KServe gives them one, with its volume, that never starts."""
    made = bench(agent=AGENT, logger={**LOGGER, "caBundle": "acme-ca"})
    unit = made.unit(predictor(**LOG_ALL))
    (component,) = unit.components
    unit = unit.with_components((evolve(component, worker_pod=component.pod),))
    (component,) = add_sidecars(unit, made.env).unit.components
    assert len(component.pod.value["containers"]) == 2
    assert len(component.worker_pod.value["containers"]) == 1
    assert [v["name"] for v in component.pod.value["volumes"]] == ["agent-ca-bundle"]
    assert "volumes" not in component.worker_pod.value


@pytest.mark.parametrize(
    ("fields", "slugs"),
    [
        ({"logger": {"mode": "all", "url": ""}}, ["logger/no-target"]),
        ({"logger": {"mode": "all", "url": "s3://logs"}}, ["logger/no-target"]),
        ({"logger": {"mode": "all", "batchSize": 3, "batchInterval": "1s"}}, ["spec/without-effect"] * 2),
        ({"logger": {"mode": "all"}}, []),
    ],
)
def test_what_a_logger_does_not_do_is_said(bench, fields, slugs) -> None:
    """A logger without a target, and settings for a bucket where events are sent to a URL, are warned about."""
    step = equipped(bench, predictor(**fields))
    assert [d.code.slug for d in step.diagnostics] == slugs
    assert all(d.code.severity is Severity.WARNING for d in step.diagnostics)


@pytest.mark.parametrize(
    ("fields", "sections", "slug", "file"),
    [
        ({"batcher": {"maxBatchSize": 0}}, {}, "batcher/not-positive", "isvc.yaml"),
        ({"batcher": {"maxLatency": -1}}, {}, "batcher/not-positive", "isvc.yaml"),
        ({"logger": {"mode": "all", "batchInterval": "5"}}, {}, "logger/batch-interval", "isvc.yaml"),
        (LOG_ALL, {"logger": {**LOGGER, "batchInterval": "soon"}}, "logger/batch-interval", "platform.yaml"),
        (LOG_ALL, {"logger": None}, "platform/section-missing", "platform.yaml"),
        ({"batcher": {}}, {"agent": None}, "platform/section-missing", "platform.yaml"),
        ({}, {"agent": {**AGENT, "cpuLimit": "lots"}}, "platform/configuration", "platform.yaml"),
        ({}, {"logger": {**LOGGER, "memoryLimit": ""}}, "platform/configuration", "platform.yaml"),
        ({}, {"batcher": {"cpuLimit": "1"}}, "platform/configuration", "platform.yaml"),
    ],
)
def test_agents_that_would_not_start_are_refused(bench, fields, sections, slug, file) -> None:
    """Settings that KServe's pod webhook or the agent itself would refuse are errors, where they are written."""
    with pytest.raises(Reject) as refused:
        equipped(bench, predictor(**fields), **sections)
    (found,) = refused.value.diagnostics
    assert (found.code.slug, found.span.file) == (slug, file)


@pytest.mark.parametrize("interval", ["0", "1s", "1.5h", ".5m", "1h30m", "-2ms", "10µs"])
def test_durations_are_those_of_go(bench, interval) -> None:
    """What Go reads as a duration is accepted."""
    agent = agent_of(bench, predictor(logger={"mode": "all", "url": "s3://logs", "batchInterval": interval}))
    assert agent["args"][agent["args"].index("--log-batch-interval") + 1] == interval


def test_sections_that_nothing_needs_may_be_missing(bench) -> None:
    """Without an agent the sections for it are of no interest."""
    step = equipped(bench, predictor(), agent=None, logger=None)
    assert container(step.unit.components[0]) is None


def test_without_any_configuration_there_is_no_agent(bench) -> None:
    """Where not even the built-in configuration is used, a wish for an agent is refused."""
    made = bench()
    env = evolve(made.env, platform=PlatformConfig())
    with pytest.raises(Reject) as refused:
        add_sidecars(made.unit(predictor(**LOG_ALL)), env)
    assert [d.code.slug for d in refused.value.diagnostics] == ["platform/section-missing"]
