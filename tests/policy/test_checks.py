"""What the checks of single objects find, and what they leave alone."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.diagnostics import ObjectRef
from kservec.core.lock import Lock
from kservec.core.policy import Policy
from kservec.core.text.confidential import showable, token_in
from kservec.policy.apis import VERSIONS, check_api
from kservec.policy.exposure import check_exposure
from kservec.policy.fit import check_fit
from kservec.policy.images import check_images
from kservec.policy.inline_secrets import check_inline_secrets
from kservec.policy.remote_code import check_remote_code, is_trusting
from kservec.policy.times import check_times

from .scenes import deployment, faults, found

COMMIT = "0123456789abcdef0123456789abcdef01234567"
VLLM = ["vllm", "serve", "/mnt/models"]
LLM = ObjectRef("serving.kserve.io/v1alpha2", "LLMInferenceService", "ml", "chat")
TOKENS = {
    "a token of Hugging Face": "hf_" + "a" * 34,
    "an access key of AWS": "AKIA" + "A" * 16,
    "a token of GitHub": "ghp_" + "a" * 36,
    "a token of GitLab": "glpat-" + "a" * 20,
    "an API key": "sk-" + "a" * 40,
    "a token of Slack": "xoxb-" + "1" * 12,
    "a key of Google": "AIza" + "a" * 35,
    "a JSON Web Token": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "a private key": "-----BEGIN OPENSSH PRIVATE KEY-----",
    "a password in a URI": "postgres://user:hunter22@db.example.com/x",
}
HARMLESS = (
    "hf_transfer", "hf_hub_offline_mode_for", "s3://bucket/path", "https://user@example.com", "sk-learn", "AKIAlong",
    "https://$(USER):$(PASSWORD)@example.com", "/mnt/models", "eyJ.not", "-----BEGIN CERTIFICATE-----",
)  # fmt: skip


@pytest.mark.parametrize(("kind", "value"), TOKENS.items())
def test_credentials_are_known_by_their_shape(kind: str, value: str) -> None:
    """Each is found wherever it stands in a text, and its line is shown in no report."""
    assert token_in(f"--key={value}") == kind
    assert value not in showable(f"spec:\n  args:\n  - {value}\n")
    (fault,) = faults(check_inline_secrets, deployment({"env": [{"name": "X", "value": value}]}))
    assert kind in fault.message
    assert value not in fault.message + fault.help


@pytest.mark.parametrize("value", HARMLESS)
def test_what_only_looks_like_a_credential(value: str) -> None:
    """Paths, names of packages, placeholders and public certificates are none."""
    assert token_in(value) == ""


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({"env": [{"name": "DB_PASSWORD", "value": "correct-horse"}]}, [("inline-secret", "value")]),
        ({"env": [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}]}, []),
        ({"env": [{"name": "API_KEY", "value": "EMPTY"}, {"name": "PASSWORD_FILE", "value": "/run/secret"}]}, []),
        ({"env": [{"name": "MAX_TOKENS", "value": "123456789"}]}, []),
        ({"env": [{"name": "DB_PASSWORD", "value": "hunter2"}]}, [("inline-secret", "value")]),
        ({"env": [{"name": "API_KEY", "value": "hunter2"}]}, [("inline-secret", "value")]),
        ({"env": [{"name": "DB_PASSWORD", "value": "1234"}]}, [("inline-secret", "value")]),
        ({"env": [{"name": "MAX_TOKEN", "value": "4096"}, {"name": "API_KEY", "value": "x"}]}, []),
        ({"env": [{"name": "API_KEY", "value": "Optional"}, {"name": "USE_TOKEN", "value": "off"}]}, []),
        ({"args": ["--api-key", "my-plain-key"]}, [("inline-secret", 1)]),
        ({"args": ["--api-key=$(VLLM_API_KEY)", "--api-key", "$(KEY)"]}, []),
        ({"command": ["sh", "-c", "curl -H 'x: " + TOKENS["a token of GitHub"] + "'"]}, [("inline-secret", 2)]),
    ],
)
def test_credentials_by_name_and_by_flag(container: Any, expected: list[tuple[str, Any]]) -> None:
    """A variable or flag that is named like one holds one, unless it refers to something else."""
    assert found(check_inline_secrets, deployment(container)) == expected


def test_credentials_in_a_config_map() -> None:
    """They are found there, too."""
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c"}, "data": {"x": "hf_" + "a" * 30}}
    assert found(check_inline_secrets, body) == [("inline-secret", "x")]


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("nginx", ["image-tag", "image-digest"]),
        ("nginx:latest", ["image-tag", "image-digest"]),
        ("registry.example.com:5000/nginx", ["image-tag", "image-digest"]),
        ("registry.example.com:5000/nginx:1", ["image-digest"]),
        ("nginx@sha256:" + "0" * 64, []),
        ("nginx:latest@sha256:" + "0" * 64, []),
        ("", []),
    ],
)
def test_images(image: str, expected: list[str]) -> None:
    """Tags that move, and missing digests; a digest counts whatever the tag is."""
    assert [rule for rule, _ in found(check_images, deployment({"image": image}))] == expected


def test_images_beyond_the_lock() -> None:
    """Where there is a lock, what it does not have is found; of volumes that are images as well."""
    body = deployment({"image": "a:1"}, pod={"volumes": [{"name": "m", "image": {"reference": "b:1"}}]})
    rules = [rule for rule, _ in found(check_images, body, lock=Lock())]
    assert rules == ["image-digest", "lock-missing"] * 2


@pytest.mark.parametrize(
    ("text", "is_on"),
    [
        ("--trust-remote-code", True),
        ("--trust_remote_code", True),
        ("--trust-remote-code=true", True),
        ("--trust-rem", True),
        ("--trust", True),
        ("exec vllm serve x --trust-remote-code --port=1", True),
        ('{"trust_remote_code": true}', True),
        ("--trust-remote-code=false", False),
        ("--no-trust-remote-code", False),
        ("--trust-ca", False),
        ('{"trust_remote_code": false}', False),
        ("--model=trust-remote-code", False),
    ],
)
def test_flags_that_trust(text: str, is_on: bool) -> None:
    """Every spelling that Python's parser takes for the flag, and settings in JSON."""
    assert is_trusting(text) is is_on


