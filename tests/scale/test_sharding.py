"""What machines make by parts is what one makes: objects, findings, trees."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.cli.running import kservec, tree
from tests.golden.cases import EXPECT, Case, cases, compiled, inputs

from kservec.api import compile_files
from kservec.compilation import in_order
from kservec.core.diagnostics import ObjectRef
from kservec.core.records import evolve
from kservec.core.share import Share, namespace_number
from kservec.gitops.index import read_index
from kservec.gitops.layout import INDEX, planned_tree
from kservec.gitops.parts import MARK, Part, UnfitPartError, joined, mark_text, marked_part, rendered_from
from kservec.gitops.rendered import Rendered

from .making import GRAPH, NAMESPACES, broken_environment, file, services, target, working_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from kservec.api import Compilation, Target
    from kservec.io.reading import File

COUNT = 3
FEW = 2
PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
output: rendered/{env}
environments: {prod: {}}
"""
TOOLS = {
    "none": "",
    "argocd": "gitops: {tool: argocd, repoURL: https://git.example.com/ml.git, shard: namespace}\n",
    "whole": "gitops: {tool: argocd, repoURL: https://git.example.com/ml.git, shard: environment}\n",
    "both": "gitops: {tool: both, repoURL: https://git.example.com/ml.git, shard: namespace}\n",
}


def parts_of(files: Sequence[File], whole: Target, count: int = COUNT) -> list[Compilation]:
    """What each of several machines makes."""
    return [compile_files(files, target=evolve(whole, share=Share(i + 1, count))) for i in range(count)]


@pytest.mark.slow
@pytest.mark.parametrize("case", cases(), ids=str)
def test_the_parts_of_every_golden_case_make_the_whole(case: Case) -> None:
    """The objects of all parts are those of the case, and so are their findings, whatever is wrong with it."""
    files, described = inputs(case)
    parts, whole = parts_of(files, described, FEW), compiled(case)
    assert in_order(d for part in parts for d in part.diagnostics) == whole.diagnostics
    if whole.ok:
        assert {o.path: o.text for part in parts for o in part.objects} == {o.path: o.text for o in whole.objects}
        assert {ref: url for part in parts for ref, url in part.urls.items()} == whole.urls


def test_graphs_know_services_of_other_parts() -> None:
    """A circle through graphs of three namespaces is found by each of their parts, as by the whole."""
    circle = [("one", "ads", "fraud"), ("two", "fraud", "search"), ("three", "search", "ads")]
    names = {"ads": "one", "fraud": "two", "search": "three"}
    step = "        - serviceUrl: http://{0}.{1}.svc.cluster.local"
    files = [
        *services(20),
        *(
            file(name, GRAPH.format(name=name, namespace=home, service="").replace(
                "        - serviceName: ", step.format(names[there], there)))
            for name, home, there in circle
        ),
    ]  # fmt: skip
    parts, whole = parts_of(files, target(), 4), compile_files(files, target=target())
    assert in_order(d for part in parts for d in part.diagnostics) == whole.diagnostics
    assert sum(d.code.slug.startswith("graph/") for d in whole.diagnostics) >= 3


def test_the_parts_of_an_environment_make_the_whole() -> None:
    """So it is with services that know of each other, shared objects, and copies of models on nodes."""
    files = working_environment()
    parts, whole = parts_of(files, target()), compile_files(files, target=target())
    objects = {o.ref: o for part in parts for o in part.objects}
    assert tuple(objects[ref] for ref in sorted(objects)) == whole.objects
    assert in_order(d for part in parts for d in part.diagnostics) == whole.diagnostics
    assert sum(len(part.urls) > 0 for part in parts) > 1


def test_the_parts_find_all_that_is_wrong() -> None:
    """Services described twice, objects made twice, references to nobody."""
    files = broken_environment()
    parts, whole = parts_of(files, target()), compile_files(files, target=target())
    assert in_order(d for part in parts for d in part.diagnostics) == whole.diagnostics
    assert {"input/object-twice", "output/object-twice", "graph/service-not-found"} <= {
        d.code.slug for d in whole.diagnostics
    }


