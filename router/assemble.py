"""Put together the folder that the router's image serves from.

It holds pinned packages, the router, and what that shares with the compiler. The Dockerfile runs this, and so do the
tests, without one.

    python router/assemble.py DESTINATION
"""

from __future__ import annotations

import compileall
import py_compile
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

ROUTER = Path(__file__).parent
IN_THE_IMAGE = "/app"
SHARED = ("__init__.py", "_version.py", "spec")


def assemble(destination: Path) -> None:
    """Fill *destination*, which must not exist: afterwards `python -m kservec_router` runs with it as PYTHONPATH.

    Raises:
        subprocess.CalledProcessError: A package could not be installed.
    """
    destination.mkdir(parents=True)
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-cache-dir"]
    what = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(ROUTER / "requirements.txt")]
    # What pip compiles holds times of files, which differ from build to build and are changed in the image.
    command = [*pip, *what, "--no-compile", "--target", str(destination)]
    subprocess.run(command, check=True)  # noqa: S603 - a command of our own making
    shutil.rmtree(destination / "bin", ignore_errors=True)
    shutil.copytree(ROUTER / "kservec_router", destination / "kservec_router", ignore=shutil.ignore_patterns("*.pyc"))
    compiler = ROUTER.parent / "compiler" / "kservec"
    (destination / "kservec").mkdir()
    for name in SHARED:
        source, target = compiler / name, destination / "kservec" / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.pyc", "__pycache__"))
        else:
            shutil.copy(source, target)
    compile_all(destination)


def compile_all(folder: Path) -> None:
    """Compile what is below a folder, to bytes that depend on neither times nor the place of the folder."""
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    compileall.compile_dir(folder, quiet=2, invalidation_mode=mode, stripdir=str(folder), prependdir=IN_THE_IMAGE)


def main(words: Sequence[str]) -> int:
    """Assemble into the folder that the command line names."""
    if len(words) != 1:
        sys.stderr.write(__doc__ or "")
        return 2
    assemble(Path(words[0]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
