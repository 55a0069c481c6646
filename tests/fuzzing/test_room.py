"""The fuzzing room itself: the same inputs everywhere, faults that are told, runs that go on where they ended."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any

import pytest
from fuzz import trying
from fuzz.building import WHOLE_CATALOG, Built, Made, built, suited
from fuzz.families import FAMILIES, made_by, make
from fuzz.inputs import Input
from fuzz.judging import faults
from fuzz.ledger import keep, rows_of, summary, tasks_of
from fuzz.mutating import bend
from fuzz.running import CHUNK, Tally, Task, run, tally_of
from fuzz.shrinking import shrunk
from fuzz.stock import Stock, read_stock
from fuzz.trying import TooSlowError, no_longer_than, reversed_documents, tried
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span

ROOT = Path(__file__).parents[2]
SERVICE = b"""\
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: iris
  namespace: ml
spec:
  predictor:
    model:
      modelFormat: {name: sklearn}
      storageUri: s3://models/iris
"""
DIGEST = """\
import hashlib
from fuzz.families import make
from fuzz.stock import read_stock
stock = read_stock()
print(hashlib.sha256("".join(str(make(7, n, stock)) for n in range(300)).encode()).hexdigest())
"""


@cache
def stock() -> Stock:
    """The stock, read once."""
    return read_stock()


def service(text: bytes = SERVICE) -> Input:
    """An input of one file."""
    return Input({"input/a.yaml": text})


def told(made: Built, given_input: Input | None = None) -> str:
    """The faults of a build."""
    return "\n".join(faults(given_input or service(), made, thorough=True))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_no_input_of_a_family_has_a_fault(family: str) -> None:
    """Whatever hypothesis draws for a family is output or refused with findings, and it shrinks what is not."""

    @settings(
        max_examples=6 if family == "large" else 12,
        deadline=None,
        derandomize=True,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    @given(st.randoms(use_true_random=False))
    def holds(chance: Random) -> None:
        drawn = made_by(family, chance, stock())
        assert tried(drawn).faults == (), drawn

    holds()


def test_an_input_follows_from_its_seed_and_number() -> None:
    """Another process with another hash seed makes the same inputs, and another seed makes others."""
    own = hashlib.sha256("".join(str(make(7, n, stock())) for n in range(300)).encode()).hexdigest()
    environment = {**os.environ, "PYTHONHASHSEED": "4711", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", DIGEST]
    again = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)  # noqa: S603 - our own
    assert again.stdout.strip() == own
    assert str(make(7, 1, stock())) != str(make(8, 1, stock()))


def test_documents_in_another_order_are_built_with_the_same_catalog() -> None:
    """Of inputs of all sizes one in eight gets the whole catalog, whatever order its documents have."""
    sizes = []
    for more in range(WHOLE_CATALOG):
        text = SERVICE + b"---\n" + SERVICE.replace(b"name: iris", b"name: rose" + b"s" * more)
        turned = reversed_documents(text)
        assert turned != text
        sizes.append(len(suited(service(text), presets=False)))
        assert len(suited(service(turned), presets=False)) == sizes[-1]
    assert sizes.count(max(sizes)) == 1


@pytest.mark.parametrize("number", [0, -5, 2.5, 10**400, -(10**400), float("inf")])
def test_any_number_can_be_bent(number: float) -> None:
    """There is another one in its place, however large it is."""
    for seed in range(40):
        values = {"replicas": number}
        bend((values, "replicas", "replicas"), Random(seed), stock())  # noqa: S311 - a test
        assert isinstance(values["replicas"], (int, float, str))


def test_every_family_has_its_share() -> None:
    """Among a few thousand numbers there is each family, about as often as its share says."""
    drawn = Counter(make(1, number, stock()).family for number in range(2_000))
    whole = sum(share for share, _ in FAMILIES.values())
    for family, (share, _) in FAMILIES.items():
        assert drawn[family] / 2_000 == pytest.approx(share / whole, abs=0.03), family
    assert drawn["projects"] > 0


def test_a_good_service_has_no_fault() -> None:
    """What is right is not called wrong."""
    verdict = tried(service())
    assert (verdict.outcome, verdict.faults) == ("output", ())


ERROR = Code("storage/unknown-scheme", Severity.ERROR, "a title", "A text.")
UNKNOWN = Code("no/such-code", Severity.NOTE, "a title", "A text.")


def finding(code: Code = ERROR, span: Span | None = None, message: str = "it is wrong") -> Diagnostic:
    """A finding."""
    return Diagnostic(code=code, message=message, span=span)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"diagnostics": (finding(),)}, "verdict: "),
        ({"diagnostics": (finding(),), "ok": False}, "partial output: "),
        ({"ok": False, "made": ()}, "verdict: "),
        ({"diagnostics": (finding(UNKNOWN),)}, "code: no/such-code"),
        ({"diagnostics": (finding(UNKNOWN, message=" "),)}, "message: "),
        ({"diagnostics": (finding(UNKNOWN, Span("other.yaml", 1, 1, 1, 2)),)}, "span: "),
        ({"diagnostics": (finding(UNKNOWN, Span("input/a.yaml", 40, 1, 40, 2)),)}, "at lines 40"),
        ({"diagnostics": (finding(UNKNOWN, Span("input/a.yaml", 1, 99, 1, 99)),)}, "at column 99"),
        ({"diagnostics": (finding(UNKNOWN, Span("input/a.yaml", 1, 5, 1, 2)),)}, "ends in column 2"),
    ],
)
def test_findings_that_are_wrong_are_told(change: dict[str, Any], fault: str) -> None:
    """Errors beside output, codes that nobody knows, places outside of the text."""
    made = replace(built(service()), texts={"input/a.yaml": SERVICE.decode()}, **change)
    assert fault in told(made)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda text: text.replace("kind: ", "kind:  "), "round trip: "),
        (lambda text: text + "---\na: b\n", "unreadable: "),
        (lambda text: text.replace("name: iris-predictor", "name: other", 1), "identity: "),
        (lambda text: text.replace("namespace: ml", "namespace: other", 1), "namespace: "),
        (lambda text: text.replace("\nspec:\n", "\nspec:\n  zone: a\n"), "structure: "),
    ],
)
def test_output_that_is_wrong_is_told(change: Any, fault: str) -> None:
    """Text that reads otherwise than it was meant, another identity, a structure that nobody takes."""
    made = built(service())
    spoilt = [o._replace(text=change(o.text)) for o in made.objects]
    assert fault in told(replace(made, made=(Made(spoilt, made.made[0].tree),)))


def test_one_object_twice_is_told() -> None:
    """Two objects of one identity."""
    made = built(service())
    assert "identity twice: " in told(replace(made, made=(Made(made.objects * 2, made.made[0].tree),)))


@pytest.mark.parametrize("path", ["../a.yaml", "/a.yaml", "a\n.yaml", "a//b.yaml", f"{'a' * 256}.yaml"])
def test_a_path_that_leads_out_is_told(path: str) -> None:
    """Files lie below the output folder, under names that can be written."""
    made = built(service())
    assert "path: " in told(replace(made, made=(Made(made.objects, {**made.made[0].tree, path: b""}),)))


def test_a_secret_in_the_output_is_told() -> None:
    """A text that was planted in a Secret comes out nowhere."""
    made = built(service())
    assert "secret: " in told(made, replace(service(), secrets=("s3://models/iris",)))
    assert told(made, replace(service(), secrets=("never there",))) == ""


def test_an_exception_is_told_with_the_function_that_raised_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Faults of one cause have one kind, which names it."""

    def broken(given_input: Input) -> Built:
        raise LookupError(given_input.family)

    monkeypatch.setattr(trying, "built", broken)
    (fault,) = tried(service()).faults
    assert fault.kind == "LookupError in no function of ours"


