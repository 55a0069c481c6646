"""With a cache everything is as it is without, whatever was edited between two runs, whatever became of the cache."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.cli.running import SERVICE, kservec, tree
from tests.golden.cases import Case, cases, compiled, inputs

from kservec.api import compile_files
from kservec.core.additions import Additions
from kservec.core.policy import Policy
from kservec.core.records import evolve
from kservec.core.share import Share
from kservec.gitops.rendered import Rendered
from kservec.io import cache as caching
from kservec.io.cache import evict, plain_class, read_file, recalling, value_of, write_file
from kservec.io.crew import FORK, several
from kservec.io.reading import File
from kservec.recall import UnknownValueError, canonical
from kservec.workshop import alone

from .making import LLM, service, target, working_environment
from .test_crews import alike

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from kservec.api import Compilation, Target
    from kservec.workshop import Made, Workshop

    Project = tuple[dict[str, bytes], Target]

SERVICES = ("InferenceService", "LLMInferenceService")
TRAINED = """\
apiVersion: serving.kserve.io/v1alpha1
kind: TrainedModel
metadata: {name: more, namespace: fraud}
spec:
  inferenceService: model-002
  model: {framework: sklearn, storageUri: "s3://models/more", memory: 1Gi}
"""
RUNTIME = """\
apiVersion: serving.kserve.io/v1alpha1
kind: ServingRuntime
metadata: {name: own, namespace: ads}
spec:
  supportedModelFormats: [{name: sklearn, version: "1", autoSelect: true, priority: 9}]
  containers: [{name: kserve-container, image: "own:1", args: ["--x={{.Name}}"]}]
