"""What a file of a rendered tree is called that is not as a build would write it."""

from __future__ import annotations

import pytest

from kservec.compare.tree_states import Entry, flaws
from kservec.gitops.layout import digest

DUE, OLD, MINE = b"a: 1\n", b"a: 0\n", b"a: 9\n"
CONFLICT = b"<<<<<<< ours\na: 1\n=======\na: 2\n>>>>>>> theirs\n"


@pytest.mark.parametrize(
    ("present", "planned", "listed", "slug"),
    [
        (DUE, DUE, None, None),
        (DUE, DUE, {digest(OLD)}, None),
        (None, DUE, {digest(DUE)}, "output/missing-file"),
        (OLD, DUE, {digest(OLD)}, "output/out-of-date"),
        (OLD, DUE, {""}, "output/out-of-date"),
        (OLD, None, {digest(OLD)}, "output/stale-file"),
        (MINE, DUE, {digest(DUE)}, "output/edited-by-hand"),
        (MINE, DUE, {digest(DUE), digest(OLD)}, "output/edited-by-hand"),
        (MINE, None, {digest(OLD)}, "output/edited-by-hand"),
        (MINE, DUE, None, "output/foreign-file"),
        (MINE, None, None, "output/foreign-file"),
        (CONFLICT, DUE, {digest(DUE)}, "output/merge-conflict"),
        (DUE.replace(b"\n", b"\r\n"), DUE, {digest(DUE)}, "output/line-ends-converted"),
        ("link", DUE, {digest(DUE)}, "output/foreign-file"),
    ],
)
def test_a_file(present: bytes | str | None, planned: bytes | None, listed: set[str] | None, slug: str | None) -> None:
    """The planned content alone decides whether a file is right; the index only gives the fault its name."""
    there = {} if present is None else {"x.yaml": Entry(present if isinstance(present, bytes) else None)}
    due = {} if planned is None else {"x.yaml": planned}
    found = [flaw.code.slug for flaw in flaws(there, due, {} if listed is None else {"x.yaml": listed})]
    assert found == ([] if slug is None else [slug])