def test_whose_a_namespace_is_follows_from_its_name() -> None:
    """These numbers must never change: machines with different versions would leave a namespace out."""
    assert [namespace_number(name, 4) for name in ("", *NAMESPACES)] == [1, 3, 3, 2, 4, 1]
    assert {namespace_number(f"team-{i}", 8) for i in range(100)} == set(range(1, 9))
    assert str(Share(2, 4)) == "2/4"


@pytest.fixture(name="project", scope="module")
def project_fixture(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Gives a project of many services that was built whole, once for each text of its kservec.yaml."""

    @cache
    def project(text: str) -> Path:
        folder = tmp_path_factory.mktemp("project")
        for source in (*working_environment(40), *target().platform):
            (folder / source.name).parent.mkdir(exist_ok=True)
            (folder / source.name).write_bytes(source.content)
        (folder / "kservec.yaml").write_text(text)
        ran = kservec(folder, "build")
        assert ran.status == 0, ran.err
        return folder

    return project


@pytest.fixture(name="repo", params=TOOLS)
def repo_fixture(tmp_path: Path, project: Callable[[str], Path], request: pytest.FixtureRequest) -> Path:
    """A project of many services that was built whole, for each tool."""
    return shutil.copytree(project(PROJECT + TOOLS[request.param]), tmp_path, dirs_exist_ok=True)


@pytest.fixture(name="plain")
def plain_fixture(tmp_path: Path, project: Callable[[str], Path]) -> Path:
    """A project of many services that was built whole, with Argo CD."""
    return shutil.copytree(project(PROJECT + TOOLS["argocd"]), tmp_path, dirs_exist_ok=True)


def built(repo: Path, *numbers: int, count: int = COUNT) -> list[str]:
    """Build parts; the arguments that join them."""
    for number in numbers:
        ran = kservec(repo, "build", "prod", "--shard", f"{number}/{count}", "--output", f"parts/{number}")
        assert ran.status == 0, ran.err
    return [word for number in numbers for word in ("--join", f"parts/{number}")]


@pytest.mark.slow
def test_joined_parts_are_the_tree_to_the_last_byte(repo: Path) -> None:
    """Also the index, the kustomizations, and what Argo CD and Flux read. Building parts anew changes nothing."""
    whole = tree(repo / "rendered")
    parts = built(repo, 1, 2, 3)
    built(repo, 2)
    shutil.rmtree(repo / "rendered")
    ran = kservec(repo, "build", "prod", *parts)
    assert ran.status == 0, ran.err
    assert tree(repo / "rendered") == whole
    assert kservec(repo, "check").status == 0


@pytest.mark.slow
def test_each_part_checks_its_own(repo: Path) -> None:
    """An untouched tree is right by every part; a changed service is noticed by the part that holds it alone."""
    assert [kservec(repo, "check", "--shard", f"{i}/3").status for i in (1, 2, 3)] == [0, 0, 0]
    spec = repo / "services/model-004.yaml"
    spec.write_text(spec.read_text().replace("/4/v1", "/4/v2"))
    found = [kservec(repo, "check", "prod", "--shard", f"{i}/3").status for i in (1, 2, 3)]
    home = namespace_number("vision", 3)
    assert found == [3 if i == home else 0 for i in (1, 2, 3)]


EDITED = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: model-005-predictor\n  namespace: ads\n"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("spoil", "namespace"),
    [
        (lambda tree: (tree / "ads/model-005/deployment-model-005-predictor.yaml").unlink(), "ads"),
        (lambda tree: (tree / "ads/model-005/deployment-model-005-predictor.yaml").write_text("kind: X\n"), "ads"),
        (lambda tree: (tree / "ads/model-005/deployment-model-005-predictor.yaml").write_text(EDITED), "ads"),
        (lambda tree: (tree / "ads/kustomization.yaml").unlink(), "ads"),
        (lambda tree: [path.unlink() for path in (tree / "ads/model-005").iterdir()], "ads"),
        (lambda tree: (tree / "fraud/extra.yaml").write_text("kind: X\n"), "fraud"),
        (lambda tree: (tree / "kustomization.yaml").write_text("resources: []\n"), None),
        (lambda tree: (tree / INDEX).unlink(), None),
    ],
    ids=["missing", "no object", "edited", "kustomization", "service", "foreign", "top", "index"],
)
def test_a_flaw_of_a_tree_is_told_by_the_part_that_answers_for_it(plain: Path, spoil, namespace: str | None) -> None:
    """Whatever is wrong with a tree, the part of the namespace alone says so, and all parts of what all make."""
    spoil(plain / "rendered/prod")
    found = [kservec(plain, "check", "--shard", f"{i}/3").status for i in (1, 2, 3)]
    assert found == [3 if namespace is None or namespace_number(namespace, 3) == i else 0 for i in (1, 2, 3)]


@pytest.mark.slow
def test_what_the_index_says_of_a_file_is_checked_by_its_part(plain: Path) -> None:
    """Another hash or owner, or a line that is gone: nobody else answers for them."""
    index = plain / "rendered/prod" / INDEX
    text = index.read_text()
    line = next(line for line in text.splitlines(keepends=True) if '"ads/model-005/deployment' in line)
    for other in ("", line.replace('"sha256": "', '"sha256": "0'), line.replace('"ads/Inf', '"fraud/Inf')):
        index.write_text(text.replace(line, other))
        found = {i: kservec(plain, "check", "--shard", f"{i}/3").status for i in (1, 2, 3)}
        assert found[namespace_number("ads", 3)] == 3
        assert sorted(found.values()) == [0, 0, 3], other


def test_a_service_that_is_gone_is_noticed_by_its_part(plain: Path) -> None:
    """What is left of it in the tree belongs to the namespace."""
    (plain / "services/model-004.yaml").unlink()
    home = namespace_number("vision", 3)
    found = [kservec(plain, "check", "--shard", f"{i}/3").status for i in (1, 2, 3)]
    assert found == [3 if i == home else 0 for i in (1, 2, 3)]


def test_lint_by_parts(plain: Path) -> None:
    """Each part is linted on its own, and a broken service fails the part that holds it."""
    spec = plain / "services/model-004.yaml"
    spec.write_text(spec.read_text().replace("s3://", "nope://"))
    home = namespace_number("vision", 3)
    found = [kservec(plain, "lint", "--shard", f"{i}/3").status for i in (1, 2, 3)]
    assert found == [1 if i == home else 0 for i in (1, 2, 3)]


def test_files_without_a_project(tmp_path: Path) -> None:
    """Parts of files are built, joined and checked alike."""
    for source in (*working_environment(20), *target().platform):
        (tmp_path / source.name).parent.mkdir(exist_ok=True)
        (tmp_path / source.name).write_bytes(source.content)
    files = ("services", "--platform", "platform")
    assert kservec(tmp_path, "build", *files, "--output", "whole").status == 0
    for i in (1, 2):
        assert kservec(tmp_path, "build", *files, "--shard", f"{i}/2", "--output", f"part{i}").status == 0
        assert kservec(tmp_path, "check", *files, "--shard", f"{i}/2", "--output", "whole").status == 0
    assert kservec(tmp_path, "build", "--join", "part1", "--join", "part2", "--output", "joined").status == 0
    assert tree(tmp_path / "joined") == tree(tmp_path / "whole")
    for layout, output, status in (("single", "one", 0), ("tree", "part1", 2)):
        ran = kservec(tmp_path, "build", "--join", "part1", "--join", "part2", "--output", output, "--layout", layout)
        assert ran.status == status, ran.err
    assert ran.err.startswith("error: --output part1: it holds the input part1; choose a folder of its own")
    assert kservec(tmp_path, "build", *files, "--layout", "single", "--output", "expected").status == 0
    assert tree(tmp_path / "one") == tree(tmp_path / "expected")


def test_parts_that_do_not_fit_are_not_joined(plain: Path) -> None:
    """A part is missing, of other inputs, was changed, or is none: each is said, and nothing is written."""
    before = tree(plain / "rendered")
    parts = built(plain, 1, 2, 3)
    missing = kservec(plain, "build", "prod", *parts[:4])
    assert (missing.status, "missing: 3/3" in missing.err) == (2, True)
    twice = kservec(plain, "build", "prod", *parts, *parts[:2])
    assert (twice.status, "part 1/3 is there twice, in parts/1; name each part once" in twice.err) == (2, True)
    edited = plain / "parts/3"
    path = next(p for p in sorted(edited.rglob("deployment-*.yaml")))
    path.write_text(path.read_text() + "# by hand\n")
    changed = kservec(plain, "build", "prod", *parts)
    assert (changed.status, "is not what kservec wrote" in changed.err) == (2, True)
    none = kservec(plain, "build", "prod", "--join", "services")
    assert (none.status, "--join takes what kservec build --shard wrote" in none.err) == (2, True)
    tree_itself = kservec(plain, "build", "prod", "--join", "rendered/prod")
    assert (tree_itself.status, "is no part that kservec build --shard wrote" in tree_itself.err) == (2, True)
    assert tree(plain / "rendered") == before


@pytest.mark.slow
def test_parts_of_different_inputs_are_not_joined(plain: Path) -> None:
    """Half of one commit and half of another is a tree that nobody meant: of a spec, what comes next, or the lock."""
    spec, coming, lock = (plain / name for name in ("services/model-004.yaml", "next.yaml", "kservec.lock.json"))
    coming.write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca}\n")
    lock.write_text('{"apiVersion": "kservec.dev/v1alpha1", "kind": "Lock", "images": {}}\n')
    text = PROJECT.replace("prod: {}", 'prod: {upgrade: {platform: [next.yaml], only: ["*"]}}')
    (plain / "kservec.yaml").write_text(text)
    for path, old, new in ((spec, "/4/v1", "/4/v2"), (coming, "name: ca", "name: other"), (lock, "{}", "{ }")):
        parts = built(plain, 1, 2)
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new))
        ran = kservec(plain, "build", "prod", *parts, *built(plain, 3))
        assert (ran.status, "not made of the same inputs" in ran.err) == (2, True), path


def test_parts_that_are_older_than_the_files_are_joined_with_a_warning(plain: Path) -> None:
    """It says so where the files are at hand, and nothing while they are what the parts were made of."""
    parts = built(plain, 1, 2, 3)
    slug = "output/parts-of-other-inputs"
    fresh = kservec(plain, "build", "prod", *parts)
    assert (fresh.status, slug in fresh.err, "up to date" in fresh.err) == (0, False, True), fresh.err
    spec = plain / "services/model-004.yaml"
    spec.write_text(spec.read_text().replace("/4/v1", "/4/v2"))
    old = kservec(plain, "build", "prod", *parts)
    assert (old.status, f"warning[{slug}]" in old.err) == (0, True), old.err
    shutil.rmtree(plain / "services")
    away = kservec(plain, "build", "prod", *parts)
    assert (away.status, slug in away.err) == (0, False), away.err


def test_a_part_never_takes_the_place_of_a_whole_tree(plain: Path) -> None:
    """Neither where an environment's tree belongs, nor over any tree that is whole; over a part of before it may."""
    before = sorted(str(path) for path in (plain / "rendered").rglob("*"))
    for output, said in (("rendered/prod", "holds a whole tree"), ("copy", "holds a whole tree")):
        if output == "copy":
            shutil.copytree(plain / "rendered/prod", plain / "copy")
        ran = kservec(plain, "build", "prod", "--shard", f"1/{COUNT}", "--output", output)
        assert (ran.status, said in ran.err) == (2, True), ran.err
    assert sorted(str(path) for path in (plain / "rendered").rglob("*")) == before
    shutil.rmtree(plain / "rendered")
    ran = kservec(plain, "build", "prod", "--shard", f"1/{COUNT}", "--output", "rendered/prod")
    assert (ran.status, "where the whole tree of prod belongs" in ran.err) == (2, True), ran.err
    assert not (plain / "rendered").exists()
    for _ in range(2):
        assert kservec(plain, "build", "prod", "--shard", f"1/{COUNT}", "--output", "part").status == 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--shard", "4/3", "--output", "p"), "is no part"),
        (("--shard", "0/3", "--output", "p"), "is no part"),
        (("--shard", "two", "--output", "p"), "is no part"),
        (("--shard", "1/3"), "--shard goes with --output"),
        (("--shard", "1/3", "--stdout"), "exclude each other"),
        (("--shard", "1/3", "--oci", "o"), "exclude each other"),
        (("--shard", "1/3", "--output", "p", "--join", "services"), "exclude each other"),
        (("--shard", "1/3", "--output", "rendered"), "rendered"),
    ],
)
def test_parts_that_cannot_be(plain: Path, arguments: tuple[str, ...], said: str) -> None:
    """Each is refused as wrong usage, with what is wrong."""
    ran = kservec(plain, "build", "prod", *arguments)
    assert ran.status == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("services",), "--join compiles nothing, and services is to be compiled; each part takes a --join of its own"),
        (("-",), "--join compiles nothing, and - is to be compiled"),
        (("--platform", "platform"), "--join compiles nothing, so --platform has no effect"),
        (("--catalog", "none"), "--join compiles nothing, so --catalog has no effect"),
        (("--jobs", "2"), "--join compiles nothing, so --jobs has no effect"),
        (("--cache", "kept"), "--join compiles nothing, so --cache has no effect"),
    ],
)
def test_what_joining_has_no_use_for_is_refused(tmp_path: Path, arguments: tuple[str, ...], said: str) -> None:
    """A part without its own --join is taken for something to compile, and was passed over."""
    for folder in ("services", "platform", "part1"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "a.yaml").write_text("a: 1\n")
    ran = kservec(tmp_path, "build", "--join", "part1", *arguments, "--output", "joined")
    assert (ran.status, (tmp_path / "joined").exists()) == (2, False)
    assert said in ran.err


