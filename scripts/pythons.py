"""Give other versions of Python on this machine what kservec needs, so that tests hold its output against theirs.

The environments lie in kservec's cache, one for each version; a version that has one already is passed over.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kservec" / "pythons"
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
OWN = f"{sys.version_info.major}.{sys.version_info.minor}"
TELL = "import sys; print(sys.prefix, '%d.%d' % sys.version_info[:2])"


def main() -> int:
    """Make what is missing, and say what there is."""
    found = interpreters()
    for version, python in sorted(found.items()):
        made = CACHE / version / "bin" / "python"
        if not made.exists():
            install(python, made)
        sys.stdout.write(f"Python {version}: {made}\n")
    for version in sorted(set(VERSIONS) - {*found, OWN}):
        sys.stdout.write(f"Python {version}: NOT FOUND on this machine, so nothing is tested with it\n")
    return 0


def interpreters() -> dict[str, Path]:
    """The interpreters on the search path and among pyenv's, by version; our own version is tested anyway."""
    named = [shutil.which(f"python{version}") for version in VERSIONS]
    paths = [*filter(None, named), *map(str, sorted(Path.home().glob(".pyenv/versions/3.*/bin/python")))]
    found: dict[str, Path] = {}
    for path in paths:
        version = version_of(path)
        if version in VERSIONS and version != OWN:
            found[version] = Path(path)
    return found


def version_of(python: str) -> str:
    """The version of an interpreter; empty for what is none (pyenv leaves such programs on the search path)."""
    told = subprocess.run([python, "-c", TELL], capture_output=True, text=True, check=False)  # noqa: S603
    return told.stdout.split()[-1] if told.returncode == 0 else ""


def install(python: Path, made: Path) -> None:
    """Make an environment with the dependencies of the compiler, and nothing of kservec itself."""
    needs = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    folder = made.parents[1]
    subprocess.run([python, "-m", "venv", "--clear", folder], check=True)  # noqa: S603 - the interpreter that was found
    pip = [made, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, *(re.sub(r"\s", "", need) for need in needs)], check=True)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
