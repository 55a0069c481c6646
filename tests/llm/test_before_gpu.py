"""What is said of a merged service before anything waits for its GPUs, and of what nothing is said."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.names import MODEL_ROUTING
from kservec.core.llm.rules.before_gpu.server import values_of

from .judging import merged, places

SERVE = "exec vllm serve /mnt/models --port 8000"
TLS = "--ssl-certfile /tls/tls.crt --ssl-keyfile /tls/tls.key"
HANDED = """--kv-transfer-config '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'"""
OFFLOADED = r"""--kv-transfer-config '{\"kv_connector\":\"OffloadingConnector\",\"kv_role\":\"kv_both\"}'"""
MAIN = "spec.template.containers[0]"
RULES = "spec.router.route.http.spec.rules"


def pod(serve: str = SERVE, gpus: int = 0, **more: Any) -> Any:
    """A pod with a main container."""
    resources = {"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {}
    return {"containers": [{"name": "main", "command": ["bash", "-c", serve], **resources, **more}]}


def routed(*rules: Any, **more: Any) -> Any:
    """A spec with rules of a route."""
    return {"router": {"route": {"http": {"spec": {"rules": list(rules)}}}}, **more}


def env(**variables: str) -> Any:
    """Variables of a container."""
    return [{"name": name, "value": value} for name, value in variables.items()]


def slugs(spec: Any, **more: Any) -> list[str]:
    """What is said of a spec, and where."""
    return places(merged(spec, **more))


FEW, IDLE = f"llm/gpus-too-few | {MAIN}.resources", f"llm/gpus-idle | {MAIN}.resources"
WORKER = "spec.worker.containers[0]"


@pytest.mark.parametrize(
    ("flags", "gpus", "expected"),
    [
        ("", 1, []),
        ("", 2, [IDLE]),
        ("--tensor-parallel-size 4", 4, []),
        ("--tensor-parallel-size=4", 2, [FEW]),
        ("-tp 4", 8, [IDLE]),
        ("--tensor_parallel_size '2' --pipeline-parallel-size 2", 4, []),
        ("--tensor-parallel-size 2 --tensor-parallel-size 4", 2, [FEW]),
        ("--data-parallel-size 2 -tp 2", 2, [FEW]),
        ("--data-parallel-size 16 --data-parallel-size-local 8", 8, []),
        ("--tensor-parallel-size ${TP}", 2, []),
        ("--tensor-parallel-size 8 --distributed-executor-backend ray", 2, []),
        ("--tensor-parallel-size 8 --nnodes 4", 2, []),
        ("--tensor-parallel-size 8", 0, []),
    ],
)
def test_gpus(flags: str, gpus: int, expected: list[str]) -> None:
    """Each rank needs a GPU; nothing is said where the ranks or the GPUs cannot be told."""
    assert slugs({"template": pod(f"{SERVE} {flags}", gpus)}) == expected


def test_arguments_win_over_the_command() -> None:
    """What is appended counts, in arguments and in the variable that the presets append."""
    two = pod(SERVE, 2, args=["--tensor-parallel-size", "2"])
    assert slugs({"template": two}) == []
    assert slugs({"template": pod(SERVE, 4, env=env(VLLM_ADDITIONAL_ARGS="-tp 4"))}) == []


@pytest.mark.parametrize(
    "more",
    [
        {"envFrom": [{"configMapRef": {"name": "a"}}]},
        {"env": [{"name": "VLLM_ADDITIONAL_ARGS", "valueFrom": {"fieldRef": {"fieldPath": "a"}}}]},
        {"command": ["/app/simulator"]},
        {"resources": {"limits": {"nvidia.com/gpu": "8"}, "claims": [{"name": "a"}]}},
        {"resources": {"limits": {"example.com/npu": "8"}}},
    ],
)
def test_what_cannot_be_told(more: Any) -> None:
    """Arguments from elsewhere, other servers, claimed devices and unknown ones."""
    assert slugs({"template": pod(SERVE, 8, **more)}) == []


def test_slices_and_annotated_types_are_gpus() -> None:
    """Slices of a GPU count, and so do types that the service names."""
    slices = pod(f"{SERVE} -tp 2", resources={"limits": {"nvidia.com/mig-3g.71gb": 1}})
    assert slugs({"template": slices}) == [FEW]
    own = pod(f"{SERVE} -tp 2", resources={"requests": {"example.com/npu": 1}})
    named = {"serving.kserve.io/gpu-resource-types": '["example.com/npu"]'}
    assert slugs({"template": own}, annotations=named) == [FEW]
    devices = {"serving.kserve.io/exp-dra-device-class": "gpu.example.com"}
    assert slugs({"template": pod(f"{SERVE} -tp 2", 1)}, annotations=devices) == []


def test_several_nodes() -> None:
    """Each pod of several nodes has its share; where a pipeline goes over them, what each has cannot be told."""
    serve = f"{SERVE} --tensor-parallel-size 2 --data-parallel-size 4 --data-parallel-size-local 2"
    spec = {"template": pod(serve, 4), "worker": pod(serve, 2), "parallelism": {"tensor": 2, "data": 4, "dataLocal": 2}}
    assert slugs(spec) == [f"llm/gpus-too-few | {WORKER}.resources", "llm/unprotected-traffic | spec.worker"]
    piped = {"template": pod(f"{SERVE} -pp 2 -tp 4", 4), "worker": pod(f"{SERVE} -pp 2 -tp 4", 4)}
    assert slugs({**piped, "parallelism": {"pipeline": 2}}) == ["llm/unprotected-traffic | spec.worker"]


@pytest.mark.parametrize(
    ("flags", "more", "found"),
    [
        ("", {}, ["llm/kv-cache-not-used | spec.kvCacheOffloading"]),
        (OFFLOADED, {}, []),
        ("", {"args": ["--kv_transfer_config", "{}"]}, []),
        ("", {"envFrom": [{"configMapRef": {"name": "a"}}]}, []),
    ],
)
def test_space_for_a_cache_that_vllm_is_not_told_of(flags: str, more: Any, found: list[str]) -> None:
    """A command of one's own must name a connector, unless more may be told than can be seen."""
    assert slugs({"kvCacheOffloading": {"cpu": "1Gi"}, "template": pod(f"{SERVE} {flags}", **more)}) == found


