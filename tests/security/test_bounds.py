"""A build that takes too long, or too much memory, is stopped: with an error, and with nothing written."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from contextlib import nullcontext
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import SERVICE, fresh_kservec, kservec

from kservec.core.schemas.schema import ToldApart
from kservec.core.text.source import Limits
from kservec.io import bounds
from kservec.io.bounds import ExceededError, bounded, memory
from kservec.io.packaged import packaged_schemas

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from multiprocessing.connection import Connection
    from pathlib import Path

PROJECT = "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [services]\nenvironments: {prod: {}}\n"
MANY = 6000
"""So many services take several seconds, and more than a hundred mebibytes."""

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="NOT TESTED: this system has no timers")


@pytest.fixture(autouse=True)
def _as_it_was() -> Iterator[None]:
    """What a test that fails leaves of a watch does not stop the next from being watched, which would never end."""
    yield
    signal.signal(signal.SIGALRM, signal.SIG_DFL)


@pytest.fixture(name="many", scope="module")
def many_fixture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with many services."""
    folder = tmp_path_factory.mktemp("many")
    (folder / "services").mkdir()
    services = [SERVICE.replace("name: fraud", f"name: fraud-{i}") for i in range(MANY)]
    (folder / "services" / "all.yaml").write_text("---\n".join(services))
    (folder / "kservec.yaml").write_text(PROJECT)
    return folder


OVER_MEMORY_SAID = "the build was stopped holding more than 60 MiB of memory"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("option", "code"),
    [(("--max-seconds", "1"), "build/over-time"), (("--max-memory", "60"), "build/over-memory")],
)
@pytest.mark.parametrize("what", [("services", "--output", "out"), ()], ids=["files", "environments"])
def test_a_build_is_stopped(many: Path, what: tuple[str, ...], option: tuple[str, ...], code: str) -> None:
    """The error has a code, says what to do, and nothing was written."""
    ran = fresh_kservec(many, "build", *what, *option, "--format", "json")
    assert ran.status == 1, ran.err
    (found,) = json.loads(ran.err)["diagnostics"]
    assert found["code"] == code
    assert option[0] in found["help"]
    assert found["message"] in ("the build was stopped after 1 second", OVER_MEMORY_SAID)
    assert not ran.out
    assert {path.name for path in many.iterdir()} == {"services", "kservec.yaml"}


@pytest.mark.slow
def test_a_build_by_several_processes_is_stopped(many: Path) -> None:
    """Its workers end with it, and nothing was written."""
    ran = fresh_kservec(many, "build", "--jobs", "2", "--max-seconds", "2", "--format", "json")
    assert ran.status == 1, ran.err
    (found,) = json.loads(ran.err)["diagnostics"]
    assert found["code"] == "build/over-time"
    assert {path.name for path in many.iterdir()} == {"services", "kservec.yaml"}


@pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: only Linux tells what other processes hold")
def test_what_workers_hold_counts() -> None:
    """What a worker shares with this process counts once, and what it holds alone counts, too."""
    shared = b"x" * (32 << 20)
    before = memory()
    ours, theirs = get_context("fork").Pipe()
    worker = get_context("fork").Process(target=hold, args=(theirs, shared), daemon=True)
    worker.start()
    try:
        assert ours.recv() == len(shared)
        assert 64 << 20 <= memory() - before < 96 << 20
    finally:
        worker.terminate()
        worker.join()
    assert memory() - before < 32 << 20


def hold(pipe: Connection, shared: bytes) -> None:
    """Hold 64 mebibytes, and tell how much is shared, until somebody ends this."""
    held = b"y" * (64 << 20)
    pipe.send(len(shared))
    time.sleep(60)
    pipe.send(held)


