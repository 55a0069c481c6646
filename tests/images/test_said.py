"""Everything that the program says goes one way: without secrets, and as one line of plain text."""

from __future__ import annotations

import pytest

from .programs import Place

SECRET = "hunter2"  # noqa: S105 - of nobody


@pytest.mark.parametrize(
    "argv",
    [
        ["--dry-run", f"hf://user:{SECRET}@a/b"],
        ["--dry-run", f"hf://user:x@{SECRET}@a/b"],
        ["--dry-run", f"hf://user:a {SECRET}@a/b"],
        ["--dry-run", f"/models/chat?token={SECRET}"],
        ["--dry-run", f"hf://a/b/c?X-Amz-Credential={SECRET}&expires=1"],
        ["--dry-run", "acme/chat", f"--model=https://user:{SECRET}@h/other"],
        ["--dry-run", "acme/chat", f"--otlp-traces-endpoint=otel?api_key={SECRET}"],
        ["--dry-run", "acme/chat", f"--port=token={SECRET}"],
        ["--dry-run", "acme/chat", "--enable-lora", "--lora-modules", f"a=/x?password={SECRET}"],
        ["--dry-run", "acme/chat", f"--hf-overrides.hf_token={SECRET}"],
        ["--dry-run", "acme/chat", "--hf-overrides", f'{{"hf_token": "a {SECRET}"'],
        ["--dry-run", "acme/chat", "--hf-overrides", f'{{"hf_token": "{SECRET}"}}'],
        ["--dry-run", "acme/chat", f"--data-parallel-address=http://u:{SECRET}@h"],
    ],
)
def test_no_message_has_a_secret(place: Place, argv: list[str]) -> None:
    """Whatever is said of a password, a token or a signed URL, stars stand for it."""
    done = place.run(*argv)
    assert SECRET not in done.said
    assert "***" in done.said


@pytest.mark.parametrize(
    ("argv", "variables", "shown"),
    [
        (["acme/chat", "--port=1\n::error::x"], {}, "--port is '1\\n:\\x3aerror:\\x3ax'"),
        (["/no\n::stop-commands::x"], {}, "there is no model at /no\\n:\\x3astop-commands:\\x3ax"),
        (["--dry-run", "acme/\x1b[31mchat\r\x07"], {}, "would run vllm serve 'acme/\\x1b[31mchat\\r\\x07'"),
        (["--dry-run", "acme/\u202etahc\u2028"], {}, "acme/\\u202etahc\\u2028"),
        (["--dry-run", "acme/chat"], {"SERVED_MODEL_NAME": "'a\nb'"}, "--served-model-name 'a\\nb'"),
        ([], {"MODEL_DIR": "/no\x9b2Jdel\x7f"}, "there is no model at /no\\x9b2Jdel\\x7f"),
        (["--dry-run", "acme/ü"], {}, "would run vllm serve 'acme/ü'"),
    ],
)
def test_every_message_is_a_line_of_plain_text(
    place: Place, argv: list[str], variables: dict[str, str], shown: str
) -> None:
    """Control characters, line breaks and the commands of workflows are escaped, letters are not."""
    done = place.run(*argv, PYTHONUTF8="1", **variables)
    assert shown in done.said
    lines = done.said.removesuffix("\n").split("\n")
    assert all(line.isprintable() and line.startswith("kservec-vllm: ") for line in lines), lines
    assert "::" not in done.said


@pytest.mark.parametrize("text", ["a", "a://", "://a:a", "://a?", "a: ", "token='"])
def test_long_words_take_no_longer_than_they_are(place: Place, text: str) -> None:
    """Each would take minutes if every place of it were looked at from every other; a run has seconds."""
    done = place.run("--dry-run", "acme/chat", f"--hf-overrides={text * (100_000 // len(text))}")
    assert done.status == 0


@pytest.mark.parametrize("log", ["2>&-", "2>/dev/full"])
def test_a_log_that_takes_nothing_is_no_reason_not_to_serve(place: Place, log: str) -> None:
    """It is closed, or the disk is full."""
    done = place.run_words(["/bin/sh", "-c", f"exec kservec-vllm acme/chat --seed=1 {log}"])
    assert (done.status, done.words) == (0, ["serve", "acme/chat", "--seed=1"])
