"""Upgrades foreseen: what a preview says against what two builds make, also of services that are refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from kservec.api import File, Target, Upgrade, inputs_of, plugs
from kservec.compare.forecast import INTERRUPTING
from kservec.compare.upgrade import Preview
from kservec.compare.upgrade_report import markdown_of_upgrade
from kservec.compilation import first_stage, split
from kservec.compilation import front_of as staged_front
from kservec.core.diagnostics import Diagnostic, Span
from kservec.environments import Rendering, render
from kservec.io.crew import several
from kservec.io.packaged import packaged_schemas
from kservec.io.reading import read_files
from kservec.io.workspace import Workspace, open_workspace
from kservec.previewing import Wanted, preview
from kservec.project.upgrade import SELECTS_NOTHING
from kservec.recall import keys_of
from kservec.spec.selection import Selection, selection_of

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))
from benchmarks.services import services, target  # noqa: E402 - the folder is no package of the distribution

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
platform: [platform]
{more}environments:
  prod: {{}}
"""
MANY = 1000
NAMESPACES = 20
CATALOG = ROOT / "runtimes" / "catalog" / "0.21"


def project(folder: Path, count: int, more: str = "") -> Workspace:
    """A project of so many services, four formats of them in turn, in twenty namespaces."""
    for file in (*services(count), *(f._replace(name=f"platform/{f.name}") for f in target().platform)):
        path = folder / file.name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(file.content)
    (folder / "kservec.yaml").write_text(PROJECT.format(more=more))
    return opened(folder)


def opened(folder: Path) -> Workspace:
    """The project of a folder."""
    workspace = open_workspace(folder / "kservec.yaml", 1 << 24).workspace
    assert workspace is not None
    return workspace


def changed_catalog(folder: Path) -> str:
    """A file with one line of the catalog changed: the image of the runtime for scikit-learn."""
    text = (CATALOG / "kserve-sklearnserver.yaml").read_text()
    (folder / "next").mkdir()
    path = folder / "next" / "sklearn.yaml"
    path.write_text(text.replace("kserve/sklearnserver:v0.21.0", "kserve/sklearnserver:v0.21.1"))
    return str(path)


def seen(workspace: Workspace, wanted: Wanted) -> Preview:
    """What an upgrade would do, against what is on disk."""
    found = preview(workspace, render(workspace, "prod"), wanted, None)
    assert isinstance(found, Preview), [d.message for d in found.diagnostics if d.is_error]
    return found


def templates(rendering: Rendering) -> dict[str, Any]:
    """The pod template of every Deployment, by its name."""
    bodies = [libyaml.load(o.text) for o in rendering.objects if o.ref.kind == "Deployment"]
    return {f"{b['metadata']['namespace']}/{b['metadata']['name']}": b["spec"]["template"] for b in bodies}


@pytest.fixture(name="many", scope="module")
def many_fixture(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Preview, str]:
    """A thousand services, and what a changed line of the catalog would do to them."""
    folder = tmp_path_factory.mktemp("many")
    # A runtime of the platform is the user's, who gets no settings of Pod Security; here one line is to change alone.
    workspace, path = project(folder, MANY, "security: {podSecurity: privileged}\n"), changed_catalog(folder)
    return workspace, seen(workspace, Wanted(platform=read_files([path], 1 << 24), paths=(path,))), path


@pytest.mark.slow
def test_a_thousand_services(many: tuple[Workspace, Preview, str]) -> None:
    """The forecast is just the set of pod templates that differ when the changed line is really in the platform."""
    workspace, found, path = many
    before = templates(render(workspace, "prod"))
    (workspace.root / "platform" / "sklearn.yaml").write_bytes(Path(path).read_bytes())
    after = templates(render(opened(workspace.root), "prod"))
    differing = {name for name in before if before[name] != after[name]}
    foreseen = {f"{e.ref.namespace}/{e.ref.name}" for e in found.comparison.effects if e.verb in INTERRUPTING}
    assert foreseen == differing
    assert len(differing) == MANY // 4
    assert before.keys() == after.keys()


@pytest.mark.slow
def test_a_comment_holds_what_there_is_room_for(many: tuple[Workspace, Preview, str]) -> None:
    """GitHub takes no longer comment: what weighs most comes first, and what is left out is counted."""
    _, found, _ = many
    warned = found._replace(warnings=(Diagnostic(code=SELECTS_NOTHING, message="m", span=Span("a.yaml", 1)),))
    comment = markdown_of_upgrade([warned], "main")
    assert len(comment.encode()) <= 65_536
    assert comment.count("model-") == 200
    assert "\nand 50 more\n" in comment
    assert "a.yaml:1: warning\\[upgrade/selects-nothing\\]: m" in comment
    short = markdown_of_upgrade([warned], "main", 1000)
    assert len(short.encode()) <= 1000
    assert short.endswith("shows all of them._\n")
    assert "Truncated: 1 entry more" in short


