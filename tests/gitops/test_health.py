"""Health: the Lua for Argo CD and the CEL for Flux, executed on objects in every state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import celpy
import pytest
from celpy.adapter import json_to_cel
from lupa.lua51 import LuaRuntime  # type: ignore[import-untyped]  # what Argo CD runs is a Lua 5.1
from tests import libyaml

from kservec.gitops.health import CEL, LUA, Expressions

STATES: list[dict[str, Any]] = libyaml.load((Path(__file__).parent / "health.yaml").read_text())
GENERATION = 3
BY_LUA = [state for state in STATES if "argocd" in state]
EXPRESSIONS = {f"{e.api_version}/{e.kind}": e for e in CEL}


def in_state(state: dict[str, Any]) -> dict[str, Any]:
    """An object of a state's kind, with its status unless it has none."""
    version, _, kind = state["kind"].rpartition("/")
    body = {"apiVersion": version, "kind": kind, "metadata": {"name": "x", "generation": GENERATION}, "spec": {}}
    return body if state["status"] is None else {**body, "status": state["status"]}


@pytest.mark.parametrize("state", BY_LUA, ids=lambda state: state["about"])
def test_what_argo_cd_says(state: dict[str, Any]) -> None:
    """The script of the object's group and kind gives a status and a message."""
    group, _, kind = state["kind"].split("/")
    lua = LuaRuntime(unpack_returned_tuples=True)
    lua.globals().obj = lua.table_from(in_state(state), recursive=True)
    told = lua.execute(LUA[f"{group}_{kind}"])
    assert told["status"] == state["argocd"]
    assert told["message"]


@pytest.mark.parametrize("state", STATES, ids=lambda state: state["about"])
def test_what_flux_says(state: dict[str, Any]) -> None:
    """The expressions of the object's kind give the status in Flux's order."""
    assert judged(EXPRESSIONS[state["kind"]], in_state(state)) == state["flux"]


def judged(expressions: Expressions, body: dict[str, Any]) -> str:
    """The status that Flux's controllers find (RFC 0009): an older generation first, then each expression."""
    status = body.get("status", {})
    if status.get("observedGeneration", GENERATION) != GENERATION:
        return "InProgress"
    for text, name in (
        (expressions.in_progress, "InProgress"), (expressions.failed, "Failed"), (expressions.current, "Current")
    ):  # fmt: skip
        if text and holds(text, body):
            return name
    return "InProgress"


def holds(text: str, body: dict[str, Any]) -> bool:
    """Whether an expression is true. One that asks for a status that is not there is an error, for which Flux waits."""
    environment = celpy.Environment()
    program = environment.program(environment.compile(text))
    try:
        return bool(program.evaluate({key: json_to_cel(value) for key, value in body.items()}))
    except celpy.CELEvalError:
        assert "status" not in body
        return False


def test_every_script_and_expression_is_executed() -> None:
    """No kind is without states, and each has one in which it is fine and one in which it is not."""
    for field, fine, kinds in (("argocd", "Healthy", set(LUA)), ("flux", "Current", set(EXPRESSIONS))):
        told: dict[str, set[str]] = {}
        for state in STATES:
            group, _, kind = state["kind"].split("/")
            name = f"{group}_{kind}" if field == "argocd" else state["kind"]
            told.setdefault(name, set()).add(state.get(field, ""))
        assert kinds <= told.keys()
        assert all(fine in told[name] for name in kinds)
    assert list(EXPRESSIONS) == sorted(EXPRESSIONS)
