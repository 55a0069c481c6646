"""What holds for all output: asked of every golden case, the examples and what people published; and shown to fail."""

from __future__ import annotations

import copy
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from .families import INVARIANTS
from .output import Finding, Output, title
from .sources import CORPUS, RECORDED, SOURCES, outputs

HERE = Path(__file__).parent
ROWS = libyaml.load((HERE / "broken.yaml").read_text())
PLACES = {"corpus": CORPUS, "recorded": RECORDED}
"""Where sources lie that are not part of the repository."""


@cache
def sound() -> dict[str, Any]:
    """The parts of `sound.yaml`."""
    parts: dict[str, Any] = libyaml.load((HERE / "sound.yaml").read_text())
    return parts


def output_of(parts: dict[str, Any], *texts: str) -> Output:
    """An output of parts, and of further texts."""
    return Output(
        "sound",
        [*(libyaml.dump(one) for one in parts["objects"]), *texts],
        inputs=parts["inputs"],
        cluster=parts["cluster"],
        findings=[Finding(**found) for found in parts["findings"]],
        owners=[(kind, place, called) for kind, place, called in parts["owners"]],
        urls=parts["urls"],
    )


def broken(row: dict[str, Any]) -> Output:
    """The sound output with the fault of a row."""
    parts = copy.deepcopy(sound())
    if "object" in row:
        (body,) = [one for one in parts["objects"] if title(one) == row["object"]]
        *above, last = row["at"]
        for step in above:
            body = body[step]
        body.pop(last, None) if isinstance(body, dict) else None
        value = "x" * row["repeat"] if "repeat" in row else row.get("put")
        if value is not None:
            body[last] = value
    parts["objects"] += [row["add"]] if "add" in row else []
    parts["owners"] += [row["owner"]] if "owner" in row else []
    parts["urls"] += [row["url"]] if "url" in row else []
    parts["findings"] += [{"code": "a/code", "text": row["finding"]}] if "finding" in row else []
    return output_of(parts, *([row["text"]] if "text" in row else []))


@pytest.mark.parametrize(
    "source", [pytest.param(source, marks=pytest.mark.slow if source in PLACES else ()) for source in SOURCES]
)
def test_invariants_hold(source: str) -> None:
    """No output of a source breaks an invariant."""
    place = PLACES.get(source)
    if place is not None and not place.is_dir():
        pytest.skip(f"NOT TESTED: there is no {place}")
    looked_at = outputs(source)
    assert looked_at
    found = {
        called: [f"{output.name}: {fault}" for output in looked_at for fault in invariant(output)]
        for called, invariant in INVARIANTS.items()
    }
    assert {called: faults for called, faults in found.items() if faults} == {}


@pytest.mark.parametrize("invariant", INVARIANTS)
def test_what_is_sound_breaks_nothing(invariant: str) -> None:
    """The objects that the faults are laid over have none."""
    assert list(INVARIANTS[invariant](output_of(sound()))) == []


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['finds']}: {row['see']}")
def test_an_invariant_can_fail(row: dict[str, Any]) -> None:
    """Each fault is found by the invariant that is there for it, which says what it is about."""
    found = list(INVARIANTS[row["finds"]](broken(row)))
    assert any(row["see"] in fault for fault in found), found


def test_every_invariant_is_shown_to_fail() -> None:
    """No invariant is without a fault that it finds."""
    assert {row["finds"] for row in ROWS} == set(INVARIANTS)


@pytest.mark.parametrize(
    ("invariant", "code", "text", "row"),
    [
        ("limits.names_are_taken", "llm/name-of-group", "no pods can be made of {}", {
            "object": "LeaderWorkerSet ml/group", "at": ["metadata", "name"], "put": "g" * 60}),
        ("ports.probes_name_ports_of_their_container", "pod/port-unknown", "of container server asks at port agent", {
            "object": "Deployment ml/churn", "put": "agent",
            "at": ["spec", "template", "spec", "containers", 0, "readinessProbe", "httpGet", "port"]}),
        ("selectors.others_select_some_pods", "llm/selects-nothing", "InferencePool churn selects pods with", {
            "object": "InferencePool ml/churn", "at": ["spec", "selector", "matchLabels", "app"], "put": "gone"}),
        ("routes.pools_have_a_picker", "llm/picker-port", "InferencePool churn asks", {
            "object": "InferencePool ml/churn", "at": ["spec", "endpointPickerRef", "port", "number"], "put": 9003}),
    ],
)  # fmt: skip
def test_what_a_finding_says_is_no_fault(invariant: str, code: str, text: str, row: dict[str, Any]) -> None:
    """A fault that the user is told of by the right code, about the right object, is none of the compiler's."""
    output = broken(row)
    said = text.format(row["put"])
    assert list(INVARIANTS[invariant](output)) != []
    output.findings = (Finding(code, said),)
    assert list(INVARIANTS[invariant](output)) == []
    output.findings = (Finding("a/code", said), Finding(code, "something else"))
    assert list(INVARIANTS[invariant](output)) != []
