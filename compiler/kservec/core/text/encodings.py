"""Bytes that are no UTF-8: which encoding they most likely are, and what to do about it.

Decides from the first bytes and the first one that does not fit. Must not know YAML.
"""

from __future__ import annotations

import codecs

from kservec.core.diagnostics import Code, Diagnostic, Severity, Span
from kservec.core.text.document import SourceText

NOT_UTF8 = Code(
    "yaml/not-utf8",
    Severity.ERROR,
    "Not UTF-8",
    "Input files are UTF-8. Windows PowerShell writes UTF-16 with `>`: use `Out-File -Encoding utf8`. Editors that "
    "write Latin-1 or Windows-1252 can save as UTF-8, too; `iconv -f WINDOWS-1252 -t UTF-8` converts a file.",
)

_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
_PACKED = (
    (b"\x1f\x8b", "gzip"),
    (b"PK\x03\x04", "zip"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ", "xz"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_TWO_BYTES = (0xC2, 0xC3)
"""What the characters of Latin-1 begin with in UTF-8; as characters of their own they seldom end a file."""
_SURROGATE = 0xED
"""What halves of surrogate pairs begin with where a program took UTF-16 for UTF-8."""
_SAMPLE = 64
_POWERSHELL = "save the file as UTF-8; in PowerShell: `... | Out-File -Encoding utf8`"


def decoded(content: bytes, file: str) -> SourceText | Diagnostic:
    """The text of a file, or what its bytes are instead of UTF-8."""
    kind = _wide(content)
    if kind:
        return _finding(f"the file is {kind}, not UTF-8", Span(file, 1, 1, 1, 1), _POWERSHELL)
    packed = next((name for magic, name in _PACKED if content.startswith(magic)), "")
    try:
        return SourceText(file, _without_marks(content.decode("utf-8-sig")))
    except UnicodeDecodeError as error:
        if packed:
            return _finding(f"the file is compressed ({packed})", Span(file, 1, 1, 1, 1), "unpack it first")
        return _bad_byte(content, file, error)


def shown_text(content: bytes) -> str:
    """The text of a file in which places are counted, whatever its bytes are; of UTF-16 what is left without zeros."""
    text = _without_marks(content.decode("utf-8-sig", "replace"))
    return text.replace("\0", "") if _wide(content) else text


def _without_marks(text: str) -> str:
    """The text without marks within it: files that were put together have one at the start of each."""
    return text.replace("\n\ufeff", "\n")


def _wide(content: bytes) -> str:
    """The encoding of a file whose characters take two or four bytes each; empty if they do not."""
    named = next((name for mark, name in _MARKS if content.startswith(mark)), "")
    start = content[:_SAMPLE]
    if named or len(start) < len(codecs.BOM_UTF32_LE):
        return named
    zeros = [not any(start[i::4]) for i in range(4)]
    if sum(zeros) == 3:
        return "UTF-32"
    return "UTF-16" if zeros in ([True, False, True, False], [False, True, False, True]) else ""


def _bad_byte(content: bytes, file: str, error: UnicodeDecodeError) -> Diagnostic:
    """The finding about the first byte that does not fit."""
    before = _without_marks(content[: error.start].decode("utf-8-sig", "replace"))
    place = SourceText(file, before).place(len(before))
    span = Span(file, *place, *place)
    if error.reason == "unexpected end of data" and (content[error.start] in _TWO_BYTES or error.end - error.start > 1):
        return _finding("the file ends in the middle of a character", span, "it seems to be cut off: get all of it")
    byte = content[error.start]
    message = f"the byte 0x{byte:02X} is not valid UTF-8"
    if byte == _SURROGATE:
        return _finding(message, span, "half of a surrogate pair was written here: write the character itself")
    letter = bytes([byte]).decode("cp1252", "replace")
    if b"\0" in content:
        return _finding(message, span, "the file holds NUL bytes, too: it is no text")
    advice = f"save the file as UTF-8; in Latin-1 or Windows-1252, which it seems to be, the byte is {letter}"
    return _finding(message, span, advice if letter.isprintable() and letter != "\ufffd" else "save the file as UTF-8")


def _finding(message: str, span: Span, advice: str) -> Diagnostic:
    return Diagnostic(code=NOT_UTF8, message=message, span=span, help=advice)