@pytest.mark.parametrize(
    ("setting", "said"), [("patches: patches", "patches"), ("", "single file")], ids=["patches", "single"]
)
def test_environments_that_have_no_parts(tmp_path: Path, setting: str, said: str) -> None:
    """A patch may look at all objects, and a single file lies in one place."""
    (tmp_path / "services").mkdir()
    (tmp_path / "patches").mkdir()
    (tmp_path / "patches/kustomization.yaml").write_text("patches: []\n")
    text = PROJECT.replace("platform: [platform]\n", "").replace("prod: {}", f"prod: {{{setting}}}")
    (tmp_path / "kservec.yaml").write_text(text + ("" if setting else "layout: single\n"))
    ran = kservec(tmp_path, "check", "--shard", "1/2")
    assert ran.status == 2
    assert said in ran.err


def made(namespace: str, text: str = "apiVersion: v1\nkind: Node\nmetadata:\n  name: n\n") -> Rendered:
    """An object of the cluster that a service in a namespace leads to."""
    return Rendered(ObjectRef("v1", "Node", "", "n"), text, ObjectRef("", "InferenceService", namespace, "s"))


def part(number: int, *objects: Rendered) -> Part:
    """A part as it is read back."""
    files = marked_part(planned_tree(objects), mark_text("prod", Share(number, 2), "same"))
    return Part(f"part{number}", files, read_index(files[INDEX].decode()))


