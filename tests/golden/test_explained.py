"""Of each service of the golden cases the errors are told that a whole run tells of it, and no sound one has any."""

from __future__ import annotations

from kservec.api import compiled_front, text_of
from kservec.compilation import in_order, step_of
from kservec.core.diagnostics import has_errors
from kservec.explain.reasons import concerning

from .cases import cases, inputs

OF_OTHERS = {"err-declared-but-broken", "err-local-cache-cannot-bind"}
"""Cases with services whose errors are said of other documents: broken ones, and node groups."""


def test_what_concerns_a_service_is_what_a_run_says_of_it() -> None:
    """All that names it, whichever stage found it; and something, if it does not compile for what others declare."""
    elsewhere: set[str] = set()
    for case in (case for case in cases() if case.name.startswith("err-")):
        files, target = inputs(case)
        front, compilation = compiled_front(files, target=target)
        texts = {file.name: text_of(file) for file in (*files, *target.platform)}
        for unit in front.units:
            step = step_of(front, unit.ref)
            assert step is not None
            own = in_order(step.diagnostics)
            told = concerning(unit, own, compilation.diagnostics, texts)
            named = [d for d in compilation.diagnostics if d.subject == unit.ref]
            assert set(named) <= set(told), case
            assert has_errors(told) or not has_errors(own), (case, unit.ref)
            if has_errors(own) and not has_errors(d for d in told if d.subject in (None, unit.ref)):
                elsewhere.add(case.name)
            elif not has_errors(own):
                assert not has_errors(d for d in told if d.subject not in (None, unit.ref)), (case, unit.ref)
    assert elsewhere == OF_OTHERS