@pytest.mark.parametrize("name", ["services/fraud.yaml", "kservec.yaml", "kservec.lock.json"])
def test_no_file_is_larger(tmp_path: Path, name: str) -> None:
    """A file beyond the limit is named, whatever it is, and no part of it is taken for the whole."""
    texts = {
        "services/fraud.yaml": SERVICE,
        "kservec.yaml": PROJECT,
        "kservec.lock.json": '{"apiVersion": "kservec.dev/v1alpha1", "kind": "Lock", "images": {}}',
    }
    for path, text in texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text + "\n" * (2000 if path == name else 0))
    limit = ("--max-file-size", "1500")
    ran = kservec(tmp_path, "build", *limit, "--format", "json")
    assert ran.status == 1, ran.err
    (found,) = [d for d in json.loads(ran.err)["diagnostics"] if d["severity"] == "error"]
    assert (found["code"], found["location"]["file"]) == ("yaml/too-large", name)
    assert not (tmp_path / "rendered").exists()


def test_no_limit(tmp_path: Path) -> None:
    """0 is no limit."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    ran = kservec(tmp_path, "build", "fraud.yaml", "--max-seconds", "0", "--max-memory", "0")
    assert ran.status == 0, ran.err


def test_the_work_is_stopped_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that ends by itself is left alone; work that does not is stopped soon after its time."""
    monkeypatch.setattr(bounds, "FIRST", 0.05)
    with bounded(Limits(max_seconds=60)):
        assert sum(range(1000)) == 499_500
    begun = time.monotonic()
    with pytest.raises(ExceededError, match=r"after 1 second$"), bounded(Limits(max_seconds=1)):
        sum(forever())
    assert 1 <= time.monotonic() - begun < 10
    assert signal.getsignal(signal.SIGALRM) is signal.SIG_DFL
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_the_last_look_leaves_all_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer that goes off while it is stopped ends nothing, and the next work is watched again."""
    hook, set_timer = sys.unraisablehook, signal.setitimer

    def set_late(which: int, seconds: float, interval: float = 0.0) -> None:
        set_timer(which, seconds, interval)
        if not seconds:
            signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr(bounds, "memory", lambda: 2 << 30)
    monkeypatch.setattr(signal, "setitimer", set_late)
    with bounded(Limits(max_memory=1 << 30)):
        assert not bounds.can_watch()
    assert bounds.can_watch()
    assert sys.unraisablehook is hook


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ExceededError(bounds.over_time(1))], ids=["interrupt", "limit"])
@pytest.mark.parametrize("is_over", [True, False], ids=["just before the end", "amidst"])
def test_what_native_code_drops_ends_the_run_all_the_same(
    error: BaseException, is_over: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    """The run ends soon, and nothing is said on standard error; a limit only ends what is not at its end."""
    hook = sys.unraisablehook
    is_ended = isinstance(error, KeyboardInterrupt) or not is_over
    with pytest.raises(type(error)) if is_ended else nullcontext(), bounded(Limits(max_seconds=60)):
        dropped(error, () if is_over else forever())
    assert sys.unraisablehook is hook
    assert capfd.readouterr().err == ""


def dropped(error: BaseException, work: Iterable[int]) -> None:
    """Have an exception come where nothing can raise it, and work on."""
    holder = Holder(error)
    del holder
    sum(work)


class Holder:
    """What is interrupted while it is thrown away."""

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def __del__(self) -> None:
        raise self.error


def test_other_exceptions_that_nothing_raises_are_told() -> None:
    """They are no business of the limits."""
    told: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "unraisablehook", lambda each: told.append(each.exc_type))
        with bounded(Limits(max_seconds=60)):
            dropped(ValueError("a bug"), ())
    assert told == [ValueError]


def test_an_answer_for_native_code_is_not_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The validator takes any exception for a refusal, so that the look after it ends the run."""
    monkeypatch.setattr(bounds, "FIRST", 0.001)
    monkeypatch.setattr(bounds, "EVERY", 0.001)
    monkeypatch.setattr(bounds, "REST", 0.0)
    answers: set[bool] = set()
    items = [{"name": f"a{i}", "value": "b"} for i in range(50)]
    rule = {"filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": {"set": items[:16]}}]}
    route = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "a"}}
    route["spec"] = {"hostnames": ["a.example.com"], "rules": [rule] * 16}

    def validate() -> None:
        while True:
            schemas = packaged_schemas.__wrapped__()
            for _ in range(20):
                answers.add(schemas.fits(route, route["apiVersion"], "HTTPRoute"))

    due = [0.0]
    monkeypatch.setattr(bounds, "memory", lambda: int(time.monotonic() > due[0]) << 40)
    for _ in range(20):
        due[0] = time.monotonic() + 0.02
        with pytest.raises(ExceededError), bounded(Limits(max_memory=1 << 30)):
            validate()
    assert answers == {True}


