"""A small set of findings that has everything a report must show."""

from __future__ import annotations

from kservec.core.diagnostics import Code, Diagnostic, ObjectRef, Severity, Span

SOURCES = {
    "isvc.yaml": (
        "kind: InferenceService\n"
        "metadata:\n"
        "  name: fraud\n"
        "  name: Fraud\n"
        "spec:\n"
        "\tpredictor: {args: [--név, 数据模型, cafe\u0301, x]}\n"
        f"  long: {'a' * 300} {'b' * 300}\n"
        "  block: |\n"
        "    one\n"
        "    two   \n"
        "  last: end"
    ),
}
ERROR = Code("yaml/duplicate-key", Severity.ERROR, "a key that is there twice")
WARNING = Code("metadata/unknown-key", Severity.WARNING, "an annotation that nobody reads")
NOTE = Code("input/context", Severity.NOTE, "documents that are not output")
FRAUD = ObjectRef("serving.kserve.io/v1beta1", "InferenceService", "payments", "fraud")


def at(line: int, column: int, end_column: int, end_line: int = 0) -> Span:
    """A place in the file."""
    return Span("isvc.yaml", line, column, end_line or line, end_column)


FINDINGS = (
    Diagnostic(
        code=ERROR,
        message="the key `name` is here twice",
        span=at(4, 3, 7),
        label="again",
        related=((at(3, 3, 7), "first here"),),
        help="remove one of them\nor rename it",
        subject=FRAUD,
    ),
    Diagnostic(code=ERROR, message="after a tab, letters with an accent", span=at(6, 21, 26), label="é"),
    Diagnostic(code=ERROR, message="wide characters", span=at(6, 28, 32), label="four of them"),
    Diagnostic(code=ERROR, message="a combining mark", span=at(6, 41, 42), label="after it"),
    Diagnostic(code=ERROR, message="in the midst of a long line", span=at(7, 310, 313), label="here"),
    Diagnostic(code=ERROR, message="a long stretch", span=at(7, 9, 609)),
    Diagnostic(code=WARNING, message="several lines", span=at(8, 10, 8, 10), label="a block"),
    Diagnostic(code=WARNING, message="the end of the file", span=at(11, 12, 12), label="something is missing"),
    Diagnostic(code=WARNING, message="beyond the end of the file", span=at(40, 1, 2)),
    Diagnostic(
        code=WARNING, message="a file that was not read: 100%, a:b", span=Span("other,file.yaml", 7, 2, 7, 5), label="?"
    ),
    Diagnostic(code=WARNING, message="escapes \x1b[31m and \u202e spelt out", span=None, help="there is no place"),
    Diagnostic(code=NOTE, message="a whole file", span=Span("isvc.yaml")),
)
