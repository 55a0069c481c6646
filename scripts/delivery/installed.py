"""Install a distribution into a clean environment and use it from there, as somebody who has nothing else of it.

Nothing of this checkout is used: the demo is that of the sdist, which lies beside the distribution or is it. Packages
that it needs come from the index that pip is set up for.

    python scripts/delivery/installed.py dist/kservec-0.1.0-py3-none-any.whl [--sbom FILE]
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

DEMO = ("examples/", "overlays/", "kservec.yaml", "scripts/demo.py")
"""What of a sdist the demo needs."""
SILENT = "import kservec, sys; sys.stdout.write(kservec.__file__)"


class UseError(Exception):
    """Something does not work where a distribution is installed."""


class Place:
    """A folder outside of any repository, with an environment that holds one distribution and what it needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        self.bin = self.folder / "environment" / "bin"
        self.python = str(self.bin / "python")

    def run(self, *words: str, where: str = ".", wanted: int = 0) -> str:
        """Run a program of the environment, or git. Returns what it wrote.

        Raises:
            UseError: It ended with another exit status than is wanted.
        """
        git = Path(str(shutil.which("git"))).parent
        who = {f"GIT_{role}_{what}": "a@example.com" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        given = {"PATH": f"{self.bin}{os.pathsep}{git}", "HOME": str(self.folder), "LC_ALL": "C.UTF-8", **who}
        program = str(self.bin / words[0]) if (self.bin / words[0]).exists() else words[0]
        done = subprocess.run(  # noqa: S603 - a command of our own making
            [program, *words[1:]], cwd=self.folder / where, env=given, capture_output=True, text=True, check=False
        )
        if done.returncode != wanted:
            raise UseError(f"{' '.join(words)}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return done.stdout

    def install(self, distribution: Path) -> None:
        """Make the environment: nothing is in it but the distribution and what that asks for, not even pip."""
        self.pip("-m", "venv", "--without-pip", str(self.folder / "environment"))
        pip = ("-m", "pip", "--disable-pip-version-check", "--python", self.python)
        self.pip(*pip, "install", "--quiet", str(distribution))
        self.pip(*pip, "check")

    @staticmethod
    def pip(*words: str) -> None:
        """Run a module of the Python that runs this: pip is not to be in the environment."""
        command = [sys.executable, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own
        if done.returncode:
            raise UseError(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


def use(place: Place, sdist: Path) -> None:
    """What a user does first.

    Raises:
        UseError: Something of it does not work.
    """
    module = place.run("python", "-W", "error", "-c", SILENT)
    if not Path(module).is_relative_to(place.folder):
        raise UseError(f"{module} is not what was installed")
    version = version_of(sdist)
    if not place.run("kservec", "--version").startswith(f"kservec {version} "):
        raise UseError(f"kservec --version does not say {version}")
    demonstrate(place, sdist)
    begin(place)


def version_of(distribution: Path) -> str:
    """The version that the name of a wheel or sdist tells."""
    return distribution.name.removesuffix(".tar.gz").split("-")[1]


def demonstrate(place: Place, sdist: Path) -> None:
    """Run the demo that is in the sdist: it compiles the examples and shows what became of them."""
    top = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as archive:
        members = [m for m in archive.getmembers() if m.name.removeprefix(f"{top}/").startswith(DEMO)]
        archive.extractall(place.folder, members, filter="data")
    shown = place.run("python", "scripts/demo.py", where=top)
    if "Where the services are reached" not in shown:
        raise UseError(f"the demo shows something else\n{shown}")


def begin(place: Place) -> None:
    """Lay down a repository, render, commit and check it; ask for what else lies in the package."""
    place.run("kservec", "init", "models", "--gitops", "argocd", "--ci", "github")
    place.run("git", "init", "--quiet", "--initial-branch", "main", where="models")
    place.run("kservec", "build", where="models")
    place.run("git", "add", "--all", where="models")
    place.run("git", "commit", "--quiet", "--message", "First services", where="models")
    place.run("kservec", "check", where="models")
    place.run("kservec", "lint", "--format", "sarif", where="models")
    for words in (("schema", "project"), ("schema", "kustomize"), ("runtimes", "sklearn"), ("completion", "bash")):
        if not place.run("kservec", *words, where="models"):
            raise UseError(f"kservec {' '.join(words)} prints nothing")


def sbom(place: Place, distribution: Path, project: Path, file: Path) -> None:
    """Write what is in the environment as a CycloneDX document about the distribution."""
    inside = file.resolve()
    place.pip(
        "-m", "cyclonedx_py", "environment", place.python, "--pyproject", str(project), "--output-reproducible",
        "--output-file", str(inside),
    )  # fmt: skip
    document = json.loads(inside.read_text(encoding="utf-8"))
    version = version_of(distribution)
    document["metadata"]["component"] |= {
        "version": version,
        "purl": f"pkg:pypi/kservec@{version}",
        "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(distribution.read_bytes()).hexdigest()}],
    }
    inside.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", encoding="utf-8")


def main(words: Sequence[str]) -> int:
    """Install and use the distribution that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("distribution", type=Path)
    parser.add_argument("--sbom", type=Path)
    options = parser.parse_args(words)
    (sdist,) = options.distribution.parent.glob("*.tar.gz")
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        try:
            place.install(options.distribution.resolve())
            use(place, sdist)
            if options.sbom is not None:
                sbom(place, options.distribution, Path(__file__).parents[2] / "pyproject.toml", options.sbom)
        except UseError as failed:
            sys.stderr.write(f"{failed}\n")
            return 1
    sys.stdout.write(f"{options.distribution.name}: installed, and everything works\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
