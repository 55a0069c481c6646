"""Trees that leave the repository: for a branch of their own, as an OCI artifact, through a plugin of Argo CD."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import libyaml

from kservec.project.reading import read_project

from .running import ROOT, SERVICE, environment, kservec, tree

PROJECT = """\
apiVersion: kservec.dev/v1alpha1
kind: Project
sources: [services]
gitops: {tool: argocd, repoURL: https://git.example.com/ml.git, revision: "environment/{env}", path: "."}
environments: {dev: {}, prod: {}}
"""
SHA = "0123456789abcdef0123456789abcdef01234567"
MESSAGE = """\
Fraud v8

Trained on März.

Argocd-reference-commit-sha: fedcba9876543210
Argocd-reference-commit-repourl: https://git.example.com/code.git
"""
PLUGIN = ROOT / "runtimes" / "images" / "cmp"


def git(folder: Path, *arguments: str, given: str = "") -> str:
    """Run git in a folder."""
    said = {"NAME": "Jo", "EMAIL": "jo@example.com", "DATE": "2026-01-02T03:04:05+01:00"}
    names = {f"GIT_{who}_{what}": said[what] for who in ("AUTHOR", "COMMITTER") for what in said}
    alone = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    command = ["git", "-C", str(folder), *arguments]
    done = subprocess.run(  # noqa: S603 - arguments of our own
        command, env=environment(**names, **alone), input=given, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.fixture(name="repo")
def repo_fixture(tmp_path: Path) -> Path:
    """A repository with a project of two environments and one service, committed."""
    repo = tmp_path / "repo"
    (repo / "services").mkdir(parents=True)
    (repo / "kservec.yaml").write_text(PROJECT)
    (repo / "services" / "fraud.yaml").write_text(SERVICE)
    git(repo, "init", "-q", "-b", "main")
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "-F", "-", given=MESSAGE)
    return repo


def test_a_hydrated_tree_names_the_commit_of_the_specs(repo: Path) -> None:
    """The metadata has what GitOps Promoter reads; the rest of the tree is as without it."""
    ran = kservec(repo, "build", "prod", "--hydrator", "-o", "../out")
    assert (ran.status, ran.out) == (0, ""), ran.err
    metadata = json.loads((repo.parent / "out" / "hydrator.metadata").read_text())
    assert metadata == {
        "drySha": git(repo, "rev-parse", "HEAD"),
        "repoURL": "https://git.example.com/ml.git",
        "author": "Jo <jo@example.com>",
        "date": "2026-01-02T03:04:05+01:00",
        "subject": "Fraud v8",
        "body": MESSAGE.partition("\n\n")[2].strip(),
        "references": [{"commit": {"sha": "fedcba9876543210", "repoURL": "https://git.example.com/code.git"}}],
    }
    hydrated = tree(repo.parent / "out")
    assert "up to date" in kservec(repo, "build", "prod", "--hydrator", "-o", "../out").err
    plain = kservec(repo, "build", "prod", "-o", "../out")
    assert "1 file removed" in plain.err
    without = tree(repo.parent / "out")
    index = "kservec.index.json"
    assert {k: v for k, v in hydrated.items() if k not in (index, "hydrator.metadata")} == {
        k: v for k, v in without.items() if k != index
    }
    assert (repo.parent / "out/_gitops/argocd/application-prod.payments.yaml").read_text().count(
        "path: payments\n"
    ) == 1


def test_a_commit_that_is_given_is_not_asked_for(tmp_path: Path) -> None:
    """Where there is no repository, --commit says which commit the specs are of."""
    (tmp_path / "services").mkdir()
    (tmp_path / "kservec.yaml").write_text(PROJECT)
    (tmp_path / "services" / "fraud.yaml").write_text(SERVICE)
    assert kservec(tmp_path, "build", "dev", "--hydrator", "--commit", SHA, "-o", "out").status == 0
    metadata = json.loads((tmp_path / "out" / "hydrator.metadata").read_text())
    assert metadata == {"drySha": SHA, "repoURL": "https://git.example.com/ml.git"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("build", "prod", "--hydrator"), "--hydrator goes with --output"),
        (("build", "--hydrator", "-o", "out"), "--output takes one environment; name one of dev, prod"),
        (("build", "prod", "--commit", SHA, "-o", "out"), "--commit goes with --hydrator or --oci"),
        (("build", "prod", "--hydrator", "--commit", "main", "-o", "out"), "give the full hash"),
        (("build", "prod", "--oci", "a", "-o", "out"), "--oci and --output exclude each other"),
        (("build", "services/fraud.yaml", "--oci", "a"), "--oci is for environments of a project"),
        (("build", "services/fraud.yaml", "--hydrator", "-o", "a"), "--hydrator is for environments of a project"),
        (("build", "prod", "--oci", "services"), "it holds the input services of the project"),
    ],
)
def test_wrong_usage(repo: Path, arguments: tuple[str, ...], said: str) -> None:
    """What makes no sense is refused with what to write, and nothing is written."""
    before = tree(repo)
    ran = kservec(repo, *arguments)
    assert (ran.status, tree(repo)) == (2, before)
    assert said in ran.err


def test_specs_that_differ_from_the_commit_are_refused(repo: Path) -> None:
    """The metadata would name a commit that the tree is not made of. Other files may differ."""
    (repo / "notes.txt").write_text("mine")
    assert kservec(repo, "build", "prod", "--hydrator", "-o", "../out").status == 0
    (repo / "services" / "fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    ran = kservec(repo, "build", "prod", "--hydrator", "-o", "../out")
    assert ran.status == 2
    assert "services/fraud.yaml differs from commit" in ran.err


def test_an_artifact_is_the_tree(repo: Path) -> None:
    """The digest that is told is that of the manifest; the same tree has the same digest, with a commit another one."""
    first, second = (kservec(repo, "build", "prod", "--oci", f"../{name}") for name in ("one", "two"))
    assert (first.status, second.status) == (0, 0), first.err
    assert first.err.replace("one", "two") == second.err
    found = re.fullmatch(r"\.\./one:argocd@sha256:(\w+)\n", first.err)
    assert found is not None
    manifest = (repo.parent / "one" / "blobs" / "sha256" / found[1]).read_bytes()
    assert hashlib.sha256(manifest).hexdigest() == found[1]
    assert json.loads(manifest)["annotations"] == {"org.opencontainers.image.title": "prod"}
    kservec(repo, "build", "prod", "--oci", "../one", "--commit", SHA)
    (listed,) = json.loads((repo.parent / "one" / "index.json").read_text())["manifests"]
    noted = json.loads((repo.parent / "one" / "blobs" / listed["digest"].replace(":", "/")).read_text())
    assert noted["annotations"]["org.opencontainers.image.revision"] == SHA
    assert noted["layers"] == json.loads(manifest)["layers"]


@pytest.mark.parametrize("option", [("--stdout",), ("--oci", "../out")])
def test_nothing_is_not_handed_on(repo: Path, option: tuple[str, ...]) -> None:
    """An empty output that looks like success would have everything pruned."""
    (repo / "services" / "fraud.yaml").write_text("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n")
    ran = kservec(repo, "build", "prod", *option)
    assert (ran.status, ran.out) == (2, "")
    assert "nothing was compiled" in ran.err
    assert kservec(repo, "build", "prod", *option, "--allow-empty").status == 0


def generate(folder: Path, **parameters: str) -> subprocess.CompletedProcess[str]:
    """Run what the plugin runs, with kservec on the path."""
    spec = libyaml.load((PLUGIN / "plugin.yaml").read_text())["spec"]["generate"]
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(  # noqa: S603 - the plugin's own command
        [*spec["command"], *spec["args"]], cwd=folder, env=environment(PATH=path, **parameters), capture_output=True,
        text=True, check=False,
    )  # fmt: skip


def test_the_plugin_prints_an_environment(repo: Path) -> None:
    """What is printed is the stream of the environment; findings go elsewhere."""
    done = generate(repo, PARAM_ENVIRONMENT="prod")
    assert done.returncode == 0, done.stderr
    assert done.stdout == kservec(repo, "build", "--stdout", "prod").out
    assert "kind: Application" not in done.stdout


@pytest.mark.parametrize("name", ["", "prdo", "../other", "--help", "./services", "a b", "$(id)"])
def test_the_plugin_refuses_what_is_no_environment(repo: Path, name: str) -> None:
    """It fails and prints nothing: an empty success would have everything pruned."""
    done = generate(repo, PARAM_ENVIRONMENT=name)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr


@pytest.mark.slow
def test_the_plugin_fails_on_errors(repo: Path) -> None:
    """Specs with an error, or none at all, print nothing and fail."""
    (repo / "services" / "fraud.yaml").write_text(SERVICE.replace("s3://models/fraud", "ftp://models/x"))
    assert (generate(repo, PARAM_ENVIRONMENT="prod").returncode, generate(repo, PARAM_ENVIRONMENT="prod").stdout) == (
        1,
        "",
    )
    (repo / "services" / "fraud.yaml").write_text("")
    assert (generate(repo, PARAM_ENVIRONMENT="prod").returncode, generate(repo, PARAM_ENVIRONMENT="prod").stdout) == (
        2,
        "",
    )


def test_the_plugin_is_what_argo_cd_expects() -> None:
    """Its kind, the discovery by the project file, a parameter that must be given."""
    plugin = libyaml.load((PLUGIN / "plugin.yaml").read_text())
    assert (plugin["apiVersion"], plugin["kind"]) == ("argoproj.io/v1alpha1", "ConfigManagementPlugin")
    assert plugin["spec"]["discover"] == {"fileName": "./kservec.yaml"}
    (parameter,) = plugin["spec"]["parameters"]["static"]
    assert (parameter["name"], parameter["required"]) == ("environment", True)


def test_the_image_of_the_plugin_runs_as_argo_cd() -> None:
    """Argo CD's user and server, the plugin where it looks; `delivery/` has what holds for all images."""
    text = re.sub(r"\\\n\s*", "", (PLUGIN / "Dockerfile").read_text())
    lines = [line.partition(" ")[::2] for line in text.splitlines() if line and not line.startswith("#")]
    assert dict(lines)["USER"] == "999:999"
    assert json.loads(dict(lines)["ENTRYPOINT"]) == ["/var/run/argocd/argocd-cmp-server"]
    copied = [rest for name, rest in lines if name == "COPY"]
    assert "runtimes/images/cmp/plugin.yaml /home/argocd/cmp-server/config/plugin.yaml" in copied


def recipe(page: str, first: str) -> str:
    """The shell script of a page that begins with a line."""
    blocks = re.findall(r"(?s)```sh\n(.*?)```", (ROOT / "docs" / page).read_text())
    (found,) = (block for block in blocks if block.startswith(f"{first}\n"))
    return str(found)


def hydrate(repo: Path, name: str) -> None:
    """Run the recipe for hydrated branches."""
    path = f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"
    alone = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    who = {f"GIT_{role}_{what}": "jo@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    script = recipe("gitops-argocd.md", "# hydrate")
    subprocess.run(  # noqa: S603 - the recipe itself
        ["/bin/sh", "-c", script], cwd=repo, env=environment(PATH=path, ENVIRONMENT=name, **alone, **who), check=True,
        capture_output=True, text=True,
    )  # fmt: skip


@pytest.mark.slow
def test_the_recipe_for_hydrated_branches(repo: Path) -> None:
    """A branch for an environment with its tree and the commit; without a change in it only the note moves on."""
    origin = repo.parent / "origin.git"
    git(repo.parent, "init", "-q", "--bare", str(origin))
    git(repo, "remote", "add", "origin", str(origin))
    hydrate(repo, "prod")
    first = git(origin, "rev-parse", "environment/prod-next")
    names = git(origin, "ls-tree", "-r", "--name-only", first).splitlines()
    assert {"hydrator.metadata", "kustomization.yaml", "payments/fraud/deployment-fraud-predictor.yaml"} <= set(names)
    assert not [name for name in names if name.startswith(("services", "kservec.yaml", "rendered"))]
    assert json.loads(git(origin, "show", f"{first}:hydrator.metadata"))["drySha"] == git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Nothing for models")
    hydrate(repo, "prod")
    assert git(origin, "rev-parse", "environment/prod-next") == first
    note = json.loads(git(origin, "notes", "--ref=hydrator.metadata", "show", first))
    assert note == {"drySha": git(repo, "rev-parse", "HEAD")}
    (repo / "services" / "fraud.yaml").write_text(SERVICE.replace("v7", "v8"))
    git(repo, "commit", "-q", "-a", "-m", "Fraud v8")
    hydrate(repo, "prod")
    second = git(origin, "rev-parse", "environment/prod-next")
    assert git(origin, "rev-parse", f"{second}^") == first
    assert git(repo, "status", "--porcelain") == ""


@pytest.mark.parametrize("page", ["gitops-argocd.md", "gitops-flux.md"])
def test_the_projects_of_a_page_can_be_used(page: str) -> None:
    """What the pages show of kservec.yaml is accepted as it stands, once it says where the specs are."""
    blocks = re.findall(r"(?s)```yaml\n(.*?)```", (ROOT / "docs" / page).read_text())
    shown = [block for block in blocks if re.search(r"(?m)^gitops:", block)]
    assert shown
    start = "apiVersion: kservec.dev/v1alpha1\nkind: Project\nsources: [services]\n"
    for block in shown:
        text = block if "kind: Project" in block else start + block
        if "repoURL" not in text:
            text = text.replace("gitops:\n", "gitops:\n  tool: argocd\n  repoURL: https://git.example.com/ml.git\n")
        project, found = read_project(text.encode(), "kservec.yaml")
        assert project is not None, found
        assert project.environments
