"""Which presets a spec is laid over."""

from __future__ import annotations

from typing import Any

import pytest

from kservec.core.llm.presets import plugin_types, preset_names

WORKER: dict[str, Any] = {"worker": {}}


def scheduler(**fields: Any) -> dict[str, Any]:
    """A spec with a scheduler."""
    return {"router": {"scheduler": fields}}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, ["template"]),
        ({"router": {"route": {}}}, ["router-route", "template"]),
        ({"router": {"route": {"http": {"refs": [{"name": "a"}]}}}}, ["template"]),
        (scheduler(), ["scheduler", "template"]),
        (scheduler(pool={"ref": {"name": "a"}}), ["template"]),
        (scheduler(tokenizer={}), ["scheduler", "tokenizer", "template"]),
        (
            scheduler(config={"inline": {"plugins": [{"type": "token-producer"}]}}),
            ["scheduler", "tokenizer", "template"],
        ),
        (
            scheduler(config={"inline": {"plugins": [{"type": "predicted-latency-producer"}]}}),
            ["scheduler", "scheduler-latency-predictor", "template"],
        ),
        ({"tracing": {}}, ["tracing", "template"]),
        ({"prefill": {}}, ["prefill-template", "decode-template"]),
        ({**WORKER, "parallelism": {"data": 2, "dataLocal": 1}}, ["worker-data-parallel"]),
        ({**WORKER, "parallelism": {"pipeline": 2}}, ["worker-pipeline-parallel"]),
        (WORKER, []),
        (
            {"prefill": {**WORKER, "parallelism": {"dataLocal": 1}}, **WORKER, "parallelism": {"pipeline": 2}},
            ["prefill-worker-data-parallel", "decode-worker-pipeline-parallel"],
        ),
    ],
)
def test_presets_of_a_spec(spec: Any, expected: list[str]) -> None:
    """What a spec has, even empty, decides; the weakest preset comes first."""
    assert preset_names(spec) == [f"kserve-config-llm-{name}" for name in expected]


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        (["--config-text", "plugins: [{type: a}]"], ("a",)),
        (["-configText", "plugins: [{type: a}, {type: b}]"], ("a", "b")),
        (["--config-text=plugins: [{type: a}]"], ()),
        (["--config-file", "/x", "--config-text", "plugins: [{type: a}]"], ()),
        (["--config-text", "plugins: {"], ()),
        (["--config-text", "plugins: [{type: a, t: 2026-13-45}]"], ("a",)),
        (["--config-text", "plugins: [{type: a, t: 0b_, u: 0x_}]"], ("a",)),
        (["--config-text", "plugins: [{type: a, t: " + "9" * 5000 + "}]"], ("a",)),
        (["--config-text", "plugins: [{type: a}, " + "[" * 3000], ()),
        (["--config-text", "plugins: [{type: a, t: !!timestamp x}]"], ("a",)),
        (["--config-text"], ()),
    ],
)
def test_plugins_in_arguments(args: list[str], expected: tuple[str, ...]) -> None:
    """The configuration may stand in an argument of the scheduler's main container, in two words."""
    spec = scheduler(template={"containers": [{"name": "other"}, {"name": "main", "args": args}]})
    assert plugin_types(spec) == expected
