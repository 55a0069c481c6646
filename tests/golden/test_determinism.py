"""Same inputs, same bytes: whatever the machine, the locale, the hash seed, the order of files or the Python."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.running import kservec

from .cases import ROOT
from .digests import outputs

NEEDS = "import click, jsonschema_rs, pydantic, yaml"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kservec" / "pythons"
"""Where `make pythons` puts what other versions need."""
TURKISH = "tr_TR.UTF-8"
"""Where `I` is no capital `i`."""
ENVIRONMENTS = {
    "hash seed 1": ("1", {"PYTHONHASHSEED": "1"}),
    "hash seed 2, files shuffled": ("2", {"PYTHONHASHSEED": "2"}),
    "hash seed 3, files shuffled, another locale and time zone": (
        "3",
        {"PYTHONHASHSEED": "3", "LC_ALL": "C", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Kiritimati", "PYTHONUTF8": "0"},
    ),
}  # fmt: skip


def printed(python: str, seed: str, environment: dict[str, str], folder: Path) -> str:
    """What another process makes of all cases, started in some other folder."""
    path = os.pathsep.join((str(ROOT), str(ROOT / "compiler")))
    command = [python, "-m", "tests.golden.digests", seed]
    done = subprocess.run(  # noqa: S603 - our own program
        command,
        cwd=folder,
        env=os.environ | environment | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(name="here", scope="module")
def here_fixture() -> str:
    """What this process makes of all cases."""
    return outputs(0)


@pytest.fixture(name="turkish", scope="module")
def turkish_fixture(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of a Turkish user, with a locale that is made here, for few machines have it."""
    compiler = shutil.which("localedef")
    folder = tmp_path_factory.mktemp("locales")
    language, encoding = TURKISH.split(".")
    command = [str(compiler), "-i", language, "-f", encoding, str(folder / TURKISH)]
    made = subprocess.run(command, capture_output=True, check=False).returncode == 0 if compiler else False  # noqa: S603
    if not made:
        pytest.skip(f"NOT TESTED: no locale {TURKISH} can be made here")
    return {"LOCPATH": str(folder), "LC_ALL": TURKISH, "TZ": "Asia/Kathmandu", "PYTHONHASHSEED": "4"}


@pytest.mark.slow
def test_another_alphabet_does_not_matter(turkish: dict[str, str], here: str, tmp_path: Path) -> None:
    """A locale with other rules for letters changes no byte."""
    assert printed(sys.executable, "4", turkish, tmp_path) == here


@pytest.mark.slow
@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_the_environment_does_not_matter(name: str, here: str, tmp_path: Path) -> None:
    """Hash seed, order of files, locale, time zone and current folder change no byte of objects, findings or URLs."""
    seed, environment = ENVIRONMENTS[name]
    assert printed(sys.executable, seed, environment, tmp_path) == here


@pytest.mark.slow
def test_a_second_compile_in_one_process_gives_the_same(here: str) -> None:
    """No state leaks from one compile into the next."""
    assert outputs(0) == here


def other_pythons() -> list[str]:
    """Other versions of Python on this machine that have what kservec needs."""
    found = sorted([*CACHE.glob("3.1[1-9]/bin/python"), *Path.home().glob(".pyenv/versions/3.1[1-9].*/bin/python")])
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return [str(p) for p in found if ".".join(p.parts[-3].split(".")[:2]) != own and can_import(p)]


def can_import(python: Path) -> bool:
    """Whether a Python has the dependencies."""
    return subprocess.run([python, "-c", NEEDS], capture_output=True, check=False).returncode == 0  # noqa: S603


@pytest.mark.slow
def test_other_versions_of_python_give_the_same(here: str, tmp_path: Path) -> None:
    """The version of Python changes nothing either."""
    pythons = other_pythons()
    if not pythons:
        pytest.skip("NOT TESTED: no other version of Python has the dependencies here; make pythons gives them to some")
    assert {python: printed(python, "0", {}, tmp_path) for python in pythons} == dict.fromkeys(pythons, here)


def built(folder: Path, *arguments: str) -> str:
    """What a build in a folder writes to standard output."""
    done = kservec(folder, "build", "--stdout", *arguments)
    assert done.status == 0, done.err
    return done.out


def test_where_one_stands_does_not_matter(tmp_path: Path) -> None:
    """Paths from the top, from elsewhere, absolute, through a link, one by one and backwards give the same objects."""
    services, platform = ROOT / "examples" / "services", ROOT / "examples" / "platform"
    files = [str(path) for path in services.glob("*.yaml") if path.name != "kustomization.yaml"]
    (tmp_path / "link").symlink_to(ROOT / "examples")
    expected = built(ROOT, "examples/services", "--platform", "examples/platform")
    assert "kind: Deployment" in expected
    assert built(services, ".", "--platform", "../platform") == expected
    assert built(tmp_path, str(services), "--platform", str(platform)) == expected
    assert built(tmp_path, "link/services", "--platform", "link/platform") == expected
    assert built(tmp_path, *sorted(files), "--platform", str(platform)) == expected
    assert built(tmp_path, *sorted(files, reverse=True), "--platform", str(platform)) == expected


def test_a_project_is_found_from_below() -> None:
    """A build from a folder of the project gives what one at its top gives."""
    assert built(ROOT / "examples" / "services", "prod") == built(ROOT, "prod")
