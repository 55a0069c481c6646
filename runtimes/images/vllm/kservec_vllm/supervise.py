"""Running a program as the first process of a container does.

Signals are passed on, orphans buried, the status kept.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import FrameType
from typing import Final

from .refusals import NOT_FOUND, NOT_RUNNABLE, Refusal

FORWARDED: Final = (
    signal.SIGTERM,
    signal.SIGINT,
    signal.SIGHUP,
    signal.SIGQUIT,
    signal.SIGUSR1,
    signal.SIGUSR2,
)
RESTORED: Final = (*FORWARDED, signal.SIGPIPE, signal.SIGXFSZ)
BY_SIGNAL: Final = 128


class Interrupted(BaseException):
    """A signal that came while nothing ran that could get it. No cleaning up may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = BY_SIGNAL + number


class Supervisor:
    """Who gets the signals of this process."""

    def __init__(self) -> None:
        self.child: int | None = None

    def install(self) -> None:
        """From now on signals go to the program that runs; while there is none they end this one."""
        for number in FORWARDED:
            signal.signal(number, self.receive)

    def receive(self, number: int, _frame: FrameType | None) -> None:
        """Pass a signal on."""
        if self.child is None:
            raise Interrupted(number)
        with suppress(ProcessLookupError):
            os.kill(self.child, number)

    def run(self, words: Sequence[str], environment: Mapping[str, str]) -> int:
        """Run a program to its end; its exit status, or 128 and the number of the signal that ended it.

        It has a process group of its own, or what a terminal sends would come twice.

        Raises:
            Refusal: there is no such program.
        """
        before = signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
        try:
            self.child = os.posix_spawnp(
                words[0], list(words), dict(environment), setpgroup=0, setsigmask=(), setsigdef=RESTORED
            )
        except FileNotFoundError:
            message = f"there is no program {words[0]} on the PATH"
            raise Refusal(NOT_FOUND, message, "start the image as it was built, or install it") from None
        except PermissionError:
            message = f"user {os.getuid()} may not run {words[0]}"
            raise Refusal(NOT_RUNNABLE, message, "start the image as it was built") from None
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return self.bury()

    def bury(self) -> int:
        """Wait for all children, which as the first process are all orphans, too, until the program has ended."""
        while True:
            pid, status = os.wait()
            if pid == self.child:
                self.child = None
                code = os.waitstatus_to_exitcode(status)
                return BY_SIGNAL - code if code < 0 else code