def test_remote_code_is_pinned_by_both_revisions() -> None:
    """With full commits it can be waived, with less it cannot."""
    pins = [f"--revision={COMMIT}", f"--code-revision={COMMIT}"]
    rules = [
        rule
        for args in (pins, pins[:1], [pins[0], "--code-revision=main"])
        for rule, _ in found(check_remote_code, deployment({"args": ["--trust-remote-code", *args]}))
    ]
    assert rules == ["trust-remote-code", "trust-remote-code-unpinned", "trust-remote-code-unpinned"]


@pytest.mark.parametrize(
    ("container", "expected"),
    [
        ({"command": VLLM}, [("unauthenticated-server", "server")]),
        ({"image": "vllm/vllm-openai:v1"}, [("unauthenticated-server", "server")]),
        ({"image": "nginx:1"}, []),
        ({"command": VLLM, "env": [{"name": "VLLM_API_KEY", "valueFrom": {}}]}, []),
        ({"command": VLLM, "envFrom": [{"secretRef": {"name": "keys"}}]}, []),
        (
            {"command": [*VLLM, "--api-key", "$(K)"], "env": [{"name": "VLLM_SERVER_DEV_MODE", "value": "1"}]},
            [("unauthenticated-server", "VLLM_SERVER_DEV_MODE")],
        ),
    ],
)
def test_servers_without_a_key(container: Any, expected: list[tuple[str, Any]]) -> None:
    """Servers that a route leads to, whatever tells that they are vLLM."""
    assert found(check_exposure, deployment(container)) == expected
    assert found(check_exposure, deployment(container), exposed=False) == []


def gpus(count: int, **more: Any) -> dict[str, Any]:
    """A server of vLLM with some GPUs."""
    return {"command": VLLM, "resources": {"limits": {"nvidia.com/gpu": str(count), "memory": "32Gi"}}, **more}


SHM = {"volumeMounts": [{"name": "shm", "mountPath": "/dev/shm"}]}  # noqa: S108 - where shared memory is


def memory(size: str = "") -> dict[str, Any]:
    """A pod with a volume of memory."""
    return {"volumes": [{"name": "shm", "emptyDir": {"medium": "Memory", **({"sizeLimit": size} if size else {})}}]}


