"""The Dockerfiles of vLLM: pinned, for any user, and as the file of versions says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from .dockerfiles import arguments, environment, instructions
from .programs import IMAGES, ROOT
from .versions import VARIANTS, read

SECRET = re.compile(r"token|secret|password|api.?key", re.IGNORECASE)

each = pytest.mark.parametrize("variant", VARIANTS)


def dockerfile(variant: str) -> Path:
    """Where a variant is described."""
    return IMAGES / f"{variant}.Dockerfile"


def test_every_variant_has_a_dockerfile_and_no_other_is_there() -> None:
    """The file of versions, the Dockerfiles and the lists of packages name the same variants."""
    assert set(read()["variants"]) == set(VARIANTS)
    assert {path.name for path in IMAGES.glob("*.Dockerfile")} == {f"{name}.Dockerfile" for name in VARIANTS}
    assert {path.stem for path in (IMAGES / "requirements").iterdir()} == set(VARIANTS)


@each
def test_pins_are_those_of_the_file_of_versions(variant: str) -> None:
    """Base, vLLM and the image's own version; the base carries the version that is pinned."""
    entry = read()["variants"][variant]
    found = arguments(dockerfile(variant))
    assert found["BASE"] == f"{entry['base']['repository']}:{entry['base']['tag']}"
    assert found["VLLM"] == read()["vllm"]
    assert entry["base"]["tag"] == f"v{read()['vllm']}"
    assert found["VERSION"] == "unknown", "whoever builds a release says which"


@each
def test_there_is_no_build_without_a_digest(variant: str) -> None:
    """The one stage is from a base by digest, which has no default; nothing moves and nothing is fetched by a URL."""
    found = instructions(dockerfile(variant))
    assert [rest for name, rest in found if name == "FROM"] == ["${BASE}@${DIGEST}"]
    assert "DIGEST" not in arguments(dockerfile(variant))
    assert found[:2] == [("ARG", f"BASE={arguments(dockerfile(variant))['BASE']}"), ("ARG", "DIGEST")]
    assert not any(name == "ADD" for name, _ in found)
    assert ":latest" not in dockerfile(variant).read_text()


@each
def test_the_version_of_vllm_is_checked_while_it_is_built(variant: str) -> None:
    """A base that carries another version than the arguments were listed for does not become an image."""
    check = dict(instructions(dockerfile(variant)))["RUN"].split(" && ")[0]
    words = shlex.split(check.replace("${VLLM}", "1.2.3"))
    source = words[-1].replace("m.version('vllm')", "'9.9.9+cpu'")
    with pytest.raises(SystemExit) as caught:
        exec(compile(source, "check", "exec"), {})  # noqa: S102 - a line of our own
    assert caught.value.code == "this is vLLM 9.9.9"
    with pytest.raises(SystemExit) as caught:
        exec(compile(source.replace("9.9.9", "1.2.3"), "check", "exec"), {})  # noqa: S102
    assert caught.value.code is False


@each
def test_packages_are_pinned_by_hashes(variant: str) -> None:
    """Every package that is added has one version and its hashes, and nothing comes along with it."""
    lines = (IMAGES / "requirements" / f"{variant}.txt").read_text().splitlines()
    heads = [line for line in lines if line and not line.startswith(("#", " "))]
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9.]+ \\", line) for line in heads)
    assert "".join(lines).count("--hash=sha256:") >= len(heads)
    assert ("nixl==" in "".join(heads)) == (variant == "cuda")
    run = dict(instructions(dockerfile(variant)))["RUN"]
    assert "--require-hashes" in run
    assert "--no-deps" in run


@each
def test_it_runs_as_any_user_through_the_entry_point(variant: str) -> None:
    """User 2000 of group 0, who owns what is writable; exec forms, so that signals arrive; a health check; labels."""
    found = dict(instructions(dockerfile(variant)))
    assert found["USER"] == "2000:0"
    assert json.loads(found["ENTRYPOINT"]) == ["kservec-vllm"]
    assert json.loads(found["HEALTHCHECK"].partition("CMD ")[2]) == ["kservec-vllm", "health"]
    assert "CMD" not in found
    assert found["STOPSIGNAL"] == "SIGTERM"
    assert "chown 2000:0 /home /models" in found["RUN"]
    assert "chmod 0770 /home /models" in found["RUN"]
    assert "vllm:x:2000:0:" in found["RUN"]
    assert {"version", "revision", "licenses", "base.name", "base.digest"} <= set(
        re.findall(r"org\.opencontainers\.image\.([a-z.]+)=", found["LABEL"])
    )


@each
def test_caches_go_where_the_file_of_versions_says(variant: str) -> None:
    """The variables of the image are those that pods get, and each folder lies in one that is writable."""
    found = environment(dockerfile(variant))
    assert read()["environment"].items() <= found.items()
    assert found["KSERVEC_VLLM_VARIANT"] == variant
    volumes = json.loads(dict(instructions(dockerfile(variant)))["VOLUME"])
    assert {*volumes, "/dev/shm"} == set(read()["writable"])  # noqa: S108 - of the container
    folders = {name: value for name, value in read()["environment"].items() if value.startswith("/")}
    outside = {name for name, value in folders.items() if not any(f"{value}/".startswith(f"{v}/") for v in volumes)}
    assert not outside
    assert set(read()["environment"]) - set(folders) == {"USER"}


@each
def test_what_is_copied_is_there(variant: str) -> None:
    """Every source of COPY lies in the repository, and can be read by all in the image."""
    copies = [rest.split() for name, rest in instructions(dockerfile(variant)) if name == "COPY"]
    assert len(copies) == 4
    assert "/opt/kservec/arguments.json" in [target for *_, target in copies]
    for mode, source, _ in copies:
        assert mode in ("--chmod=0755", "--chmod=0644")
        assert (ROOT / source).exists()
    assert "ln -s /opt/kservec/kservec-vllm /usr/local/bin/" in dict(instructions(dockerfile(variant)))["RUN"]


@each
def test_no_secret_is_built_in(variant: str) -> None:
    """Neither arguments nor variables are for secrets."""
    names = {*arguments(dockerfile(variant)), *environment(dockerfile(variant))}
    assert not [name for name in names if SECRET.search(name)]


def test_architectures_and_digests_are_known() -> None:
    """What is built for what, as far as its base exists for it; a digest is either whole or not there yet."""
    bases = json.loads((ROOT / "runtimes" / "images" / "bases.json").read_text())
    for variant, entry in read()["variants"].items():
        assert {"amd64"} <= set(entry["architectures"]) <= {"amd64", "arm64"}
        digest = entry["image"]["digest"]
        assert digest is None or re.fullmatch(r"sha256:[0-9a-f]{64}", digest)
        base = bases.get(arguments(dockerfile(variant))["BASE"], {})
        platforms = [platform.partition("/")[2] for platform in base.get("platforms", ())]
        assert platforms in ([], entry["architectures"])
