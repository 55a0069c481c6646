"""An input of a run: the files of a build, or the texts that the router is handed, and how to make it again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

INPUT, PLATFORM, PREVIOUS = "input/", "platform/", "previous/"
"""The folders of a build without a project. Everything else lies as it does in a repository."""
PROJECT = "kservec.yaml"
GRAPH, BODY = "graph.json", "body.json"
DUMP, BEFORE = "dump/", "before/"
"""What is imported, and what an input was before."""


@dataclass(frozen=True, slots=True)
class Input:
    """What is given to the compiler or to the router.

    `files` are contents by path: those below `input/` are compiled, those below `platform/` describe the cluster; with
    a `kservec.yaml` all of them are a repository; with a `graph.json` they are for the router; those below `dump/` are
    imported, and those below `before/` are what is compared with `input/`. `absent`,
    `names_revisions` and `has_catalog` are the options of a build. `secrets` are texts that stand only where the values
    of Secrets stand, and must not come out.
    """

    files: Mapping[str, bytes]
    absent: tuple[str, ...] = ()
    names_revisions: bool = False
    has_catalog: bool = True
    secrets: tuple[str, ...] = ()
    family: str = field(default="", compare=False)

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(map(len, self.files.values()))

    def below(self, folder: str) -> dict[str, bytes]:
        """The files of a folder by their whole paths."""
        return {path: content for path, content in self.files.items() if path.startswith(folder)}

    def with_files(self, files: Mapping[str, bytes]) -> Input:
        """The input with other files."""
        return replace(self, files=files)

    def __str__(self) -> str:
        options = [f"absent {kind}" for kind in self.absent]
        options += ["named revisions"] * self.names_revisions + ["no catalog"] * (not self.has_catalog)
        head = [f"# options: {', '.join(options)}"] if options else []
        return "\n".join((*head, *(f"# {path}\n{shown(content)}" for path, content in self.files.items())))


def shown(content: bytes) -> str:
    """The content of a file as text if it is UTF-8 that can be printed, and as Python writes it otherwise."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return repr(content)
    return text if all(c.isprintable() or c == "\n" for c in text) else repr(content)


def chance_of(seed: int, number: int) -> Random:
    """All the randomness of one input."""
    return Random(f"{seed}/{number}")  # noqa: S311 - nothing is kept secret by it
