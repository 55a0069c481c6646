"""Passes are functions: they leave what they are handed as it was, and answer the same when asked again."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kservec.api import Options, builtin_files, packaged_schemas, parsed, plugs
from kservec.core.diagnostics import Reject, has_errors
from kservec.core.registry import Env
from kservec.core.text.document import Document
from kservec.core.unit import Step, Unit
from kservec.frontend import read
from kservec.pipeline import PASSES, pass_of

from .cases import Case, cases, compiled, inputs
from .digests import digest


def units_of(case: Case) -> tuple[tuple[Unit, ...], Env]:
    """What the passes of a case start from."""
    files, target = inputs(case)
    specs, platform, builtin = (parsed(g, target.limits)[0] for g in (files, target.platform, builtin_files(target)))
    front = read(specs, platform, builtin, Options(absent=tuple(target.absent)), packaged_schemas(), plugs())
    return front.units, front.env


def outcome(work: Callable[[Unit, Env], Step], unit: Unit, env: Env) -> Step:
    """What a pass returns, or the unit as it was and the reasons for which it is rejected."""
    try:
        return work(unit, env)
    except Reject as reject:
        return Step(unit, reject.diagnostics)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_passes_are_pure(case: Case) -> None:
    """Every pass, run twice on one unit, returns equal steps and changes neither the unit nor the shared values."""
    units, env = units_of(case)
    shared = digest(env)
    for unit in units:
        for work in map(pass_of, PASSES[unit.ref.kind]):
            before = digest(unit)
            step = outcome(work, unit, env)
            assert outcome(work, unit, env) == step, f"{work.__name__} answered twice, and differently"
            assert digest(unit) == before, f"{work.__name__} changed its unit"
            if has_errors(step.diagnostics):
                break
            unit = step.unit  # noqa: PLW2901 - the fold of the pipeline
    assert digest(env) == shared, "a pass changed the values that units share"


SOUND = {
    "isvc-custom-container", "isvc-gateway-transformer", "isvc-gpu-vllm", "isvc-hpa-cpu",
    "isvc-sklearn-s3-service-account",
}  # fmt: skip
"""Cases without findings, of all sorts."""


@pytest.mark.parametrize("case", [case for case in cases() if str(case) in SOUND], ids=str)
def test_a_sound_service_has_no_place_looked_up(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Finding one place for each service took a tenth of the time, so nobody asks before there is a finding."""
    asked: list[str] = []
    for lookup in (Document.span, Document.key_span):

        def counted(document: Document, *path: object, _lookup: Callable[..., object] = lookup) -> object:
            if document.value["kind"] == "InferenceService":
                asked.append(document.file)
            return _lookup(document, *path)

        monkeypatch.setattr(Document, lookup.__name__, counted)
    made = compiled(case)
    assert made.diagnostics == ()
    assert asked == []
