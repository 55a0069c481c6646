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
TAKEN: Final = (*FORWARDED, signal.SIGCHLD)
RESTORED: Final = (*TAKEN, signal.SIGPIPE, signal.SIGXFSZ)
BY_SIGNAL: Final = 128


class Interrupted(BaseException):
    """A signal that came while nothing ran that could get it. No cleaning up may swallow it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.status = BY_SIGNAL + number


def install() -> None:
    """From now on signals end this program, with their status, unless something runs that gets them."""
    for number in FORWARDED:
        signal.signal(number, interrupt)


def interrupt(number: int, _frame: FrameType | None) -> None:
    """End whatever is going on."""
    raise Interrupted(number)


def run(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run a program to its end; its exit status, or 128 and the number of the signal that ended it.

    Signals are taken one by one rather than by handlers, of which one may be lost on the way into a system call. The
    program has a process group of its own, or what a terminal sends would come twice.

    Raises:
        Refusal: there is no such program.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, TAKEN)
    try:
        child = os.posix_spawnp(
            words[0], list(words), dict(environment), setpgroup=0, setsigmask=(), setsigdef=RESTORED
        )
        return attend(child)
    except FileNotFoundError:
        message = f"there is no program {words[0]} on the PATH"
        raise Refusal(NOT_FOUND, message, "start the image as it was built, or install it") from None
    except PermissionError:
        message = f"user {os.getuid()} may not run {words[0]}"
        raise Refusal(NOT_RUNNABLE, message, "start the image as it was built") from None
    except OSError as error:
        message = f"{words[0]} cannot be run: {error.strerror}"
        raise Refusal(NOT_RUNNABLE, message, "start the image as it was built, with fewer arguments") from None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def attend(child: int) -> int:
    """Pass signals on to a program, and bury whoever ends, until the program has."""
    while True:
        number = signal.sigwait(TAKEN)
        if number != signal.SIGCHLD:
            with suppress(ProcessLookupError):
                os.kill(child, number)
        elif (status := bury(child)) is not None:
            return status


def bury(child: int) -> int | None:
    """Wait for all that have ended, for every orphan of a container is a child of its first process; the status."""
    found = None
    with suppress(ChildProcessError):
        while (ended := os.waitpid(-1, os.WNOHANG))[0] != 0:
            if ended[0] == child:
                code = os.waitstatus_to_exitcode(ended[1])
                found = BY_SIGNAL - code if code < 0 else code
    return found
