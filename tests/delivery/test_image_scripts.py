"""The scripts that try, rebuild and sign images, with programs that stand in for docker and cosign."""

from __future__ import annotations

import json
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from .scripts import ROOT, SCRIPTS, Machine, script

SHA = "sha256:" + "0123456789abcdef" * 4
SHELL = sorted(path for top in ("router", "runtimes", "scripts") for path in ROOT.glob(f"{top}/**/*.sh"))


@pytest.fixture(name="machine")
def machine_fixture(tmp_path: Path) -> Machine:
    """A machine with docker, cosign and gh that write down what they are asked."""
    return Machine(tmp_path)


def docker(machine: Machine, **changes: str) -> None:
    """Have docker answer about an image that is fine, with changes."""
    machine.has("docker", **{
        "Config.User": "echo 65532:65532", "Entrypoint": "echo 3", "Labels": "echo something",
        "?nodes?:{}": "exit 1",
    } | changes)  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, ""),
        ({"Config.User": "echo root"}, "it runs as 'root'"),
        ({"Config.User": "echo"}, "it runs as ''"),
        ({"Config.User": "echo 0:0"}, "it runs as '0:0'"),
        ({"Labels": "echo unknown"}, "the label org.opencontainers.image.source is not set"),
        ({"Labels": "echo"}, "the label org.opencontainers.image.source is not set"),
        ({"Entrypoint": "echo 0"}, "it has no entry point"),
    ],
)
def test_an_image_is_tried(machine: Machine, changes: dict[str, str], said: str) -> None:
    """What an image says of itself must be right."""
    docker(machine, **changes)
    (machine.folder / "Dockerfile").touch()
    ran = machine.run(SCRIPTS / "smoke_image.sh", "try/x:1", str(machine.folder / "Dockerfile"))
    assert ran.status == bool(said)
    assert said in ran.err


def test_the_router_is_tried(machine: Machine) -> None:
    """It runs as any user, without rights or a place to write, and must become healthy."""
    docker(machine)
    ran = machine.run(SCRIPTS / "smoke_image.sh", "try/router:1", str(ROOT / "router" / "Dockerfile"))
    assert ran.status == 0, ran.err
    runs = [call for call in ran.calls if call.startswith("docker run")]
    assert len(runs) == 3
    assert all("--read-only" in call and "--cap-drop ALL" in call and "--user 12345:0" in call for call in runs)
    assert ran.calls[-1].startswith("docker stop")
    assert any(call.endswith("python -m kservec_router.health") for call in ran.calls)


def test_a_router_that_takes_wrong_graphs_fails(machine: Machine) -> None:
    """The second graph has no root, and must be refused."""
    docker(machine, **{"?nodes?:{}": "exit 0"})
    ran = machine.run(SCRIPTS / "smoke_image.sh", "try/router:1", str(ROOT / "router" / "Dockerfile"))
    assert (ran.status, "a graph without a root is taken" in ran.err) == (1, True)


@pytest.mark.parametrize(("answer", "status"), [("echo 'kind: Deployment'", 0), ("echo", 1), ("exit 70", 70)])
def test_the_plugin_is_tried(machine: Machine, answer: str, status: int) -> None:
    """The examples must become Deployments."""
    docker(machine, build=answer)
    ran = machine.run(SCRIPTS / "smoke_image.sh", "try/cmp:1", str(ROOT / "runtimes/images/cmp/Dockerfile"))
    assert ran.status == status


@pytest.mark.parametrize(("digest", "status"), [(SHA, 0), (SHA.replace("0", "1"), 1)])
def test_an_image_is_rebuilt_and_compared(machine: Machine, digest: str, status: int) -> None:
    """Another digest than the one that was pushed is a failure."""
    found = json.dumps({"containerimage.digest": SHA})
    to_the_file = "while [ $1 != --metadata-file ]; do shift; done"
    machine.has("docker", buildx=f"{to_the_file}; echo '{found}' > $2")
    ran = machine.run(SCRIPTS / "rebuild_image.sh", "router", digest)
    assert ran.status == status, ran.err
    assert SHA in ran.out + ran.err
    assert ran.calls[0].startswith("docker buildx build --file router/Dockerfile --platform linux/amd64,linux/arm64")


def test_an_image_is_signed_and_verified(machine: Machine) -> None:
    """The identity is the workflow's at the tag; the digest is the output of the step, and all of it."""
    machine.has("cosign")
    reference = f"ghcr.io/kservec/router@{SHA}"
    of_github = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_WORKFLOW_REF": "kservec/kservec/x.yml@refs/tags/v1"}
    ran = machine.run(SCRIPTS / "sign_image.sh", reference, **of_github)
    assert (ran.status, ran.out) == (0, f"digest={SHA}\n")
    assert ran.calls == [
        f"cosign sign --yes --recursive {reference}",
        f"cosign verify {reference} --certificate-oidc-issuer https://token.actions.githubusercontent.com"
        " --certificate-identity https://github.com/kservec/kservec/x.yml@refs/tags/v1",
    ]


@pytest.mark.parametrize("reference", ["ghcr.io/kservec/router:1.2.0", f"x@{SHA}; id", f"x@{SHA[:-1]}", "--help", ""])
def test_only_a_digest_is_signed(machine: Machine, reference: str) -> None:
    """A tag could be moved between the build and the signature."""
    machine.has("cosign")
    ran = machine.run(SCRIPTS / "sign_image.sh", reference)
    assert (ran.status, ran.out, ran.calls) == (2, "", [])


def test_what_is_not_verified_is_not_signed(machine: Machine) -> None:
    """The step fails, and has no output for the next one."""
    machine.has("cosign", verify="exit 1")
    of_github = {"GITHUB_SERVER_URL": "https://github.com", "GITHUB_WORKFLOW_REF": "x"}
    ran = machine.run(SCRIPTS / "sign_image.sh", f"ghcr.io/kservec/router@{SHA}", **of_github)
    assert (ran.status, ran.out) == (1, "")


@pytest.mark.parametrize(
    ("there", "platforms"),
    [
        (["linux/arm64", "unknown/unknown", "linux/amd64", "linux/s390x"], ["linux/amd64", "linux/arm64"]),
        (["linux/amd64"], ["linux/amd64"]),
        ([], ["linux/amd64"]),
    ],
)
def test_bases_are_brought_up_to_date(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, there: list[str], platforms: list[str]
) -> None:
    """Docker is asked for the digest of each, and the platforms that we build for."""
    listed = [dict(zip(("os", "architecture"), each.split("/"), strict=True)) for each in there]
    manifest = {"digest": SHA, "manifests": [{"digest": SHA, "platform": platform} for platform in listed]}
    machine.has("docker", inspect=f"echo '{json.dumps(manifest)}'")
    monkeypatch.setenv("PATH", str(machine.folder / "bin"), prepend=":")
    monkeypatch.setenv("CALLS", str(machine.folder / "calls"))
    images = script("images.py")
    found = images["images"](ROOT)
    assert images["updated"](found) == {image.base: {"digest": SHA, "platforms": platforms} for image in found}


def test_an_image_that_there_is_not() -> None:
    """It is told, and nothing is printed that could be run."""
    command = [sys.executable, str(SCRIPTS / "images.py"), "command", "x", "--version", "1.2.0"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "there is no image x\n")


@pytest.mark.parametrize("path", SHELL, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_script_can_be_run(path: Path) -> None:
    """Each is executable, and stops at the first failure."""
    assert path.stat().st_mode & stat.S_IXUSR
    assert "\nset -euo pipefail\n" in path.read_text()