@pytest.mark.parametrize(
    ("parallelism", "flags", "fields"),
    [
        ({"tensor": 1}, "", []),
        ({"tensor": 2}, "", ["tensor"]),
        ({"tensor": 2}, "-tp 2", []),
        ({"expert": True, "data": 2, "dataLocal": 1}, "", ["data", "expert"]),
        ({"expert": False, "pipeline": 2}, "", ["pipeline"]),
    ],
)
def test_parallelism_that_vllm_is_not_told_of(parallelism: Any, flags: str, fields: list[str]) -> None:
    """Fields whose flags are nowhere in the command."""
    expected = [f"llm/parallelism-not-told | spec.parallelism.{field}" for field in fields]
    assert slugs({"template": pod(f"{SERVE} {flags}"), "parallelism": parallelism}) == expected


@pytest.mark.parametrize(("data", "local", "is_uneven"), [(4, 2, False), (5, 2, True), (1, 2, True)])
def test_ranks_that_no_pod_has(data: int, local: int, is_uneven: bool) -> None:
    """The ranks are shared out evenly."""
    spec = {"parallelism": {"data": data, "dataLocal": local}, "worker": {}}
    expected = ["llm/parallelism-uneven | spec.parallelism.data"] * is_uneven
    assert slugs(spec) == [*expected, "llm/unprotected-traffic | spec.worker"]


@pytest.mark.parametrize(
    ("decode", "prefill", "roles"),
    [
        (HANDED, HANDED, ""),
        ("", "", "decode and prefill"),
        ("", HANDED, "decode"),
        (OFFLOADED, HANDED, "decode"),
        (HANDED.replace("-", "_").replace("__kv", "--kv"), '--kv-transfer-config "$KV"', ""),
        (HANDED, "--kv-transfer-config.kv_connector LMCacheConnectorV1", ""),
        (HANDED, '[[ "$*" != *"--kv-transfer-config"* ]]', "prefill"),
    ],
)
def test_connectors(decode: str, prefill: str, roles: str) -> None:
    """Prefill and decode both need one that hands the cache over."""
    labels = {"istio-injection": "enabled"}
    spec = {"template": pod(f"{SERVE} {decode}"), "prefill": {"template": pod(f"{SERVE} {prefill}")}}
    found = merged(spec, namespace_labels=labels)
    assert [d.code.slug for d in found] == ["llm/pd-without-kv-connector"] * bool(roles)
    assert all(f"vLLM of {roles} has" in d.message for d in found)
    assert "llm/pd-without-kv-connector" not in "".join(slugs({"template": pod()}))


