"""Answers that are asked for again and again in a run, and remembered for as long as the run lasts.

`functools.lru_cache` would keep the Env of a run, and with it all documents of the platform, until enough other
questions are asked: in a process that compiles again and again, such as a watch, those of hundreds of runs. Must not
know what is asked.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from kservec.core.registry import Env

P = ParamSpec("P")
R = TypeVar("R")


def once_a_run(ask: Callable[Concatenate[Env, P], R]) -> Callable[Concatenate[Env, P], R]:
    """Have a function of an Env, and of what else is given by place, asked once for each run.

    What it returns must not hold the Env, which would then never go.
    """
    runs: WeakKeyDictionary[Env, dict[Any, R]] = WeakKeyDictionary()

    @wraps(ask)
    def asked(env: Env, /, *about: P.args, **others: P.kwargs) -> R:
        answers = runs.get(env)
        if answers is None:
            answers = runs[env] = {}
        if about not in answers:
            answers[about] = ask(env, *about, **others)
        return answers[about]

    return asked
