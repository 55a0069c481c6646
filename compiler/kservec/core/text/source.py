"""Text to documents: the first step of a run.

Decides what a file is (UTF-8; JSON or YAML; one document, several, or lists of objects) and that an error in one
document does not hide the others. Must not know what the objects mean, nor open files.

YAML and JSON are read as Kubernetes reads them, but for what nobody means (see `yaml_reader`).
"""

from __future__ import annotations

import re
from typing import Any

import yaml
from yaml.reader import ReaderError

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.paths import Json
from kservec.core.text.document import Document, Position, SourceText
from kservec.core.text.encodings import decoded
from kservec.core.text.events import HAS_LIBYAML
from kservec.core.text.file_names import is_json
from kservec.core.text.reading import TOO_LARGE, Limits, StopReadingError
from kservec.core.text.yaml_reader import TEMPLATE, YamlReader

__all__ = ["HAS_LIBYAML", "Document", "Limits", "SourceText", "parse"]

NOT_A_MAPPING = Code(
    "yaml/not-a-mapping",
    Severity.ERROR,
    "A document that is no object",
    "Every document is a map with `apiVersion`, `kind` and `metadata`. Objects are separated by lines of `---`.",
)

_MOST_RESTARTS = 100
_MOST_FINDINGS = 100
"""So many findings about the text of one file are kept, and one more: nobody reads on."""
_find_marker = re.compile(r"^---(?=[ \t\r\n]|\Z)", re.MULTILINE).search
_match_json = re.compile(r"[ \t\r\n]*\{").match

DEFAULT_LIMITS = Limits()


def parse(
    content: bytes, file: str, limits: Limits = DEFAULT_LIMITS
) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """Read a file of YAML or JSON.

    Documents without content are left out; a List is replaced by its items. Of a template nothing but that is told.
    After an error that leaves a value behind (a duplicate key) the document is there all the same, so that later checks
    see it; a build stops anyway.

    Args:
        content: the bytes of the file.
        file: its name, for spans.
        limits: how much is read before reading is refused.

    Returns:
        The documents and the findings, each in the order of the file. Raises nothing, whatever the bytes are.
    """
    if len(content) > limits.max_bytes:
        return (), (_too_large(len(content), file, limits),)
    text = decoded(content, file)
    if isinstance(text, Diagnostic):
        return (), (text,)
    reader = _FileReader(limits)
    reader.read(text)
    findings = sorted(reader.findings.values(), key=lambda finding: finding.sort_key)
    template = next((finding for finding in findings if finding.code is TEMPLATE), None)
    if template is not None:
        # All else only follows from that.
        return (), (template,)
    return tuple(reader.documents), tuple(findings)


