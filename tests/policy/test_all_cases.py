"""All rules over every golden case: they find what they find, break nothing, and change no object."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.golden.cases import Case, cases, inputs

from kservec.api import compile_files
from kservec.core.additions import Additions
from kservec.core.diagnostics import Severity
from kservec.core.policy import Policy
from kservec.core.records import evolve
from kservec.policy.verdicts import verdicts
from kservec.spec.policy import Rules, code_of

if TYPE_CHECKING:
    from kservec.api import Compilation
    from kservec.core.diagnostics import Diagnostic

EVERYTHING = Policy(severities={code_of(name): Severity.WARNING for name in Rules.model_fields})


def compiled(case: Case, policy: Policy | None) -> Compilation:
    """A case as a project with a policy would compile it."""
    files, target = inputs(case)
    return compile_files(files, target=evolve(target, additions=Additions(policy=policy)))


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_rules_break_nothing(case: Case) -> None:
    """Each finding has a place in the input, and what is judged again from its text gives the same findings."""
    plain, judged = compiled(case, None), compiled(case, EVERYTHING)
    assert [o.text for o in judged.objects] == [o.text for o in plain.objects]
    if not judged.ok:
        return
    judge = judged.result.judge
    assert judge is not None
    first = verdicts(judge, judged.objects, lambda _waiver: None)
    assert all(d.span is not None and d.span.line for d in first.diagnostics)
    assert {d.span.file for d in first.diagnostics if d.span is not None} <= judged.sources.keys()
    again = tuple(o._replace(judged=o.judged and o.judged._replace(text="")) for o in judged.objects)
    second = verdicts(judge, again, lambda _waiver: None)
    assert list(map(without_origin, first.diagnostics)) == list(second.diagnostics)


def without_origin(found: Diagnostic) -> Diagnostic:
    """A finding without the built-in document that a value comes from: a text does not tell, and all else is there."""
    kept = tuple((span, text) for span, text in found.related if not span.file.startswith("builtin/"))
    return evolve(found, related=kept)
