"""Write what follows from the code: pages of docs/, and the schemas of our own documents.

`python scripts/make_docs.py` writes them, with `--check` it only says whether they are as they should be.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

import kservec
from kservec.core.diagnostics import Code
from kservec.project.reference import Option, options_of
from kservec.report.words import NAMES
from kservec.spec.cluster import Cluster
from kservec.spec.project import Project

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "golden"
DEVIATIONS = ROOT / "docs" / "deviations.yaml"
DIALECT = "https://json-schema.org/draft/2020-12/schema"
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


def schema_of(model: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of one of our own documents."""
    schema = without_titles(model.model_json_schema(by_alias=True))
    version = schema["properties"]["apiVersion"]["const"]
    return {"$schema": DIALECT, "title": f"{model.__name__} {version}", **schema}


def without_titles(schema: Any) -> Any:
    """A schema without the titles that pydantic makes of names, and with its docstrings on one line."""
    if isinstance(schema, list):
        return [without_titles(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: without_titles(value) for key, value in schema.items() if key != "title" or isinstance(value, dict)}
    if isinstance(kept.get("description"), str):
        kept["description"] = " ".join(kept["description"].split())
    return kept


def schema_text(model: type[BaseModel]) -> str:
    """The schema as it ships, with one field or type a line, so that a diff names what changed."""
    parts = []
    for key, value in schema_of(model).items():
        if key in ("properties", "$defs"):
            lines = ",\n".join(f" {compact(name)}:{compact(child)}" for name, child in value.items())
            parts.append(f"{compact(key)}:{{\n{lines}\n}}")
        else:
            parts.append(f"{compact(key)}:{compact(value)}")
    return "{" + ",\n".join(parts) + "}\n"


def compact(value: object) -> str:
    """A value as JSON without spaces."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def project_page() -> str:
    """The page of the project file: its fields, which of them an environment has too, and an example of each."""
    every = {option.name: option for option in options_of(schema_of(Project))}
    own = {option.name: option for option in every["environments"].values}
    shared = [name for name in every if name in own and name != "output"]
    sections = (
        ("Fields of the project", PROJECT_FIELDS, [every[name] for name in every if name not in shared]),
        ("Fields of the project and of each environment", SHARED_FIELDS, [every[name] for name in shared]),
        ("Fields of an environment", ENVIRONMENT_FIELDS, [own[name] for name in own if name not in shared]),
    )
    lines = [PROJECT_HEAD]
    for title, about, options in sections:
        lines += [f"## {title}", "", about, ""]
        for option in options:
            lines += field_lines(option)
    return "\n".join([*lines, PROJECT_TAIL])


def field_lines(option: Option) -> Iterator[str]:
    """What the page says about a field, and about those in it."""
    shown = option.path[2:] if option.path[1:2] == ("*",) else option.path
    yield f"{'#' * (len(shown) + 2)} {'.'.join(shown)}"
    yield ""
    yield f"{option.description}"
    yield ""
    if not option.inner:
        yield facts(option)
        yield ""
    parts = [part for part in option.values if part.description] if option.path != ("environments",) else []
    if parts:
        yield from (f"- `{part.name}`: {part.description} {facts(part)}" for part in parts)
        yield ""
    for inner in option.inner:
        yield from field_lines(inner)


def facts(option: Option) -> str:
    """What a field takes, and what it is where it is left out."""
    found = [f"{option.kind[:1].upper()}{option.kind[1:]}"]
    found += ["required" if option.required else f"default `{json.dumps(option.default)}`" if option.default else ""]
    found += [f"for example `{json.dumps(option.example)}`" if option.example is not None else ""]
    return f"{'; '.join(fact for fact in found if fact)}."


PROJECT_HEAD = (ROOT / "scripts" / "pages" / "project-file.head.md").read_text(encoding="utf-8")
PROJECT_TAIL = (ROOT / "scripts" / "pages" / "project-file.tail.md").read_text(encoding="utf-8")
PROJECT_FIELDS = "These hold for the repository as a whole."
SHARED_FIELDS = (
    "What an environment leaves out, it takes from the project. Its lists come after those of the project; "
    "its maps are laid over the project's; of everything else its own value counts."
)
ENVIRONMENT_FIELDS = "These stand below `environments.<name>` only."

PAGES: dict[str, Callable[[], str]] = {
    "docs/diagnostics.md": diagnostics_page,
    "docs/deviations.md": deviations_page,
    "docs/project-file.md": project_page,
    "schemas/input/kservec.dev_v1alpha1_cluster.json": partial(schema_text, Cluster),
    "schemas/input/kservec.dev_v1alpha1_project.json": partial(schema_text, Project),
}


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