@pytest.mark.parametrize(
    ("container", "pod", "expected"),
    [
        (gpus(1), {}, []),
        (gpus(4, args=["-tp", "2", "-pp", "2"], **SHM), memory(), []),
        (gpus(2, args=["-tp=4"], **SHM), memory(), ["gpu-fit"]),
        (gpus(2, args=["--data-parallel-size=8", "--data-parallel-size-local=2"], **SHM), memory(), []),
        (gpus(2, args=["-tp", "$(TP)"], **SHM), memory(), []),
        (gpus(2, args=["-tp=4", "--nnodes=2"], **SHM), memory(), []),
        (gpus(2, args=["-tp=4"], envFrom=[{}], **SHM), memory(), []),
        (gpus(2, args=["-tp=2"]), {}, ["shared-memory"]),
        (gpus(2, args=["-tp=2"], **SHM), {"volumes": [{"name": "shm", "emptyDir": {}}]}, ["shared-memory"]),
        (gpus(1, args=["--gpu-memory-utilization=0.9", "--cpu-offload-gb=31"]), {}, []),
        (gpus(1, args=["--gpu-memory-utilization=0", "--cpu-offload-gb=32"]), {}, ["memory-fit", "memory-fit"]),
        (gpus(1, args=["--swap-space=16"], **SHM), memory("16Gi"), ["memory-fit"]),
        (gpus(1, args=["--swap-space=1e999", "--cpu-offload-gb=nan"]), {}, []),
        (gpus(0, env=[{"name": "VLLM_CPU_KVCACHE_SPACE", "value": "40"}]), {}, ["memory-fit"]),
    ],
)
def test_what_fits(container: Any, pod: Any, expected: list[str]) -> None:
    """Ranks against GPUs, shared memory of several GPUs, what is kept in memory against its limit."""
    assert [rule for rule, _ in found(check_fit, deployment(container, pod))] == expected


def test_the_gpus_of_a_group_count_together() -> None:
    """A LeaderWorkerSet of two pods with four GPUs each has eight; those of LLM services are looked at elsewhere."""
    template = {"spec": {"containers": [{"name": "server", **gpus(4, args=["-tp=8"], **SHM)}], **memory()}}
    body = {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "metadata": {"name": "chat"},
        "spec": {"leaderWorkerTemplate": {"size": 2, "workerTemplate": template}},
    }
    assert found(check_fit, body) == []
    body["spec"]["leaderWorkerTemplate"]["size"] = 3  # type: ignore[index]
    assert [rule for rule, _ in found(check_fit, body)] == ["gpu-fit"]
    assert found(check_fit, body, owner=LLM) == []


def slow(failures: int) -> dict[str, Any]:
    """A container whose startup probe waits 10 seconds between failures."""
    return {"startupProbe": {"failureThreshold": failures, "initialDelaySeconds": 5}}


@pytest.mark.parametrize(
    ("container", "spec", "timeout", "expected"),
    [
        (slow(59), {}, None, []),
        (slow(60), {}, None, ["start-up-time"]),
        (slow(60), {"progressDeadlineSeconds": 700}, None, []),
        (slow(10), {}, 600, ["sync-timeout"]),
        (slow(10), {}, 601, []),
        ({"readinessProbe": {"initialDelaySeconds": 590, "failureThreshold": 1}}, {}, None, ["start-up-time"]),
        ({}, {}, None, []),
    ],
)
def test_time_budgets(container: Any, spec: Any, timeout: int | None, expected: list[str]) -> None:
    """Start-up is shorter than the deadline of the rollout, and that shorter than what a sync waits."""
    body = deployment(container, spec=spec)
    assert [rule for rule, _ in found(check_times, body, policy=Policy(sync_timeout=timeout))] == expected


def test_what_to_set_is_said_in_numbers() -> None:
    """Of a rollout that takes longer than the sync waits."""
    (fault,) = faults(check_times, deployment(slow(10)), policy=Policy(sync_timeout=300))
    assert fault.code.slug == "policy/sync-timeout"
    assert fault.message == "the rollout of chat may take 600s, and the sync gives up after 300s"
    assert fault.help == "set gitops.flux.timeout to more than 600s"


@pytest.mark.parametrize(
    ("kind", "version", "target", "rule"),
    [
        ("PodDisruptionBudget", "policy/v1beta1", "1.24", "api-deprecated"),
        ("PodDisruptionBudget", "policy/v1beta1", "1.25", "api-not-served"),
        ("Ingress", "extensions/v1beta1", "v1.22.3", "api-not-served"),
        ("Deployment", "extensions/v1beta1", "1.15", "api-deprecated"),
        ("HorizontalPodAutoscaler", "autoscaling/v2", "1.22", "api-not-served"),
        ("HorizontalPodAutoscaler", "autoscaling/v2", "1.23", ""),
        ("ResourceClaimTemplate", "resource.k8s.io/v1", "1.33", "api-not-served"),
        ("CronJob", "batch/v1", "1.35", ""),
        ("Anything", "example.com/v1beta1", "1.35", ""),
    ],
)
def test_versions_of_apis(kind: str, version: str, target: str, rule: str) -> None:
    """What the target no longer serves, does not serve yet, or will stop serving."""
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}}
    assert [r for r, _ in found(check_api, body, kubernetes_version=target)] == ([rule] if rule else [])


def test_versions_of_apis_go_in_order() -> None:
    """A version is served before it is deprecated, deprecated before it is removed, and replaced if it is removed."""
    for served in VERSIONS.values():
        assert served.since <= served.deprecated or not served.deprecated
        assert served.deprecated < served.removed or not served.removed
        assert served.instead or not served.removed