def test_two_parts_that_lead_to_one_object_are_not_joined() -> None:
    """No part alone can see it; shared objects that are alike are one."""
    with pytest.raises(UnfitPartError, match=r"a/InferenceService/s in part1 and b/InferenceService/s in part2 both"):
        joined([part(1, made("a")), part(2, made("b"))], "prod")
    shared = made("a")._replace(shared=True)
    assert [o.ref for o in joined([part(1, shared), part(2, shared)], "prod")] == [shared.ref]
    other = shared._replace(text=shared.text + "spec: {}\n")
    with pytest.raises(UnfitPartError):
        joined([part(1, shared), part(2, other)], "prod")


def test_parts_of_another_environment_are_not_joined() -> None:
    """Staging's tree must not become production's."""
    with pytest.raises(UnfitPartError, match="part1 is a part of prod, not of staging"):
        joined([part(1), part(2)], "staging")
    with pytest.raises(UnfitPartError, match="part1 is a part of prod, not of files"):
        joined([part(1), part(2)], "")


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        ((1,), "missing: 2/2; name the folder"), ((2,), "missing: 1/2; name the folder"),
        ((2, 2), "part 2/2 is there twice, in part2; name"), ((1, 2, 1), "part 1/2 is there twice, in part1; name"),
    ],
)  # fmt: skip
def test_each_part_is_named_once(numbers: tuple[int, ...], said: str) -> None:
    """What is missing and what is there twice are told apart."""
    with pytest.raises(UnfitPartError, match=said):
        joined([part(number) for number in numbers], "prod")