@pytest.mark.parametrize(
    ("probe", "more", "problem"),
    [
        ({"httpGet": {"port": 8000}}, {}, ""),
        ({"httpGet": {"port": 8001}}, {}, "livenessProbe.httpGet.port"),
        ({"tcpSocket": {"port": 8001}}, {}, "livenessProbe.tcpSocket.port"),
        ({"httpGet": {"port": 9000}}, {"args": ["--port", "9000"]}, ""),
        ({"httpGet": {"port": 8000}}, {"args": ["--port", "9000"]}, "livenessProbe.httpGet.port"),
        ({"httpGet": {"port": "http"}}, {"ports": [{"name": "http", "containerPort": 8000}]}, ""),
        ({"httpGet": {"port": "http"}}, {}, "livenessProbe.httpGet.port"),
        ({"httpGet": {"port": 1}}, {"args": ["--port", "$PORT"]}, ""),
        ({"httpGet": {"port": 1}}, {"command": ["/app/simulator"]}, ""),
        ({"exec": {"command": ["true"]}}, {}, ""),
    ],
)
def test_ports_of_probes(probe: Any, more: Any, problem: str) -> None:
    """A probe asks where somebody answers."""
    expected = [f"llm/probe-port | {MAIN}.{problem}"] if problem else []
    assert slugs({"template": pod(livenessProbe=probe, **more)}) == expected


def test_a_sidecar_answers() -> None:
    """A port of another container of the pod is none that vLLM must listen at."""
    template = pod(livenessProbe={"httpGet": {"port": 9000}})
    sidecar = {"name": "proxy", "restartPolicy": "Always", "ports": [{"containerPort": 9000}]}
    assert slugs({"template": {**template, "initContainers": [sidecar]}}) == []


@pytest.mark.parametrize(
    ("flags", "scheme", "has_problem"),
    [("", {}, False), ("", {"scheme": "HTTPS"}, True), (TLS, {"scheme": "HTTPS"}, False), (TLS, {}, True)],
)
def test_schemes_of_probes(flags: str, scheme: Any, has_problem: bool) -> None:
    """A probe asks in the protocol that is spoken; several that do not are said at once."""
    probes: Any = {name: {"httpGet": {"port": 8000, **scheme}} for name in ("startupProbe", "readinessProbe")}
    ingress = {"enableLLMInferenceServiceTLS": bool(flags)}
    expected = [f"llm/probe-scheme | {MAIN}.startupProbe.httpGet.scheme"] * has_problem
    assert slugs({"template": pod(f"{SERVE} {flags}", **probes)}, ingress=ingress) == expected


@pytest.mark.parametrize(
    ("flags", "is_on", "code"),
    [
        ("", False, ""),
        (TLS, True, ""),
        (TLS, False, "llm/tls-mismatch"),
        ("", True, "llm/tls-mismatch"),
        ("--ssl-certfile /tls/tls.crt", True, "llm/tls-half"),
        ("--ssl-keyfile=/tls/tls.key", False, "llm/tls-half"),
    ],
)
def test_tls(flags: str, is_on: bool, code: str) -> None:
    """A server speaks TLS where it is spoken to so."""
    ingress = {"enableLLMInferenceServiceTLS": is_on}
    expected = [f"{code} | {MAIN}.command"] if code else []
    assert slugs({"template": pod(f"{SERVE} {flags}")}, ingress=ingress) == expected
    assert slugs({"template": pod(f"/app/simulator {flags}")}, ingress=ingress) == []


PREFIX = {"type": "PathPrefix", "value": "/ml/chat"}
REWRITE = {"type": "URLRewrite", "urlRewrite": {"path": {"type": "ReplacePrefixMatch", "replacePrefixMatch": "/"}}}


