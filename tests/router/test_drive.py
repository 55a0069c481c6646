"""Results to come, and coroutines without Tasks."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from kservec_router.drive import Drive, Outcome, driven, first_over, settled


async def waiting(outcome: Awaitable[Any], seen: list[str]) -> Any:
    """Wait, and note what comes of it."""
    try:
        value = await outcome
    except asyncio.CancelledError:
        seen.append("cancelled")
        raise
    seen.append(value)
    return value


def test_a_drive_goes_on_within_set() -> None:
    """Two of them, one waiting for the other, are over when `set` returns, without a turn of an event loop."""
    outcome: Outcome[str] = Outcome()
    seen: list[str] = []
    drive = Drive(waiting(Drive(waiting(outcome, seen)), seen))
    assert (seen, drive.is_over) == ([], False)
    outcome.set("a")
    assert (seen, drive.is_over, drive.value) == (["a", "a"], True, "a")


def test_only_the_first_result_counts() -> None:
    """What is set, failed or cancelled later changes nothing, and nobody is told again."""
    told: list[Any] = []
    outcome: Outcome[int] = Outcome()
    outcome.on_done = told.append
    outcome.set(1)
    outcome.set(2)
    outcome.fail(ValueError())
    assert not outcome.cancel()
    assert (outcome.result(), told) == (1, [outcome])


def test_a_drive_that_is_cancelled_ends_where_it_waits() -> None:
    """Those that it waits for are cancelled, what is called for that is called once, and a late result is nobody's."""
    calls: list[str] = []
    outcome: Outcome[str] = Outcome()
    outcome.on_cancel = lambda: calls.append("given up")
    drive = Drive(waiting(Drive(waiting(outcome, calls)), calls))
    assert drive.cancel()
    outcome.set("late")
    assert calls == ["given up", "cancelled", "cancelled"]
    assert drive.is_over
    assert isinstance(drive.error, asyncio.CancelledError)
    assert not drive.cancel()


def test_a_drive_that_is_cancelled_as_it_goes_on_does_not_go_on() -> None:
    """As a Task: what it waits for is there, its turn has not come yet, and it gets a CancelledError instead."""

    async def run(late: bool) -> list[str]:
        future: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        seen: list[str] = []
        drive = Drive(waiting(asyncio.sleep(0, "slept") if late else future, seen))
        future.set_result("a")
        assert drive.cancel()
        await asyncio.sleep(0)
        assert isinstance(drive.error, asyncio.CancelledError)
        return seen

    assert [asyncio.run(run(late)) for late in (False, True)] == [["cancelled"], ["cancelled"]]


def test_what_a_drive_raises_is_for_whoever_waits() -> None:
    """The one that wakes it does not see it."""
    outcome: Outcome[int] = Outcome()

    async def divide() -> float:
        return 1 / await outcome

    drive = Drive(divide())
    outcome.set(0)
    with pytest.raises(ZeroDivisionError):
        drive.result()


@pytest.mark.parametrize("begin", [Drive, asyncio.ensure_future])
def test_a_drive_and_a_task_wait_for_the_same_things(begin: Callable[[Any], Awaitable[Any]]) -> None:
    """Futures, bare turns of the loop, tasks, and outcomes that are set before or later."""

    async def work() -> list[int]:
        later: Outcome[int] = Outcome()
        asyncio.get_running_loop().call_later(0.01, later.set, 3)
        await asyncio.sleep(0)
        return [await settled(1), await asyncio.create_task(asyncio.sleep(0.01, 2)), await later]

    async def run() -> Any:
        return await begin(work())

    assert asyncio.run(run()) == [1, 2, 3]


def test_a_task_that_is_cancelled_cancels_what_it_waits_for() -> None:
    """As with a Future."""

    async def run() -> list[str]:
        calls: list[str] = []
        outcome: Outcome[str] = Outcome()
        outcome.on_cancel = lambda: calls.append("given up")
        task = asyncio.create_task(waiting(outcome, calls))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        return calls

    assert asyncio.run(run()) == ["given up", "cancelled"]


def test_the_first_that_is_over_is_told() -> None:
    """Of several, also when one is over already; those that end later disturb nobody."""
    outcomes: list[Outcome[int]] = [Outcome(), Outcome()]
    first = first_over(outcomes)
    outcomes[1].set(1)
    outcomes[0].set(0)
    assert first.result() is outcomes[1]
    assert first_over(outcomes).result() is outcomes[0]
    assert driven(first) is first
