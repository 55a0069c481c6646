"""What is refused before vLLM is started: each with a message, a remedy and a status, and nothing is run."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .programs import TMP, Done, Place, adapter, is_root, model, safetensors

USAGE, NO_INPUT, CONFIG = 64, 66, 78
POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
BUNDLE = '{"kv_connector":"MultiConnector","kv_connector_extra_config":{"connectors":['
NO_ROLE = '{"kv_connector":"NixlConnector"}'


def refused(done: Done, status: int, message: str) -> None:
    """Whether a run ended with a status and a message, and vLLM was not started."""
    assert (done.status, done.records) == (status, []), done.said
    assert f"error: {message}" in done.said
    assert "\nkservec-vllm: help: " in done.said
    assert "Traceback" not in done.said


@pytest.mark.parametrize(
    ("argv", "variables", "status", "message"),
    [
        (["acme/chat", "--port=http"], {}, USAGE, "--port is 'http', which is no whole number"),
        (["acme/chat", "--port=70000"], {}, CONFIG, "--port is 70000"),
        (["acme/chat", "--port"], {}, USAGE, "--port has no value"),
        (["acme/chat"], {"TENSOR_PARALLEL_SIZE": "two"}, USAGE,
         "TENSOR_PARALLEL_SIZE is 'two', which is no whole number"),
        (["acme/chat"], {"VLLM_ADDITIONAL_ARGS": "--note 'open"}, USAGE,
         "VLLM_ADDITIONAL_ARGS cannot be split into arguments"),
        (["hf://acme"], {}, USAGE, "hf://acme is no model of the hub"),
        (["hf://acme/chat/more"], {}, USAGE, "hf://acme/chat/more is no model of the hub"),
        (["acme/chat", "--model=acme/other"], {}, CONFIG, "two models are named: acme/chat and acme/other"),
        (["acme/chat", "--served-model-name", ""], {}, CONFIG, "the model is to be served under an empty name"),
        ([], {}, NO_INPUT, "there is no model at /mnt/models"),
        (["/nowhere"], {}, NO_INPUT, "there is no model at /nowhere"),
        (["acme/chat", "-tp", "9"], {}, CONFIG, "vLLM is told to use 9 GPUs on this node (tensor 9), and there are 8"),
        (["acme/chat", "-tp", "4", "-pp", "4"], {}, CONFIG,
         "vLLM is told to use 16 GPUs on this node (tensor 4 x pipeline 4)"),
        (["acme/chat", "-tp", "4", "-dp", "4", "-dpl", "3"], {}, CONFIG,
         "vLLM is told to use 12 GPUs on this node (tensor 4 x data 3)"),
        (["acme/chat"], {"CUDA_VISIBLE_DEVICES": ""}, CONFIG, "there is no GPU in this container"),
        (["acme/chat", "-tp", "0"], {}, CONFIG, "--tensor-parallel-size is 0"),
        (["acme/chat", "-dp", "2", "-dpl", "4"], {}, CONFIG, "--data-parallel-size-local is 4, more than all ranks"),
        (["acme/chat", "-dp", "4", "-dpl", "2", "-dpr", "4"], {}, CONFIG,
         "--data-parallel-start-rank is 4, and there are only 4"),
        (["acme/chat", "--headless", "--api-server-count=2"], {}, CONFIG,
         "--headless is given with --api-server-count"),
        (["acme/chat", "--nnodes=2", "--node-rank=2"], {}, CONFIG, "--node-rank is 2, and there are 2 nodes"),
        (["acme/chat"], {"LWS_LEADER_ADDRESS": "chat-0", "LWS_GROUP_SIZE": "2"}, CONFIG,
         "there are 2 nodes, and the model is spread over 1 GPU"),
        (["acme/chat", "-tp=3"], {"RAY_NODE_COUNT": "2"}, CONFIG,
         "there are 2 nodes, and the model is spread over 3 GPUs"),
        (["acme/chat", "--ssl-certfile=/x"], {}, CONFIG, "--ssl-certfile is given without --ssl-keyfile"),
        (["acme/chat", "--ssl-keyfile=/x"], {}, CONFIG, "--ssl-keyfile is given without --ssl-certfile"),
        (["acme/chat", "--enable-ssl-refresh"], {}, CONFIG, "--enable-ssl-refresh is given without a certificate"),
        (["acme/chat", "--ssl-certfile=/x", "--ssl-keyfile=/y"], {}, NO_INPUT, "/x of --ssl-certfile is not there"),
        (["acme/chat", "--collect-detailed-traces=all"], {}, CONFIG,
         "--collect-detailed-traces is given without --otlp-traces-endpoint"),
        (["acme/chat", "--otlp-traces-endpoint=otel:4317"], {}, CONFIG,
         "--otlp-traces-endpoint is 'otel:4317', which is no URL"),
        (["acme/chat", "--kv-transfer-config", "{"], {}, USAGE, "the value of --kv-transfer-config is no JSON object"),
        (["acme/chat", "--kv-transfer-config", "{}"], {}, CONFIG, "--kv-transfer-config names no kv_connector"),
        (["acme/chat", "--kv-transfer-config", NO_ROLE], {}, CONFIG,
         "NixlConnector in --kv-transfer-config has no kv_role"),
        (["acme/chat", "--kv-transfer-config", '{"kv_connector":"X","kv_role":"both"}'], {}, CONFIG,
         "kv_role of X in --kv-transfer-config is 'both'"),
        (["acme/chat", "--kv-transfer-config", '{"kv_connector":"MultiConnector"}'], {}, CONFIG,
         "MultiConnector of --kv-transfer-config bundles no"),
        (["acme/chat", "--lora-modules", "a=/x"], {}, CONFIG, "--lora-modules is given without --enable-lora"),
        (["acme/chat", "--enable-lora", "--lora-modules", "a"], {}, USAGE,
         "an adapter of --lora-modules has no name or no path"),
        (["acme/chat", "--enable-lora", "--lora-modules", "a=b/c", "a=b/d"], {}, CONFIG, "two adapters are called a"),
        (["acme/chat", "--enable-lora", "--lora-modules", "a=/x"], {}, NO_INPUT,
         "adapter a: there is no /x/adapter_config.json"),
        (["acme/chat", "--enable-lora", "--max-lora-rank=17"], {}, CONFIG, "--max-lora-rank is 17"),
        (["acme/chat", "--enable-lora", "--lora-modules", "a=b/c/d"], {}, NO_INPUT,
         "adapter a: b/c/d is neither a folder nor a name of the hub"),
        (["acme/chat", "--enable-lora", "--lora-modules", "a=./x"], {}, NO_INPUT,
         "adapter a: there is no x/adapter_config.json"),
        (["acme/chat", "--enable-lora", "--lora-modules", '{"name": 5, "path": "/x"}'], {}, USAGE,
         "an adapter of --lora-modules has no name or no path"),
        (["acme/chat", "--enable-lora", "--lora-modules", '{"name": "a", "path": "/x\\u0000"}'], {}, USAGE,
         "an adapter of --lora-modules has no name or no path"),
        (["acme/chat", "--enable-lora", "--lora-modules", '{"name": "a", "path": "/\\ud800"}'], {}, USAGE,
         "an adapter of --lora-modules has no name or no path"),
        (["acme/chat", "--enable-lora", "--lora-modules", '{"name":' + "[" * 100_000], {}, USAGE,
         "the value of --lora-modules is no JSON object"),
        (["acme/chat", "--kv-transfer-config", '{"kv_connector":"MultiConnector","kv_connector_extra_config":"x"}'],
         {}, CONFIG, "MultiConnector of --kv-transfer-config bundles no"),
        (["acme/chat", "-dp=2", "-dpl=1", "--data-parallel-address=a..b"], {}, USAGE, "a..b is no name of a host"),
        (["acme/chat", "--data-parallel-address=localhost", "--data-parallel-rpc-port=70000"], {}, CONFIG,
         "--data-parallel-rpc-port is 70000"),
        (["acme/chat", "--nnodes=2", "--master-port=70000"], {}, CONFIG, "--master-port is 70000"),
        (["acme/chat"], {"RAY_PORT": "70000"}, CONFIG, "RAY_PORT is 70000"),
        (["acme/chat"], {"LWS_GROUP_SIZE": "2", "LWS_WORKER_INDEX": "2"}, CONFIG,
         "LWS_WORKER_INDEX is 2, and LWS_GROUP_SIZE is 2"),
        (["acme/chat", "-dp=4", "-dpl=2", "--headless", "--data-parallel-address=localhost"], {"LWS_WORKER_INDEX": "2"},
         CONFIG, "--data-parallel-start-rank is 4, and there are only 4"),
        (["acme/chat", "--data-parallel-address="], {}, USAGE, "--data-parallel-address is empty"),
        (["acme/chat", "--nnodes=0"], {}, CONFIG, "--nnodes is 0"),
        (["acme/chat"], {"TENSOR_PARALLEL_SIZE": "0"}, CONFIG, "TENSOR_PARALLEL_SIZE is 0"),
        (["acme/chat"], {"RAY_NODE_COUNT": "0"}, CONFIG, "RAY_NODE_COUNT is 0"),
        (["acme/chat"], {"LWS_GROUP_SIZE": "0"}, CONFIG, "LWS_GROUP_SIZE is 0"),
        (["acme/chat", "--tensor-parallel-s=9"], {}, CONFIG, "vLLM is told to use 9 GPUs on this node (tensor 9)"),
        (["acme/chat", "--lora-mod", "a=/x"], {}, CONFIG, "--lora-modules is given without --enable-lora"),
        (["acme/chat", "--config=/x"], {}, NO_INPUT, "/x of --config is not there"),
        (["acme/chat", "--kv-transfer-config", '{"kv_connector":5,"kv_role":"kv_both"}'], {}, CONFIG,
         "--kv-transfer-config names no kv_connector"),
        (["acme/chat", "--kv-transfer-config", BUNDLE * 300 + "{}" + "]}}" * 300], {}, CONFIG,
         "--kv-transfer-config names no kv_connector"),
        (["acme/chat"], {"SERVED_MODEL_NAME": "chat --trust-remote-code"}, CONFIG,
         "SERVED_MODEL_NAME is 'chat --trust-remote-code'"),
        ([], {"MODEL_DIR": "--trust-remote-code"}, USAGE, "'--trust-remote-code' names no model"),
        ([""], {}, USAGE, "'' names no model"),
        (["--model="], {}, USAGE, "'' names no model"),
        (["pvc://models/chat"], {}, USAGE, "vLLM cannot load pvc://models/chat"),
        (["srve", "acme/chat"], {}, USAGE, "'acme/chat' belongs to no flag, and the model is 'srve'"),
        (["acme/chat", "--enable-lora", "true"], {}, USAGE, "'true' belongs to no flag, and the model is 'acme/chat'"),
        (["acme/chat", "--", "--seed=1", "--"], {}, USAGE, "-- stands in VLLM_ADDITIONAL_ARGS, or twice"),
        (["acme/chat"], {"VLLM_ADDITIONAL_ARGS": "-- --seed=1"}, USAGE, "-- stands in VLLM_ADDITIONAL_ARGS, or twice"),
        (["acme/chat", "-dp=4", "-dpn=4"], {}, CONFIG, "--data-parallel-rank is 4, and there are only 4"),
        (["acme/chat"], {"PORT": "tcp://10.0.0.1:80"}, USAGE, "PORT is 'tcp://10.0.0.1:80', which is no whole number"),
        (["hf://--trust-remote-code/x"], {}, USAGE, "hf://--trust-remote-code/x is no model of the hub"),
        (["hf://a/ b"], {}, USAGE, "hf://a/ b is no model of the hub"),
        (["bench", "serve"], {}, USAGE, "'bench' is taken for a command"),
        (["launch", "acme/chat"], {}, USAGE, "'launch' is taken for a command"),
        (["--seed=1", "--", "bench"], {}, USAGE, "'bench' is taken for a command"),
        (["--port=1", "health"], {}, USAGE, "'health' is taken for a command"),
        (["render"], {}, USAGE, "'render' is taken for a command"),
        (["-"], {}, USAGE, "'-' names no model"),
        (["--dry-run", "run-batch"], {}, USAGE, "'run-batch' is taken for a command"),
    ],
)  # fmt: skip
def test_contradictions_are_refused(
    place: Place, argv: list[str], variables: dict[str, str], status: int, message: str
) -> None:
    """What cannot be read, contradicts itself or the hardware, and files that are not there."""
    refused(place.run(*argv, **variables), status, message)


@pytest.mark.parametrize(("allowed", "told"), [([], 16), (["--max-lora-rank=32"], 32)])
def test_adapters_larger_than_allowed_are_refused(place: Place, tmp_path: Path, allowed: list[str], told: int) -> None:
    """The message says which rank is needed, and how it is allowed."""
    path = adapter(tmp_path / "a", 40)
    done = place.run("acme/chat", "--enable-lora", *allowed, f"--lora-modules=a={path}")
    refused(done, CONFIG, f"adapter a has rank 40, and vLLM is told to allow {told}")
    assert "set model.lora.maxRank to 64 (--max-lora-rank=64)" in done.said


def test_models_that_cannot_be_loaded_are_refused(place: Place, tmp_path: Path) -> None:
    """A folder that is empty, lacks its configuration or its weights, or has links that lead nowhere."""
    empty = tmp_path / "empty"
    empty.mkdir()
    refused(place.run(str(empty)), NO_INPUT, f"{empty} is empty")
    (empty / "model.safetensors").touch()
    refused(place.run(str(empty)), NO_INPUT, f"{empty} has no config.json, but model.safetensors")
    (empty / "model.safetensors").rename(empty / "model.gguf")
    refused(place.run(str(empty)), NO_INPUT, f"{empty} is a folder of GGUF files")
    (empty / "model.gguf").unlink()
    (empty / "config.json").write_text("{}")
    refused(place.run(str(empty)), NO_INPUT, f"{empty} has no weights")
    assert place.run(str(empty), "--load-format=dummy").status == 0
    linked = model(tmp_path / "linked")
    (linked / "tokenizer.json").symlink_to("blobs/1")
    refused(place.run(str(linked)), NO_INPUT, f"{linked}/tokenizer.json is a link to blobs/1, which is not there")


@pytest.mark.skipif(not is_root(), reason="needs to become another user")
def test_files_that_may_not_be_read_are_refused(open_place: Place) -> None:
    """The message names the user and the file: of the model, of an adapter, of a key."""
    become = ["setpriv", "--reuid=12345", "--regid=12345", "--clear-groups"]
    weights = model(open_place.folder / "m")
    (weights / "model.safetensors").chmod(0o600)
    done = open_place.run(str(weights), prefix=become, HOME=TMP)
    refused(done, NO_INPUT, f"user 12345 may not read {weights}/model.safetensors")
    weights.chmod(0o700)
    refused(open_place.run(str(weights), prefix=become, HOME=TMP), NO_INPUT, f"user 12345 may not read {weights}\n")
    path = adapter(open_place.folder / "a", 8) / "adapter_config.json"
    path.chmod(0o600)
    done = open_place.run("acme/chat", "--enable-lora", f"--lora-modules=a={path.parent}", prefix=become, HOME=TMP)
    refused(done, NO_INPUT, f"adapter a: user 12345 may not read {path}")
    done = open_place.run("acme/chat", f"--ssl-certfile={path}", f"--ssl-keyfile={path}", prefix=become, HOME=TMP)
    refused(done, NO_INPUT, f"{path} of --ssl-certfile cannot be")


def test_an_adapter_that_is_no_json_is_refused(place: Place, tmp_path: Path) -> None:
    """A download that broke off is told apart from an adapter without a rank."""
    path = adapter(tmp_path / "a", 8)
    (path / "adapter_config.json").write_text("{")
    done = place.run("acme/chat", "--enable-lora", f"--lora-modules=a={path}")
    refused(done, NO_INPUT, f"{path}/adapter_config.json is no JSON object")


@pytest.mark.parametrize(
    "content",
    [b"{", b"[]", b"\xff\xfe{}", b"[" * 100_000, b'{"a":' * 100_000],
    ids=["broken", "list", "bytes", "deep", "deeper"],
)
def test_json_that_is_none_is_refused(place: Place, tmp_path: Path, content: bytes) -> None:
    """The configuration of a model, its index, and the configuration of an adapter are read the same way."""
    weights, lora = model(tmp_path / "m"), adapter(tmp_path / "a", 8)
    (weights / "config.json").write_bytes(content)
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/config.json is no JSON object")
    (weights / "config.json").write_text("{}")
    (weights / "model.safetensors.index.json").write_bytes(content)
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/model.safetensors.index.json is no JSON object")
    (lora / "adapter_config.json").write_bytes(content)
    done = place.run("acme/chat", "--enable-lora", f"--lora-modules=a={lora}")
    refused(done, NO_INPUT, f"{lora}/adapter_config.json is no JSON object")


def test_a_number_that_nothing_reads_is_called_that(place: Place, tmp_path: Path) -> None:
    """A file that is JSON but for thousands of digits is not said to be none."""
    weights = model(tmp_path / "m")
    (weights / "config.json").write_text('{"hidden_size": ' + "9" * 5000 + "}")
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/config.json has a number with too many digits in it")


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "model.safetensors.index.json"])
def test_what_is_no_file_is_refused(place: Place, tmp_path: Path, name: str) -> None:
    """A pipe, from which nothing would ever come, and a folder."""
    weights = model(tmp_path / "m")
    (weights / name).unlink(missing_ok=True)
    (weights / name).mkdir()
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/{name} is no file")
    (weights / name).rmdir()
    os.mkfifo(weights / name)
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/{name} is no file")
    refused(place.run(str(weights / name)), NO_INPUT, f"{weights}/{name} is no file")


def test_weights_without_content_are_refused(place: Place, tmp_path: Path) -> None:
    """A download that broke off, and a clone without the content; nothing is read of weights that are not loaded."""
    weights = model(tmp_path / "m")
    file = weights / "model.safetensors"
    file.write_bytes(b"")
    refused(place.run(str(weights)), NO_INPUT, f"{file} is empty")
    assert place.run(str(weights), "--load-format=dummy").status == 0
    file.write_text(POINTER)
    refused(place.run(str(weights)), NO_INPUT, f"{file} is a pointer of git-lfs")
    refused(place.run(str(file)), NO_INPUT, f"{file} is a pointer of git-lfs")


ONE = '{"__metadata__": {"format": "pt"}, "a": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"PK\3\4", "has no header of safetensors"),
        (b"\xff" * 20, "has no header of safetensors"),
        (safetensors(ONE)[:40], "has no header of safetensors"),
        (safetensors("[]"), "has no header of safetensors"),
        (safetensors('{"a": 5}'), "has no header of safetensors"),
        (safetensors('{"a": {"data_offsets": [0]}}'), "has no header of safetensors"),
        (safetensors('{"a": {"data_offsets": [0, "4"]}}'), "has no header of safetensors"),
        (safetensors("[" * 100_000), "has no header of safetensors"),
        (safetensors(ONE, b"123"), f"has {len(ONE) + 11} bytes, and by its header {len(ONE) + 12}"),
        (safetensors(ONE, b"12345"), f"has {len(ONE) + 13} bytes, and by its header {len(ONE) + 12}"),
    ],
)
def test_safetensors_that_are_cut_off_are_refused(place: Place, tmp_path: Path, content: bytes, message: str) -> None:
    """By header and length, of a model and of an adapter, without the tensors being read."""
    weights, lora = model(tmp_path / "m"), adapter(tmp_path / "a", 8)
    file = weights / "model.safetensors"
    file.write_bytes(safetensors(ONE, b"1234"))
    assert place.run(str(weights)).status == 0
    file.write_bytes(content)
    refused(place.run(str(weights)), NO_INPUT, f"{file} {message}")
    file = lora / "adapter_model.safetensors"
    file.write_bytes(content)
    refused(place.run("acme/chat", "--enable-lora", f"--lora-modules=a={lora}"), NO_INPUT, f"{file} {message}")
    file.unlink()
    refused(
        place.run("acme/chat", "--enable-lora", f"--lora-modules=a={lora}"), NO_INPUT, f"adapter a: there is no {file}"
    )


def test_gguf_is_told_by_its_start(place: Place, tmp_path: Path) -> None:
    """A page of a proxy that was saved in its place is none."""
    file = tmp_path / "model.gguf"
    file.write_text("<html>")
    refused(place.run(str(file)), NO_INPUT, f"{file} is no file of GGUF")
    file.write_bytes(b"GGUF\3\0\0\0")
    assert place.run(str(file)).status == 0


def test_an_index_must_be_whole(place: Place, tmp_path: Path) -> None:
    """Each shard that it names is there and whole; no other file is looked at, nor an index that is left behind."""
    weights = model(tmp_path / "m")
    stale = weights / "pytorch_model.bin.index.json"
    stale.write_text('{"weight_map": {"a": "pytorch_model-00001-of-00001.bin"}}')
    assert place.run(str(weights)).status == 0
    index = weights / "model.safetensors.index.json"
    index.write_text(
        '{"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors", "c": "model-3.safetensors"}}'
    )
    refused(place.run(str(weights)), NO_INPUT, f"{index} names model-2.safetensors and 1 more, which is not there")
    for name in ("model-2.safetensors", "model-3.safetensors", "model-4.safetensors"):
        (weights / name).write_text(POINTER)
    refused(place.run(str(weights)), NO_INPUT, f"{weights}/model-2.safetensors is a pointer of git-lfs")
    for name in ("model-2.safetensors", "model-3.safetensors"):
        (weights / name).write_bytes(safetensors())
    assert place.run(str(weights)).status == 0


@pytest.mark.parametrize(
    "text", ['{"weight_map": {"a": 5}}', '{"weight_map": []}', '{"weight_map": {}}', '{"a": "model.safetensors"}']
)
def test_an_index_that_names_no_files_is_refused(place: Place, tmp_path: Path, text: str) -> None:
    """It says which files are loaded, so it has to."""
    index = model(tmp_path / "m") / "model.safetensors.index.json"
    index.write_text(text)
    refused(place.run(str(index.parent)), NO_INPUT, f"{index} has no weight_map of names of files")


def test_names_in_an_index_may_be_anything(place: Place, tmp_path: Path) -> None:
    """Names that no file can have are not there."""
    index = model(tmp_path / "m") / "model.safetensors.index.json"
    for name in ("\\u0000", "\\ud800", "x" * 5000, ""):
        index.write_text(f'{{"weight_map": {{"a": "{name}"}}}}')
        refused(place.run(str(index.parent)), NO_INPUT, f"{index} names ")


def test_weights_that_are_not_loaded_do_not_count(place: Place, tmp_path: Path) -> None:
    """Of several formats vLLM loads one: Mistral's before safetensors, these before others, unless it is told which."""
    weights = model(tmp_path / "m")
    (weights / "pytorch_model.bin").write_text(POINTER)
    (weights / "training_args.bin").write_bytes(b"")
    assert place.run(str(weights)).status == 0
    refused(place.run(str(weights), "--load-format=pt"), NO_INPUT, f"{weights}/pytorch_model.bin is a pointer of")
    (weights / "model.safetensors").write_text(POINTER)
    (weights / "consolidated.safetensors").write_bytes(safetensors())
    assert place.run(str(weights)).status == 0
    refused(place.run(str(weights), "--load-format=safetensors"), NO_INPUT, f"{weights}/model.safetensors is a pointer")


