"""Every image: its Dockerfile keeps the rules, its base is pinned, and the workflow of the images builds it."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests import libyaml

from .dockerfiles import faults, read
from .scripts import ROOT, SCRIPTS, script

IMAGES = script("images.py")
FOUND: dict[str, Any] = {image.name: image for image in IMAGES["images"](ROOT)}
BASES: dict[str, Any] = json.loads((ROOT / "runtimes" / "images" / "bases.json").read_text())
WAITING = {"vllm-cpu", "vllm-cuda", "vllm-rocm"}
"""Images whose bases have no digest yet: they are not built, and no tag is released without them."""
BY_NAME = pytest.mark.parametrize("name", FOUND)
SHA = "sha256:" + "0123456789abcdef" * 4
GOOD = """\
# An image.
ARG BASE=docker.io/library/python:3.13-slim
ARG DIGEST
FROM ${BASE}@${DIGEST} AS build
COPY pyproject.toml ./
RUN apt-get update && apt-get install --yes --no-install-recommends git \\
    && rm -rf /var/lib/apt/lists/*
RUN pip install --require-hashes -r requirements.txt && pip install --no-deps --no-build-isolation .
FROM ${BASE}@${DIGEST}
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.title=x org.opencontainers.image.description=x org.opencontainers.image.licenses=x \\
      org.opencontainers.image.source=x org.opencontainers.image.base.name=x org.opencontainers.image.base.digest=x \\
      org.opencontainers.image.version=x org.opencontainers.image.revision=x
COPY --from=build /app /app
ENV PATH=/app/bin:${PATH}
USER 65532:65532
ENTRYPOINT ["/app/bin/run"]
"""


@BY_NAME
def test_an_image_keeps_the_rules(name: str) -> None:
    """Bases by digest, no root, no shell in front, packages by hashes, nothing from elsewhere, no secrets."""
    assert faults(ROOT / FOUND[name].dockerfile, ROOT) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("FROM ${BASE}@${DIGEST}\n", "FROM python:3.13-slim\n", "it has no digest"),
        ("FROM ${BASE}@${DIGEST}\n", "FROM ${BASE}\n", "it has no digest"),
        ("ARG REVISION=unknown\n", "", "there is no argument REVISION"),
        ("org.opencontainers.image.source=x", "", "there is no label source"),
        (" --no-install-recommends", "", "apt installs what is only recommended"),
        ("    && rm -rf /var/lib/apt/lists/*\n", "    && true\n", "apt leaves its lists"),
        ("pip install --require-hashes", "pip install", "not pinned by hashes"),
        (" --no-build-isolation", "", "not pinned by hashes"),
        ("pip install --no-deps --no-build-isolation .", "pip wheel .", "not pinned by hashes"),
        ("RUN pip", "RUN curl -fsSL https://example.com/x | sh\nRUN pip", "runs what it downloads"),
        ("COPY pyproject.toml ./", "ADD https://example.com/x /x", "nothing is to come from elsewhere"),
        ("COPY pyproject.toml ./", "COPY pyproject.yaml ./", "there is no such file"),
        ("COPY pyproject.toml ./", "COPY . ./", "takes all there is"),
        ("USER 65532:65532\n", "", "no numbers, or root"),
        ("USER 65532:65532", "USER nobody:nobody", "no numbers, or root"),
        ("USER 65532:65532", "USER 0:0", "no numbers, or root"),
        ('["/app/bin/run"]', "/app/bin/run", "signals would end in a shell"),
        ("USER", "CMD serve\nUSER", "CMD: no list of words"),
        ("ENV PATH", "ENV HF_TOKEN=x PATH", "ENV HF_TOKEN: a secret"),
        ("ARG VERSION", "ARG PYPI_PASSWORD\nARG VERSION", "ARG PYPI_PASSWORD: a secret"),
        ("python:3.13-slim", "python:latest", "latest is not always the same"),
    ],
)
def test_what_breaks_a_rule_is_found(tmp_path: Path, old: str, new: str, said: str) -> None:
    """Each rule finds what it is for, and nothing is wrong without it."""
    path = tmp_path / "Dockerfile"
    path.write_text(GOOD)
    assert faults(path, ROOT) == []
    assert old in GOOD
    path.write_text(GOOD.replace(old, new, 1))
    found = faults(path, ROOT)
    assert len(found) == 1, found
    assert said in found[0]


def test_every_dockerfile_is_an_image() -> None:
    """None lies where the workflow does not look, and no two have one name."""
    tops = ("compiler", "examples", "integrations", "router", "runtimes", "scripts", "templates", "tests")
    there = {path.relative_to(ROOT).as_posix() for top in tops for path in ROOT.glob(f"{top}/**/*Dockerfile")}
    assert there == {image.dockerfile for image in FOUND.values()}
    assert len(FOUND) == len(IMAGES["images"](ROOT))
    assert {"router", "cmp"} <= FOUND.keys()


@BY_NAME
def test_the_base_of_an_image_is_pinned(name: str) -> None:
    """The digest is one, but for bases whose registry nobody has asked yet; the base is the first line."""
    image = FOUND[name]
    assert name in WAITING if image.digest is None else re.fullmatch(r"sha256:[0-9a-f]{64}", image.digest)
    assert image.platforms[0] == "linux/amd64"
    assert read((ROOT / image.dockerfile).read_text())[0] == ("ARG", f"BASE={image.base}")


