"""What reading YAML and reading JSON have in common: limits, duplicate keys, and how their findings are reported.

Decides how large and deep a document may be. Must not know either grammar.
"""

from __future__ import annotations

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.records import record
from kservec.core.text.document import SourceText

DUPLICATE_KEY = Code(
    "yaml/duplicate-key",
    Severity.ERROR,
    "The same key twice in one map",
    "A map holds each key once; readers disagree on which of two values counts. Remove one of them.",
)
TOO_LARGE = Code(
    "yaml/too-large",
    Severity.ERROR,
    "Larger than the limit",
    "A file, or the number of values in one document, is beyond the limit that protects against runaway input. "
    "Split the file, or raise the limit for files with --max-file-size.",
)
TOO_DEEP = Code(
    "yaml/too-deep",
    Severity.ERROR,
    "Nested too deeply",
    "Maps and lists are nested beyond what any Kubernetes object needs; most often brackets went wrong.",
)
NUMBER = Code(
    "yaml/number",
    Severity.ERROR,
    "A number that Kubernetes cannot hold",
    "JSON has no infinity and no not-a-number, and Kubernetes rounds integers beyond 64 bits. "
    "Quote the value if it is meant as text.",
)
KEY = Code(
    "yaml/key",
    Severity.ERROR,
    "A map key that is not text",
    "Keys of Kubernetes objects are text. Null, maps and lists cannot be keys.",
)
CONTROL_CHARACTER = Code(
    "yaml/control-character",
    Severity.ERROR,
    "A character that may not stand in YAML",
    "Control characters and lone surrogates are not allowed as they are. "
    'Remove them, or write them as an escape in double quotes, such as "\\x07".',
)

_MOST_FINDINGS = 100


@record
class Limits:
    """How much a run takes before it refuses.

    `max_bytes` is the size of a file. `max_nodes` is the number of values in a document, and the number that the
    aliases of a file may expand to. `max_depth` is how many maps and lists may be nested. `max_seconds` is how long a
    run may take, `max_memory` how many bytes it may hold, 0 for no limit; `io.bounds` watches those two.
    """

    max_bytes: int = 16 * 1024 * 1024
    max_nodes: int = 200_000
    max_depth: int = 100
    max_seconds: int = 600
    max_memory: int = 8 * 1024**3


class StopReadingError(Exception):
    """The document cannot be read on. Carries the finding."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Reading:
    """The state of reading one text: what is left of the limits, and what was found so far."""

    def __init__(self, text: SourceText, limits: Limits) -> None:
        self.text = text
        self.limits = limits
        self.room = limits.max_nodes
        self.findings: list[Diagnostic] = []

    def report(self, code: Code, offset: int, message: str, advice: str = "", *related: tuple[Span, str]) -> None:
        """Note a finding about the word at `offset`, and read on.

        Raises:
            StopReadingError: that is enough.
        """
        finding = self.finding(code, offset, message, advice, *related)
        if len(self.findings) >= _MOST_FINDINGS:
            raise StopReadingError(finding)
        self.findings.append(finding)

    def finding(
        self, code: Code, offset: int, message: str, advice: str = "", *related: tuple[Span, str]
    ) -> Diagnostic:
        """A finding about the word at `offset`."""
        return Diagnostic(code=code, message=message, span=self.text.token(offset), help=advice, related=related)

    def duplicate_key(self, key: str, offset: int, first: int) -> None:
        """Report a key that the map has already, at offset `first`."""
        self.report(
            DUPLICATE_KEY,
            offset,
            f"the key `{shorten(key)}` is here twice",
            "remove one of the two",
            (self.text.token(first), "first here"),
        )

    def too_deep(self, offset: int) -> StopReadingError:
        """The error for one level more than the limit allows."""
        message = f"more than {self.limits.max_depth} maps and lists are nested here"
        return StopReadingError(self.finding(TOO_DEEP, offset, message, "check the brackets and the indentation"))

    def too_many(self, offset: int) -> StopReadingError:
        """The error for one value more than the limit allows."""
        message = f"this document has more than {self.limits.max_nodes:,} values"
        return StopReadingError(self.finding(TOO_LARGE, offset, message, "split it into several documents"))


def shorten(text: str, width: int = 60) -> str:
    """The text as it is shown in a message: in one line and not too long."""
    line = " ".join(text.split())
    return line if len(line) <= width else line[: width - 3] + "..."