class _FileReader:
    """What was read of a file so far."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.documents: list[Document] = []
        self.findings: dict[tuple[Code, Span | None, str], Diagnostic] = {}

    def read(self, text: SourceText) -> None:
        """Read all of the text, passing over documents that cannot be read; the first hundred of those are reported."""
        if _match_json(text.text):
            problem = self._read_json(text)
            if problem is None:
                return
            if is_json(text.file):
                self._note(problem)
                return
        rest: SourceText | None = text
        for _ in range(_MOST_RESTARTS):
            if rest is None:
                return
            rest = self._read_yaml(rest)

    def _read_json(self, text: SourceText) -> Diagnostic | None:
        """Read the text if it is JSON; else say why it is not."""
        from kservec.core.text.json_reader import JsonReader, NotJsonError  # noqa: PLC0415 - most files are YAML
        from kservec.core.text.yaml_syntax import SYNTAX, merge_conflict  # noqa: PLC0415 - as above

        reader = JsonReader(text, self.limits)
        documents: list[Document] = []
        try:
            for value, position in reader.documents():
                documents.append(Document(text.file, value, position, text, reader.start))
        except NotJsonError as error:
            advice = "check quotes, commas and brackets"
            return merge_conflict(text) or reader.finding(SYNTAX, error.offset, f"not valid JSON: {error}", advice)
        except StopReadingError as error:
            self._note(error.diagnostic)
        self._note(*reader.findings)
        for document in documents:
            self._keep(document)
        return None

    def _read_yaml(self, text: SourceText) -> SourceText | None:
        """Read the text up to the first document that cannot be read, and return what comes after that document."""
        reader = YamlReader(text, self.limits)
        documents: list[Document] = []
        try:
            for value, position in reader.documents():
                documents.append(Document(text.file, value, position, text, reader.start))
        except ReaderError:
            from kservec.core.text.yaml_syntax import without_control_characters  # noqa: PLC0415 - seldom needed

            cleaned, findings = without_control_characters(text)
            self._note(*findings)
            return cleaned
        except StopReadingError as error:
            self._note(error.diagnostic)
        except (yaml.YAMLError, ValueError) as error:
            from kservec.core.text.yaml_syntax import explain_syntax_error  # noqa: PLC0415 - as above

            self._note(explain_syntax_error(error, text))
            # What was read of the broken document is most often one stray word.
            if documents and documents[-1].start == reader.start and not isinstance(documents[-1].value, dict):
                documents.pop()
        self._note(*reader.findings)
        for document in documents:
            self._keep(document)
        marker = _find_marker(text.text, reader.start + 1)
        return text.starting_at(marker.start()) if marker else None

    def _keep(self, document: Document) -> None:
        """Add a document, or the items of one that is a list of objects."""
        value, positions = document.value, document.positions
        if value is None:
            return
        if not isinstance(value, dict) or not isinstance(positions, list):
            self._note(_no_mapping(document))
            return
        kind, items = value.get("kind"), value.get("items")
        if not isinstance(kind, str) or not kind.endswith("List") or not isinstance(items, list):
            self.documents.append(document)
            return
        positions = _position_of(value, positions, "items")
        for item, position in zip(items, positions[1:], strict=True):
            self._keep(_item(document, item, position))

    def _note(self, *findings: Diagnostic) -> None:
        for finding in findings:
            if len(self.findings) <= _MOST_FINDINGS:
                self.findings.setdefault((finding.code, finding.span, finding.message), finding)


def _item(parent: Document, item: Json, position: Position) -> Document:
    """An item of a list as a document. Items of a typed list (InferenceServiceList) take their type from it."""
    value, positions = parent.value, parent.positions
    inherited = {"kind": value["kind"].removesuffix("List"), "apiVersion": value.get("apiVersion")}
    if isinstance(item, dict) and isinstance(position, list) and isinstance(positions, list) and inherited["kind"]:
        for key, known in inherited.items():
            if key not in item and known is not None:
                at = _position_of(value, positions, key)
                item, position = {**item, key: known}, [*position, at, at]
    return Document(parent.file, item, position, parent.text, parent.start)


def _position_of(value: dict[str, Json], positions: list[Any], key: str) -> Any:
    """The position of the value of a key of a map."""
    return positions[2 + 2 * list(value).index(key)]


def _no_mapping(document: Document) -> Diagnostic:
    value = document.value
    advice = "a document is a map: `apiVersion:`, `kind:`, `metadata:`, ..."
    if isinstance(value, list):
        advice = "write each object as a document of its own, with `---` between them"
    elif isinstance(value, str) and ":" in value:
        advice = "write a space after each colon"
    noun = "a list" if isinstance(value, list) else "plain text" if isinstance(value, str) else "a single value"
    message = f"this is {noun} instead of an object"
    return Diagnostic(code=NOT_A_MAPPING, message=message, span=document.span(), help=advice)


def _too_large(size: int, file: str, limits: Limits) -> Diagnostic:
    message = f"the file has {size:,} bytes, more than the limit of {limits.max_bytes:,}"
    advice = "split the file, or raise the limit with --max-file-size"
    return Diagnostic(code=TOO_LARGE, message=message, span=Span(file), help=advice)
