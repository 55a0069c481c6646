"""The version: what names it, what the changelog says of it, and whether a tag may be released.

It is told in one place, compiler/kservec/_version.py. What users copy (pages, the catalog of runtimes) names it, too.

    python scripts/delivery/versions.py check              # everything names the version; exit status 1 where not
    python scripts/delivery/versions.py check --tag v1.2.0 # this tag is that version, and the changelog has it
    python scripts/delivery/versions.py set 1.2.0          # before a release: everything names the new one
    python scripts/delivery/versions.py show               # the version
    python scripts/delivery/versions.py notes              # what the changelog says of the version
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SOURCE = "compiler/kservec/_version.py"
CHANGELOG = "CHANGELOG.md"
UNRELEASED = "Unreleased"
VERSION = r"\d+\.\d+\.\d+(?:rc\d+)?"
NAMING = (
    SOURCE, "README.md", "docs/*.md", "docs/*.yaml", "templates/*.yml", "runtimes/catalog/*/*.yaml",
    "runtimes/images/*/*Dockerfile", "runtimes/images/*/versions.json", "tests/report/findings.sarif",
)  # fmt: skip
NAMED = re.compile(
    rf'((?m:^__version__ = ")|ghcr\.io/kservec/[\w-]+:|kservec/kservec@v?|(?m:^ +rev: v)|kservec-cmp:'
    rf'|kservec/kservec/blob/v|(?m:^(?:ARG )?VERSION=)|"tag": "|kservec(?:\[\w+\])?==|"semanticVersion": ")({VERSION})'
)
HEADING = re.compile(rf"(?:{UNRELEASED}|({VERSION}) - (\d{{4}}-\d{{2}}-\d{{2}}))")


class Section(NamedTuple):
    """A part of the changelog: its heading, and what stands below it."""

    heading: str
    text: str


def files(root: Path) -> Iterator[Path]:
    """The files that may name the version."""
    for pattern in NAMING:
        yield from sorted(root.glob(pattern))


def version(root: Path) -> str:
    """The version of a checkout."""
    found = re.search(rf'^__version__ = "({VERSION})"$', (root / SOURCE).read_text(), re.MULTILINE)
    if found is None:
        raise ValueError(f"{SOURCE}: there is no version in it")
    return found[1]


def changelog(root: Path) -> tuple[Section, ...]:
    """The parts of the changelog, the newest first."""
    _, *parts = re.split(r"(?m)^## (.+)\n", (root / CHANGELOG).read_text(encoding="utf-8"))
    return tuple(Section(heading, text.strip()) for heading, text in zip(parts[::2], parts[1::2], strict=True))


def order(text: str) -> tuple[int, ...]:
    """Versions in their order: a candidate comes before what it is one for."""
    numbers, _, candidate = text.partition("rc")
    return (*(int(number) for number in numbers.split(".")), int(candidate) if candidate else sys.maxsize)


def faults(root: Path, tag: str | None = None) -> list[str]:
    """What is wrong with the version of a checkout, each with its place; with a tag, what keeps that from release."""
    current = version(root)
    found = list(misnamed(root, current))
    found += unordered(changelog(root), current)
    if tag is not None and tag != f"v{current}":
        found.append(f"{SOURCE}: the tag is {tag}, and the version is {current}")
    if tag is not None and not any(part.text for part in changelog(root) if part.heading.startswith(f"{current} - ")):
        found.append(f"{CHANGELOG}: there is no heading `## {current} - <year>-<month>-<day>` with text below it")
    return found


def misnamed(root: Path, current: str) -> Iterator[str]:
    """Places that name another version."""
    for path in files(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            for _, named in NAMED.findall(line):
                if named != current:
                    yield f"{path.relative_to(root).as_posix()}:{number}: names {named}, and the version is {current}"


def unordered(parts: Sequence[Section], current: str) -> Iterator[str]:
    """Headings that are none, are in the wrong order, or are of a version that is yet to come."""
    released = []
    for part in parts:
        found = HEADING.fullmatch(part.heading)
        if found is None:
            yield f"{CHANGELOG}: `## {part.heading}` is neither {UNRELEASED} nor a version with its day"
        elif found[1]:
            released.append(found[1])
    if released != sorted(released, key=order, reverse=True):
        yield f"{CHANGELOG}: versions are not in their order, the newest first"
    if released and order(released[0]) > order(current):
        yield f"{CHANGELOG}: it tells of {released[0]}, and the version is {current}"


def rename(root: Path, new: str) -> list[str]:
    """Have everything name another version. Returns the files that changed."""
    changed = []
    for path in files(root):
        old = path.read_text(encoding="utf-8")
        text = NAMED.sub(rf"\g<1>{new}", old)
        if text != old:
            path.write_text(text, encoding="utf-8")
            changed.append(path.relative_to(root).as_posix())
    return changed


def notes(root: Path) -> str:
    """What the changelog says of the version; of what is yet to be released where it does not have it."""
    parts = {part.heading.partition(" ")[0]: part.text for part in changelog(root)}
    return parts.get(version(root)) or parts.get(UNRELEASED, "")


def main(words: Sequence[str]) -> int:
    """Check, set or tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verbs.add_parser("check").add_argument("--tag")
    verbs.add_parser("set").add_argument("version")
    verbs.add_parser("notes")
    verbs.add_parser("show")
    options = parser.parse_args(words)
    if options.verb in ("notes", "show"):
        sys.stdout.write((notes(ROOT) if options.verb == "notes" else version(ROOT)) + "\n")
        return 0
    if options.verb == "set":
        if not re.fullmatch(VERSION, options.version):
            parser.error(f"{options.version} is no version such as 1.2.0 or 1.2.0rc1")
        sys.stdout.writelines(f"{path}\n" for path in rename(ROOT, options.version))
        return 0
    found = faults(ROOT, options.tag)
    sys.stderr.writelines(f"{fault}\n" for fault in found)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
