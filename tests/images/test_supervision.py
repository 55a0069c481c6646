"""The first process of a container: signals, statuses, orphans."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from .programs import Place, ended, is_root, write_program

TIMES_OUT_AT_SECONDS = 20
STANDARD = (1 << 31) - 1
"""The signals that programs use; the C library has some of its own."""


@pytest.mark.parametrize(("does", "status"), [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("die", 137)])
def test_the_status_is_that_of_vllm(place: Place, does: str, status: int) -> None:
    """An exit as it is, a signal as 128 and its number."""
    assert place.run("acme/chat", STANDIN_DOES=does).status == status


def test_a_kill_is_explained(place: Place) -> None:
    """Who is killed cannot say why; most often memory was short."""
    assert "vllm was killed, most often for want of memory" in place.run("acme/chat", STANDIN_DOES="die").said


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR1", "SIGUSR2"])
def test_signals_reach_vllm(place: Place, name: str) -> None:
    """Each once, and nothing of vLLM's end is lost."""
    process = place.begin("acme/chat", STANDIN_DOES="wait")
    place.wait_for("ready", process)
    process.send_signal(signal.Signals[name])
    place.wait_for("signal", process)
    done = ended(process, signal.SIGTERM if name not in ("SIGTERM", "SIGINT") else None)
    assert done.status == 0, done.said
    came = [entry["signal"] for entry in place.records() if "signal" in entry]
    assert came == [name, *([] if name in ("SIGTERM", "SIGINT") else ["SIGTERM"])]


def test_vllm_may_take_its_time_to_end(place: Place) -> None:
    """A server that does not end at once is not killed by the entry point; that is for Kubernetes."""
    process = place.begin("acme/chat", STANDIN_DOES="ignore")
    place.wait_for("ready", process)
    process.send_signal(signal.SIGTERM)
    place.wait_for("signal", process)
    time.sleep(0.3)
    assert process.poll() is None
    os.kill(next(entry["pid"] for entry in place.records() if "pid" in entry), signal.SIGKILL)
    assert ended(process).status == 137


def test_vllm_has_a_group_and_signals_of_its_own(place: Place) -> None:
    """A terminal's Ctrl-C would come twice otherwise; and nothing that this program blocks or ignores stays so."""
    write_program(place.programs / "vllm", "grep -E 'SigBlk|SigIgn' /proc/self/status")
    done = place.run("acme/chat")
    masks = [int(line.split()[1], 16) & STANDARD for line in done.said.splitlines() if line.startswith("Sig")]
    assert masks == [0, 0]


def test_a_signal_before_the_start_ends_the_waiting(place: Place) -> None:
    """While a leader is waited for, a pod can still be deleted at once."""
    argv = ["acme/chat", "--data-parallel-address=leader.invalid", "-dp=2", "-dpl=1"]
    process = place.begin(*argv, LEADER_TIMEOUT_SECONDS="60")
    time.sleep(1.0)
    started = time.monotonic()
    done = ended(process, signal.SIGTERM)
    assert done.status == 143
    assert "ended by SIGTERM before vLLM was started" in done.said
    assert time.monotonic() - started < TIMES_OUT_AT_SECONDS


@pytest.mark.skipif(not is_root(), reason="needs a PID namespace of its own")
def test_orphans_are_buried(place: Place) -> None:
    """As the first process it gets the children of dead parents, and none stays a zombie."""
    zombies = "grep -l '^State:.Z' /proc/[0-9]*/status 2> /dev/null"
    write_program(place.programs / "vllm", f"/bin/sh -c 'sleep 0.2 & exit 0'\nsleep 1\n{zombies} && exit 9\nexit 0")
    words = ["unshare", "--pid", "--fork", "--mount-proc", str(place.programs / "kservec-vllm"), "acme/chat"]
    done = place.run_words(words)
    if "Operation not permitted" in done.said:
        pytest.skip("no namespaces here")
    assert done.status == 0, done.said


@pytest.mark.skipif(not is_root(), reason="needs a PID namespace of its own")
def test_the_first_process_passes_signals_on(place: Place) -> None:
    """The kernel hands a first process only the signals that it asks for; this one asks."""
    if subprocess.run(["/usr/bin/env", "unshare", "--pid", "--fork", "true"], check=False).returncode:
        pytest.skip("no namespaces here")
    words = [
        "unshare",
        "--pid",
        "--fork",
        "--kill-child",
        "--mount-proc",
        str(place.programs / "kservec-vllm"),
        "acme/chat",
    ]
    process = subprocess.Popen(  # noqa: S603 - a command of our own
        words, env=place.environment({"STANDIN_DOES": "wait"}), stderr=subprocess.PIPE, text=True
    )
    place.wait_for("ready", process)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    os.kill(int(children[0]), signal.SIGTERM)
    assert process.wait(timeout=TIMES_OUT_AT_SECONDS) == 0
    assert {"signal": "SIGTERM"} in place.records()
    process.communicate()
