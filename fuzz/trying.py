"""Trying one input: what is made of it, what is wrong with that, and how long it took."""

from __future__ import annotations

import signal
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from fuzz.building import Built, built
from fuzz.inputs import BEFORE, DUMP, GRAPH, INPUT, PROJECT, Input
from fuzz.judging import faults, peer_faults
from fuzz.routing import graph_faults, route_faults
from fuzz.viewing import explained_faults, imported, updated_faults
from kservec import recovery
from kservec.report.text import text_report

HANG_SECONDS = 2.0
"""Of processor time, for one input: the machine may be busy with other things."""
SLOW_SECONDS, SLOW_SECONDS_PER_BYTE = 0.3, 30e-6
"""What takes longer than this grows faster than its input, or is about to."""
TWICE, THOROUGH = 48, 4
"""Of so many inputs one is made twice, for the same bytes; and of so many one is looked at in all kinds of reports."""
SOURCES = ("kservec", "kservec_router")
recovery.STUMBLES = ()  # users do not see what passes stumble over in refused units; here it is a fault
BUILDS = ("output", "refused")


class TooSlowError(BaseException):
    """An input takes too long. Nothing catches it by accident."""


class Fault(NamedTuple):
    """What is wrong: `kind` is the same for faults that have one cause, `text` says it in full."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of an input: `codes` are those of its findings, `outcome` is `output`, `refused` or `compared`.

    For the router it is `planned`.
    """

    outcome: str
    seconds: float
    codes: frozenset[str] = frozenset()
    faults: tuple[Fault, ...] = ()


def tried(given: Input, *, twice: bool = True, thorough: bool = True) -> Verdict:
    """Try an input. `twice`: also in another order, and by another reader; `thorough`: in all kinds of reports."""
    start = time.process_time()
    outcome, codes, found = "refused", frozenset[str](), []
    try:
        with no_longer_than(HANG_SECONDS):
            if GRAPH in given.files:
                outcome = "planned"
                found += [fault_of(text) for text in route_faults(given)]
            elif given.below(BEFORE):
                outcome = "compared"
                found += [fault_of(text) for text in updated_faults(given)]
            else:
                made = imported(given) if given.below(DUMP) else built(given)
                text_report(made.diagnostics, made.sources)
                seconds = time.process_time() - start
                outcome = "output" if made.ok else "refused"
                codes = frozenset(d.code.slug for d in made.diagnostics)
                found += slow_faults(given, seconds)
        if outcome in BUILDS:
            with no_longer_than(5 * HANG_SECONDS):
                found += [fault_of(text) for text in judged(given, made, twice=twice, thorough=thorough)]
    except TooSlowError as error:
        found.append(Fault(f"hang in {innermost(error)}", trace(error)))
    except Exception as error:  # noqa: BLE001 - that none comes out is what is tried
        found.append(Fault(f"{type(error).__name__} in {innermost(error)}", trace(error)))
    return Verdict(outcome, time.process_time() - start, codes, tuple(found))


def slow_faults(given: Input, seconds: float) -> Iterator[Fault]:
    """A fault if an input took very long for its size, and does so again: the first of a kind takes longer."""
    most = SLOW_SECONDS + SLOW_SECONDS_PER_BYTE * given.size
    if seconds > most:
        start = time.process_time()
        made = imported(given) if given.below(DUMP) else built(given)
        text_report(made.diagnostics, made.sources)
        again = time.process_time() - start
        if again > most:
            yield Fault(f"slow: {given.family}", f"{again:.2f} s for {given.size} bytes")


def judged(given: Input, made: Built, *, twice: bool, thorough: bool) -> Iterator[str]:
    """Everything that is wrong with what was made."""
    yield from faults(given, made, thorough=thorough)
    if made.ok:
        yield from graph_faults(made)
    if twice:
        yield from peer_faults(made)
        if not given.below(DUMP):
            yield from order_faults(given, made)
        if given.below(INPUT):
            yield from explained_faults(given)


def order_faults(given: Input, made: Built) -> Iterator[str]:
    """What is not the same when it is made again, or when the documents of the input come in another order."""
    if built(given).contents != made.contents:
        yield "determinism: the second time gives something else"
    if not made.ok or PROJECT in given.files:
        return
    files = {
        path: reversed_documents(content) if path.startswith(INPUT) else content
        for path, content in given.files.items()
    }
    other = built(given.with_files(files))
    if [m.tree for m in other.made] != [m.tree for m in made.made]:
        yield "determinism: another order of documents gives something else"


def reversed_documents(content: bytes) -> bytes:
    """The documents of a file from the last to the first; the file as it is where that is not plain to see."""
    parts = content.split(b"---\n")
    plain = all(part.startswith((b"apiVersion:", b"kind:", b"metadata:", b"spec:")) for part in parts)
    return b"---\n".join(reversed(parts)) if plain else content


def fault_of(text: str) -> Fault:
    """A fault whose kind is how its text begins, with the first word after that."""
    kind, _, rest = text.partition(": ")
    return Fault(
        f"{kind}: {rest.split(' ')[0] if kind not in ('path', 'identity', 'namespace', 'router') else ''}", text
    )


def innermost(error: BaseException) -> str:
    """The innermost function of ours that an exception came through."""
    frames = [
        f for f in traceback.extract_tb(error.__traceback__) if any(f"/{name}/" in f.filename for name in SOURCES)
    ]
    if not frames:
        return "no function of ours"
    return f"{Path(frames[-1].filename).stem}.{frames[-1].name}"


def trace(error: BaseException) -> str:
    """The last lines of a traceback."""
    return "".join(traceback.format_exception(error)[-6:])[-1500:]


@contextmanager
def no_longer_than(seconds: float) -> Iterator[None]:
    """Interrupt what takes more processor time.

    Raises:
        TooSlowError: it did.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        del number, frame
        raise TooSlowError

    before = signal.signal(signal.SIGVTALRM, interrupt)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
