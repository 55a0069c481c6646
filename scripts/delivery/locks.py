"""Pin what is installed into images, by the action and for releases: exact versions and the hashes of their files.

What is asked for stands in pyproject.toml alone; this makes the files that pip installs from, with uv.

    python scripts/delivery/locks.py             # after a change of pyproject.toml; keeps what is pinned and still fits
    python scripts/delivery/locks.py --upgrade   # the newest versions that fit
    python scripts/delivery/locks.py --check     # exit status 1 where a file is not what this would write
"""

from __future__ import annotations

import argparse
import difflib
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
SHARED_WITH_THE_ROUTER = ("pydantic", "pyyaml")
RELEASE_TOOLS = ("build", "cyclonedx-bom")
LINUX = ("--python-platform", "x86_64-unknown-linux-gnu")
EVERYWHERE = ("--universal",)


@dataclass(frozen=True, kw_only=True)
class Lock:
    """A file of pins, for every system from the oldest Python on, unless it says otherwise.

    `asked`: requirements as pyproject.toml has them. `target`: uv's words for where it goes.
    """

    path: str
    purpose: str
    asked: tuple[str, ...]
    python: str = "3.11"
    target: tuple[str, ...] = EVERYWHERE


def name_of(requirement: str) -> str:
    """The name of the package that a requirement asks for, in its normal form."""
    found = re.match(r"[\w.-]+", requirement)
    assert found is not None, requirement
    return re.sub(r"[-_.]+", "-", found[0]).lower()


def chosen(requirements: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """The requirements of some packages, each of which must be among them."""
    by_name = {name_of(requirement): requirement for requirement in requirements}
    return tuple(by_name[name] for name in names)


def locks(pyproject: Mapping[str, Any]) -> Iterator[Lock]:
    """Every file of pins that there is."""
    project = pyproject["project"]
    own, extras = project["dependencies"], project["optional-dependencies"]
    backend = tuple(pyproject["build-system"]["requires"])
    compiler = (*own, *extras["overlays"])
    yield Lock(
        path="router/requirements.txt",
        purpose="What the router's image is made of",
        asked=(*extras["router"], *chosen(own, SHARED_WITH_THE_ROUTER)),
        python="3.13",
        target=LINUX,
    )
    yield Lock(
        path="runtimes/images/cmp/requirements.txt",
        purpose="What kservec needs in the image of the plugin, and what builds overlays",
        asked=compiler,
        python="3.14",
        target=LINUX,
    )
    yield Lock(
        path="integrations/github/requirements.txt",
        purpose="What the GitHub Action installs beside kservec",
        asked=compiler,
    )
    yield Lock(
        path="scripts/delivery/backend.txt",
        purpose="What makes a wheel of a checkout",
        asked=backend,
    )
    yield Lock(
        path="scripts/delivery/requirements.txt",
        purpose="What a release is built with",
        asked=(*chosen(extras["dev"], RELEASE_TOOLS), *backend),
        python="3.13",
        target=LINUX,
    )


def resolved(lock: Lock, *, upgrade: bool = False) -> str:
    """The text of a lock. Without `upgrade` what its file pins is kept where it fits.

    Raises:
        subprocess.CalledProcessError: Nothing fits, or there is no index; uv has said so.
    """
    command = ["uv", "pip", "compile", "-", "--generate-hashes", "--no-header", "--no-annotate", "--quiet"]
    command += ["--no-config", "--no-python-downloads", "--no-emit-find-links", "--no-emit-index-url"]
    command += ["--python-version", lock.python, *lock.target]
    pinned = ROOT / lock.path
    if pinned.exists() and not upgrade:
        command += ["--constraints", str(pinned)]
    asked = "".join(f"{requirement}\n" for requirement in lock.asked)
    done = run(command, asked)
    if done.returncode and "--constraints" in command:
        done = run(command[: command.index("--constraints")], asked)
    if done.returncode:
        sys.stderr.write(done.stderr)
        done.check_returncode()
    return f"# {lock.purpose}. Made by scripts/delivery/locks.py.\n{done.stdout}"


def run(command: Sequence[str], given: str) -> subprocess.CompletedProcess[str]:
    """Run uv, which is installed beside the Python that runs this."""
    program = Path(sys.executable).with_name(command[0])
    words = [str(program), *command[1:]]
    return subprocess.run(words, input=given, capture_output=True, text=True, check=False)  # noqa: S603 - our own


def main(arguments: Sequence[str]) -> int:
    """Write every lock, or say how they differ from what would be written."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upgrade", action="store_true")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(arguments)
    status = 0
    for lock in locks(tomllib.loads((ROOT / "pyproject.toml").read_text())):
        path = ROOT / lock.path
        old = path.read_text() if path.exists() else ""
        new = resolved(lock, upgrade=options.upgrade)
        if old == new:
            continue
        if options.check:
            status = 1
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), lock.path, "wanted"))
        else:
            path.write_text(new)
            sys.stdout.write(f"{lock.path}\n")
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