def spin() -> None:
    """Never end."""
    while True:
        pass


def test_what_does_not_end_is_interrupted() -> None:
    """An endless loop of Python ends when its time is over."""
    with pytest.raises(TooSlowError), no_longer_than(0.05):
        spin()


def test_another_result_the_second_time_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same input must give the same bytes."""
    results = chain([built(service())], [built(service(SERVICE.replace(b"iris", b"rose")))] * 9)
    monkeypatch.setattr(trying, "built", lambda _: next(results))
    assert any(fault.kind.startswith("determinism") for fault in tried(service()).faults)


def test_shrinking_leaves_what_the_fault_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several files and lines those remain without which the fault is gone."""

    def broken(given_input: Input) -> Built:
        if b"storageUri" in given_input.files.get("input/a.yaml", b""):
            raise LookupError
        return built(given_input)

    monkeypatch.setattr(trying, "built", broken)
    large = Input({"input/a.yaml": SERVICE, "platform/b.yaml": SERVICE})
    small = shrunk(large, tried(large).faults[0].kind)
    assert dict(small.files) == {"input/a.yaml": b"storageUri"}


def test_a_run_goes_on_where_it_ended(tmp_path: Path) -> None:
    """What the ledger has is not tried again; its summary counts everything once."""
    ledger, wanted = tmp_path / "fuzz.jsonl", Task(1, 0, 3 * CHUNK, "router")
    first, *rest = tasks_of(wanted, [])
    keep(ledger, tally_of(replace(first, count=20), stock(), lambda _: None), "abc")
    keep(ledger, Tally(rest[0]), "abc")
    assert [task.first for task in tasks_of(wanted, rows_of(ledger))] == [0, 2 * CHUNK]
    assert f"| 1 | 0 to {2 * CHUNK - 1} | {CHUNK + 20} |" in summary(rows_of(ledger))
    assert "| router | 20 |" in summary(rows_of(ledger))


def test_a_process_that_dies_is_a_fault_and_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """The number that it was at is named, and all others are tried."""

    def deadly(given_input: Input, **care: bool) -> Any:
        del care
        if given_input == third:
            os._exit(1)
        return trying.Verdict("planned", 0.0)

    third = make(1, 3, stock(), "router")
    monkeypatch.setattr("fuzz.running.tried", deadly)
    tallies = list(run(iter([Task(1, 0, 6, "router")]), 1))
    assert [n for tally in tallies for n, _, fault in tally.faults if fault.kind == "crash of the process"] == [3]
    assert sum(tally.task.count for tally in tallies) == 6


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell what time a process has had")
@pytest.mark.parametrize(("is_busy", "hung"), [(True, [3]), (False, [])])
def test_a_process_that_works_without_end_is_a_fault(
    is_busy: bool, hung: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The processor time that it had is what counts: one that others keep from working has done no wrong."""

    def slow(given_input: Input, **care: bool) -> Any:
        del care
        end = time.monotonic() + (60 if is_busy else 3)
        while given_input == third and time.monotonic() < end:
            time.sleep(0 if is_busy else 0.5)
        return trying.Verdict("planned", 0.0)

    third = make(1, 3, stock(), "router")
    monkeypatch.setattr("fuzz.running.tried", slow)
    monkeypatch.setattr("fuzz.running.PATIENCE_SECONDS", 0.5)
    tallies = list(run(iter([Task(1, 0, 6, "router")]), 1))
    kinds = {(n, fault.kind) for tally in tallies for n, _, fault in tally.faults}
    assert kinds == {(n, "hang that cannot be interrupted") for n in hung}
    assert sum(tally.task.count for tally in tallies) == 6