"""
ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: missing, namespace: ads}\n"


def counted(compiled_units: list[str]) -> Callable[[Workshop], Iterable[list[Made]]]:
    """A crew that notes which units it is given, those that are no services with their kind."""

    def crew(workshop: Workshop) -> Iterator[list[Made]]:
        refs = [unit.ref for unit in workshop.units]
        compiled_units.extend(ref.name if ref.kind in SERVICES else str(ref) for ref in refs)
        return alone(workshop)

    return crew


def twice(files: Iterable[File], described: Target, folder: Path) -> tuple[Compilation, list[str]]:
    """What comes of files with a cache, and the units that had to be compiled for it."""
    names: list[str] = []
    made = compile_files(list(files), target=described, crew=recalling(folder, counted(names)))
    return made, names


def replaced(old: str, new: str, name: str) -> Callable[[Project, int], Project]:
    """An edit of one file."""

    def edit(project: Project, number: int) -> Project:
        files, described = project
        path = f"services/{name.format(number % 12)}.yaml"
        if path not in files:
            return project
        return {**files, path: files[path].replace(old.encode(), new.encode())}, described

    return edit


def added(name: str, text: str) -> Callable[[Project, int], Project]:
    """A file more, or one fewer if it is there."""

    def edit(project: Project, number: int) -> Project:
        files, described = dict(project[0]), project[1]
        path = f"services/{name}-{number % 2}.yaml"
        if files.pop(path, None) is None:
            files[path] = text.encode()
        return files, described

    return edit


def removed(project: Project, number: int) -> Project:
    """A service fewer."""
    files = dict(project[0])
    files.pop(f"services/model-{number % 12:03d}.yaml", None)
    return files, project[1]


def renamed(project: Project, number: int) -> Project:
    """The file of a service is called otherwise, which only findings show."""
    files = dict(project[0])
    content = files.pop(f"services/model-{number % 12:03d}.yaml", None)
    return (files | {f"services/moved-{number % 12:03d}.yaml": content} if content else files), project[1]


def merged(project: Project, number: int) -> Project:
    """Two services in one file."""
    files = dict(project[0])
    one, other = (f"services/model-{(number + i) % 12:03d}.yaml" for i in (0, 1))
    if one in files and other in files:
        files[one] += b"---\n" + files.pop(other)
    return files, project[1]


def described(project: Project, number: int) -> Project:
    """Another cluster: what it lacks, who names revisions, a ServiceAccount more, what a project adds."""
    files, cluster = project
    ways: list[Callable[[Target], Target]] = [
        lambda t: evolve(t, absent=() if t.absent else ("HTTPRoute",)),
        lambda t: evolve(t, names_revisions=not t.names_revisions),
        lambda t: evolve(t, platform=(*t.platform, File("platform/account.yaml", ACCOUNT.encode()))[:2]),
        lambda t: evolve(t, additions=Additions(policy=Policy(asks_level=True)) if t.additions is None else None),
        lambda t: evolve(t, additions=Additions(image_rewrites={"kserve/": "mirror.example.com/"})),
        lambda t: evolve(t, catalog="none" if t.catalog == "builtin" else "builtin"),
        lambda t: evolve(t, share=None if t.share else Share(1, 2)),
    ]
    return files, ways[number % len(ways)](cluster)


EDITS: list[Callable[[Project, int], Project]] = [
    replaced("/v1\n", "/v2\n", "model-{:03d}"),
    replaced("minReplicas: 1", "minReplicas: 3", "model-{:03d}"),
    replaced("apiVersion:", "# moves every line\napiVersion:", "model-{:03d}"),
    replaced("s3://", "nope://", "model-{:03d}"),
    replaced("name: missing", "name: reader", "model-{:03d}"),
    replaced("tiny-0", "tiny-1", "llms"),
    replaced("model-002", "model-007", "graph"),
    replaced("jobNamespace", "jobNamespaces", "cache"),
    replaced("storageUri", "storageUri ", "model-{:03d}"),
    added("trained", TRAINED),
    added("runtime", RUNTIME),
    added("account", ACCOUNT),
    added("again", service(3)),
    added("llm", LLM.format(number=90, namespace="chat", model=0)),
    removed, renamed, merged, described,
]  # fmt: skip


@pytest.mark.slow
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(st.sampled_from(range(len(EDITS))), st.integers(0, 40)), min_size=1, max_size=6))
def test_a_cache_changes_nothing_whatever_is_edited(edits: list[tuple[int, int]]) -> None:
    """After each edit the same objects, findings and URLs come with the cache of all earlier runs as without any."""
    project: Project = {f.name: f.content for f in working_environment(12)}, target()
    with tempfile.TemporaryDirectory() as folder:
        twice((File(n, c) for n, c in project[0].items()), project[1], Path(folder))
        for kind, number in edits:
            project = EDITS[kind](project, number)
            files = [File(name, content) for name, content in project[0].items()]
            with_cache, _ = twice(files, project[1], Path(folder))
            alike(with_cache, compile_files(files, target=project[1]))


@pytest.mark.slow
def test_each_edit_alone_changes_nothing(tmp_path: Path) -> None:
    """Every kind of edit, there and back, over one cache: the results are those of a compile."""
    start: Project = {f.name: f.content for f in working_environment(12)}, target()
    for i, edit in enumerate(EDITS):
        for number in range(7) if edit is described else (2, 7):
            for files, cluster in (start, edit(start, number)):
                known = [File(name, content) for name, content in files.items()]
                alike(twice(known, cluster, tmp_path / str(i))[0], compile_files(known, target=cluster))
                (tmp_path / str(i)).mkdir(exist_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_golden_cases_are_recalled(case: Case, tmp_path: Path) -> None:
    """What is read from the cache is what was compiled, for every golden case."""
    files, cluster = inputs(case)
    for _ in range(2):
        made, names = twice(files, cluster, tmp_path)
        alike(made, compiled(case))
    if made.ok:
        assert not {o.owner.name for o in made.objects if o.owner.kind in SERVICES} & set(names)


def test_only_what_changed_is_compiled(tmp_path: Path) -> None:
    """One service, or the LLM services of one namespace, or all of them where the platform changed."""
    files = working_environment(30)
    _, names = twice(files, target(), tmp_path)
    assert len(names) == 30 + 8 + 1
    assert twice(files, target(), tmp_path)[1] == ["LocalModelCache cached"]
    files[5] = File(files[5].name, files[5].content.replace(b"/v1\n", b"/v2\n"))
    assert twice(files, target(), tmp_path)[1] == ["LocalModelCache cached", "model-005"]
    other = evolve(target(), platform=(*target().platform, File("platform/account.yaml", ACCOUNT.encode())))
    assert len(twice(files, other, tmp_path)[1]) == 30 + 8 + 1


def test_services_with_errors_are_compiled_each_time(tmp_path: Path) -> None:
    """An error is found anew, where it is now."""
    files = working_environment(12)
    files[5] = File(files[5].name, files[5].content.replace(b"s3://", b"nope://"))
    for _ in range(2):
        made, names = twice(files, target(), tmp_path)
        assert not made.ok
    assert "model-005" in names


def test_workers_compile_what_is_not_known(tmp_path: Path) -> None:
    """A cache and several processes together."""
    files = working_environment(80)
    known = compile_files(files, target=target())
    alike(compile_files(files[:40], target=target(), crew=recalling(tmp_path, several(2, FORK, least=1))),
          compile_files(files[:40], target=target()))  # fmt: skip
    for _ in range(2):
        alike(compile_files(files, target=target(), crew=recalling(tmp_path, several(2, FORK, least=1))), known)


@pytest.fixture(name="stored")
def stored_fixture(tmp_path: Path) -> Path:
    """The file of a cache over some services."""
    twice(working_environment(12), target(), tmp_path)
    (file,) = tmp_path.glob("*.made")
    return file


def test_damage_is_passed_over(stored: Path) -> None:
    """A file that was cut, or of which a byte is another one, counts for nothing, and is made anew."""
    content, files = stored.read_bytes(), working_environment(12)
    whole = compile_files(files, target=target())
    cuts = [content[:n] for n in (0, 5, 16, 40, 60, len(content) // 2, len(content) - 1)]
    flips = [content[:n] + bytes([content[n] ^ 1]) + content[n + 1 :] for n in (0, 20, 50, len(content) - 3)]
    for damaged in (*cuts, *flips, b"x" * 1000, content + b"x"):
        stored.write_bytes(damaged)
        assert read_file(stored) == {}
        alike(twice(files, target(), stored.parent)[0], whole)
        assert stored.read_bytes() == content
    shutil.rmtree(stored.parent)
    alike(twice(files, target(), stored.parent)[0], whole)


def test_results_of_other_services_are_not_taken(stored: Path) -> None:
    """What lies under the key of a service and speaks of another one, or is nothing of the kind, is passed over."""
    files, entries = working_environment(12), read_file(stored)
    whole = compile_files(files, target=target())
    keys = sorted(entries)
    odd = [pickle.dumps("text"), pickle.dumps(None), b"", pickle.dumps(Rendered(*whole.objects[0][:3]))]
    write_file(stored, {key: [*odd, entries[keys[i - 1]]][i % 5] for i, key in enumerate(keys)})
    alike(twice(files, target(), stored.parent)[0], whole)


class Harmful:
    """What runs a program when it is unpickled."""

    def __reduce__(self):
        return os.system, ("touch harmed",)


def test_nothing_in_a_cache_is_ever_run(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that somebody made up, with a digest that fits, calls nothing."""
    monkeypatch.chdir(stored.parent)
    key = min(read_file(stored))
    write_file(stored, {key: pickle.dumps(Harmful())})
    files = working_environment(12)
    alike(twice(files, target(), stored.parent)[0], compile_files(files, target=target()))
    assert value_of(pickle.dumps(Harmful())) is None
    assert not (stored.parent / "harmed").exists()


