"""`kservec init`: what it lays down builds at once, and nothing of the user's is ever touched."""

from __future__ import annotations

import re
import shutil
import subprocess
from itertools import product
from typing import TYPE_CHECKING, Any

import jsonschema
import pytest
from tests import libyaml

from kservec.io.packaged import packaged_own_schema
from kservec.project.reading import read_project
from kservec.scaffold.choices import CI_SYSTEMS, MODES, TOOLS

from .running import SERVICE, kservec, tree

if TYPE_CHECKING:
    from pathlib import Path

GIT = shutil.which("git")
NEEDS_GIT = pytest.mark.skipif(GIT is None, reason="there is no git")
OPTION = re.compile(r"^#(?=\S|  )", re.MULTILINE)
"""Where an option is commented out; prose has one space after the mark."""


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder."""
    command = [str(GIT), "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout  # noqa: S603


@NEEDS_GIT
def test_the_first_minutes(tmp_path: Path) -> None:
    """Init, build, commit: no findings at all, and a second build has nothing to do."""
    ran = kservec(tmp_path, "init", "demo")
    assert (ran.status, ran.out) == (0, "")
    demo = tmp_path / "demo"
    git(demo, "init", "-q", "-b", "main")
    built = kservec(demo, "build", "--notes")
    assert re.fullmatch(r"rendered/dev: \d+ files written\nrendered/prod: \d+ files written\n", built.err), built.err
    git(demo, "add", "-A")
    git(demo, "commit", "-q", "-m", "first")
    assert kservec(demo, "build").err == "rendered/dev: up to date\nrendered/prod: up to date\n"
    assert git(demo, "status", "--porcelain") == ""
    assert "no errors: " in kservec(demo, "lint").err
    route = "ml/iris/httproute-iris.yaml"
    assert b"iris-ml.dev.models.example.com" in (demo / "rendered/dev" / route).read_bytes()
    assert b"iris-ml.models.example.com" in (demo / "rendered/prod" / route).read_bytes()


@NEEDS_GIT
def test_what_ci_says_of_the_first_change(tmp_path: Path) -> None:
    """The committed trees pass, a changed spec does not until it is built, and the change can be told."""
    kservec(tmp_path, "init", ".")
    git(tmp_path, "init", "-q", "-b", "main")
    kservec(tmp_path, "build")
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-q", "-m", "first")
    assert kservec(tmp_path, "check").status == 0
    service = tmp_path / "services" / "iris.yaml"
    service.write_text(service.read_text().replace("minReplicas: 1", "minReplicas: 2"))
    assert kservec(tmp_path, "check").status == 3
    assert kservec(tmp_path, "build").status == 0
    assert kservec(tmp_path, "check").status == 0
    told = kservec(tmp_path, "diff", "main", "--format", "markdown")
    assert "HorizontalPodAutoscaler ml/iris-predictor" in told.out


@pytest.mark.parametrize(("tool", "ci", "mode"), [*zip(TOOLS, [*CI_SYSTEMS, "gitlab"], [*MODES, *MODES], strict=True)])
def test_every_choice_builds_without_findings(tmp_path: Path, tool: str, ci: str, mode: str) -> None:
    """Whatever is chosen, there is nothing to complain of."""
    kservec(tmp_path, "init", "demo", "--gitops", tool, "--ci", ci, "--mode", mode)
    ran = kservec(tmp_path / "demo", "lint")
    assert re.fullmatch(r"no errors: \d+ objects in 2 environments\n", ran.err), ran.err


def test_the_choices_show(tmp_path: Path) -> None:
    """The files of the CI system, the tool in the project file, and what to do about it in the README."""
    for tool, ci in product(TOOLS, CI_SYSTEMS):
        folder = tmp_path / tool / ci
        kservec(tmp_path, "init", str(folder), "--gitops", tool, "--ci", ci)
        assert (folder / ".github/workflows/kservec.yaml").exists() == (ci == "github")
        assert (folder / ".gitlab-ci.yml").exists() == (ci == "gitlab")
        project = libyaml.load((folder / "kservec.yaml").read_text())
        assert project.get("gitops", {}).get("tool", "none") == tool
        readme = (folder / "README.md").read_text()
        assert ("## Argo CD" in readme, "## Flux" in readme) == (tool in ("argocd", "both"), tool in ("flux", "both"))
        assert "<<" not in "".join(text.decode() for text in tree(folder).values())


def uncommented(text: str) -> str:
    """A project file in which every option is set."""
    return OPTION.sub("", text)


def test_every_option_stands_there_at_its_default(tmp_path: Path) -> None:
    """Setting all that is commented out changes nothing, and sets every field of the schema."""
    kservec(tmp_path, "init", "--repo-url", "https://git.example.com/ml.git")
    text = (tmp_path / "kservec.yaml").read_text()
    before, after = (read_project(t.encode(), "kservec.yaml") for t in (text, uncommented(text)))
    assert (before[1], after[1]) == ((), ())
    assert before[0] is not None
    assert after[0] is not None
    assert repr(after[0].environments) == repr(before[0].environments)
    schema = libyaml.load(packaged_own_schema("project"))
    value = libyaml.load(uncommented(text))
    assert missing(schema, value) == {"metadata"}
    jsonschema.Draft202012Validator(schema).validate(value)


def missing(schema: dict[str, Any], value: dict[str, Any]) -> set[str]:
    """Fields of a schema that a value does not have, and fields of those; what is deeper the docs tell."""
    found = set()
    for name, child in schema["properties"].items():
        inner = schema["$defs"].get(child.get("$ref", "").rpartition("/")[2], child)
        if name not in value:
            found.add(name)
        else:
            found |= {f"{name}.{below}" for below in inner.get("properties", {}) if below not in value[name]}
    return found


def test_what_editors_read(tmp_path: Path) -> None:
    """The schemas that the first lines name are there, and the documents are valid by them."""
    kservec(tmp_path, "init")
    for path in ("kservec.yaml", "platform/common/cluster.yaml", "platform/prod/cluster.yaml"):
        text = (tmp_path / path).read_text()
        named = text.partition("$schema=")[2].partition("\n")[0]
        schema = libyaml.load((tmp_path / path).parent.joinpath(named).read_text())
        jsonschema.Draft202012Validator(schema).validate(libyaml.load(text))


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    """It says that all is there already."""
    kservec(tmp_path, "init")
    before = tree(tmp_path)
    ran = kservec(tmp_path, "init")
    assert (ran.status, ran.err, tree(tmp_path)) == (0, ".: up to date\n", before)


def test_what_is_there_stays(tmp_path: Path) -> None:
    """Files of the user's are kept and named, links are not followed, and no samples come between their services."""
    (tmp_path / "README.md").write_text("mine\n")
    (tmp_path / ".gitattributes").symlink_to("nowhere")
    (tmp_path / "services").mkdir()
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    ran = kservec(tmp_path, "init")
    assert ran.status == 0
    assert "kept as it is: README.md" in ran.err
    assert "should have the line: rendered/** -text linguist-generated" in ran.err
    assert "no samples where there is something already: services/assistant.yaml, services/iris.yaml" in ran.err
    assert (tmp_path / "README.md").read_text() == "mine\n"
    assert not (tmp_path / "nowhere").exists()
    assert [path.name for path in (tmp_path / "services").iterdir()] == ["fraud.yaml"]
    assert kservec(tmp_path, "build").status == 0


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    """It is named, without a traceback."""
    (tmp_path / "platform").write_text("a file\n")
    ran = kservec(tmp_path, "init")
    assert (ran.status, "cannot write" in ran.err, "platform" in ran.err) == (2, True, True)


