"""Every golden output, as a cluster takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cases import golden_manifests, golden_trees, tree_name
from .checks import findings

if TYPE_CHECKING:
    from pathlib import Path

    from .client import ApiServer


@pytest.mark.parametrize("tree", golden_trees(), ids=tree_name)
def test_syncs_cleanly(server: ApiServer, tree: Path, prefix: str) -> None:
    """Golden output is accepted, kept as it is, and shows no difference afterwards."""
    assert findings(server, golden_manifests(tree), prefix) == []
