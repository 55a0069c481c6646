"""The rules of KServe's validating webhook, each with what breaks it and what does not."""

from __future__ import annotations

from kservec.admission import admit as admission
from kservec.admission.validation.rules import RULES

TABLE = "validation.yaml"


def test_findings(row, admit) -> None:
    """Each document of the table gets exactly the findings that stand beside it, at the lines that they quote."""
    assert admit(row.given, row.settings).findings == row.expected


def test_every_finding_says_what_to_do(row, admit) -> None:
    """Every finding names the object, a place in its text, and a way out."""
    for finding in admit(row.given, row.settings).admitted.diagnostics:
        assert finding.help
        assert finding.span is not None
        assert finding.span.line > 0
        assert finding.subject is not None
        assert finding.subject.kind == "InferenceService"
        assert finding.code.about


def test_rules_that_are_passed_over_have_nothing_to_say(row, admit, monkeypatch) -> None:
    """Which rules are asked goes by the fields of a service; all of them together find no more."""
    expected = admit(row.given, row.settings).admitted.diagnostics
    monkeypatch.setattr(admission, "broken_rules", lambda subject: [f for r in RULES for f in r.check(subject)])
    assert admit(row.given, row.settings).admitted.diagnostics == expected