def test_every_base_is_of_an_image() -> None:
    """No digest is left behind when an image gets another base."""
    assert BASES.keys() - {image.base for image in FOUND.values()} == set()


def test_the_router_is_for_two_platforms() -> None:
    """Graphs are run where models are: on both."""
    assert FOUND["router"].platforms == ("linux/amd64", "linux/arm64")


@pytest.mark.parametrize("path", ["templates/kservec.yml", "compiler/kservec/scaffold/files/gitlab-ci.yml"])
def test_pipelines_use_the_same_base(path: str) -> None:
    """What we give to others runs on an image that is pinned, too."""
    digest = BASES["docker.io/library/python:3.13-slim"]["digest"]
    assert re.findall(r"python:[^\s\"]+", (ROOT / path).read_text()) == [f"python:3.13-slim@{digest}"]


def tree(folder: Path, **dockerfiles: str) -> Path:
    """A checkout with images in a folder `server`, of which one base has a digest."""
    (folder / "runtimes" / "images" / "server").mkdir(parents=True)
    known = {"b:1": {"digest": SHA, "platforms": ["linux/amd64", "linux/arm64"]}, "b:2": {"digest": None}}
    (folder / "runtimes" / "images" / "bases.json").write_text(json.dumps(known))
    for name, text in dockerfiles.items():
        (folder / "runtimes" / "images" / "server" / name.replace("_", ".")).write_text(text)
    return folder


def test_a_dockerfile_without_a_base_is_refused(tmp_path: Path) -> None:
    """It is told by its name."""
    root = tree(tmp_path, Dockerfile="FROM scratch\n")
    with pytest.raises(
        ValueError, match=r"^runtimes/images/server/Dockerfile: there is no default for the argument BASE"
    ):
        IMAGES["images"](root)


def test_an_image_without_a_digest_waits(tmp_path: Path) -> None:
    """It is told what is missing, and the others are built."""
    bases = {"gpu_Dockerfile": "ARG BASE=b:1\n", "cpu_Dockerfile": "ARG BASE=b:2\n", "tpu_Dockerfile": "ARG BASE=b:3\n"}
    found = IMAGES["images"](tree(tmp_path, **bases))
    assert [image.name for image in found] == ["server-cpu", "server-gpu", "server-tpu"]
    assert [row["name"] for row in IMAGES["matrix"](found)["include"]] == ["server-gpu"]
    assert [fault.partition(";")[0] for fault in IMAGES["unpinned"](found)] == [
        f"runtimes/images/server/{name}.Dockerfile: runtimes/images/bases.json has no digest for b:{number}"
        for name, number in (("cpu", 2), ("tpu", 3))
    ]


def test_what_cannot_be_rebuilt_is_not_compared(tmp_path: Path) -> None:
    """What apt installs differs from week to week."""
    (image,) = IMAGES["images"](tree(tmp_path, Dockerfile="ARG BASE=b:1\nRUN apt-get install x\n"))
    assert (image.exact, image.platforms) == (False, ("linux/amd64", "linux/arm64"))


def test_the_workflow_learns_of_all_images() -> None:
    """Its outputs are the matrices, the version and the time of the commit, each on a line."""
    done = subprocess.run([str(SCRIPTS / "list_images.sh")], capture_output=True, text=True, check=True)  # noqa: S603
    outputs = dict(line.split("=", 1) for line in done.stdout.splitlines())
    assert outputs.keys() == {"images", "exact", "version", "epoch"}
    rows = {row["name"]: row for row in json.loads(outputs["images"])["include"]}
    assert rows.keys() == {name for name, image in FOUND.items() if image.digest is not None}
    assert rows["router"] == {
        "name": "router", "image": "ghcr.io/kservec/router", "dockerfile": "router/Dockerfile",
        "digest": FOUND["router"].digest, "platforms": "linux/amd64,linux/arm64", "emulated": True,
    }  # fmt: skip
    assert {row["name"] for row in json.loads(outputs["exact"])["include"]} >= {"router", "cmp"}
    assert outputs["epoch"].isdigit()


def test_every_value_of_the_matrix_is_used() -> None:
    """The workflow uses what it is given, and is given what it uses."""
    text = (ROOT / ".github" / "workflows" / "images.yml").read_text()
    rows = IMAGES["matrix"](list(FOUND.values()))["include"]
    assert set(re.findall(r"matrix\.(\w+)", text)) == rows[0].keys()


def build_arguments(step: dict[str, Any]) -> set[str]:
    """The names of the arguments that a step builds an image with."""
    return {line.partition("=")[0] for line in step["with"]["build-args"].splitlines()}


def test_an_image_is_rebuilt_as_it_was_built() -> None:
    """The command for users and the workflow give the same arguments; neither keeps times or attestations inside."""
    workflow = libyaml.load((ROOT / ".github" / "workflows" / "images.yml").read_text())
    steps = [s for job in workflow["jobs"].values() for s in job["steps"] if "build-args" in s.get("with", {})]
    command = IMAGES["command"](FOUND["router"], "1.2.0", ".")
    arguments = set(re.findall(r"--build-arg \"?(\w+)=", command))
    assert [build_arguments(step) for step in steps] == [arguments, arguments]
    assert "rewrite-timestamp=true" in steps[1]["with"]["outputs"]
    assert "rewrite-timestamp=true" in command
    assert steps[1]["with"]["provenance"] is steps[1]["with"]["sbom"] is False
    assert "--provenance=false" in command
