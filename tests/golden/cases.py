"""The golden cases, and what the compiler makes of them.

The comparison is our own and not a snapshot library's: what a case gives is a tree whose files come and go with the
case, is reviewed under the names that `kservec build --output` gives, and is compared as bytes.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from tests import libyaml

from kservec.api import Compilation, Target, compile_files
from kservec.cli.build import build
from kservec.cli.options import HASHED, tree_files
from kservec.core.text.source import Limits
from kservec.io.reading import File, read_files
from kservec.project.reading import PROJECT_FILE
from kservec.report.text import text_report

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "golden"
EXPECT = "expect"
DIAGNOSTICS = "diagnostics.txt"
MAX_BYTES = 16 << 20


class Case(NamedTuple):
    """A folder of `golden/`."""

    name: str
    about: str = ""
    args: tuple[str, ...] = ()
    project: str = "input"

    @property
    def folder(self) -> Path:
        """Where the case lies."""
        return GOLDEN / self.name

    def __str__(self) -> str:
        return self.name


@cache
def cases() -> tuple[Case, ...]:
    """Every case without a project, by name."""
    folders = sorted(folder for folder in GOLDEN.iterdir() if folder.is_dir())
    return tuple(read_case(folder) for folder in folders if not has_project(folder))


def has_project(folder: Path) -> bool:
    """Whether what a case compiles is a project: that of its input, or one that it names."""
    return (folder / "input" / PROJECT_FILE).is_file() or (folder.is_dir() and not (folder / "input").is_dir())


def read_case(folder: Path) -> Case:
    """A case as its `case.yaml` describes it."""
    described = libyaml.load((folder / "case.yaml").read_text())
    return Case(folder.name, described["about"], tuple(described.get("args", ())), described.get("project", "input"))


@cache
def compiled(case: Case) -> Compilation:
    """Compile a case in this process; every test looks at the same result."""
    files, target = inputs(case)
    return compile_files(files, target=target)


def inputs(case: Case) -> tuple[list[File], Target]:
    """What a case compiles, and for which cluster, by names that are relative to its folder."""
    described = [("--platform", "platform")] if (case.folder / "platform").is_dir() else []
    arguments = [*(word for pair in described for word in pair), *case.args, "input"]
    with contextlib.chdir(case.folder):
        options = build.make_context("build", arguments).params
    previous = options["previous"]
    target = Target(
        platform=files(case, options["platform"]),
        catalog=options["catalog"],
        profile=options["profile"],
        absent=options["absent"],
        previous=tree_files(case.folder / previous, Limits()) if previous else (),
        names_revisions=options["revision_names"] == HASHED,
    )
    return files(case, options["paths"]), target


def files(case: Case, paths: tuple[str, ...]) -> list[File]:
    """The files that paths below a case's folder name."""
    read = read_files([str(case.folder / path) for path in paths], MAX_BYTES)
    return [File(Path(file.name).relative_to(case.folder).as_posix(), file.content) for file in read]


def result(case: Case) -> dict[str, bytes]:
    """What a case gives, by paths below its folder: its objects' files, and all findings as text if there are any."""
    compilation = compiled(case)
    made = {f"{EXPECT}/{rendered.path}": rendered.text.encode() for rendered in compilation.objects}
    report = text_report(compilation.diagnostics, compilation.sources)
    return made | ({DIAGNOSTICS: report.encode()} if report else {})


def committed(case: Case) -> dict[str, bytes]:
    """What is committed as the result of a case."""
    found = [*(case.folder / EXPECT).rglob("*"), case.folder / DIAGNOSTICS]
    return {path.relative_to(case.folder).as_posix(): path.read_bytes() for path in found if path.is_file()}


@cache
def objects(case: Case) -> list[Any]:
    """The objects of a case, read from the text that is written."""
    return [libyaml.load(o.text) for o in compiled(case).objects]
