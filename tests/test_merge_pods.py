"""merge_pods: which container serves, wherever it was written."""

from __future__ import annotations

import pytest

from kservec.core.tree import Layer, Origin, Tree
from kservec.passes.merge_pods import kserve_container_first

WRITTEN = Origin(Layer.SPEC, "test")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        (["kserve-container"], ["kserve-container"]),
        (["kserve-container", "side"], ["kserve-container", "side"]),
        (["transformer-container", "kserve-container"], ["kserve-container", "transformer-container"]),
        (["a", "b", "kserve-container", "c"], ["kserve-container", "a", "b", "c"]),
        (["a", "b"], ["a", "b"]),
    ],
)
def test_the_container_that_serves_comes_first(written: list[str], expected: list[str]) -> None:
    """The others keep their order, and a pod without it is left as it is."""
    pod = kserve_container_first(Tree.of({"containers": [{"name": name} for name in written]}, WRITTEN))
    assert [container["name"] for container in pod.value["containers"]] == expected
