"""Snapshots of rendered objects: a YAML file for each, by syrupy's single-file extension. Needs the extra `testing`."""

from __future__ import annotations

import difflib
import hashlib
from typing import TYPE_CHECKING

from syrupy.extensions.single_file import SingleFileSnapshotExtension

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from syrupy.assertion import SnapshotAssertion

    from kservec.gitops.rendered import Rendered

STEP = "+"
"""What stands for the slashes of a path: snapshots of a test lie in one folder."""
LONGEST = 180
"""Longer names end in a hash: with the test's own name they have to fit into a file's."""
MARK = 10


class ObjectExtension(SingleFileSnapshotExtension):
    """A snapshot is the YAML of an object, byte by byte."""

    file_extension = "yaml"


def differences(environment: str, objects: Iterable[Rendered], snapshot: SnapshotAssertion) -> Iterator[str]:
    """The differences between objects and their snapshots as text, one of each object that differs.

    With `--snapshot-update` syrupy writes what differs, and nothing does. Snapshots of objects that are no longer
    rendered are unused, which syrupy reports at the end of the session.
    """
    for rendered in objects:
        path = f"{environment}/{rendered.path}"
        if not snapshot(name=name_of(path), extension_class=ObjectExtension) == rendered.text.encode():  # noqa: SIM201
            before = snapshot.executions[snapshot.num_executions - 1].recalled_data
            old = before.decode(errors="backslashreplace") if isinstance(before, bytes) else ""
            yield unified(path, old, rendered.text, is_new=before is None)


def name_of(path: str) -> str:
    """The name of the snapshot of an object, by its path in the tree."""
    name = path.removesuffix(".yaml").replace("/", STEP)
    if len(name) <= LONGEST:
        return name
    return f"{name[: LONGEST - MARK - 1]}-{hashlib.sha256(name.encode()).hexdigest()[:MARK]}"


def unified(path: str, before: str, after: str, *, is_new: bool) -> str:
    """The difference between two texts."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    first = f"snapshot/{path}{' (there is none)' if is_new else ''}"
    return "".join(difflib.unified_diff(old, new, first, f"rendered/{path}"))