def test_parts_in_other_folders_and_of_other_numbers() -> None:
    """Of the same part in two folders both are named, and so are parts of a whole that was shared out otherwise."""
    copy, third = part(1)._replace(folder="copy"), marked_part(planned_tree(()), mark_text("prod", Share(3, 3), "same"))
    with pytest.raises(UnfitPartError, match="part 1/2 is there twice, in part1 and copy; name each"):
        joined([part(1), copy, part(2)], "prod")
    with pytest.raises(UnfitPartError, match="part1 is part 1/2, and third is part 3/3"):
        joined([part(1), Part("third", third, read_index(third[INDEX].decode()))], "prod")


@pytest.mark.parametrize(
    "mark",
    [
        "[]", "{}", "null", "x", "\xff", "[" * 100_000, '{"part": "1/2", "environment": "prod"}',
        '{"part": 1, "environment": "prod", "inputs": "same"}', '{"part": "1/2", "environment": [], "inputs": "same"}',
        '{"part": "01/2", "environment": "prod", "inputs": "same"}',
        '{"part": "3/2", "environment": "prod", "inputs": "same"}',
    ],
    ids=range(11),
)  # fmt: skip
def test_a_mark_that_nobody_of_ours_wrote(mark: str) -> None:
    """Whatever stands in it, the folder is no part."""
    files = {**part(1).files, MARK: mark.encode("latin-1")}
    with pytest.raises(UnfitPartError, match="odd is no part that kservec build --shard wrote"):
        joined([part(2), Part("odd", files, part(1).entries)], "prod")


