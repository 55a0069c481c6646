"""What KServe's conventions become: the words and the variables that vLLM is started with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .programs import Place, adapter
from .versions import read

NIXL = '{"kv_connector":"NixlConnector","kv_role":"kv_both"}'


@pytest.mark.parametrize(
    ("argv", "variables", "words"),
    [
        ([], {"MODEL_DIR": "{model}"}, ["{model}"]),
        ([], {"MODEL_ID": "hf://acme/chat"}, ["acme/chat"]),
        (["hf://acme/chat:v1"], {}, ["acme/chat", "--revision=v1"]),
        (["hf://acme/chat:v1", "--revision=v2"], {}, ["acme/chat", "--revision=v2"]),
        (["--model=hf://acme/chat"], {"MODEL_DIR": "/elsewhere"}, ["acme/chat"]),
        (["--model_dir={model}"], {}, ["{model}"]),
        (["--model_id", "acme/chat", "--seed=1"], {}, ["acme/chat", "--seed=1"]),
        (["serve", "acme/chat"], {}, ["acme/chat"]),
        (["acme/chat"], {"SERVED_MODEL_NAME": "chat"}, ["acme/chat", "--served-model-name", "chat"]),
        (["acme/chat"], {"SERVED_MODEL_NAME": "a 'b c'"}, ["acme/chat", "--served-model-name", "a", "b c"]),
        (["acme/chat", "--served_model_name", "x", "y"], {"SERVED_MODEL_NAME": "z"},
         ["acme/chat", "--served_model_name", "x", "y"]),
        (["acme/chat", "--model_name=iris"], {}, ["acme/chat", "--served-model-name", "iris"]),
        (["acme/chat"], {"PORT": "8080"}, ["acme/chat", "--port=8080"]),
        (["acme/chat", "--port", "9000"], {"PORT": "8080"}, ["acme/chat", "--port", "9000"]),
        (["acme/chat"], {"TENSOR_PARALLEL_SIZE": "4"}, ["acme/chat", "--tensor-parallel-size=4"]),
        (["acme/chat", "-tp", "2"], {"TENSOR_PARALLEL_SIZE": "4"}, ["acme/chat", "-tp", "2"]),
        (["acme/chat"], {"TENSOR_PARALLEL_SIZE": "1", "PIPELINE_PARALLEL_SIZE": "2"},
         ["acme/chat", "--pipeline-parallel-size=2"]),
        (["acme/chat", "--seed=2"], {"VLLM_ADDITIONAL_ARGS": "--seed=1 --chat-template 'a b'"},
         ["acme/chat", "--seed=1", "--chat-template", "a b", "--seed=2"]),
        (["acme/chat", "--seed=1", "--", "--seed=3"], {"VLLM_ADDITIONAL_ARGS": "--seed=2"},
         ["acme/chat", "--seed=1", "--seed=2", "--seed=3"]),
        (["acme/chat", "--", "--hf-overrides", "'{\"a b\": \"it's\"}'"], {},
         ["acme/chat", "--hf-overrides", '{"a b": "it\'s"}']),
        (["acme/chat"], {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4317"},
         ["acme/chat", "--otlp-traces-endpoint=http://otel:4317"]),
        (["acme/chat"], {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://otel:4317"}, ["acme/chat"]),
        (["acme/chat", "--kv-transfer-config", NIXL], {}, ["acme/chat", "--kv-transfer-config", NIXL]),
        (["serve", "--seed", "1", "acme/chat"], {"MODEL_DIR": "/elsewhere"}, ["acme/chat", "--seed", "1"]),
        (["--enforce-eager", "acme/chat", "--port=9"], {}, ["acme/chat", "--enforce-eager", "--port=9"]),
        (["serve", "serve"], {}, ["serve"]),
        (["acme/chat"], {"RAY_PORT": "tcp://10.0.0.1:6379"}, ["acme/chat"]),
        (["acme/chat", "--tensor_parallel_s", "2"], {}, ["acme/chat", "--tensor-parallel-size", "2"]),
    ],
)  # fmt: skip
def test_conventions_become_arguments(
    place: Place, weights: str, argv: list[str], variables: dict[str, str], words: list[str]
) -> None:
    """Model, names, port, parallelism, extra arguments and traces; arguments of a spec win over all else."""
    told = {name: value.replace("{model}", weights) for name, value in variables.items()}
    done = place.run(*(word.replace("{model}", weights) for word in argv), **told)
    assert done.status == 0, done.said
    assert done.words == ["serve", *(word.replace("{model}", weights) for word in words)]


def test_adapters_of_kserve_are_taken_out_of_their_quotes(place: Place, tmp_path: Path) -> None:
    """Both spellings of an adapter reach vLLM, JSON without the quotes that KServe writes for a shell."""
    path = adapter(tmp_path / "polite", 16)
    module = f'{{"name":"polite","path":"{path}"}}'
    done = place.run("acme/chat", "--", "--enable-lora", "--lora-modules", f"'{module}'", f"rude={path}")
    assert done.words[2:] == ["--enable-lora", "--lora-modules", module, f"rude={path}"]


def test_large_adapters_are_allowed_where_vllm_is_told_so(place: Place, tmp_path: Path) -> None:
    """A rank of 64 fits into one of 64."""
    path = adapter(tmp_path / "polite", 64)
    done = place.run("acme/chat", "--enable-lora", "--max-lora-rank=64", f"--lora-modules=polite={path}")
    assert done.status == 0, done.said


def test_certificates_are_passed_on(place: Place, tmp_path: Path) -> None:
    """Files that can be read are named to vLLM as they were."""
    for name in ("tls.crt", "tls.key"):
        (tmp_path / name).write_text("x")
    flags = [f"--ssl-certfile={tmp_path}/tls.crt", "--ssl-keyfile", f"{tmp_path}/tls.key", "--enable-ssl-refresh"]
    assert place.run("acme/chat", *flags).words == ["serve", "acme/chat", *flags]


def test_tokenizing_follows_the_conventions(place: Place) -> None:
    """Port and names come from variables, too."""
    done = place.run("launch", "render", "acme/chat", PORT="8080", SERVED_MODEL_NAME="chat")
    assert done.words == ["launch", "render", "acme/chat", "--served-model-name", "chat", "--port=8080"]


def test_tokenizing_needs_no_gpu(place: Place, weights: str) -> None:
    """`launch render` serves a model's tokenizer, where there is no GPU and no name."""
    done = place.run("launch", "render", weights, "--port=8000", "--", "--seed=1", CUDA_VISIBLE_DEVICES="")
    assert done.words == ["launch", "render", weights, "--port=8000", "--seed=1"]


