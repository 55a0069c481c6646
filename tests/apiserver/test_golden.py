"""Every golden output, as a cluster takes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from .cases import golden_cases, golden_manifests, tree_name
from .checks import findings

if TYPE_CHECKING:
    from pathlib import Path

    from .client import ApiServer


@pytest.mark.parametrize("case", golden_cases(), ids=tree_name)
def test_syncs_cleanly(server: ApiServer, case: Path, prefix: str) -> None:
    """Golden output is accepted, kept as it is, and shows no difference afterwards."""
    assert findings(server, golden_manifests(case), prefix) == []
