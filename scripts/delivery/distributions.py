"""Build the wheel and the sdist of a checkout, twice, and see that they are the same bytes and hold what they should.

The second time they are built from the sdist, in another folder, at another time, under another time zone and umask: so
the sdist is the whole source, and nothing of the machine gets in. What builds them must be installed beside the Python
that runs this (scripts/delivery/requirements.txt); nothing is fetched.

    python scripts/delivery/distributions.py DESTINATION
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
IN_THE_WHEEL = {
    "compiler/kservec": "kservec",
    "router/kservec_router": "kservec_router",
    "runtimes/catalog": "kservec/_data/catalog",
    "schemas": "kservec/_data/schemas",
}
"""Folders of a checkout, and where a wheel has them."""
IN_THE_SDIST = (
    "compiler", "router", "runtimes", "schemas", "examples", "overlays", "docs", "kservec.yaml", "scripts/demo.py",
    "LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "pyproject.toml",
)  # fmt: skip
ADDED_TO_A_SDIST = {".gitignore", "PKG-INFO"}
OF_THE_WHEEL = {"METADATA", "WHEEL", "entry_points.txt", "licenses/LICENSE", "RECORD"}
OTHERWISE = {"TZ": "Pacific/Kiritimati", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
MASK = 0o077


class DistributionError(Exception):
    """A distribution is not what it should be."""


def build(source: Path, destination: Path, epoch: str, **environment: str) -> tuple[Path, Path]:
    """Build the sdist and the wheel of a folder. `epoch`: the time that files get, in seconds since 1970."""
    words = [sys.executable, "-m", "build", "--no-isolation", "--sdist", "--wheel", "--outdir", str(destination)]
    given = os.environ | environment | {"SOURCE_DATE_EPOCH": epoch}
    done = subprocess.run(  # noqa: S603 - a command of our own making
        [*words, str(source)], env=given, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise DistributionError(done.stdout + done.stderr)
    (sdist,), (wheel,) = destination.glob("*.tar.gz"), destination.glob("*.whl")
    return sdist, wheel


def build_twice(destination: Path, epoch: str) -> tuple[Path, Path]:
    """Build what is to be released.

    Raises:
        DistributionError: The second build differs from the first, or a file is missing or too many.
    """
    first = build(ROOT, destination, epoch)
    with tempfile.TemporaryDirectory() as folder:
        before = os.umask(MASK)
        try:
            (top,) = unpacked(first[0], Path(folder) / "source").iterdir()
            second = build(top, Path(folder) / "built", epoch, **OTHERWISE)
        finally:
            os.umask(before)
        for one, other in zip(first, second, strict=True):
            if one.name != other.name or one.read_bytes() != other.read_bytes():
                raise DistributionError(f"{one.name}: built from the sdist it has other bytes")
    found = [*wheel_faults(first[1]), *sdist_faults(first[0])]
    if found:
        raise DistributionError("\n".join(found))
    return first


def unpacked(sdist: Path, folder: Path) -> Path:
    """Unpack a sdist into a folder."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    return folder


def below(path: Path) -> Iterator[str]:
    """The files below a folder of a checkout, or a file itself, but for what Python compiles."""
    if path.is_file():
        yield ""
    for file in path.rglob("*"):
        if file.is_file() and "__pycache__" not in file.parts:
            yield f"/{file.relative_to(path).as_posix()}"


def wheel_faults(wheel: Path) -> list[str]:
    """What a wheel lacks or has too much, against the checkout."""
    wanted = {f"{inside}{name}" for folder, inside in IN_THE_WHEEL.items() for name in below(ROOT / folder)}
    version = wheel.name.split("-")[1]
    wanted |= {f"kservec-{version}.dist-info/{name}" for name in OF_THE_WHEEL}
    with zipfile.ZipFile(wheel) as archive:
        return differing(wheel.name, wanted, set(archive.namelist()))


def sdist_faults(sdist: Path) -> list[str]:
    """What a sdist lacks or has too much, against the checkout."""
    wanted = {f"{part}{name}" for part in IN_THE_SDIST for name in below(ROOT / part)} | ADDED_TO_A_SDIST
    with tarfile.open(sdist) as archive:
        found = {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}
    return differing(sdist.name, wanted, found)


def differing(name: str, wanted: set[str], found: set[str]) -> list[str]:
    """How the files of a distribution differ from those that it should have."""
    return [
        *(f"{name}: {file} is missing" for file in sorted(wanted - found)),
        *(f"{name}: {file} does not belong there" for file in sorted(found - wanted)),
    ]


def time_of_the_commit() -> str:
    """The time of the last commit, which is that of everything that is built from it."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given:
        return given
    words = [str(shutil.which("git")), "-C", str(ROOT), "log", "-1", "--format=%ct"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603 - our own


def main(words: Sequence[str]) -> int:
    """Build into the folder that the command line names, and write the check sums beside what was built."""
    if len(words) != 1:
        sys.stderr.write(__doc__ or "")
        return 2
    destination = Path(words[0])
    if destination.exists():
        sys.stderr.write(f"{destination} is there already; name a folder to be made\n")
        return 2
    destination.mkdir(parents=True)
    try:
        made = build_twice(destination, time_of_the_commit())
    except DistributionError as wrong:
        sys.stderr.write(f"{wrong}\n")
        return 1
    sums = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted(made))
    (destination / "SHA256SUMS").write_text(sums)
    sys.stdout.write(sums)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
