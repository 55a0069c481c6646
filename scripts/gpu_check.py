"""Start the pinned vLLM on a GPU through the entry point, on a tiny model made here, and see that it does what is said.

    python scripts/gpu_check.py

It needs a GPU, and a `vllm` of the pinned version on the PATH with its Python beside it; without either nothing is
checked, and it says so. Nothing is downloaded. Checked are: the server gets ready, answers a completion, has the
metrics that the list names, and ends with status 0 on SIGTERM; too much parallelism is refused before it is started.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

IMAGES = Path(__file__).resolve().parents[1] / "runtimes" / "images" / "vllm"
ENTRYPOINT = IMAGES / "kservec-vllm"
READY_SECONDS, END_SECONDS = 600, 60
CONFIG = 78
TINY = """
import sys
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
words = {word: i for i, word in enumerate(["<unk>", "<s>", "</s>", *(f"w{n}" for n in range(253))])}
raw = Tokenizer(models.WordLevel(words, unk_token="<unk>"))
raw.pre_tokenizer = pre_tokenizers.Whitespace()
tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, unk_token="<unk>", bos_token="<s>", eos_token="</s>")
tokenizer.save_pretrained(sys.argv[1])
size = dict(vocab_size=256, hidden_size=256, intermediate_size=512, num_hidden_layers=2)
heads = dict(num_attention_heads=4, num_key_value_heads=4, max_position_embeddings=256)
LlamaForCausalLM(LlamaConfig(**size, **heads, bos_token_id=1, eos_token_id=2)).half().save_pretrained(sys.argv[1])
"""


def main() -> int:
    """Check, or say why not."""
    if (why := missing()) is not None:
        sys.stdout.write(f"\n{'=' * 72}\nSKIPPED: {why}; vLLM itself was not started\n{'=' * 72}\n")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder, "model")
        python = Path(str(shutil.which("vllm"))).with_name("python3")
        subprocess.run([str(python), "-c", TINY, str(model)], check=True)  # noqa: S603 - our own
        check_refusal(model)
        check_server(model, Path(folder))
    sys.stdout.write("vLLM does on a GPU what the images' tests say\n")
    return 0


def missing() -> str | None:
    """What there is too little of for a check."""
    if shutil.which("vllm") is None:
        return "there is no vllm on the PATH"
    if not any(Path("/dev").glob("nvidia[0-9]*")):
        return "there is no GPU"
    version = subprocess.run(["vllm", "--version"], capture_output=True, text=True, check=False)  # noqa: S607
    pinned = json.loads((IMAGES / "versions.json").read_text())["vllm"]
    found = (version.stdout.split() or ["none"])[-1].partition("+")[0]
    return None if found == pinned else f"vllm is {found}, and {pinned} is pinned"


def check_refusal(model: Path) -> None:
    """More ranks than GPUs end with the status of a contradiction."""
    words = [str(ENTRYPOINT), str(model), "--tensor-parallel-size=64"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    expect(done.returncode == CONFIG and "vLLM is told to use 64 GPUs" in done.stderr, done.stderr)


def check_server(model: Path, home: Path) -> None:
    """A server from its start to its end."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    words = [str(ENTRYPOINT), str(model), f"--port={port}", "--max-model-len=128", "--enforce-eager", "--dtype=float16"]
    environment = {**os.environ, "SERVED_MODEL_NAME": "tiny", "HOME": str(home), "HF_HUB_OFFLINE": "1"}
    server = subprocess.Popen([*words, "--gpu-memory-utilization=0.3"], env=environment)  # noqa: S603 - our own
    try:
        wait_until_ready(server, port)
        body = {"model": "tiny", "prompt": "w1 w2 w3", "max_tokens": 4}
        expect("choices" in json.loads(ask(port, "/v1/completions", body)), "a completion")
        found = set(re.findall(r"^(vllm:[a-z0-9_]+)", ask(port, "/metrics"), re.MULTILINE))
        known = json.loads((IMAGES / "metrics.json").read_text())["metrics"]
        unlisted = sorted(name for name in found if name not in known and not name.endswith("_created"))
        expect(bool(found) and not unlisted, f"metrics that are not listed: {unlisted}")
        server.send_signal(signal.SIGTERM)
        expect(server.wait(timeout=END_SECONDS) == 0, "an end with status 0")
    finally:
        server.kill()
        server.wait()


def wait_until_ready(server: subprocess.Popen[bytes], port: int) -> None:
    """Until /health answers."""
    for _ in range(READY_SECONDS):
        expect(server.poll() is None, "a server that stays")
        try:
            ask(port, "/health")
        except (urllib.error.URLError, OSError):
            time.sleep(1)
        else:
            return
    expect(False, f"a server that is ready within {READY_SECONDS} s")


def ask(port: int, path: str, body: object = None) -> str:
    """What the server answers."""
    content = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", data=content, headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310 - this machine
        return str(answer.read().decode())


def expect(holds: bool, what: str) -> None:
    """End the check where something does not hold.

    Raises:
        SystemExit: it does not.
    """
    if not holds:
        sys.exit(f"gpu-check failed: {what}")


if __name__ == "__main__":
    sys.exit(main())