def test_a_connector_is_asked_at_its_pod(place: Place) -> None:
    """NIXL announces the pod's address unless it is told another one, and nothing is set without NIXL."""
    name = "VLLM_NIXL_SIDE_CHANNEL_HOST"
    config = f"--kv-transfer-config={NIXL}"
    several = {"kv_connector": "MultiConnector", "kv_connector_extra_config": {"connectors": [json.loads(NIXL)]}}
    bundle = json.dumps(several)
    assert place.run("acme/chat", config, POD_IP="10.0.0.7").environment[name] == "10.0.0.7"
    assert place.run("acme/chat", "--kv-transfer-config", bundle, POD_IP="10.0.0.7").environment[name] == "10.0.0.7"
    assert place.run("acme/chat", config, POD_IP="10.0.0.7", **{name: "10.0.0.8"}).environment[name] == "10.0.0.8"
    assert name not in place.run("acme/chat", POD_IP="10.0.0.7").environment


def test_it_says_what_it_runs_without_secrets(place: Place) -> None:
    """It is written as a shell would take it; keys, passwords and tokens are stars, and reach vLLM all the same."""
    overrides = '{"hf_token":"sesame","a":["https://u:sesame@h/"]}'
    argv = [
        "acme/chat",
        "--api-key",
        "sesame",
        "--max-num-batched-tokens=9",
        "--served-model-name",
        "it's",
        "--api_key=sesame",
    ]
    done = place.run(
        *argv, "--hf-overrides", overrides, VLLM_ADDITIONAL_ARGS="--otlp-traces-endpoint=http://u:sesame@h:1"
    )
    assert "sesame" not in done.said
    assert "--api-key '***'" in done.said
    assert "--max-num-batched-tokens=9" in done.said
    assert "'it'\"'\"'s'" in done.said
    assert done.words.count("sesame") == 1
    assert "--api_key=sesame" in done.words


def test_a_dry_run_runs_nothing(place: Place) -> None:
    """It checks and says what would be run."""
    done = place.run("--dry-run", "acme/chat", "--seed=1")
    assert (done.status, done.records) == (0, [])
    assert "would run vllm serve acme/chat --seed=1" in done.said


