"""Results to come, and coroutines that run without a Task: both go on at the moment that what they wait for is there.

A Task and a Future go through the event loop for that, which costs as much as all the rest of a simple request. The
price: there is no current task within, so `asyncio.timeout` needs a Task of its own there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator, Iterable
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Outcome(Generic[T]):
    """A result to come, for one that waits for it: with `await`, or by `on_done`, which is called with the Outcome.

    `value` is the result, when there is one. `on_cancel` is called when it is not wanted any more. What is set once is
    an attribute of the class until then: there are several Outcomes for each request.
    """

    is_over = False
    value: T | None = None
    error: BaseException | None = None
    on_done: Callable[[Any], object] | None = None
    on_cancel: Callable[[], object] | None = None

    def set(self, value: T) -> None:
        """Give the result; only the first one counts."""
        if not self.is_over:
            self.is_over, self.value = True, value
            self._ended()

    def fail(self, error: BaseException) -> None:
        """Say that there is no result."""
        if not self.is_over:
            self.is_over, self.error = True, error
            self._ended()

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 - a Future's
        """Let whoever waits go on with a CancelledError."""
        if self.is_over:
            return False
        self.is_over, self.error = True, asyncio.CancelledError()
        if self.on_cancel is not None:
            self.on_cancel()
        self._ended()
        return True

    def _ended(self) -> None:
        """Tell whoever waits, who must not raise anything, and forget about them: they may hold this result."""
        on_done, self.on_done = self.on_done, None
        if on_done is not None:
            on_done(self)

    def result(self) -> T:
        """The result.

        Raises:
            asyncio.CancelledError: Nobody wants it any more.
            Exception: What was given to `fail`.
        """
        if isinstance(self.error, asyncio.CancelledError):
            raise asyncio.CancelledError  # a new one: the traceback of its own would hold it in a circle
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value] # None is a T, if it was set

    def __await__(self) -> Generator[Any, None, T]:
        if not self.is_over:
            self._asyncio_future_blocking = True
            yield self
        return self.result()

    # What else a Task wants of what it waits for.

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop that it belongs to."""
        return asyncio.get_running_loop()

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:  # noqa: ARG002 - a Future's
        """Say what is to be called: soon, as a Task cannot go on while another one is running."""
        loop = asyncio.get_running_loop()
        self.on_done = lambda outcome: loop.call_soon(callback, outcome)


class Drive(Outcome[T]):
    """A coroutine that has been started, and its outcome."""

    _is_unwanted = False

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._waits_for: Any = None
        self._step()

    def _step(self, _: object = None) -> None:
        """Run until it waits; again whenever what it waits for is there."""
        try:
            if self._is_unwanted:
                self._is_unwanted = False
                waits_for = self._coroutine.throw(asyncio.CancelledError())
            else:
                waits_for = self._coroutine.send(None)
        except StopIteration as stop:
            self._waits_for = None
            self.set(stop.value)
            return
        except asyncio.CancelledError:
            self._waits_for = None
            self.fail(asyncio.CancelledError())
            return
        except Exception as error:  # noqa: BLE001 - it is for whoever waits
            self._waits_for = None
            self.fail(error)
            return
        self._waits_for = waits_for
        if isinstance(waits_for, Outcome):
            waits_for.on_done = self._step
        elif waits_for is None:  # a bare yield, as in sleep(0)
            asyncio.get_running_loop().call_soon(self._step)
        else:
            waits_for._asyncio_future_blocking = False
            waits_for.add_done_callback(self._step)

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 - a Future's
        """End it with a CancelledError where it waits; when what it waits for is there already, as it goes on."""
        if self.is_over:
            return False
        if self._waits_for is None or not self._waits_for.cancel():
            self._is_unwanted = True
        return True


def driven(awaitable: Awaitable[T]) -> Outcome[T]:
    """The outcome of an Outcome, or of a coroutine that is started now."""
    if isinstance(awaitable, Outcome):
        return awaitable
    assert isinstance(awaitable, Coroutine)
    return Drive(awaitable)


def settled(value: T) -> Outcome[T]:
    """An Outcome that is there already."""
    outcome: Outcome[T] = Outcome()
    outcome.set(value)
    return outcome


def first_over(outcomes: Iterable[Outcome[Any]]) -> Outcome[Any]:
    """An Outcome whose result is the first of *outcomes* that is over; it may be set from outside, too."""
    woken: Outcome[Any] = Outcome()
    for outcome in outcomes:
        if outcome.is_over:
            woken.set(outcome)
        else:
            outcome.on_done = woken.set
    return woken
