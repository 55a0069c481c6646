"""Where outputs come from: golden cases and projects, the examples, and what people published if that is at hand."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from tests import libyaml
from tests.golden import cases as golden
from tests.golden.projects import projects, rendered

from kservec import File, Target, compile_files
from kservec.api import builtin_files, parsed
from kservec.core.text.source import Limits
from kservec.environments import target_of
from kservec.io.reading import read_files
from kservec.io.workspace import files_at, open_workspace
from kservec.project.reading import PROJECT_FILE

from .output import Finding, Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from kservec import Compilation
    from kservec.core.diagnostics import Diagnostic
    from kservec.gitops.rendered import Rendered

    from .output import Object

ROOT = Path(__file__).parents[2]
RECORDED = (ROOT / os.environ.get("KSERVEC_CONFORMANCE", "../shared/conformance")).resolve()
CORPUS = RECORDED.parent / "corpus"
FOLDERS = (
    "articles",
    "inferencegraph",
    "inferenceservice",
    "llminferenceservice",
    "localmodelcache",
    "localmodelnamespacecache",
    "trainedmodel",
)
"""Kinds of the corpus that are compiled; the others describe clusters."""
SETS = ("isvc", "isvc-random", "corpus-standard", "graph", "graph-random", "llm", "llm-random")
EVERY = int(os.environ.get("KSERVEC_INVARIANTS_EVERY", "8"))
"""One recorded case in so many is looked at; 1 for all of them, which takes some minutes."""
MAX_BYTES = 16 << 20


def documents(files: Iterable[File]) -> list[Object]:
    """The documents of files that are objects."""
    return [d.value for d in parsed(files, Limits())[0] if isinstance(d.value, dict)]


def findings_of(found: Iterable[Diagnostic]) -> list[Finding]:
    """What findings say."""
    return [Finding(d.code.slug, f"{d.message} {d.help} {d.label}") for d in found]


def owners_of(objects: Iterable[Rendered]) -> list[tuple[str, str, str]]:
    """The users' objects that objects are said to come from."""
    owners = {(o.owner.kind, o.owner.namespace, o.owner.name) for o in objects if not o.place and o.owner != o.ref}
    return sorted(owners)


def compiled(name: str, files: Sequence[File], target: Target) -> Output:
    """What files give when they are compiled for a target; without objects where they are refused."""
    return output_of(name, compile_files(files, target=target), files, target)


def output_of(name: str, made: Compilation, files: Sequence[File], target: Target) -> Output:
    """What was made of files for a target."""
    return Output(
        name,
        [o.text for o in made.objects],
        inputs=documents(files),
        cluster=[*documents(target.platform), *builtin(target.catalog, target.profile)],
        findings=findings_of(made.diagnostics),
        owners=owners_of(made.objects),
        urls=list(made.urls.values()),
    )


@cache
def builtin(catalog: str, profile: str) -> tuple[Object, ...]:
    """The documents that come with kservec."""
    return tuple(documents(builtin_files(Target(catalog=catalog, profile=profile))))


def patches_of(folder: str) -> Iterator[Object]:
    """What patches over rendered objects set, as users wrote it: each value below the last word of its path."""
    for path in sorted(Path(folder).glob("kustomization.yaml")) if folder else ():
        for patch in libyaml.load(path.read_text()).get("patches") or ():
            written = libyaml.load(patch.get("patch", "{}"))
            yield from (
                ({step["path"].rpartition("/")[2]: step["value"]} for step in written if "value" in step)
                if isinstance(written, list)
                else [written]
            )


def golden_cases() -> Iterator[Output]:
    """Every golden case without a project that has objects."""
    for case in golden.cases():
        made = golden.compiled(case)
        if made.objects:
            yield output_of(case.name, made, *golden.inputs(case))


def golden_projects() -> Iterator[Output]:
    """Every environment of every golden project that has objects, the repository's own examples among them."""
    for case in projects():
        with contextlib.chdir(case.folder / case.project):
            workspace, _, _ = open_workspace(Path(PROJECT_FILE), MAX_BYTES)
            for made in rendered(case).renderings:
                if workspace is None or not made.ok:
                    continue
                target = target_of(workspace, made.settings, Limits())
                included = files_at(workspace, made.settings.include, MAX_BYTES)
                yield Output(
                    f"{case.name}/{made.settings.name}",
                    [o.text for o in made.objects],
                    inputs=[*documents((*made.sources, *included)), *patches_of(made.settings.patches)],
                    cluster=[
                        *documents((workspace.file, *target.platform)),
                        *builtin(target.catalog, target.profile),
                    ],
                    findings=findings_of(made.diagnostics),
                    owners=owners_of(made.objects),
                    urls=list(made.urls.values()),
                )


def examples() -> Iterator[Output]:
    """The examples, for the cluster that they come with."""
    files = read_files([str(ROOT / "examples" / "services")], MAX_BYTES)
    described = read_files([str(ROOT / "examples" / "platform")], MAX_BYTES)
    yield compiled("examples", files, Target(platform=described))


def corpus() -> Iterator[Output]:
    """What people published, each file alone, for a cluster as KServe ships it."""
    for path in sorted(path for folder in FOLDERS for path in (CORPUS / folder).glob("*.yaml")):
        yield compiled(f"{path.parent.name}/{path.name}", [File(path.name, path.read_bytes())], Target())


def recorded() -> Iterator[Output]:
    """Recorded cases, spread over all of them: specs and the objects that they refer to, for a cluster of their own."""
    for folder in (f for name in SETS for f in sorted((RECORDED / "cases" / name).glob("*")) if is_chosen(f)):
        oracle = folder / "oracle.json"
        target = Target(
            platform=(*shared_platform(), *read_files([str(p) for p in folder.glob("platform.yaml")], MAX_BYTES)),
            catalog="none",
            absent=json.loads(oracle.read_text())["absent"] if oracle.exists() else (),
        )
        files = [File("input.yaml", (folder / "input.yaml").read_bytes())]
        yield compiled(f"{folder.parent.name}/{folder.name}", files, target)


def is_chosen(folder: Path) -> bool:
    """Whether a recorded case is looked at: always the same ones."""
    return hashlib.sha256(f"{folder.parent.name}/{folder.name}".encode()).digest()[0] % EVERY == 0


@cache
def shared_platform() -> tuple[File, ...]:
    """The cluster that cases were recorded in."""
    return tuple(read_files([str(RECORDED / "platform")], MAX_BYTES))


SOURCES = {f.__name__: f for f in (golden_cases, golden_projects, examples, corpus, recorded)}


@cache
def outputs(source: str) -> tuple[Output, ...]:
    """The outputs of a source that have objects."""
    return tuple(output for output in SOURCES[source]() if output.texts)
