"""Damage to text and bytes: what YAML allows and nobody expects, what it does not allow, and what no text is."""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import TypeAlias

from fuzz.words import LOOKALIKES

TextDamage: TypeAlias = Callable[[str, Random], str]
ByteDamage: TypeAlias = Callable[[bytes, Random], bytes]

STRAY_LINES = (
    "---", "--- a", "--- {}", "...", "%YAML 1.2", "%YAML 9.9", "%TAG ! tag:a,2000:", "# a", "\t", "<<<<<<< HEAD",
    "=======", ">>>>>>> b", "? a", ": b", "- a", "a", "a:", "{", "}", "[", "]", "<<: *a", "<<: {a: b}", "&a", "*a",
    "!!a", "|", "> ", "{{- if .Values.a }}", "{{ .Values.a }}", "kind: List", "items:", "kind: Secret",
    "metadata: {}", "\x00", "\ufeff", "\x85", "apiVersion: v1", "'", '"', "a: &x [*x]", "a: &y {b: *y}", "? [a, b]",
    "? {a: b}\n: c", "!!map {}", "a: !!str",
)  # fmt: skip
AFTER_COLON = (
    " &a",
    " *a",
    " !!str",
    " !!int",
    " !!map",
    " !!seq",
    " !x",
    " |",
    " >+2",
    " |9",
    " ",
    "\t",
    " #",
    " {",
    " [",
    " '",
)


def lines_of(text: str) -> list[str]:
    """The lines of a text with their ends."""
    return text.splitlines(keepends=True) or [""]


def insert_line(text: str, chance: Random) -> str:
    """Put a line where none should be, at some indentation."""
    lines = lines_of(text)
    line = " " * chance.choice((0, 0, 0, 2, 4, 1)) + chance.choice(STRAY_LINES) + "\n"
    lines.insert(chance.randrange(len(lines) + 1), line)
    return "".join(lines)


def drop_line(text: str, chance: Random) -> str:
    """Leave a line out."""
    lines = lines_of(text)
    del lines[chance.randrange(len(lines))]
    return "".join(lines)


def repeat_lines(text: str, chance: Random) -> str:
    """Have some lines twice, the second time perhaps elsewhere."""
    lines = lines_of(text)
    start = chance.randrange(len(lines))
    some = lines[start : start + chance.choice((1, 1, 2, 5))]
    at = chance.choice((start, chance.randrange(len(lines) + 1)))
    return "".join((*lines[:at], *some, *lines[at:]))


def shift_line(text: str, chance: Random) -> str:
    """Indent a line, and perhaps all after it, in another way."""
    lines = lines_of(text)
    at = chance.randrange(len(lines))
    end = at + 1 if chance.random() < 0.7 else len(lines)
    lead = chance.choice((" ", "  ", "\t", "\u00a0"))
    changed = [line[1:] if chance.random() < 0.3 and line.startswith(" ") else lead + line for line in lines[at:end]]
    return "".join((*lines[:at], *changed, *lines[end:]))


def after_colon(text: str, chance: Random) -> str:
    """Put an anchor, alias, tag or other mark before a value."""
    found = [i for i, c in enumerate(text) if c == ":"]
    if not found:
        return text
    at = chance.choice(found) + 1
    return text[:at] + chance.choice(AFTER_COLON) + text[at:]


def replace_value(text: str, chance: Random) -> str:
    """Put an odd scalar after a colon, up to the end of its line."""
    found = [i for i, c in enumerate(text) if c == ":"]
    if not found:
        return text
    at = chance.choice(found) + 1
    end = text.find("\n", at)
    return f"{text[:at]} {chance.choice(LOOKALIKES)}{text[end:] if end >= 0 else ''}"


def share(text: str, chance: Random) -> str:
    """Give one value an anchor and use it in other places, also as what is merged into a map."""
    text = after_anchor(text, chance, " &a")
    for _ in range(chance.choice((1, 2, 5))):
        lines = lines_of(text)
        at = chance.randrange(len(lines))
        indent = " " * (len(lines[at]) - len(lines[at].lstrip(" ")))
        use = chance.choice(("<<: *a", "<<: [*a, *a]", "x: *a", "*a : b", "? *a", "- *a", "<<: *b"))
        lines.insert(at, f"{indent}{use}\n")
        text = "".join(lines)
    return text


def after_anchor(text: str, chance: Random, mark: str) -> str:
    """Put a mark after one colon."""
    found = [i for i, c in enumerate(text) if c == ":"]
    if not found:
        return text
    at = chance.choice(found) + 1
    return text[:at] + mark + text[at:]


def nest(text: str, chance: Random) -> str:
    """Put deeply nested brackets or lists somewhere."""
    depth = chance.choice((10, 60, 101, 500, 3000))
    opening, closing = chance.choice((("[", "]"), ("{a: ", "}"), ("- ", ""), ("? ", ""), ("!!a ", ""), ("[{a: ", "}]")))
    piece = opening * depth + ("" if chance.random() < 0.3 else closing * depth)
    return after_anchor(text, chance, f" {piece}") if chance.random() < 0.7 else f"{text}---\na: {piece}\n"