@pytest.mark.parametrize("is_over", [True, False], ids=["just before the end", "amidst"])
def test_an_interrupt_amidst_an_answer_for_native_code_ends_the_run(
    is_over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The validator has its answer first; pressed once is enough, and whoever had it before has the signal again."""
    asked: list[str] = []
    judge = ToldApart.validate

    def pressed(self: ToldApart, items: list[object]) -> None:
        asked.append("Ctrl-C")
        signal.raise_signal(signal.SIGINT)
        judge(self, items)

    monkeypatch.setattr(ToldApart, "validate", pressed)
    headers = {"set": [{"name": "a", "value": "b"}, {"name": "c", "value": "d"}]}
    rule = {"filters": [{"type": "RequestHeaderModifier", "requestHeaderModifier": headers}]}
    route = {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"name": "a"}}
    route["spec"] = {"hostnames": ["a.example.com"], "rules": [rule]}
    schemas, answers = packaged_schemas.__wrapped__(), []

    def work() -> None:
        answers.append(schemas.fits(route, route["apiVersion"], "HTTPRoute"))
        sum(() if is_over else forever())

    with pytest.raises(KeyboardInterrupt), bounded(Limits(max_seconds=60)):
        work()
    assert answers == [True]
    assert asked
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupt_elsewhere_ends_the_run_at_once() -> None:
    """It waits for no look; and one that is ignored, as in the background of a shell, stays so."""

    def work() -> None:
        signal.raise_signal(signal.SIGINT)
        pytest.fail("it was not raised where it was pressed")

    with pytest.raises(KeyboardInterrupt), bounded(Limits(max_seconds=60)):
        work()
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with bounded(Limits(max_seconds=60)):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_no_look_interrupts_another(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a look takes longer than the timer waits; it ends before the next one begins."""
    depths: list[int] = []
    inside = [0]

    def slow() -> int:
        inside[0] += 1
        depths.append(inside[0])
        signal.raise_signal(signal.SIGALRM)
        time.sleep(0.03)
        inside[0] -= 1
        return 0

    monkeypatch.setattr(bounds, "memory", slow)
    for name, seconds in {"FIRST": 0.01, "EVERY": 0.01, "REST": 0.0}.items():
        monkeypatch.setattr(bounds, name, seconds)
    with bounded(Limits()):
        end = time.monotonic() + 0.3
        while time.monotonic() < end:
            sum(range(1000))
    assert set(depths) == {1}
    assert len(depths) > 2


def test_a_look_loads_nothing(tmp_path: Path) -> None:
    """It may interrupt an import, and then would find half a module."""
    program = "import sys; from kservec.io import bounds; before = set(sys.modules); bounds.memory()"
    code = f"{program}; print(sorted(set(sys.modules) - before))"
    done = subprocess.run(  # noqa: S603 - our own program
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout == "[]\n") or sys.platform != "linux"


def forever() -> Iterator[int]:
    """Work without an end."""
    while True:
        yield 1


def test_memory_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """What holds more than it should is stopped."""
    monkeypatch.setattr(bounds, "FIRST", 0.05)
    held: list[bytes] = []
    with pytest.raises(ExceededError, match="MiB of memory"), bounded(Limits(max_memory=memory() + (64 << 20))):
        held.extend(b"x" * ((1 << 20) + i) for i in forever())
    assert 32 < len(held) < 4096


def test_where_there_is_no_timer_nothing_is_watched(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other threads, and whoever has a timer already, are left alone."""
    monkeypatch.setattr(bounds, "FIRST", 0.001)
    seen: list[object] = []

    def work() -> None:
        with bounded(Limits(max_memory=1)):
            time.sleep(0.2)
            seen.append(signal.getsignal(signal.SIGALRM))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    before = signal.signal(signal.SIGALRM, signal.SIG_IGN)
    try:
        work()
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [signal.SIG_DFL, signal.SIG_IGN]