@pytest.mark.parametrize(
    ("module", "name"),
    [("os", "system"), ("builtins", "eval"), ("kservec.io.cache", "write_file"), ("kservec.workshop", "TOGETHER"),
     ("kservec.io.cache", "PlainValues"), ("kservec.workshop", "has_errors.x"), ("kservec.nowhere", "X")],
)  # fmt: skip
def test_only_plain_values_are_made(module: str, name: str) -> None:
    """Functions, classes that do something, and whatever is not ours, are refused."""
    with pytest.raises((pickle.UnpicklingError, ImportError)):
        plain_class(module, name)


def test_a_cache_is_bounded(tmp_path: Path) -> None:
    """What was not used for longest goes first; other files in the folder are nobody's business."""
    (tmp_path / "killed.part").write_bytes(b"x" * 10)
    os.utime(tmp_path / "killed.part", ns=(0, 0))
    for i in range(4):
        write_file(tmp_path / f"{i}.made", {"key": bytes(1000)})
        os.utime(tmp_path / f"{i}.made", ns=(i * 10**9, i * 10**9))
    (tmp_path / "notes.txt").write_text("mine")
    size = (tmp_path / "0.made").stat().st_size
    evict(tmp_path, most=2 * size)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["2.made", "3.made", "notes.txt"]


def test_a_file_does_not_grow_with_every_edit(tmp_path: Path) -> None:
    """Of what is of no use any more no more is kept than of what is."""
    sizes = []
    for version in range(8):
        files = [File(f.name, f.content.replace(b"/v1\n", b"/w%d\n" % version)) for f in working_environment(12)]
        twice(files, target(), tmp_path)
        (file,) = tmp_path.glob("*.made")
        sizes.append(file.stat().st_size)
    assert max(sizes) < 2.2 * sizes[0]


