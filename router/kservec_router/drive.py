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

    A Task cannot while another one is running; then it goes on soon.
    """

    __slots__ = ("_asyncio_future_blocking", "_callback", "_is_cancelled", "_value", "driver")

    def __init__(self) -> None:
        self._asyncio_future_blocking = False
        self._callback: Callable[[Any], object] | None = None
        self._is_cancelled = False
        self._value: T | None = None
        self.driver: Drive | None = None

    def get_loop(self) -> asyncio.AbstractEventLoop:
        """The loop that it belongs to, as a Task wants to know."""
        return asyncio.get_running_loop()

    def add_done_callback(self, callback: Callable[[Any], object], *, context: Context | None = None) -> None:  # noqa: ARG002 - a Future's
        """Say what is to be called; a Task does so."""
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
        if self.driver is not None:
            self.driver.step()
        elif self._callback is not None:
            if asyncio.current_task() is None:
                self._callback(self)
            else:
                asyncio.get_running_loop().call_soon(self._callback, self)

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

    __slots__ = ("_coroutine", "_waits_for")

    def __init__(self, coroutine: Coroutine[Any, Any, None]) -> None:
        self._coroutine = coroutine
        self._waits_for: Any = None

    def step(self, _: object = None) -> None:
        """Run until it waits; first to start it, then whenever what it waits for is there."""
        try:
            waits_for = self._coroutine.send(None)
        except StopIteration:
            self._waits_for = None
            return
        except (Exception, asyncio.CancelledError) as error:  # noqa: BLE001 - it must not hit whoever woke it
            self._waits_for = None
            context = {"message": "a coroutine failed", "exception": error}
            asyncio.get_running_loop().call_exception_handler(context)
            return
        self._waits_for = waits_for
        if type(waits_for) is Outcome:
            waits_for.driver = self
        elif waits_for is None:  # a bare yield, as in sleep(0)
            asyncio.get_running_loop().call_soon(self.step)
        else:
            waits_for._asyncio_future_blocking = False
            waits_for.add_done_callback(self.step)

    def cancel(self) -> None:
        """End it with a CancelledError where it waits."""
        if self._waits_for is not None:
            self._waits_for.cancel()
