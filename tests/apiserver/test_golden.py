"""Every golden output, as a cluster takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cases import golden_manifests, golden_trees, tree_name
from .checks import findings

if TYPE_CHECKING:
    from pathlib import Path

    from .client import ApiServer


WARNED_OF = {
    "warn-project-include-policy/rendered/default": [
        "PodDisruptionBudget own: refused: no kind PodDisruptionBudget in policy/v1beta1"
    ],
}
"""What the server says where a build has warned that it would, and no more than that."""


@pytest.mark.parametrize("tree", golden_trees(), ids=tree_name)
def test_syncs_cleanly(server: ApiServer, tree: Path, prefix: str) -> None:
    """Golden output is accepted, kept as it is, and shows no difference afterwards."""
    assert findings(server, golden_manifests(tree), prefix) == WARNED_OF.get(tree_name(tree), [])
