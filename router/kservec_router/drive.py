"""Running a coroutine without a Task: it starts at once, and goes on at the moment that what it waits for is there.

A Task goes through the event loop for both, which costs as much as all the rest of a simple request. The price: there
is no current task within, so `asyncio.timeout` needs a Task of its own there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Generator
from contextvars import Context
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Outcome(Generic[T]):
    """A result to come, for one that waits: as a Future, but that one goes on within `set`, if it can.

    It cannot while another Task is running; then it goes on soon.
    """

    __slots__ = ("_asyncio_future_blocking", "_callback", "_is_cancelled", "_loop", "_value")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._asyncio_future_blocking = False
        self._callback: Callable[[Any], object] | None = None
        self._is_cancelled = False
        self._value: T | None = None

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop that it belongs to, as a Task wants to know."""
        return self._loop

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:  # noqa: ARG002 - a Future's
        """Say what is to be called; a Task, or `Drive`, does so."""
        self._callback = callback

    def set(self, value: T) -> None:
        """Give the result; only the first one counts."""
        if self._value is None and not self._is_cancelled:
            self._value = value
            self._wake()

    def cancel(self, msg: object = None) -> bool:  # noqa: ARG002 - a Future's
        """Let whoever waits go on with a CancelledError."""
        if self._value is not None or self._is_cancelled:
            return False
        self._is_cancelled = True
        self._wake()
        return True

    def _wake(self) -> None:
        callback, self._callback = self._callback, None
        if callback is None:
            return
        if asyncio.current_task(self._loop) is None:
            callback(self)
        else:
            self._loop.call_soon(callback, self)

    def result(self) -> T:
        """The result.

        Raises:
            asyncio.CancelledError: Nobody wants it any more.
        """
        if self._is_cancelled:
            raise asyncio.CancelledError
        assert self._value is not None
        return self._value

    def __await__(self) -> Generator[Any, None, T]:
        if self._value is None and not self._is_cancelled:
            self._asyncio_future_blocking = True
            yield self
        return self.result()


class Drive:
    """A coroutine that runs once it is started. What it raises goes to the loop's exception handler, not to others."""

    __slots__ = ("_coroutine", "_loop", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> None:
        self._coroutine, self._loop = coroutine, loop
        self._waits_for: Any = None

    def start(self) -> None:
        """Run until it first waits."""
        self._step()

    def _step(self, _: object = None) -> None:
        try:
            waits_for = self._coroutine.send(None)
        except StopIteration:
            self._waits_for = None
            return
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it must not hit whoever woke it
            self._waits_for = None
            self._loop.call_exception_handler({"message": "a coroutine failed", "exception": error})
            return
        self._waits_for = waits_for
        if waits_for is None:  # a bare yield, as in sleep(0)
            self._loop.call_soon(self._step)
        else:
            waits_for._asyncio_future_blocking = False
            waits_for.add_done_callback(self._step)

    def cancel(self) -> None:
        """End it with a CancelledError where it waits."""
        if self._waits_for is not None:
            self._waits_for.cancel()