@pytest.mark.slow
def test_one_line_is_one_cause(many: tuple[Workspace, Preview, str]) -> None:
    """All of it comes from the line of the image, and is told once with its services."""
    _, found, path = many
    (cause,) = found.causes
    line = next(i for i, text in enumerate(Path(path).read_text().splitlines(), 1) if "image:" in text)
    assert cause.place.span is not None
    assert (cause.place.span.file, cause.place.span.line) == (path, line)
    assert (cause.before, cause.after) == ("kserve/sklearnserver:v0.21.0", "kserve/sklearnserver:v0.21.1")
    assert len(cause.services) == len(cause.interrupted) == MANY // 4


def test_the_services_that_are_chosen(tmp_path: Path) -> None:
    """With a selection only these are foreseen, and a build with them in kservec.yaml makes just that."""
    workspace, path = project(tmp_path, 40), changed_catalog(tmp_path)
    chosen = selection_of("team-0")
    assert chosen is not None
    found = seen(workspace, Wanted(platform=read_files([path], 1 << 24), paths=(path,), only=(chosen,)))
    before = templates(render(workspace, "prod"))
    more = "upgrade: {platform: [next], only: [team-0]}\n"
    (tmp_path / "kservec.yaml").write_text(PROJECT.format(more=more))
    after = templates(render(opened(tmp_path), "prod"))
    differing = {name for name in before if before[name] != after[name]}
    assert differing == {f"{e.ref.namespace}/{e.ref.name}" for e in found.interrupted}
    assert {name.partition("/")[0] for name in differing} == {"team-0"}


def test_an_upgrade_that_all_have_is_the_platform_itself(tmp_path: Path) -> None:
    """When every service is chosen, the tree is that of a project in which what came next is what holds."""
    changed_catalog(tmp_path)
    project(tmp_path, 12, 'kserve: "0.20"\n')
    both = 'kserve: "0.20"\nupgrade: {kserve: "0.21", platform: [next], only: ["*"]}\n'
    trees = []
    for more in (both, 'kserve: "0.21"\n'):
        text = PROJECT.format(more=more)
        (tmp_path / "kservec.yaml").write_text(
            text if more is both else text.replace("platform: [platform]", "platform: [platform, next]")
        )
        trees.append(render(opened(tmp_path), "prod"))
    staged, done = trees
    assert staged.tree == done.tree
    assert [d.code.slug for d in staged.diagnostics if d.code.slug.startswith("upgrade/")] == ["upgrade/complete"]


def test_what_needs_a_hand(tmp_path: Path) -> None:
    """A service that the next version refuses is named, and of the others all is told."""
    project(tmp_path, 4)
    text = (tmp_path / "services" / "model-00001.yaml").read_text()
    (tmp_path / "services" / "model-00001.yaml").write_text(text.replace("s3://models", "oci+fetch://registry/models"))
    found = seen(opened(tmp_path), Wanted(profile="0.20"))
    assert found.refused == ("InferenceService team-1/model-00001",)
    assert {d.code.slug for d in found.by_hand} == {"profile/not-in-this-version"}
    owners = {owner for cause in found.causes for owner in cause.services}
    assert owners == {f"team-{i}/InferenceService/model-0000{i}" for i in (0, 2, 3)}


def test_a_broken_platform_is_told(tmp_path: Path) -> None:
    """Where the coming platform itself is wrong, nothing can be foreseen, and its errors are the answer."""
    workspace = project(tmp_path, 2)
    (tmp_path / "next.yaml").write_text("apiVersion: serving.kserve.io/v1alpha1\nkind: ClusterServingRuntime\n"
                                        "metadata: {name: a}\nspec: {containers: 1}\n")  # fmt: skip
    files = read_files([str(tmp_path / "next.yaml")], 1 << 24)
    found = preview(workspace, render(workspace, "prod"), Wanted(platform=files), None)
    assert isinstance(found, Rendering)
    assert [d.span.file for d in found.diagnostics if d.is_error and d.span] == [str(tmp_path / "next.yaml")]


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_several_processes_make_the_same(tmp_path: Path, method: str) -> None:
    """However workers are started, the tree of a stage is that of one process."""
    changed_catalog(tmp_path)
    workspace = project(tmp_path, 70, "upgrade: {platform: [next], only: [team-0, team-1]}\n")
    shared = render(workspace, "prod", crew=several(2, method, least=1))
    assert shared.tree == render(workspace, "prod").tree


def test_what_is_recalled_is_of_one_version() -> None:
    """The keys of a run hang on the version of KServe, and an upgrade under way has none."""
    files, upgrade = services(2), Upgrade(only=(Selection("team-0", namespace="team-0"),))
    bases = [base_of(files, Target(profile=profile)) for profile in ("0.20", "0.21")]
    assert None not in bases
    assert bases[0] != bases[1]
    assert base_of(files, Target(upgrade=upgrade)) is None


def base_of(files: list[File], cluster: Target) -> str | None:
    """The key of what the services of a run share; None where nothing can be recalled."""
    inputs, _ = inputs_of(files, cluster)
    front, _ = staged_front(inputs, packaged_schemas(), plugs())
    keys = [keys_of(shop, "stamp") for shop in split(front, first_stage(front, inputs))]
    return next((key.base for key in keys if key is not None), None)