def bomb(text: str, chance: Random) -> str:
    """Anchors that are used by anchors, so that the text is small and the value is not."""
    wide, deep = chance.choice(((9, 9), (2, 40), (20, 3), (3, 8)))
    levels = ["a0: &b0 [x, y]"]
    levels += [f"a{i}: &b{i} [{', '.join([f'*b{i - 1}'] * wide)}]" for i in range(1, deep)]
    merged = [f"m{i}: &n{i} {{<<: [{', '.join([f'*n{i - 1}'] * wide)}], k{i}: v}}" for i in range(1, deep)]
    chosen = levels if chance.random() < 0.6 else ["m0: &n0 {k: v}", *merged]
    return text + "\n" + "\n".join(chosen) + "\n" if chance.random() < 0.5 else "\n".join(chosen) + "\n---\n" + text


def line_ends(text: str, chance: Random) -> str:
    """Other line ends."""
    return text.replace("\n", chance.choice(("\r\n", "\r", "\n\n", "\x85", "\u2028", " \n", "\n\r")))


def as_list(text: str, chance: Random) -> str:
    """The documents in a List, or a text in a text."""
    indented = text.replace("\n", "\n  ")
    forms = (
        f"apiVersion: v1\nkind: List\nitems:\n- {indented}\n",
        f"apiVersion: v1\nkind: List\nitems:\n  a:\n  {indented}\n",
        f"- {indented}\n",
        f"kind: List\napiVersion: v1\nitems: {json.dumps(text)}\n",
        f"apiVersion: serving.kserve.io/v1beta1\nkind: InferenceServiceList\nitems:\n- {indented}\n",
        f"a: |\n  {indented}\n",
        f"{text}\n--- # a\n{text}",
        f"---\n---\n{text}\n...\n...\n---\n",
    )
    return chance.choice(forms)


def lengthen(text: str, chance: Random) -> str:
    """One very long word, line or comment."""
    at = chance.randrange(len(text) + 1)
    piece = chance.choice(("a", " ", "#", "\n", "é", "- ", "'", "a: ", ", ", "%", "\\", "!", "{{", "$("))
    return text[:at] + piece * chance.choice((100, 1000, 4000)) + text[at:]


TEXT_DAMAGES: tuple[TextDamage, ...] = (
    insert_line, insert_line, drop_line, repeat_lines, shift_line, after_colon, after_colon, replace_value,
    replace_value, share, share, nest, bomb, line_ends, as_list, lengthen,
)  # fmt: skip


def flip(content: bytes, chance: Random) -> bytes:
    """Change some bytes."""
    changed = bytearray(content)
    for _ in range(chance.choice((1, 1, 2, 8))):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def cut(content: bytes, chance: Random) -> bytes:
    """Leave a stretch out, or the end."""
    start = chance.randrange(len(content) + 1)
    end = len(content) if chance.random() < 0.4 else start + chance.randrange(1, 40)
    return content[:start] + content[end:]


def insert(content: bytes, chance: Random) -> bytes:
    """Put bytes somewhere."""
    at = chance.randrange(len(content) + 1)
    pieces = (
        b"\0", b"\xff", b"\xfe\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\t", b"\r",
        b"\x1b[2J", b"\x80", b"\xc3", b"\x7f", b"\xc2\x85", b"\xe2\x80\xa8", b"{", b"}", b"[", b"]", b":", b",",
        b"&a ", b"*a", b"!", b"|", b">", b"'", b'"', b"%", b"@", b"`", b"#", b"?", b"-", b"\n", b"\n\n---\n", b"\\",
        b"\\x", b"\\u12", b"\xf0\x9f\x9a\x80",
    )  # fmt: skip
    return content[:at] + chance.choice(pieces) + content[at:]


def move(content: bytes, chance: Random) -> bytes:
    """Move or copy a stretch to another place."""
    start = chance.randrange(len(content) + 1)
    piece = content[start : start + chance.randrange(1, 60)]
    rest = content if chance.random() < 0.5 else content[:start] + content[start + len(piece) :]
    at = chance.randrange(len(rest) + 1)
    return rest[:at] + piece + rest[at:]


def recode(content: bytes, chance: Random) -> bytes:
    """Another encoding, or none."""
    text = content.decode("utf-8", "replace")
    codec = chance.choice(("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig", "latin-1", "utf-7", "cp037"))
    return text.encode(codec, "replace")


def noise(content: bytes, chance: Random) -> bytes:
    """No text at all."""
    del content
    return chance.randbytes(chance.choice((0, 1, 3, 20, 200)))


BYTE_DAMAGES: tuple[ByteDamage, ...] = (flip, flip, flip, cut, cut, insert, insert, insert, move, move, recode, noise)
