"""The codes of findings: well-formed, documented, and each triggered by some test."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from kservec.core.diagnostics import Code, Severity

ROOT = Path(__file__).parents[1]
DOCS = runpy.run_path(str(ROOT / "scripts" / "make_docs.py"))
CODES: list[tuple[Code, str]] = DOCS["codes"]()
SLUG = re.compile(r"[a-z]+(-[a-z]+)*/[a-z0-9]+(-[a-z0-9]+)*")
OWN_NAME = Path(__file__).name

UNTRIGGERED = {
    "output/intent-left": "cannot happen: every intent has a pass that takes it",
}
"""Codes that no test triggers, and why."""


@pytest.mark.parametrize("code", [code for code, _ in CODES], ids=lambda code: code.slug)
def test_a_code_is_documented(code: Code) -> None:
    """A slug names family and finding in lower case; there is a title without a full stop, and an explanation."""
    assert SLUG.fullmatch(code.slug)
    assert code.title
    assert not code.title.endswith(".")
    assert code.about.endswith((".", ")", "`"))
    assert isinstance(code.severity, Severity)


def test_slugs_are_unique() -> None:
    """No two codes share a slug."""
    slugs = [code.slug for code, _ in CODES]
    assert sorted(set(slugs)) == slugs


def test_every_code_is_triggered() -> None:
    """A golden case shows the code, or another test names its slug."""
    texts = [p.read_text() for p in (ROOT / "golden").glob("*/diagnostics.txt")]
    texts += [p.read_text() for p in (ROOT / "tests").rglob("*") if p.suffix in (".py", ".yaml") and p.name != OWN_NAME]
    text = "\n".join(texts)
    missing = [code.slug for code, _ in CODES if code.slug not in text and code.slug not in UNTRIGGERED]
    assert missing == []
    assert UNTRIGGERED.keys() <= {code.slug for code, _ in CODES}


@pytest.mark.parametrize("page", DOCS["PAGES"])
def test_the_pages_are_current(page: str) -> None:
    """The committed pages say what the code says; `python scripts/make_docs.py` writes them."""
    assert (ROOT / page).read_text(encoding="utf-8") == DOCS["PAGES"][page]()