@pytest.mark.parametrize(
    "body", ['{"r":"x"}', '{"r":true}', '{"r":0}', '{"r":8,"rank_pattern":{"q":"x"}}', '{"r":8,"rank_pattern":5.5}']
)
def test_ranks_that_are_none_are_refused(place: Place, tmp_path: Path, body: str) -> None:
    """A rank that cannot be compared is not taken for a small one."""
    path = adapter(tmp_path / "a", 8)
    (path / "adapter_config.json").write_text(body)
    done = place.run("acme/chat", "--enable-lora", f"--lora-modules=a={path}")
    refused(done, NO_INPUT, f"{path}/adapter_config.json has the rank ")


def test_adapters_by_a_relative_path_are_checked(place: Place, tmp_path: Path) -> None:
    """What is there from the current folder on is a folder for vLLM, whatever it looks like."""
    adapter(tmp_path / "adapters" / "a", 64)
    argv = "acme/chat --enable-lora --lora-modules a=adapters/a"
    done = place.run_words(["/bin/sh", "-c", f"cd {tmp_path} && exec kservec-vllm {argv}"])
    refused(done, CONFIG, "adapter a has rank 64, and vLLM is told to allow 16")


def test_a_fault_of_the_program_is_no_traceback(place: Place) -> None:
    """Without one of its own files it says so, with a status of its own."""
    (place.package / "arguments.json").unlink()
    done = place.run("acme/chat")
    refused(done, 70, "FileNotFoundError: ")


def test_no_link_of_a_place_leads_out_of_it(place: Place, tmp_path: Path) -> None:
    """What a test writes to a program of the place cannot be one of the machine."""
    links = [path for path in place.folder.rglob("*") if path.is_symlink()]
    assert links
    assert all(path.resolve().is_relative_to(tmp_path.resolve()) for path in links)


def test_without_vllm_there_is_nothing_to_run(place: Place) -> None:
    """The statuses of a shell for a program that is not there, or may not be run."""
    vllm = place.programs / "vllm"
    vllm.unlink()
    refused(place.run("acme/chat"), 127, "there is no program vllm on the PATH")
    vllm.write_text("")
    refused(place.run("acme/chat"), 126, "user ")


def test_vllm_refuses_the_rest_by_itself(place: Place) -> None:
    """A flag that the pinned version does not have ends the stand-in, and its status is kept."""
    done = place.run("acme/chat", "--no-such-flag")
    assert (done.status, done.records) == (2, [])
    assert "unrecognized arguments: --no-such-flag" in done.said