@pytest.mark.parametrize(
    ("rule", "leads"),
    [
        ({"matches": [{"path": {"type": "PathPrefix", "value": "/v1"}}]}, False),
        ({"matches": [{"path": PREFIX}], "filters": [REWRITE]}, True),
        ({"matches": [{"path": PREFIX}]}, False),
        ({"matches": [{"headers": []}]}, True),
        ({}, True),
        ({"matches": [{"path": {"type": "Exact", "value": "/"}}]}, False),
        ({"matches": [{"path": {"type": "RegularExpression", "value": "/.*"}}]}, True),
    ],
)
def test_routes_to_everything(rule: Any, leads: bool) -> None:
    """A rule that leads to every path of the server gets a note."""
    assert slugs(routed({"matches": [{"path": PREFIX}]}, rule)) == [f"llm/route-catch-all | {RULES}[1]"] * leads


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"env": env(VLLM_SERVER_DEV_MODE="1")}, "env.VLLM_SERVER_DEV_MODE"),
        ({"env": env(VLLM_SERVER_DEV_MODE="0")}, ""),
        ({"env": env(VLLM_ALLOW_RUNTIME_LORA_UPDATING="True")}, "env.VLLM_ALLOW_RUNTIME_LORA_UPDATING"),
        ({"env": [{"name": "VLLM_API_KEY", "valueFrom": {"secretKeyRef": {"name": "a", "key": "b"}}}]}, "."),
        ({"args": ["--api-key", "x"]}, "."),
    ],
)
def test_what_is_open_behind_such_a_route(more: Any, place: str) -> None:
    """Switches that open endpoints for operators, and keys that guard but a part, are warned of instead."""
    spec = routed({}, template=pod(**more))
    at = MAIN if place == "." else f"{MAIN}.{place}"
    assert slugs(spec) == ([f"llm/route-exposes-operators | {at}"] if place else [f"llm/route-catch-all | {RULES}[0]"])
    assert slugs({"template": pod(**more)}) == []


@pytest.mark.parametrize(
    ("labels", "pods", "is_warned"),
    [
        ({}, {}, True),
        ({"istio-injection": "enabled"}, {}, False),
        ({"istio-injection": "disabled"}, {}, True),
        ({"istio.io/rev": "stable"}, {}, False),
        ({}, {"sidecar.istio.io/inject": "true"}, False),
    ],
)
def test_traffic_between_pods(labels: Any, pods: Any, is_warned: bool) -> None:
    """Several nodes, and prefill beside decode, are warned of unless a mesh speaks for them."""
    nodes = {"worker": {}, "labels": pods}
    assert slugs(nodes, namespace_labels=labels) == ["llm/unprotected-traffic | spec.worker"] * is_warned
    split = {"labels": pods, "prefill": {"labels": pods}}
    assert slugs(split, namespace_labels=labels) == ["llm/unprotected-traffic | spec.prefill"] * is_warned


@pytest.mark.parametrize(
    ("selector", "is_warned"),
    [
        ({}, False),
        ({"app.kubernetes.io/name": "chat", "kserve.io/component": "workload"}, False),
        ({"team": "a"}, False),
        ({"app.kubernetes.io/name": "other"}, True),
        ({"app": "database"}, True),
    ],
)
def test_a_network_policy_protects(selector: Any, is_warned: bool) -> None:
    """One for the pods of the service is what the warning asks for."""
    policy = {"metadata": {"name": "a", "namespace": "ml"}, "spec": {"podSelector": {"matchLabels": selector}}}
    found = slugs({"worker": {}, "labels": {"team": "a"}}, network_policies=(policy,))
    assert found == ["llm/unprotected-traffic | spec.worker"] * is_warned


@pytest.mark.parametrize(
    ("image", "command", "more", "place"),
    [
        ("ghcr.io/llm-d/llm-d-cuda:v0.9.0", SERVE, {}, ""),
        ("docker.io/lmsysorg/sglang:v0.5", SERVE, {}, f"{MAIN}.image"),
        ("nvcr.io/nvidia/tensorrt-llm/release:1.0", SERVE, {}, f"{MAIN}.image"),
        ("ollama.example.com/vllm:v1", SERVE, {}, ""),
        ("lmsysorg/sglang:v0.5", "python3 -m sglang.launch_server --port 8000", {}, ""),
        ("lmsysorg/sglang", "python3 -m sglang.launch_server", {"tracing": {}}, "spec.tracing"),
        (
            "lmsysorg/sglang", "python3 -m sglang.launch_server",
            {"model": {"lora": {"adapters": [{"name": "a"}]}}}, "spec.model.lora.adapters",
        ),
        ("vllm/vllm-openai", SERVE, {"tracing": {}}, ""),
    ],
)  # fmt: skip
def test_other_servers(image: str, command: str, more: Any, place: str) -> None:
    """An image of another server cannot run vLLM, and another server does not know the flags of vLLM."""
    expected = [f"llm/runtime-not-served | {place}"] if place else []
    assert slugs({"template": pod(command, image=image), **more}) == expected


