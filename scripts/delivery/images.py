"""Which images there are, and what each is built with: what the workflow of the images and whoever rebuilds one ask.

Every Dockerfile of the repository is an image, called after its folder; `cuda.Dockerfile` in `vllm` is vllm-cuda. Its
base is the default of its argument BASE; the digest of a base, and the platforms that it exists for, are in
runtimes/images/bases.json. Without a digest an image is not built.

    python scripts/delivery/images.py matrix         # what can be built, as the matrix of a GitHub workflow
    python scripts/delivery/images.py check          # exit status 1 where a base has no digest
    python scripts/delivery/images.py command NAME   # how to build one of them, byte for byte
    python scripts/delivery/images.py update         # the digests that the bases have today: asks their registries
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
BASES = "runtimes/images/bases.json"
DOCKERFILES = ("router/Dockerfile", "runtimes/images/*/Dockerfile", "runtimes/images/*/*.Dockerfile")
REGISTRY = "ghcr.io/kservec"
OF_THE_RUNNER = "linux/amd64"
PLATFORMS = (OF_THE_RUNNER, "linux/arm64")
EPOCH_OF_THE_COMMIT = "$(git log -1 --format=%ct)"
COMMIT = "$(git rev-parse HEAD)"


@dataclass(frozen=True, kw_only=True)
class Image:
    """An image: its name, and what it is built from.

    `digest` is None where nobody has asked for it yet; `exact`: the same commit always gives the same bytes.
    """

    name: str
    dockerfile: str
    base: str
    digest: str | None
    platforms: tuple[str, ...]
    exact: bool


def images(root: Path) -> tuple[Image, ...]:
    """Every image of a checkout, by name.

    Raises:
        ValueError: A Dockerfile names no base.
    """
    bases = json.loads((root / BASES).read_text())
    found = [path for pattern in DOCKERFILES for path in sorted(root.glob(pattern))]
    return tuple(sorted((image(path, root, bases) for path in found), key=lambda each: each.name))


def image(path: Path, root: Path, bases: Mapping[str, Any]) -> Image:
    """The image that a Dockerfile describes."""
    text = path.read_text()
    dockerfile = path.relative_to(root).as_posix()
    base = re.search(r"(?m)^ARG BASE=(\S+)$", text)
    if base is None:
        raise ValueError(f"{dockerfile}: there is no default for the argument BASE")
    known = bases.get(base[1], {})
    return Image(
        name=path.parent.name if path.name == "Dockerfile" else f"{path.parent.name}-{path.stem}",
        dockerfile=dockerfile,
        base=base[1],
        digest=known.get("digest"),
        platforms=tuple(known.get("platforms", (OF_THE_RUNNER,))),
        exact="apt-get" not in text,  # the archives of a distribution move on
    )


def matrix(found: Sequence[Image]) -> dict[str, Any]:
    """The images as the matrix of a job. `emulated`: some of its platforms are not the runner's."""
    rows = [
        {
            "name": each.name,
            "image": f"{REGISTRY}/{each.name}",
            "dockerfile": each.dockerfile,
            "digest": each.digest,
            "platforms": ",".join(each.platforms),
            "emulated": each.platforms != (OF_THE_RUNNER,),
        }
        for each in found
        if each.digest is not None
    ]
    return {"include": rows}


def unpinned(found: Sequence[Image]) -> list[str]:
    """The images that cannot be built, each with what to do."""
    return [
        f"{each.dockerfile}: {BASES} has no digest for {each.base}; `images.py update` asks for it"
        for each in found
        if each.digest is None
    ]


def command(wanted: Image, version: str, folder: str) -> str:
    """What builds an image as the release does, into files of a folder. To be run at the top of the checkout."""
    arguments = {"DIGEST": wanted.digest or "", "VERSION": version}
    words = ["docker", "buildx", "build", "--file", wanted.dockerfile, "--platform", ",".join(wanted.platforms)]
    words += ["--provenance=false", "--no-cache", "--metadata-file", f"{folder}/{wanted.name}.json"]
    words += [word for name, value in arguments.items() for word in ("--build-arg", f"{name}={value}")]
    output = f"type=oci,dest={shlex.quote(folder)}/{wanted.name}.tar,rewrite-timestamp=true"
    of_git = f'--build-arg "REVISION={COMMIT}" --build-arg "SOURCE_DATE_EPOCH={EPOCH_OF_THE_COMMIT}"'
    return f"{shlex.join(words)} {of_git} --output {output} ."


def updated(found: Sequence[Image]) -> dict[str, Any]:
    """What their registries say today of the bases of images, by docker."""
    return {base: facts_of(base) for base in sorted({each.base for each in found})}


def facts_of(base: str) -> dict[str, Any]:
    """The digest of a tag, which is that of the index of its platforms, and those of them that images are built for.

    Raises:
        subprocess.CalledProcessError: There is no such tag, or no way to its registry; docker has said so.
    """
    words = ["docker", "buildx", "imagetools", "inspect", base, "--format", "{{json .Manifest}}"]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=True)  # noqa: S603 - a base of our own
    index = json.loads(done.stdout)
    listed = [manifest["platform"] for manifest in index.get("manifests", ())]
    there = {f"{platform['os']}/{platform['architecture']}" for platform in listed}
    return {"digest": index["digest"], "platforms": [each for each in PLATFORMS if each in there] or [OF_THE_RUNNER]}


def main(words: Sequence[str]) -> int:
    """Print the matrix or a command, check the digests, or write them anew."""
    options = parsed(words)
    found = images(ROOT)
    if options.verb == "update":
        (ROOT / BASES).write_text(json.dumps(updated(found), indent=2) + "\n")
        return 0
    if options.verb == "matrix":
        rows = [each for each in found if each.exact or not options.exact]
        sys.stdout.write(json.dumps(matrix(rows), sort_keys=True) + "\n")
        return 0
    faults = unpinned(found)
    if options.verb == "command":
        found = tuple(each for each in found if each.name == options.name)
        faults = unpinned(found) or ([] if found else [f"there is no image {options.name}"])
    sys.stderr.writelines(f"{fault}\n" for fault in faults)
    if options.verb == "command" and not faults:
        sys.stdout.write(command(found[0], options.version, options.folder) + "\n")
    return 1 if faults else 0


def parsed(words: Sequence[str]) -> argparse.Namespace:
    """What the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    listing = verbs.add_parser("matrix")
    listing.add_argument("--exact", action="store_true", help="only what can be rebuilt byte for byte")
    verbs.add_parser("check")
    verbs.add_parser("update")
    one = verbs.add_parser("command")
    one.add_argument("name")
    one.add_argument("--version", required=True)
    one.add_argument("--folder", default=".", help="where the image goes to, and what docker says of it")
    return parser.parse_args(words)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
