"""What a run remembers, it forgets."""

from __future__ import annotations

import gc

from kservec.core.registry import Env, load_plugs
from kservec.core.remembering import once_a_run
from kservec.io.packaged import packaged_schemas

from .golden.cases import cases, compiled

STOCK = {"isvc-sklearn-s3-service-account", "isvc-gateway-transformer", "llm-external-gateway", "warn-key-missing"}


def envs() -> int:
    """How many Envs are alive."""
    gc.collect()
    return sum(isinstance(each, Env) for each in gc.get_objects())


def test_a_question_is_asked_once_for_each_run() -> None:
    """The same of one Env is not asked again; of another it is."""
    asked: list[str] = []

    @once_a_run
    def answer(env: Env, about: str) -> str:
        asked.append(about)
        return f"{about} of {id(env)}"

    first, second = (Env(plugs=load_plugs(), schemas=packaged_schemas()) for _ in range(2))
    assert answer(first, "a") == answer(first, "a") == f"a of {id(first)}"
    assert answer(second, "a") == f"a of {id(second)}"
    assert answer(first, "b") == f"b of {id(first)}"
    assert asked == ["a", "a", "b"]


def test_nothing_keeps_the_env_of_a_run() -> None:
    """A process that compiles again and again holds the documents of no earlier run."""
    before = envs()
    for case in (case for case in cases() if str(case) in STOCK):
        assert compiled(case).objects
    assert envs() == before