def test_a_name_that_was_edited_by_hand_is_no_bug() -> None:
    """A check of one part looks at the files of others, whatever became of them."""
    head = "apiVersion: v1\nkind: Node\nmetadata:\n  name: {}\n"
    known = made("a", head.format("n"))
    for name in ('"n', '"\\q"', "n\n  namespace: 'x", "[n]"):
        assert rendered_from(known.path, head.format(name), known.possessor) is None
    assert rendered_from(known.path, known.text, known.possessor) == known


@pytest.mark.parametrize("case", [case for case in cases() if (case.folder / EXPECT).is_dir()], ids=str)
def test_an_object_is_found_again_in_its_file(case: Case) -> None:
    """Its identity, place and possessor follow from the path, the text and the index, for every golden object."""
    for known in compiled(case).objects:
        found = rendered_from(known.path, known.text, known.possessor)
        assert found is not None
        assert (found.ref, found.path, found.possessor) == (known.ref, known.path, known.possessor)


def test_what_is_no_object_is_not_found() -> None:
    """A file that somebody wrote by hand belongs to no part's objects."""
    for text in ("", "kind: X\n", "apiVersion: v1\nkind: Node\nmetadata:\n  name: other\n"):
        assert rendered_from("_cluster/node-n.yaml", text, "_cluster") is None
