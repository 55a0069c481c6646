"""Write the pages of docs/ that follow from the code: every diagnostic, and every deviation from KServe.

`python scripts/make_docs.py` writes them, with `--check` it only says whether they are as they should be.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml

import kservec
from kservec.core.diagnostics import Code
from kservec.report.words import NAMES

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "golden"
DEVIATIONS = ROOT / "docs" / "deviations.yaml"
OUTCOMES = {"refuse": "kservec refuses what KServe accepts", "accept": "kservec accepts what KServe refuses"}


def codes() -> list[tuple[Code, str]]:
    """Every code of the compiler and the module constant that holds it, by slug."""
    found: dict[Code, str] = {}
    for module in pkgutil.walk_packages(kservec.__path__, "kservec."):
        if module.name != "kservec.__main__":
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, Code):
                    found.setdefault(value, f"{module.name}.{name}")
    return sorted(found.items())


def diagnostics_page() -> str:
    """The page of all diagnostics, by family."""
    lines = [
        "# Diagnostics",
        "",
        "Every finding has a stable code. Errors stop a build; warnings and notes do not.",
        "This page is made from the code by `python scripts/make_docs.py`.",
    ]
    examples = golden_examples()
    for family, members in groupby((code for code, _ in codes()), key=lambda c: c.slug.partition("/")[0]):
        lines += ["", f"## {family}"]
        for code in members:
            lines += ["", f"### {code.slug}", "", f"{NAMES[code.severity].capitalize()}: {code.title}.", "", code.about]
            if code.slug in examples:
                lines += ["", f"Example: [{examples[code.slug]}](../golden/{examples[code.slug]}/)"]
    return "\n".join((*lines, ""))


def golden_examples() -> dict[str, str]:
    """For each code the first golden case that shows it."""
    found: dict[str, str] = {}
    for report in sorted(GOLDEN.glob("*/diagnostics.txt")):
        for line in report.read_text().splitlines():
            severity, bracket, rest = line.partition("[")
            if bracket and severity in NAMES.values():
                found.setdefault(rest.partition("]")[0], report.parent.name)
    return found


def deviations_page() -> str:
    """The page of all deviations; entries of one name stand together."""
    lines = [
        "# Where kservec does better than KServe on purpose",
        "",
        "Each of these is a decision with a test, and is excused when kservec is compared with KServe.",
        "This page is made from `deviations.yaml` by `python scripts/make_docs.py`.",
    ]
    entries = sorted(yaml.safe_load(DEVIATIONS.read_text()), key=lambda entry: str(entry["id"]))
    for name, group in groupby(entries, key=lambda entry: entry["id"]):
        lines += ["", f"## {name}", *deviation(list(group))]
    return "\n".join((*lines, ""))


def deviation(entries: list[Any]) -> Iterator[str]:
    """What the page says about the entries of one name."""
    for why in dict.fromkeys(entry["why"] for entry in entries if not entry["why"].startswith("the same")):
        yield ""
        yield f"{why[:1].upper()}{why[1:].rstrip('.')}."
    for outcome in dict.fromkeys(entry["outcome"] for entry in entries if "outcome" in entry):
        yield ""
        yield f"{OUTCOMES[outcome]}."
    tests = dict.fromkeys(entry["test"] for entry in entries)
    yield ""
    yield f"Test: {', '.join(f'`{test}`' for test in tests)}"


PAGES = {"docs/diagnostics.md": diagnostics_page, "docs/deviations.md": deviations_page}


def main(arguments: list[str]) -> int:
    """Write the pages, or check them."""
    stale = [path for path, make in PAGES.items() if current(ROOT / path) != make()]
    for path in stale:
        sys.stdout.write(f"{path} {'is out of date' if '--check' in arguments else 'written'}\n")
        if "--check" not in arguments:
            (ROOT / path).write_text(PAGES[path](), encoding="utf-8")
    return 1 if stale and "--check" in arguments else 0


def current(path: Path) -> str | None:
    """The text of a page as it is committed, if there is one."""
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
