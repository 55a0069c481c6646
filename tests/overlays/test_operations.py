"""Operations of patches that kustomize could not do: which one it was, and what was meant."""

from __future__ import annotations

import pytest

from kservec.core.text.reading import Limits
from kservec.core.text.source import Document, parse
from kservec.overlays.closure import Closure, patches_of
from kservec.overlays.kustomization import Kustomization
from kservec.overlays.objects import gathered
from kservec.overlays.operations import undone

OBJECT = """\
kind: Thing
metadata: {name: it, labels: {a.b/c: x}}
spec: {containers: [{name: one}], empty: {}, none: []}
"""


def one(text: str, file: str) -> Document:
    """The one document of a text."""
    (document,), _ = parse(text.encode(), file)
    return document


def asked(operations: str, message: str) -> tuple[int, str] | None:
    """The line of the operation that a message is about, the first having 1, and what was meant."""
    block = "".join(f"    {line}\n" for line in operations.splitlines())
    text = f"resources: [it.yaml]\npatches:\n- target: {{kind: Thing}}\n  patch: |-\n{block}"
    first = Kustomization(folder="", path="kustomization.yaml", document=one(text, "kustomization.yaml"))
    patches, _ = patches_of(first, {}, Limits())
    closure = Closure(
        start="",
        kustomizations={"": first},
        objects={"it.yaml": (one(OBJECT, "it.yaml"),)},
        patches={"": patches},
    )
    found = undone(message, gathered(closure, lambda _version, _kind: True))
    return (found[0].line - 4, found[1]) if found is not None else None


@pytest.mark.parametrize(
    ("operations", "message", "told"),
    [
        (
            "- {op: remove, path: /spec/container}\n- {op: remove, path: /spec/container/0/name}",
            "error in remove for path: '/spec/container/0/name': gone",
            (2, "did you mean /spec/containers/0/name?"),
        ),
        (
            "- {op: add, path: /spec/containers, value: []}\n- {op: add, path: /spec/containers/one/env, value: 1}",
            'add operation does not apply: doc is missing path: "/spec/containers/one/env": gone',
            (2, "the last item of /spec/containers is 0"),
        ),
        ("- {op: replace, path: /spec/empty/a, value: 1}", "path: /spec/empty/a: gone", (1, "/spec/empty is empty")),
        ("- {op: replace, path: /spec/none/0, value: 1}", "path: /spec/none/0: gone", (1, "/spec/none is empty")),
        ("- {op: replace, path: /kind/of, value: 1}", "missing path: /kind/of: gone", (1, "/kind is no map")),
        (
            "- {op: replace, path: /metadata/label/a.b~1c, value: 1}",
            "missing path: /metadata/label/a.b~1c: gone",
            (1, "did you mean /metadata/labels/a.b~1c?"),
        ),
        (
            "- {op: remove, path: /metadata/labels/a.b~1d}",
            "error in remove for path: '/metadata/labels/a.b~1d': gone",
            (1, "did you mean /metadata/labels/a.b~1c?"),
        ),
        (
            "- {op: copy, from: /spec/container, path: /spec/other}",
            "error in copy for from: '/spec/container': gone",
            (1, "did you mean /spec/containers?"),
        ),
        (
            "- {op: move, from: /spec/container, path: /spec/other}",
            "error in move for path: 'container': gone",
            (1, "did you mean /spec/containers?"),
        ),
        (
            "- {op: replace, path: /spec/container/0/nam, value: 1}",
            "missing path: /spec/container/0/nam: gone",
            (1, "did you mean /spec/containers/0/name?"),
        ),
        (
            "- {op: replace, path: /spec/container/0/image, value: 1}",
            "missing path: /spec/container/0/image: gone",
            (1, "did you mean /spec/containers/0/image?"),
        ),
        ("- {op: test, path: /spec/new, value: 1}", "testing value /spec/new failed: test failed", (1, "")),
        ("- {op: test, path: /kind, value: 1}", "testing value /kind failed: test failed", (1, "")),
        (
            "- {op: add, path: /spec/a, value: 1}\n- {op: remove, path: /spec/a}\n- {op: remove, path: /spec/a}",
            "error in remove for path: '/spec/a': gone",
            (2, "/spec has containers, empty, none"),
        ),
        ("- {op: remove, path: /spec/a}", "something else about /spec/ab and x/spec/a", None),
    ],
)  # fmt: skip
def test_the_operation_that_could_not_be_done(operations: str, message: str, told: tuple[int, str] | None) -> None:
    """The one with the path that is told, and that leads nowhere, if any does; with the path that was meant."""
    assert asked(operations, message) == told
