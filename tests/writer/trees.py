"""Trees to write, and a program that writes one after the other."""

from __future__ import annotations

import sys
from pathlib import Path

from kservec.gitops.index import Entry, index_text
from kservec.gitops.layout import INDEX, digest
from kservec.io.tree_writer import write_tree

OWNER = "ml/InferenceService/iris"


def with_index(files: dict[str, bytes]) -> dict[str, bytes]:
    """Files and the index that lists them."""
    return {**files, INDEX: index_text({p: Entry(digest(c), OWNER) for p, c in files.items()}).encode()}


def tree(folder: Path) -> dict[str, bytes]:
    """The files of a folder, those behind links too."""
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def numbered(number: int) -> dict[str, bytes]:
    """A tree of a hundred files, of which half change with the number, and one is there for this number only."""
    files = {f"n{i % 7}/u{i}/object-{i}.yaml": f"number: {number if i % 2 else 0}\n".encode() for i in range(100)}
    return with_index(files | {f"n/u/only-{number}.yaml": b"x: 1\n"})


if __name__ == "__main__":
    for number in range(int(sys.argv[2]), int(sys.argv[3])):
        write_tree(Path(sys.argv[1]), numbered(number), force=False)
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