@pytest.mark.parametrize(
    ("argv", "variables", "shown"),
    [
        (["acme/chat", "--dry-run", "--seed=1"], {}, "would run vllm serve acme/chat --seed=1"),
        (["serve", "acme/chat", "--seed=1", "--", "--dry_run"], {}, "would run vllm serve acme/chat --seed=1"),
        (["launch", "--dry-run", "render", "acme/chat"], {}, "would run vllm launch render acme/chat"),
        (["acme/chat"], {"VLLM_ADDITIONAL_ARGS": "--seed=1 --dry-run"}, "would run vllm serve acme/chat --seed=1"),
        (["acme/chat", "--of-a-plugin", "a", "b", "--dry-run"], {}, "would run vllm serve acme/chat --of-a-plugin a b"),
        (["--dry-run", "acme/chat", "--hf-over.a", "b"], {}, "would run vllm serve acme/chat --hf-overrides.a b"),
        (["--dry-run", "-O3", "acme/chat"], {}, "would run vllm serve acme/chat -O3"),
        (["--dry-run", "-O", "3", "acme/chat"], {}, "would run vllm serve acme/chat -O 3"),
        (["--dry-run", "--hf-over.a", "b", "acme/chat"], {}, "would run vllm serve acme/chat --hf-overrides.a b"),
    ],
)
def test_a_dry_run_may_be_asked_for_anywhere(
    place: Place, argv: list[str], variables: dict[str, str], shown: str
) -> None:
    """Wherever it stands, vLLM is not started, and not told of it."""
    done = place.run(*argv, **variables)
    assert (done.status, done.records) == (0, []), done.said
    assert f"{shown}\n" in done.said


@pytest.mark.parametrize("argv", [["--version"], ["-v"], ["serve", "acme/chat", "--version"]])
def test_the_version_is_that_of_vllm(place: Place, argv: list[str]) -> None:
    """It is told without a model and a GPU."""
    done = place.run(*argv, CUDA_VISIBLE_DEVICES="")
    assert (done.status, done.said, done.records) == (0, f"kservec-vllm, for vLLM {read()['vllm']}\n", [])


@pytest.mark.parametrize(
    ("flag", "meant"),
    [
        (
            "--tensor-paralel-size=2",
            "--tensor-paralel-size, unless a plugin adds it; did you mean --tensor-parallel-size?",
        ),
        ("--max_model_length=9", "--max-model-length, unless a plugin adds it; did you mean --max-model-len?"),
        ("--of-a-plugin", "--of-a-plugin, unless a plugin adds it\n"),
        ("--dryrun", "--dryrun, unless a plugin adds it; did you mean --dry-run?"),
    ],
)
def test_unknown_flags_are_told_of(place: Place, flag: str, meant: str) -> None:
    """What vLLM has instead is proposed; what a plugin may have is not refused."""
    done = place.run("--dry-run", "acme/chat", flag)
    assert done.status == 0
    assert f"warning: vLLM {read()['vllm']} has no {meant}" in done.said


def test_variables_that_were_not_replaced_are_told_of(place: Place) -> None:
    """Kubernetes leaves a reference as it stands where the container has no such variable."""
    done = place.run("--dry-run", "acme/chat", "--seed=$(SEED)")
    assert "warning: $(SEED) stands for itself" in done.said


@pytest.mark.parametrize(
    "flag", ["-O3", "-tp=2", "--hf-overrides.a.b=1", "--no-enable-prefix-caching", "--max_model_len=9"]
)
def test_no_known_flag_is_doubted(place: Place, flag: str) -> None:
    """Each spelling of vLLM's is one: short, dotted, negated, with underscores."""
    done = place.run("--dry-run", "acme/chat", flag)
    assert done.status == 0, done.said
    assert "warning" not in done.said


@pytest.mark.parametrize("argv", [["--help"], ["-h"], ["serve", "--help"], ["launch", "render", "-h"], ["--help=all"]])
def test_help_tells_of_statuses(place: Place, argv: list[str]) -> None:
    """Each status of its own is in its help text, which is told wherever it is asked for, and nothing is run."""
    done = place.run(*argv)
    assert (done.status, done.records) == (0, [])
    assert all(str(status) in done.said for status in (64, 66, 69, 70, 73, 78, 126, 127, 128))


def test_other_packages_do_not_get_in(place: Place, tmp_path: Path) -> None:
    """Whatever lies on PYTHONPATH or in the current folder, the program uses its own modules."""
    (tmp_path / "json.py").write_text("raise SystemExit('taken over')")
    done = place.run_words(
        ["/bin/sh", "-c", f"cd {tmp_path} && exec kservec-vllm --dry-run acme/chat"], PYTHONPATH=str(tmp_path)
    )
    assert done.status == 0, done.said
