"""The built-in presets: their commands, run with a `vllm` that prints what it is told to do."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from .services import ingress, llm, made

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

MANY = {"data": 8, "dataLocal": 4, "tensor": 2, "expert": True}
POD: dict[str, Any] = {"containers": [{"name": "main"}]}


@pytest.fixture
def programs(tmp_path: Path) -> str:
    """A path to programs in which `vllm` prints its arguments, one a line, and `getent` knows one address."""
    shell = shutil.which("sh")
    if shell is None:
        pytest.skip("needs a shell")
    for name, body in {"vllm": 'printf "%s\\n" "$@"', "getent": 'echo "10.0.0.7 $2"'}.items():
        (tmp_path / name).write_text(f"#!{shell}\n{body}\n")
        (tmp_path / name).chmod(0o755)
    return f"{tmp_path}:{Path(shell).parent}"


def run(container: Mapping[str, Any], programs: str, **variables: str) -> Sequence[str]:
    """What vLLM is told by a container, which has some variables besides its own."""
    env = {e["name"]: e["value"] for e in container.get("env", ()) if "value" in e}
    command = [*container["command"], *container.get("args", ())]
    done = subprocess.run(  # noqa: S603 - a command of our own
        command, env={**env, **variables, "PATH": programs}, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def main(template: Mapping[str, Any]) -> Any:
    """The main container of a pod template."""
    return next(c for c in template["spec"]["containers"] if c["name"] == "main")


def test_a_model_is_served_under_two_names(programs: str) -> None:
    """Its own, and one that no other namespace uses; without TLS and parallelism nothing else is said."""
    pod = main(made(llm())["Deployment/chat-kserve"]["spec"]["template"])
    assert run(pod, programs) == [
        "serve", "/mnt/models", "--port=8000", "--disable-uvicorn-access-log", "--served-model-name", "chat",
        "publishers/ml/models/chat",
    ]  # fmt: skip


def test_arguments_are_split_as_a_shell_does(programs: str) -> None:
    """Those of adapters have quotes, and those of the user come last, behind the variable for more of them."""
    adapters = {"lora": {"adapters": [{"name": "polite", "uri": "pvc://models/polite"}]}}
    template = {"containers": [{"name": "main", "args": ["--max-model-len=8192"]}]}
    pod = main(made(llm(model=adapters, template=template))["Deployment/chat-kserve"]["spec"]["template"])
    told = run(pod, programs, VLLM_ADDITIONAL_ARGS="--seed 1 --note 'two words'")
    assert told[7:11] == ["--seed", "1", "--note", "two words"]
    assert '{"name":"polite","path":"/mnt/lora/polite"}' in told
    assert told[-1] == "--max-model-len=8192"


def test_no_name_is_a_command(programs: str, tmp_path: Path) -> None:
    """Whatever a model or adapter is called, nothing of it is run, and arguments of one's own arrive as they are."""
    found = tmp_path / "found"
    adapters = {"lora": {"adapters": [{"name": f"x'; touch {found}; '", "uri": "pvc://models/x"}]}}
    own = ["--chat-template", "a b", "--hf-overrides", '{"a b": 1}', "it's"]
    service = llm(
        model={"name": f"q'$(touch {found})'", **adapters}, template={"containers": [{"name": "main", "args": own}]}
    )
    told = run(main(made(service)["Deployment/chat-kserve"]["spec"]["template"]), programs)
    assert told[-len(own) :] == own
    assert told[5] == f"q'$(touch {found})'"
    assert not found.exists()


def test_tls_and_tensors_are_arguments(programs: str) -> None:
    """Both are left out where they are not wanted."""
    service = llm(parallelism={"tensor": 4})
    pod = main(made(service, ingress(enableLLMInferenceServiceTLS=True))["Deployment/chat-kserve"]["spec"]["template"])
    assert run(pod, programs)[7:] == [
        "--tensor-parallel-size=4", "--enable-ssl-refresh", "--ssl-certfile=/var/run/kserve/tls/tls.crt",
        "--ssl-keyfile=/var/run/kserve/tls/tls.key",
    ]  # fmt: skip


def test_a_cache_is_offloaded(programs: str) -> None:
    """The configuration reaches vLLM as JSON, whatever the quotes on the way."""
    pod = main(made(llm(kvCacheOffloading={"cpu": "10Gi"}))["Deployment/chat-kserve"]["spec"]["template"])
    told = run(pod, programs)
    config = told[told.index("--kv-transfer-config") + 1]
    assert config.startswith('{"kv_connector":"OffloadingConnector"')
    assert '"cpu_bytes_to_use":10737418240' in config


def test_nodes_share_the_copies(programs: str) -> None:
    """The leader takes requests, workers none; each knows its first copy and the leader's address."""
    service = llm(parallelism=MANY, worker=POD)
    group = made(service)["LeaderWorkerSet/chat-kserve-mn"]["spec"]["leaderWorkerTemplate"]
    leader = run(main(group["leaderTemplate"]), programs, LWS_LEADER_ADDRESS="chat-0.ml")
    worker = run(main(group["workerTemplate"]), programs, LWS_LEADER_ADDRESS="chat-0.ml", LWS_WORKER_INDEX="1")
    shared = {
        "--data-parallel-size=8", "--data-parallel-size-local=4", "--data-parallel-address=10.0.0.7",
        "--data-parallel-rpc-port=5555", "--enable-expert-parallel", "--tensor-parallel-size=2",
    }  # fmt: skip
    assert shared <= set(leader)
    assert shared <= set(worker)
    assert {"--api-server-count=8", "--data-parallel-start-rank=0"} <= set(leader)
    assert {"--headless", "--data-parallel-start-rank=4"} <= set(worker)


@pytest.mark.parametrize("several", [False, True])
def test_prefill_and_decode_listen_apart(programs: str, several: bool) -> None:
    """The server behind the sidecar has a port of its own; who reads prompts has the port of the pool."""
    shape = {"parallelism": MANY, "worker": POD} if several else {}
    objects = made(llm(prefill=shape, **shape))
    for role, port in (("", 8001), ("-prefill", 8000)):
        if several:
            group = objects[f"LeaderWorkerSet/chat-kserve-mn{role}"]
            template = group["spec"]["leaderWorkerTemplate"]["leaderTemplate"]
        else:
            template = objects[f"Deployment/chat-kserve{role}"]["spec"]["template"]
        assert f"--port={port}" in run(main(template), programs, LWS_LEADER_ADDRESS="chat-0.ml")
        assert main(template)["readinessProbe"]["httpGet"]["port"] == port
