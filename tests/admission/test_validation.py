"""The rules of KServe's validating webhook, each with what breaks it and what does not."""

from __future__ import annotations

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