def match(*headers: str) -> Any:
    """A match of a path and headers."""
    return {"path": PREFIX, "headers": [{"name": name, "value": "a"} for name in headers]}


@pytest.mark.parametrize(
    ("count", "mode", "gateways", "is_refused"),
    [
        (7, "", [], False),
        (8, "", [], True),
        (8, "disabled", [], False),
        (8, "", [{"name": "edge"}], False),
        (8, "Forced", [{"name": "edge"}], True),
    ],
)
def test_adapters_beyond_the_matches_of_a_route(count: int, mode: str, gateways: Any, is_refused: bool) -> None:
    """Eight matches by the header leave room for seven adapters; a Gateway may opt out of such matches."""
    spec = routed(
        {"matches": [match("X-Gateway-Model-Name")] * 8},
        annotations={MODEL_ROUTING: "true"},
        model={"lora": {"adapters": [{"name": f"a{i}"} for i in range(count)]}},
    )
    spec["router"]["gateway"] = {"refs": gateways}
    expected = ["llm/lora-too-many | spec.model.lora.adapters"] * is_refused
    assert slugs(spec, ingress={"modelBasedRoutingMode": mode}) == expected
    spec["annotations"] = {MODEL_ROUTING: "false"}
    assert slugs(spec, ingress={"modelBasedRoutingMode": mode}) == []


def test_adapters_beyond_the_matches_of_all_rules() -> None:
    """No rule has too many, all together have."""
    rule = {"matches": [match("X-Gateway-Model-Name")] * 16}
    spec = routed(
        *[rule] * 3,
        annotations={MODEL_ROUTING: "true"},
        model={"lora": {"adapters": [{"name": "a"}, {"name": "b"}, {"uri": "hf://unnamed"}]}},
    )
    assert slugs(spec) == ["llm/lora-too-many | spec.model.lora.adapters"]


@pytest.mark.parametrize(
    ("uri", "is_warned"), [("hf://a/b", False), ("pvc://a", True), ("oci://a/b", True), ("", False)]
)
def test_models_that_are_not_decrypted(uri: str, is_warned: bool) -> None:
    """Only what is downloaded is."""
    spec = {"model": {"uri": uri, "confidential": {"enabled": True}}}
    assert slugs(spec) == ["llm/confidential-no-effect | spec.model.confidential"] * is_warned


def test_flags_are_found_as_whole_words() -> None:
    """A flag is no part of another, and may be written in several ways."""
    text = (
        "--tensor-parallel-size-x 1 x--tensor-parallel-size 2 --tensor_parallel_size=3\n--tensor-parallel-size\t4 -tp 5"
    )
    assert values_of(text, "--tensor-parallel-size", "-tp") == ["3", "4", "5"]


def test_everything_says_what_to_do() -> None:
    """Each finding has a message, a place and a way out."""
    spec = routed({}, template=pod(f"{SERVE} -tp 4", 1), worker=pod(), prefill={"template": pod()})
    found = merged(spec)
    assert len({d.code.slug for d in found}) == 4
    assert all(d.message and d.help and d.code.about for d in found)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({"containers": [{"name": "main"}, {"name": "helper"}]}, []),
        (
            {"containers": [{"name": "main"}, {"name": "mian"}]},
            ["pod/container-name | spec.template.containers[1].name"],
        ),
        ({"containers": [{"name": "Main"}]}, [f"pod/container-name | {MAIN}.name"]),
        (
            {"initContainers": [{"name": "storage_initializer"}]},
            ["pod/container-name | spec.template.initContainers[0].name"],
        ),
        (
            {"initContainers": [{"name": "llm-d-routing-sidecars"}]},
            ["pod/container-name | spec.template.initContainers[0].name"],
        ),
    ],
)
def test_containers_with_nearly_the_name_of_a_preset(more: dict[str, Any], expected: list[str]) -> None:
    """They stand beside the preset's instead of being laid over it."""
    assert slugs({"template": {**pod(), **more}}) == expected