def test_another_kservec_has_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of another version, or of code that was edited, are never taken."""
    twice(working_environment(6), target(), tmp_path)
    monkeypatch.setattr(caching, "own_stamp", lambda: "other")
    _, names = twice(working_environment(6), target(), tmp_path)
    assert len(names) == 6 + 8 + 1
    assert len(list(tmp_path.glob("*.made"))) == 2


def test_values_that_cannot_be_told_apart_are_not_recalled() -> None:
    """Sets have no order, and what nothing is known of has no key."""
    assert canonical({"b": {1, 2}, "a": ()}) == canonical({"a": (), "b": {2, 1}})
    assert len({canonical(v) for v in (1, "1", True, 1.0, b"1", (1,), [1], {1}, {1: 1}, None)}) == 10
    with pytest.raises(UnknownValueError):
        canonical(object())


def test_the_command_line_with_a_cache(tmp_path: Path) -> None:
    """`build` and `check` say and write the same, the cache lies where it was asked for, and a file is no folder."""
    for source in (*working_environment(20), *target().platform):
        (tmp_path / source.name).parent.mkdir(exist_ok=True)
        (tmp_path / source.name).write_bytes(source.content)
    files = ("services", "--platform", "platform")
    plain = kservec(tmp_path, "build", *files, "--output", "plain")
    for _ in range(2):
        shutil.rmtree(tmp_path / "cached", ignore_errors=True)
        ran = kservec(tmp_path, "build", *files, "--output", "cached", "--cache", "kept/cache")
        assert (ran.status, ran.err.replace("cached:", "plain:")) == (0, plain.err)
        assert tree(tmp_path / "cached") == tree(tmp_path / "plain")
    assert len(list((tmp_path / "kept/cache").glob("*.made"))) == 1
    assert kservec(tmp_path, "check", *files, "--output", "plain", "--cache", "kept/cache").status == 0
    assert kservec(tmp_path, "lint", *files, "--cache", "services/model-001.yaml").status == 2


def test_a_cache_that_cannot_be_written_is_told_of(tmp_path: Path) -> None:
    """Once, in every command that has the option, as text and for programs; the output is the same."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    plain = kservec(tmp_path, "build", "fraud.yaml", "--cache", "kept")
    assert (plain.status, plain.err) == (0, "")
    (made,) = (tmp_path / "kept").glob("*.made")
    made.unlink()
    made.mkdir()
    ran = kservec(tmp_path, "build", "fraud.yaml", "--cache", "kept")
    assert (ran.status, ran.out) == (0, plain.out)
    assert ran.err.startswith("warning[cache/unwritable]: cannot write the cache kept: Is a directory; the next run")
    assert ran.err.endswith("\n1 warning\n")
    found = json.loads(kservec(tmp_path, "lint", "fraud.yaml", "--cache", "kept", "--format", "json").out)[
        "diagnostics"
    ]
    assert [d["code"] for d in found] == ["cache/unwritable"]


@pytest.mark.parametrize("there", ["notes.txt", "mine.made", "CACHEDIR.TAG", ".hidden"])
def test_a_folder_of_others_is_no_cache(tmp_path: Path, there: str) -> None:
    """Nor is one that is the cache of another program: files of others would be removed in time."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / there).write_text("Signature: 8a477f597d28d172789f06886806bc55\n# of pytest\n")
    ran = kservec(tmp_path, "build", "fraud.yaml", "--cache", "kept")
    assert (ran.status, ran.out) == (2, "")
    assert "--cache kept: it holds files, and no CACHEDIR.TAG of kservec; choose a folder of its own" in ran.err
    assert [path.name for path in (tmp_path / "kept").iterdir()] == [there]
    assert kservec(tmp_path, "build", "fraud.yaml", "--cache", "/proc").status == 2


def test_a_run_that_was_killed_leaves_a_cache(tmp_path: Path) -> None:
    """A mark that was cut is one still, and is made whole; an empty folder becomes a cache."""
    (tmp_path / "fraud.yaml").write_text(SERVICE)
    (tmp_path / "kept").mkdir()
    assert kservec(tmp_path, "build", "fraud.yaml", "--cache", "kept").status == 0
    whole = (tmp_path / "kept/CACHEDIR.TAG").read_bytes()
    assert whole.startswith(b"Signature: 8a477f597d28d172789f06886806bc55\n")
    (tmp_path / "kept/CACHEDIR.TAG").write_bytes(whole[:20])
    assert kservec(tmp_path, "build", "fraud.yaml", "--cache", "kept").status == 0
    assert (tmp_path / "kept/CACHEDIR.TAG").read_bytes() == whole


def test_a_cache_that_cannot_be_written_does_no_harm(stored: Path) -> None:
    """The folder is gone, or is a file: services are compiled."""
    files = working_environment(6)
    alike(twice(files, target(), stored)[0], compile_files(files, target=target()))