@NEEDS_GIT
@pytest.mark.parametrize(
    ("remote", "written"),
    [
        ("git@git.example.com:team/ml.git", "git@git.example.com:team/ml.git"),
        ("https://user:token@git.example.com/ml.git", "https://git.example.com/ml.git"),
        ("ssh://git@git.example.com/ml.git", "ssh://git@git.example.com/ml.git"),
    ],
)
def test_the_repository_is_that_of_the_remote(tmp_path: Path, remote: str, written: str) -> None:
    """Without the credentials that it may hold."""
    git(tmp_path, "init", "-q")
    git(tmp_path, "remote", "add", "origin", remote)
    kservec(tmp_path, "init", "ml")
    assert libyaml.load((tmp_path / "ml/kservec.yaml").read_text())["gitops"]["repoURL"] == written
    assert not [path for path, content in tree(tmp_path / "ml").items() if b"token@" in content]


def test_in_a_folder_of_a_repository(tmp_path: Path) -> None:
    """What counts at the top alone is told to be moved there."""
    (tmp_path / ".git").mkdir()
    assert "move them there, and let them work in ml" in kservec(tmp_path, "init", "ml").err
    assert "move them there" not in kservec(tmp_path, "init", ".").err


def test_below_the_top_the_tools_are_told_where(tmp_path: Path) -> None:
    """Argo CD and Flux count from the top of the repository; at the top nothing needs to be said."""
    (tmp_path / ".git").mkdir()
    kservec(tmp_path, "init", "ml/.models: a", "--repo-url", "https://git.example.com/ml.git")
    folder = tmp_path / "ml" / ".models: a"
    project = libyaml.load((folder / "kservec.yaml").read_text())
    assert project["gitops"]["path"] == "ml/.models: a/rendered/{env}"
    assert "path-from-top" not in kservec(folder, "lint").err
    kservec(tmp_path, "init", ".")
    assert "path" not in libyaml.load((tmp_path / "kservec.yaml").read_text())["gitops"]


