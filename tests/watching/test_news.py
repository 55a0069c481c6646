"""News: which findings are new, and which were fixed."""

from __future__ import annotations

import pytest

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.report.news import fixed_lines, news_of

ERROR = Code("a/error", Severity.ERROR, "an error")
WARNING = Code("a/warning", Severity.WARNING, "a warning")


def finding(text: str, file: str = "a.yaml", line: int = 1, code: Code = WARNING) -> Diagnostic:
    """A finding."""
    return Diagnostic(code=code, message=text, span=Span(file, line, 1))


A, B = finding("a"), finding("b")


@pytest.mark.parametrize(
    ("before", "after", "new", "known", "fixed"),
    [
        ((), (A, B), "ab", "", ""),
        ((A, B), (A,), "", "a", "b"),
        ((A,), (finding("a", line=7), B), "b", "a", ""),
        ((A, A), (A,), "", "a", "a"),
        ((A,), (A, A), "a", "a", ""),
        ((A,), (finding("a", file="b.yaml"),), "a", "", "a"),
        ((A,), (finding("x", code=ERROR),), "x", "", ""),
        ((A,), (finding("x", file="b.yaml", code=ERROR),), "x", "", "a"),
        ((finding("x", code=ERROR),), (finding("y", code=ERROR),), "y", "", "x"),
    ],
    ids=[
        "all new", "one fixed", "on another line", "one of two fixed", "once more", "in another file",
        "hidden by an error in its file", "not hidden by one elsewhere", "an error for another",
    ],
)  # fmt: skip
def test_what_is_new(
    before: tuple[Diagnostic, ...], after: tuple[Diagnostic, ...], new: str, known: str, fixed: str
) -> None:
    """By code, file, message and subject, as often as they are there."""
    news = news_of(before, after)
    assert tuple("".join(f.message for f in part) for part in news[:3]) == (new, known, fixed)


def test_what_an_error_hid_is_not_new_afterwards() -> None:
    """A warning that was told before an error kept it from being found is not told again after it."""
    during = news_of((A,), (finding("x", code=ERROR),))
    after = news_of(during.told, (A,))
    assert (after.new, [f.message for f in after.fixed]) == ((), ["x"])


def test_what_was_fixed_is_a_line() -> None:
    """Whatever is in a message, it is one line that moves no cursor."""
    assert fixed_lines([finding("a\x1b[2Jb\nc")]) == "fixed: a.yaml: warning[a/warning]: a\\x1b[2Jb\\nc\n"
