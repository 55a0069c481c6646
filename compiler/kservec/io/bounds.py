"""How long a run may take and how much memory it may hold, so that hostile input ends in an error.

A timer looks several times a second and stops the work where it stands; workers end with the process that they work
for, and what they hold alone counts with what it holds, where the system tells (Linux). Systems without such timers
(Windows) have no bounds, nor have runs outside of the main thread. The inputs alone decide what a build gives; this
only decides whether it gets to the end.
"""

from __future__ import annotations

import math
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from kservec.core.diagnostics import Code, Diagnostic, Severity
from kservec.report.words import plural

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from kservec.core.text.reading import Limits

    Unraised: TypeAlias = Callable[[sys.UnraisableHookArgs], object]

OVER_TIME = Code(
    "build/over-time",
    Severity.ERROR,
    "a build that takes too long",
    "Builds are stopped after a while, so that no input can hold up a machine. Most often the input is not what it "
    "should be; where it is just large, raise the limit with --max-seconds, or set it to 0 for none.",
)
OVER_MEMORY = Code(
    "build/over-memory",
    Severity.ERROR,
    "a build that takes too much memory",
    "Builds are stopped when they hold more memory than they should, before the system stops something else. Where the "
    "input is just large, raise the limit with --max-memory, or set it to 0 for none.",
)
FIRST, EVERY = 0.5, 0.1
"""Seconds until the first look, which most runs never see, and between two looks."""
REST = EVERY / 2
"""Seconds that at least lie between the end of a look and the next one."""
MEBIBYTE = 1 << 20
LINUX_MEMORY = "/proc/self/statm"
LINUX_CHILDREN = "/proc/thread-self/children"
LINUX_SHARES = "/proc/{}/smaps_rollup"


class ExceededError(BaseException):
    """A run was stopped at a limit. Derived from what nobody catches by the way, like an interrupt."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Watch:
    """What looks at a run whenever the timer says so.

    On a busy machine a look may take longer than the timer waits. Then the next one is left out: a look that interrupts
    another would find half of what that one is making, such as modules and codecs. So is one that comes below `spared`
    code, from which native code asks back: it takes an exception for an answer, and goes on.
    """

    def __init__(self, limits: Limits, spared: frozenset[CodeType] = frozenset()) -> None:
        self.limits = limits
        self.spared = spared
        self.deadline = time.monotonic() + limits.max_seconds
        self.rests_until = 0.0
        self.lost: BaseException | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a look, unless one is being taken or was taken just now, or would do no good.

        Raises:
            ExceededError: the run is beyond a limit.
            KeyboardInterrupt: somebody interrupted it where that was lost.
        """
        del number
        if time.monotonic() < self.rests_until or self.is_spared(frame):
            return
        self.rests_until = math.inf
        try:
            self.look()
        finally:
            self.rests_until = time.monotonic() + REST

    def interrupted(self, number: int, frame: FrameType | None) -> None:
        """Stop where somebody presses Ctrl-C; amidst spared code, which would drop that, at the next look.

        Raises:
            KeyboardInterrupt: the code is not spared.
        """
        if not self.is_spared(frame):
            signal.default_int_handler(number, frame)
        self.lost = KeyboardInterrupt()

    def is_spared(self, frame: FrameType | None) -> bool:
        """Whether a frame is spared code, or below such."""
        return not self.spared.isdisjoint(codes_of(frame))

    def look(self) -> None:
        """See whether the run is within its limits.

        Raises:
            ExceededError: it is not.
            KeyboardInterrupt: somebody interrupted it where that was lost.
        """
        if self.lost is not None:
            raise self.lost
        if self.limits.max_seconds and time.monotonic() > self.deadline:
            raise ExceededError(over_time(self.limits.max_seconds))
        if self.limits.max_memory and memory() > self.limits.max_memory:
            raise ExceededError(over_memory(self.limits.max_memory))

    def keeping(self, tell: Unraised) -> Unraised:
        """What is called with an exception that native code drops, as the validator does with those of a callback.

        One that was to end the run is kept for the next look; any other is told.
        """

        def unraised(dropped: sys.UnraisableHookArgs) -> None:
            if isinstance(dropped.exc_value, ExceededError | KeyboardInterrupt):
                self.lost = dropped.exc_value
            else:
                tell(dropped)

        return unraised


def codes_of(frame: FrameType | None) -> Iterator[CodeType]:
    """The code at work in a frame, and in those that wait for it."""
    while frame is not None:
        yield frame.f_code
        frame = frame.f_back


@contextmanager
def bounded(limits: Limits) -> Iterator[None]:
    """Watch what is done inside.

    Raises:
        ExceededError: it took longer, or more memory, than the limits say.
        KeyboardInterrupt: somebody interrupted it.
    """
    if not can_watch():
        yield
        return
    from kservec.core.schemas.schema import ASKED_BACK  # noqa: PLC0415 - what is to be bounded loads it anyway

    if not Path(LINUX_MEMORY).exists():
        import resource  # noqa: F401, PLC0415 - a look, which may interrupt an import, must not begin another
    watch, tell = Watch(limits, ASKED_BACK), sys.unraisablehook
    before, pressed = signal.signal(signal.SIGALRM, watch), signal.getsignal(signal.SIGINT)
    if pressed is signal.default_int_handler:
        signal.signal(signal.SIGINT, watch.interrupted)
    sys.unraisablehook = watch.keeping(tell)
    signal.setitimer(signal.ITIMER_REAL, min(FIRST, limits.max_seconds or FIRST), EVERY)
    try:
        yield
    finally:
        watch.rests_until = math.inf  # the timer may go off once more, and must not keep what follows from being done
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        if pressed is signal.default_int_handler:
            signal.signal(signal.SIGINT, pressed)
        sys.unraisablehook = tell
    if isinstance(watch.lost, KeyboardInterrupt):
        raise watch.lost


def can_watch() -> bool:
    """Whether there are timers here, and nobody else uses them."""
    is_main = threading.current_thread() is threading.main_thread()
    return hasattr(signal, "setitimer") and is_main and signal.getsignal(signal.SIGALRM) is signal.SIG_DFL


def memory() -> int:
    """The bytes that this process and its workers hold; where the system does not tell, the most that it ever held.

    Files are read as bytes: what a text is decoded by may not be loaded yet, and whatever is interrupted may be loading
    it.
    """
    try:
        own = int(Path(LINUX_MEMORY).read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        return own + sum(map(held_alone, children()))
    except OSError:
        import resource  # noqa: PLC0415 - loaded by then, and not everywhere to be had

        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def children() -> list[str]:
    """The numbers of the processes that this thread started; none where the system does not tell."""
    try:
        return Path(LINUX_CHILDREN).read_bytes().decode().split()
    except OSError:
        return []


def held_alone(number: str) -> int:
    """The bytes that a process shares with no other, as a fork does at first; 0 for one that is gone."""
    try:
        lines = Path(LINUX_SHARES.format(number)).read_bytes().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith(b"Private_")) * 1024


def over_time(seconds: int) -> Diagnostic:
    """The error about a run that took too long."""
    message = f"the build was stopped after {plural(seconds, 'second')}"
    advice = "look for what makes it large, or raise the limit with --max-seconds"
    return Diagnostic(code=OVER_TIME, message=message, span=None, help=advice)


def over_memory(limit: int) -> Diagnostic:
    """The error about a run that holds too much memory."""
    message = f"the build was stopped holding more than {limit // MEBIBYTE:,} MiB of memory"
    advice = "look for what makes it large, or raise the limit with --max-memory"
    return Diagnostic(code=OVER_MEMORY, message=message, span=None, help=advice)