def test_an_empty_folder_is_none(tmp_path: Path) -> None:
    """It is what a variable of the shell becomes that is not set."""
    ran = kservec(tmp_path, "init", "")
    assert (ran.status, "DIR is empty" in ran.err, list(tmp_path.iterdir())) == (2, True, [])


def test_what_to_type_next_can_be_typed(tmp_path: Path) -> None:
    """A folder whose name the shell would take apart is quoted."""
    assert "cd 'a b/ü' && kservec build" in kservec(tmp_path, "init", "a b/ü").err


@pytest.mark.parametrize("name", ["project", "cluster"])
def test_schemas_are_those_that_are_printed(tmp_path: Path, name: str) -> None:
    """To the byte, so that writing them anew changes nothing."""
    kservec(tmp_path, "init")
    assert (tmp_path / ".schemas" / f"{name}.json").read_text() == kservec(tmp_path, "schema", name).out


def test_flux_gets_a_url_that_it_takes(tmp_path: Path) -> None:
    """It knows no short forms of SSH."""
    for tool, url in (("argocd", "git@host:team/ml.git"), ("flux", "ssh://git@host/team/ml.git")):
        kservec(tmp_path, "init", tool, "--gitops", tool, "--repo-url", "git@host:team/ml.git")
        assert libyaml.load((tmp_path / tool / "kservec.yaml").read_text())["gitops"]["repoURL"] == url


def test_an_odd_name_of_the_folder_breaks_nothing(tmp_path: Path) -> None:
    """The texts then speak of models."""
    kservec(tmp_path, "init", 'a: "b" <<x>>')
    folder = tmp_path / 'a: "b" <<x>>'
    assert kservec(folder, "lint").status == 0
    assert (folder / "README.md").read_text().startswith("# models\n")


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl, which has kustomize built in")
def test_overlays_are_kustomizations(tmp_path: Path) -> None:
    """With --overlays each environment is one over the services, which kustomize can build."""
    kservec(tmp_path, "init", "--overlays")
    project = libyaml.load((tmp_path / "kservec.yaml").read_text())
    assert [environment["overlay"] for environment in project["environments"].values()] == [
        "overlays/dev",
        "overlays/prod",
    ]
    command = [str(shutil.which("kubectl")), "kustomize", "overlays/prod"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)  # noqa: S603
    replicas = {d["metadata"]["name"]: d["spec"]["predictor"]["minReplicas"] for d in libyaml.load_all(done.stdout)}
    assert replicas == {"assistant": 1, "iris": 2}
